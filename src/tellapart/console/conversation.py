"""The conversation with a teacher at a terminal, and what it prints.

Letters are text, digits choose, Enter confirms, Esc goes back, `/` is everything else, `?` is help:
as on the page.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tellapart.console.keyboard import ENTER, ESCAPE, Keyboard
from tellapart.errors import FeatureError, TellapartError
from tellapart.export.text import sentences
from tellapart.features.candidates import Candidate
from tellapart.features.phrasing import counted, spoken
from tellapart.sessions import Ending, Given, Session
from tellapart.sessions.events import AnswerWord
from tellapart.sessions.learnt import AT_ONCE, Before, Learnt, learnt, moved
from tellapart.sessions.phrasing import (
    ALONE,
    ASKED,
    COMMANDS,
    CONSOLE,
    CONSOLE_HELP,
    NEW,
    SAY,
    a_label,
    covers,
    decides,
    ending_text,
    lately,
    match_label,
    name,
    news_of,
    next_file,
    notice,
    progress_sentence,
    show_cell,
    split_article,
    stop_hint,
    taught_so_far,
    undone_notice,
    visible,
    why_again,
)

_DIGITS = "123456789"
_NINE = 9
_SUGGESTED = 27
_LONGEST = 400
_ON_PAGE = ("many", "answers", "data", "export")


class _Stop(Exception):
    """Nothing more is typed."""


def talk(
    session: Session,
    teacher: str,
    keyboard: Keyboard,
    console: Console,
    hint: Callable[..., str | None] | None = None,
) -> None:
    """Teach until there are no rows left, or nothing more is typed.

    `hint` says what to print before a row, if anything; and, with the label, before its reason.
    """
    _Conversation(session, teacher, keyboard, Screen(console), hint).run()


@dataclass
class _Conversation:
    """Methods that return a bool say whether the next row may come."""

    session: Session
    teacher: str
    keyboard: Keyboard
    screen: Screen
    hint: Callable[..., str | None] | None

    def run(self) -> None:
        with suppress(_Stop):
            while True:
                found = self.session.next(self.teacher)
                if isinstance(found, Ending):
                    self.end(found)
                else:
                    self.ask(found)
        summary = self.session.summary()
        taught = taught_so_far(summary).removesuffix(".")
        self.screen.say(f"Saved. {taught}, {counted(summary.rules, 'rule')}. {CONSOLE['go on']}")
        source = (self.session.opened.data.get("source") or {}).get("path")
        if source and summary.rules:
            file = Path(str(source)).name
            self.screen.say(CONSOLE["next"].format(file, next_file(file)))

    def read(self, prompt: str, keys: str = "") -> str:
        """What is typed next: a word, or one of the keys. Help, and the list of commands, are given
        at once."""
        while (word := self.keyboard.word(prompt, keys)) in ("?", "/"):
            self.screen.help() if word == "?" else self.screen.commands()
        if word is None:
            raise _Stop
        return word

    def repeat(self, step: Callable[[], bool]) -> None:
        """Do a step until the next row may come; what is refused is said."""
        while True:
            try:
                if step():
                    return
            except TellapartError as error:
                self.screen.say(str(error).splitlines()[0], "red")

    def end(self, ending: Ending) -> None:
        """Nothing is left, until something is undone."""

        def step() -> bool:
            word = self.read("> ")
            return word.startswith("/") and self.command(None, word)

        self.screen.say(ending_text(ending), "bold")
        self.repeat(step)

    def ask(self, given: Given) -> None:
        """Ask about one row until the next one may come."""
        self.guide(given)
        self.screen.row(given)
        if (why := why_again(self.session.asked_again(given.id), given.guess)) is not None:
            self.screen.say(why, "dim")
        if (search := self.session.search_of(self.teacher)) is not None:
            self.screen.say(SAY.looking_for.format(*search), "dim")
        if given.asks == "feature":
            self.ask_why(given, str(given.kept))
            return
        if given.tags and self.ask_tag(given, given.tags[0]):
            return
        labels = self.session.labels
        self.screen.question(given, self.session.settings["articles"])
        self.screen.labels(labels, self.session.meanings)
        self.screen.progress(self.session)
        self.repeat(lambda: self.read_answer(given))

    def read_answer(self, given: Given) -> bool:
        word = self.read("> ", _DIGITS)
        if word.startswith("/"):
            return self.command(given, word)
        if word == ENTER and given.asks == "answer":
            return self.answer(given, "right")
        if word == ENTER:
            self.screen.question(given, {})
        label = self.label_of(word)
        if label is None:
            return False
        if label == given.guess.label:
            return self.answer(given, "right")
        if given.asks != "answer":
            return self.answer(given, "wrong", label)
        self.ask_why(given, label)
        return True

    def guide(self, *about: Given | str) -> None:
        """Say what the tour says here."""
        if self.hint is not None and (words := self.hint(*about)) is not None:
            self.screen.say("")
            self.screen.say(words, "cyan")

    def label_of(self, word: str) -> str | None:
        """The label that a key or a word stands for."""
        if word in (ENTER, ESCAPE):
            return None
        if word not in [*_DIGITS]:
            return self.read_label(word)
        label = dict(zip(_DIGITS, self.session.labels, strict=False)).get(word)
        if label is None:
            self.screen.say(CONSOLE["no digit"].format(word), "dim")
        return label

    def read_label(self, typed: str) -> str | None:
        """A label that is typed: a known one by a part of its name, or a new one. Its article is
        kept for sentences."""
        labels = self.session.labels
        article, bare = ("", typed) if typed in labels else split_article(typed)
        label = match_label(bare, labels)
        if label is None:
            return None
        if label in labels and bare.lower() != label.lower() and not bare.lower().startswith(NEW):
            self.screen.say(f'"{bare}" is {label}.', "dim")
        articles = self.session.settings["articles"]
        if article and articles.get(label) != article:
            self.session.set(self.teacher, articles={**articles, label: article})
        return label

    def ask_tag(self, given: Given, tag: str) -> bool:
        """Ask whether the row has a tag that the guess depends on; whether that was answered."""
        answered = True

        def step() -> bool:
            nonlocal answered
            word = self.read("> ", "120")
            if word in ("1", "2"):
                self.session.set_tag(self.teacher, tag, given.item, word == "1")
                return True
            answered = word not in ("0", ENTER, ESCAPE)
            return not answered or (word.startswith("/") and self.command(given, word))

        self.screen.say(CONSOLE["tag"].format(tag), "bold")
        self.repeat(step)
        return answered

    def ask_why(self, given: Given, label: str) -> None:
        """Ask what tells the row from the earlier one."""
        everything = shown = self.session.candidates(given.id, label, limit=_SUGGESTED)
        self.guide(given, label)
        self.screen.why(given, a_label(label, self.session.settings["articles"]))
        self.screen.reasons(shown)
        start = 0

        def step() -> bool:
            nonlocal shown, start
            word = self.read("because> ", f"0{_DIGITS}+")
            if word.startswith("/"):
                return self.command(given, word)
            if word.startswith("#"):
                return self.say_tag(given, label, word[1:].strip())
            if word == "0":
                return self.answer(given, "wrong", label)
            if word == ESCAPE:
                return given.asks != "feature"  # the same row comes again
            if word == ENTER:
                return False
            if word in [*_DIGITS]:
                chosen = shown[start:][int(word) - 1 : int(word)]
                if chosen:
                    return self.answer(given, "wrong", label, str(chosen[0].feature))
                self.screen.say(CONSOLE["no digit"].format(word), "dim")
            elif word == "+":
                start = start + _NINE if start + _NINE < len(shown) else 0
                self.screen.reasons(shown[start:])
            elif self.is_reason(word):
                return self.answer(given, "wrong", label, word)
            else:
                shown, start = self.find(everything, word), 0
                self.screen.reasons(shown)
                if not shown:
                    self.screen.say(CONSOLE["no reason"].format(word), "dim")
                    shown = everything
            return False

        self.repeat(step)

    def is_reason(self, text: str) -> bool:
        """Whether a text is a reason by itself, or means to be one."""
        try:
            self.session.table.parse(text)
        except FeatureError:
            return " " in text.strip()  # what is wrong with it is said
        return True

    def find(self, everything: Sequence[Candidate], words: str) -> list[Candidate]:
        """The suggestions that have some words in them."""
        low = words.lower()
        return [one for one in everything if low in f"{one.feature} {spoken(one.feature)}".lower()]

    def command(self, given: Given | None, word: str) -> bool:
        """Do what stands behind `/`."""
        typed, _, text = (part.strip() for part in word[1:].strip().partition(" "))
        known = [*COMMANDS, "quit"]
        command = next((one for one in known if typed and one.startswith(typed.lower())), None)
        if command is None:
            near = difflib.get_close_matches(typed, known, 1, 0.4)
            meant = f" Did you mean /{near[0]}?" if near else ""
            self.screen.say(f"There is no command /{typed}.{meant}", "red")
        elif command == "quit":
            raise _Stop
        elif command in ("undo", "redo"):
            return self.undo_or_redo(command)
        elif command == "rules":
            for n, line in enumerate(sentences(self.session.model), 1):
                self.screen.say(f"  {n}. {line}")
        elif command == "progress":
            summary = self.session.summary()
            error = summary.error
            wrong = None if error.high > 0.99 else error.wrong_left
            self.screen.say(progress_sentence(summary, summary.items - error.rows_left, wrong))
        elif command == "labels":
            self.labels(text)
        elif command in _ON_PAGE:
            self.screen.say(CONSOLE["on the page"].format(command), "dim")
        elif command == "find":
            return self.search(text)
        elif given is None:
            return False
        elif command == "example":
            return self.change_example(given)
        elif command == "note":
            text = text or (self.keyboard.word(f"{ASKED['note']}: ") or "").strip()
            if text:
                self.session.note(self.teacher, text, given.item)
                self.screen.say("Note saved.", "dim")
        else:
            return self.answer(given, "skipped" if command == "skip" else "unsure")
        return False

    def labels(self, text: str) -> None:
        """Say what a label means, `/labels bird: has feathers`; or list them all."""
        label, colon, meaning = (part.strip() for part in text.partition(":"))
        if label and colon:
            self.session.describe_label(self.teacher, label, meaning)
            self.screen.say(f"{label}: {meaning or 'no meaning'}", "dim")
        else:
            for one in self.session.labels:
                means = self.session.meanings.get(one)
                self.screen.say(f"  {one}{f': {means}' if means else ''}")

    def change_example(self, given: Given) -> bool:
        """Change the answer about the earlier row."""
        example = given.guess.example
        said = [] if example is None else self.session.history(item=example)
        last = next((one for one in reversed(said) if not one.undone), None)
        if last is None:
            return False
        self.screen.say(CONSOLE["change"].format(name(last.item), given.guess.label), "bold")
        word = self.read("> ", _DIGITS)
        if word.startswith("/"):
            return self.command(given, word)
        if (label := self.label_of(word)) is None:
            return False
        right = label == last.guess
        new: tuple[AnswerWord, str | None] = ("right", None) if right else ("wrong", label)
        self.session.change(self.teacher, last.event, *new)
        return True

    def answer(
        self,
        given: Given,
        answer: AnswerWord,
        label: str | None = None,
        feature: str | None = None,
    ) -> bool:
        """Answer, and say what was learnt."""
        session = self.session
        before = Before(session.model, given.item, label, feature)
        saved = session.answer(self.teacher, given.id, answer, label, feature)
        if (words := notice(saved.outcome, name(given.item))) is not None:
            self.screen.say(words, "dim")
        if (found := learnt(session, saved, before)) is not None:
            self.screen.learnt(found)
            if len(session.table) <= AT_ONCE and found.kind in ("new", "changed"):
                mine = [c for c in moved(session, before).counts if c[1] == label]
                rows = sum(rows for *_, rows in mine)
                said = decides(rows, [a for a, _, _ in mine]) + "." if rows else ALONE
                self.screen.say(f"  {said}", "green")
        return True

    def say_tag(self, given: Given, label: str, tag: str) -> bool:
        """Answer with a tag that the row has and the earlier row has not."""
        if not tag:
            return False
        feature = self.session.tag_apart(self.teacher, given, tag)
        return self.answer(given, "wrong", label, feature)

    def undo_or_redo(self, way: str) -> bool:
        act = self.session.undo if way == "undo" else self.session.redo
        self.screen.say(undone_notice(act(self.teacher), redo=way == "redo"), "dim")
        return True

    def search(self, text: str) -> bool:
        """Look for rows, or for none in particular."""
        self.session.search(self.teacher, text)
        search = self.session.search_of(self.teacher)
        self.screen.say(SAY.looking_for.format(*search) if search else CONSOLE["all rows"], "dim")
        return True


class Screen:
    """Prints rows, questions and choices."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def say(self, text: str, style: str = "") -> None:
        self.console.print(_text(text, style))

    def row(self, given: Given) -> None:
        """The row beside the earlier one, what differs first."""
        example = given.guess.example
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("", overflow="fold")
        table.add_column(_text(name(given.item), "bold"), overflow="fold")
        if example is not None:
            table.add_column(_text(f"{name(example)} ({given.guess.label})"), overflow="fold")
        same = []
        for column, value in given.item.items():
            mine = _text(show_cell(given.item, column))
            if given.item.table is not None and column == given.item.table.id:
                continue
            if example is None:
                table.add_row(_text(column), mine)
            elif example.get(column) != value:
                table.add_row(_text(column), mine, _text(show_cell(example, column)))
            else:
                same.append(column)
        self.console.print()
        self.console.print(table)
        if same:
            self.say(f"the same in both: {', '.join(same[:4])}{', …' if same[4:] else ''}", "dim")

    def question(self, given: Given, articles: dict[str, str]) -> None:
        """What is asked, and what can be typed."""
        item, example = name(given.item), given.guess.example
        if example is None:
            self.say(f"What is {item}?", "bold")
            self.say(CONSOLE["first"], "dim")
        else:
            label = a_label(str(given.guess.label), articles)
            self.say(f"Is {item} {label}, like {name(example)}?", "bold")
            self.say(CONSOLE["guess"], "dim")

    def why(self, given: Given, label: str) -> None:
        example = given.guess.example
        assert example is not None
        self.say(f"Why is {name(given.item)} {label}, unlike {name(example)}?", "bold")

    def reasons(self, candidates: Sequence[Candidate]) -> None:
        """Up to nine suggestions, with the rows they are true of, and the answers that agree."""
        texts = [spoken(one.feature) for one in candidates[:_NINE]]
        wide = min(44, max(map(len, texts), default=0))
        for number, (text, one) in enumerate(zip(texts, candidates, strict=False), 1):
            of = one.yes - 1 + one.others
            agree = f" · {one.yes - 1} of {of} agree" if of else ""
            self.say(f"  {number}  {text:<{wide}}  {covers(one)}{agree}")
        if not candidates:
            self.say(f"  {CONSOLE['none']}", "dim")
        more = CONSOLE["more"] if len(candidates) > _NINE else ""
        self.say(CONSOLE["reason"] + more, "dim")

    def learnt(self, found: Learnt) -> None:
        """What an answer taught."""
        said = news_of(found.kind, found.reason)
        parts = {"row": name(found.item), "label": found.label, "wanted": found.wanted}
        text = said.format(**parts, reason=found.reason, event=found.event)
        self.say(text if text.endswith(".") else f"{text}.", "green")

    def labels(self, labels: Sequence[str], meanings: dict[str, str]) -> None:
        """The labels in a line, each with its digit, which never changes; meanings below."""
        if labels:
            more = f"  and {len(labels) - _NINE} more: /labels" if len(labels) > _NINE else ""
            keyed = zip(_DIGITS, labels, strict=False)
            self.say("  ".join(f"{n} {label}" for n, label in keyed) + more)
        for label in labels:
            if label in meanings:
                self.say(f"  {label}: {meanings[label]}", "dim")

    def progress(self, session: Session) -> None:
        summary = session.summary()
        if summary.labelled:
            self.say(f"{taught_so_far(summary)} {lately(session.mistakes())}".strip(), "dim")
        if summary.may_stop and (hint := stop_hint(summary)):
            self.say(hint, "green")

    def help(self) -> None:
        """What can be typed."""
        for keys, words in CONSOLE_HELP:
            self.say(f"  {keys:<10} {words}")
        self.commands()

    def commands(self) -> None:
        """What stands behind `/`."""
        listed = [(f"/{one}", words) for one, words in COMMANDS.items() if one not in _ON_PAGE]
        for command, words in (*listed, ("/quit", "Stop; every answer is saved")):
            self.say(f"  {command:<10} {words}")


def _text(text: str, style: str = "") -> Text:
    """A text without control characters, cut if it is long."""
    more = len(text) - _LONGEST
    shown = visible(text[:_LONGEST])
    return Text(shown if more <= 0 else f"{shown}... and {more:,} characters more", style)
