"""The conversation with a teacher at a terminal, and what it prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tellapart.console.keyboard import KEYS, Keyboard
from tellapart.errors import TellapartError
from tellapart.features.candidates import Candidate
from tellapart.features.phrasing import counted, spoken
from tellapart.protocol import Label
from tellapart.sessions import Ending, Given, Session, Summary
from tellapart.sessions.events import AnswerWord
from tellapart.sessions.labels import NEW, match_label
from tellapart.sessions.phrasing import (
    counted_in,
    effect,
    name,
    notice,
    progress_facts,
    show,
    stop_hint,
    undone_notice,
    visible,
)

_USUAL = ("label", "skip", "unsure", "undo", "redo", "note", "meaning", "search", "help")
_PROMPTS = {
    "label": "label: ",
    "feature": "find: ",
    "write": "condition: ",
    "tag": "tag: ",
    "note": "note: ",
    "meaning": "label: what it means: ",
    "search": "look for: ",
}
_LONGEST = 400
_SIGNS = {"enter": "Enter", "escape": "Esc", "space": "Space"}


def talk(
    session: Session,
    teacher: str,
    keyboard: Keyboard,
    console: Console,
    keys: Mapping[str, str],
    hint: Callable[[Given], str | None] | None = None,
) -> None:
    """Teach until there are no items left, or no more keys.

    `hint` says what to print before an item, if anything.
    """
    actions = {key: action for action, key in keys.items()}
    _Conversation(session, teacher, keyboard, Screen(console, keys), actions, hint).run()


@dataclass
class _Conversation:
    """Methods that return a bool say whether the next item may come."""

    session: Session
    teacher: str
    keyboard: Keyboard
    screen: Screen
    actions: Mapping[str, str]
    hint: Callable[[Given], str | None] | None

    def run(self) -> None:
        while True:
            found = self.session.next(self.teacher)
            if isinstance(found, Ending):
                if not self.end(found):
                    return
            elif not self.ask(found):
                self.screen.say(f"Saved. {self.session.summary()}")
                return

    def end(self, ending: Ending) -> bool:
        """Nothing is left; True if something was undone."""
        self.screen.say(str(ending), "bold")
        self.screen.actions("undo")
        while (key := self.keyboard.key()) is not None:
            if self.actions.get(key) == "undo" and self.undo_or_redo("undo"):
                return True
        return False

    def ask(self, given: Given) -> bool:
        """Ask about one item until it is answered; False at the end of the keys."""
        labels = self.session.labels
        keyed = {str(n): label for n, label in enumerate(labels, 1) if n < 10}
        if self.hint is not None and (words := self.hint(given)) is not None:
            self.screen.say("")
            self.screen.say(words, "cyan")
        self.screen.item(given)
        self.screen.guess(given)
        if given.asks == "feature":
            return self.ask_feature(given, str(given.kept))
        for tag in given.tags[:1]:
            self.screen.say(f"The guess does not know: {tag}?", "bold")
            self.screen.actions("yes", "no")
        self.screen.labels(labels, given.guess.label, self.session.meanings)
        self.screen.actions(*(("right", *_USUAL) if given.asks == "answer" else _USUAL))
        self.screen.progress(self.session.summary())
        while (key := self.keyboard.key()) is not None:
            label, action = keyed.get(key), self.actions.get(key)
            if action == "label":
                label = self.type_label(labels)
            if label == given.guess.label and label is not None:
                label, action = None, "right"
            if label is None:
                if self.act(given, action):
                    return True
            elif given.asks == "answer":
                return self.ask_feature(given, label)
            elif self.answer(given, "wrong", label):
                return True
        return False

    def ask_feature(self, given: Given, label: str) -> bool:
        """Ask what tells the item from its example."""
        example = given.guess.example
        assert example is not None
        everything = shown = self.session.candidates(given.id, label)
        self.screen.say(f"True of {name(given.item)}, not of {name(example)}:{counted_in(shown)}")
        self.screen.candidates(shown, label)
        self.screen.actions("feature", "write", "tag", "none", "back")
        while (key := self.keyboard.key()) is not None:
            action, done = self.actions.get(key), False
            if key.isdecimal() and 0 < int(key) <= len(shown):
                done = self.answer(given, "wrong", label, str(shown[int(key) - 1].feature))
            elif action == "none":
                done = self.answer(given, "wrong", label)
            elif action == "back" and given.asks != "feature":
                done = True  # the same item comes again
            elif action == "feature":
                words = self.line(action).lower()
                texts = [f"{one.feature} {spoken(one.feature)}".lower() for one in everything]
                shown = [one for one, text in zip(everything, texts, strict=True) if words in text]
                self.screen.candidates(shown, label)
            elif action in ("write", "tag"):
                text = self.line(action)
                done = bool(text) and self.say_feature(given, label, text, tag=action == "tag")
            else:
                done = self.act(given, action)
            if done:
                return True
        return False

    def line(self, action: str) -> str:
        """What is typed after a key that asks for words."""
        return (self.keyboard.line(_PROMPTS[action]) or "").strip()

    def act(self, given: Given, action: str | None) -> bool:
        if action == "right" and given.asks == "answer":
            return self.answer(given, "right")
        if action in ("yes", "no") and given.tags:
            tag, value = given.tags[0], action == "yes"
            return self.attempt(lambda: self.session.set_tag(self.teacher, tag, given.item, value))
        if action in ("skip", "unsure"):
            return self.answer(given, "skipped" if action == "skip" else "unsure")
        if action in ("undo", "redo"):
            return self.undo_or_redo(action)
        if action == "search":
            return self.search()
        if action == "note":
            text = self.line(action)
            if text and self.attempt(lambda: self.session.note(self.teacher, text, given.item)):
                self.screen.say("Noted.", "dim")
        if action == "meaning":
            label, _, meaning = (part.strip() for part in self.line(action).partition(":"))
            if label and self.attempt(
                lambda: self.session.describe_label(self.teacher, label, meaning)
            ):
                self.screen.say(f"{label}: {meaning or 'no meaning'}", "dim")
        if action == "help":
            self.screen.say("1 to 9: choose a label, then a feature. A correction is two keys.")
            self.screen.actions(*KEYS)
        return False

    def answer(
        self,
        given: Given,
        answer: AnswerWord,
        label: str | None = None,
        feature: str | None = None,
    ) -> bool:
        """Answer; True if that was possible."""

        def work() -> None:
            saved = self.session.answer(self.teacher, given.id, answer, label, feature)
            if (words := notice(saved.outcome)) is not None:
                self.screen.say(words, "dim")

        return self.attempt(work)

    def say_feature(self, given: Given, label: str, text: str, *, tag: bool) -> bool:
        """Answer with a condition, or a tag, that the item has and the example has not."""

        def work() -> bool:
            feature = self.session.tag_apart(self.teacher, given, text) if tag else text
            return self.answer(given, "wrong", label, feature)

        return self.attempt(work)

    def undo_or_redo(self, way: str) -> bool:
        act = self.session.undo if way == "undo" else self.session.redo

        def work() -> None:
            self.screen.say(undone_notice(act(self.teacher), redo=way == "redo"), "dim")

        return self.attempt(work)

    def search(self) -> bool:
        """Look for items, or for none in particular; True if that was possible."""
        text = self.keyboard.line(_PROMPTS["search"])
        if text is None or not self.attempt(lambda: self.session.search(self.teacher, text)):
            return False
        search = self.session.search_of(self.teacher)
        fit = "" if search is None else "fits" if search[1] == 1 else "fit"
        found = f"{counted(search[1], 'item')} {fit}." if search else "Items as they come."
        self.screen.say(found, "dim")
        return True

    def type_label(self, labels: list[str]) -> str | None:
        """A label that is typed: a known one by a part of its name, or a new one."""
        text = self.line("label")
        label = match_label(text, labels)
        if label in labels and text.lower() != label.lower():
            self.screen.say(f"{label}. A new label: type {NEW} {text}", "dim")
        return label

    def attempt(self, work: Callable[[], object]) -> bool:
        """Do something; if it is refused, print why and return False."""
        try:
            return work() is not False
        except TellapartError as error:
            self.screen.say(str(error).splitlines()[0], "red")
            return False


class Screen:
    """Prints items, guesses and choices."""

    def __init__(self, console: Console, keys: Mapping[str, str]) -> None:
        self.console, self.keys = console, keys

    def say(self, text: str, style: str = "") -> None:
        self.console.print(_text(text, style))

    def item(self, given: Given) -> None:
        """The item beside its example, what differs first."""
        example = given.guess.example
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("", overflow="fold")
        table.add_column(_text(name(given.item), "bold"), overflow="fold")
        if example is not None:
            called = f"{name(example)} ({given.guess.label})"
            table.add_column(_text(called), overflow="fold")
        same = 0
        for column, value in given.item.items():
            if given.item.table is not None and column == given.item.table.id:
                continue
            if example is None:
                table.add_row(_text(column), _text(show(value)))
            elif example.get(column) != value:
                other = _text(show(example.get(column)))
                table.add_row(_text(f"\N{NOT EQUAL TO} {column}"), _text(show(value)), other)
            else:
                same += 1
        self.console.print()
        self.console.print(table)
        if same:
            self.say(f"{same} {'column' if same == 1 else 'columns'} the same", "dim")

    def guess(self, given: Given) -> None:
        item, example = name(given.item), given.guess.example
        if example is None:
            self.say(f"What is {item}?", "bold")
        elif given.kept is not None:
            self.say(f"{item} is {given.kept}. What tells it from {name(example)}?", "bold")
        else:
            self.say(f"I think {given.guess.label}, because it is like {name(example)}.", "bold")

    def candidates(self, candidates: Sequence[Candidate], label: str) -> None:
        """Up to nine features to choose from, with what they would do in a column."""
        texts = [spoken(one.feature) for one in candidates]
        wide = min(40, max(map(len, texts), default=0))
        for number, (text, one) in enumerate(zip(texts[:9], candidates, strict=False), 1):
            self.say(f"  {number}  {text:<{wide}}  {effect(one, label)}")
        if not candidates:
            self.say("  None of the columns. Write a condition, or set a tag.", "dim")

    def labels(self, labels: Sequence[str], guess: Label, meanings: Mapping[str, str]) -> None:
        """The labels, each with its key, which never changes, and what it means."""
        for number, label in enumerate(labels[:9], 1):
            means = f": {meanings[label]}" if label in meanings else ""
            self.say(f"  {number}  {label}{means}{'  (the guess)' if label == guess else ''}")

    def actions(self, *actions: str) -> None:
        """The keys that do something now."""
        self.facts(f"{_SIGNS.get(self.keys[a], self.keys[a])} {KEYS[a][1]}" for a in actions)

    def facts(self, facts: Iterable[str]) -> None:
        """Short texts, none of them broken in two where a line ends."""
        line = ""
        for fact in facts:
            if line and len(line) + len(fact) + 5 > self.console.width:
                self.say(f"{line} ·", "dim")
                line = ""
            line = f"{line} · {fact}" if line else f"  {fact}"
        self.say(line, "dim")

    def progress(self, summary: Summary) -> None:
        self.facts([fact[:1].upper() + fact[1:] for fact in progress_facts(summary)])
        if hint := stop_hint(summary):
            self.say(f"  {hint}", "green" if summary.may_stop else "dim")


def _text(text: str, style: str = "") -> Text:
    """A text without control characters, cut if it is long."""
    more = len(text) - _LONGEST
    shown = visible(text[:_LONGEST])
    return Text(shown if more <= 0 else f"{shown}... and {more:,} characters more", style)
