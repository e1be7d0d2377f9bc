"""The conversation with a teacher at a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rich.console import Console

from tellapart.console.keyboard import KEYS, Keyboard
from tellapart.console.screen import Screen, offers
from tellapart.errors import TellapartError
from tellapart.features.candidates import Candidate
from tellapart.features.phrasing import counted, spoken
from tellapart.sessions import Ending, Given, Session
from tellapart.sessions.labels import NEW, typed
from tellapart.sessions.phrasing import name, said

_USUAL = ("label", "skip", "unsure", "undo", "redo", "note", "meaning", "search", "help")


def talk(
    session: Session,
    teacher: str,
    keyboard: Keyboard,
    console: Console,
    keys: Mapping[str, str],
    hints: Mapping[str, str] | None = None,
) -> None:
    """Teach until there are no items left, or no more keys.

    `hints` are words to say before an item, by its name.
    """
    _Talk(session, teacher, keyboard, Screen(console, keys), keys, hints or {}).run()


class _Talk:
    def __init__(
        self,
        session: Session,
        teacher: str,
        keyboard: Keyboard,
        screen: Screen,
        keys: Mapping[str, str],
        hints: Mapping[str, str],
    ) -> None:
        self.session, self.teacher = session, teacher
        self.keyboard, self.screen = keyboard, screen
        self.actions = {key: action for action, key in keys.items()}
        self.hints = hints

    def run(self) -> None:
        """Item after item."""
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
            if self.actions.get(key) == "undo" and self.turn("undo"):
                return True
        return False

    def ask(self, given: Given) -> bool:
        """One item, until it is answered; False at the end of the keys."""
        labels = self.session.labels
        keyed = {str(n): label for n, label in enumerate(labels, 1) if n < 10}
        if name(given.item) in self.hints:
            self.screen.say("")
            self.screen.say(self.hints[name(given.item)], "cyan")
        self.screen.item(given)
        self.screen.guess(given)
        if given.asks == "feature":
            return self.why(given, str(given.kept))
        self.screen.labels(labels, given.guess.label, self.session.meanings)
        self.screen.actions(*(("right", *_USUAL) if given.asks == "answer" else _USUAL))
        self.screen.progress(self.session.summary())
        while True:
            key = self.keyboard.key()
            if key is None:
                return False
            label = keyed.get(key)
            action = self.actions.get(key)
            if action == "label":
                label = self.choose(labels)
            if label == given.guess.label and label is not None:
                label, action = None, "right"
            if label is not None:
                if given.asks == "answer":
                    return self.why(given, label)
                if self.say(given, "wrong", label):
                    return True
            elif self.act(given, action):
                return True

    def act(self, given: Given, action: str | None) -> bool:
        """Do what a key says; True if the next item is to come."""
        if action == "right" and given.asks == "answer":
            return self.say(given, "right")
        if action == "skip":
            return self.say(given, "skipped")
        if action == "unsure":
            return self.say(given, "unsure")
        if action in ("undo", "redo"):
            return self.turn(action)
        if action == "note":
            text = self.keyboard.line("note: ")
            if text and self.tried(lambda: self.session.note(self.teacher, text, given.item)):
                self.screen.say("Noted.", "dim")
        if action == "meaning":
            label, _, meaning = (self.keyboard.line("label: what it means: ") or "").partition(":")
            if label.strip():
                self.describe(label.strip(), meaning.strip())
        if action == "search":
            return self.search(self.keyboard.line("look for: "))
        if action == "help":
            self.screen.say("1 to 9: choose a label, then a feature. A correction is two keys.")
            self.screen.actions(*KEYS)
        return False

    def describe(self, label: str, meaning: str) -> None:
        """Say what a label means."""
        if self.tried(lambda: self.session.describe_label(self.teacher, label, meaning)):
            self.screen.say(f"{label}: {meaning}" if meaning else f"{label}: no meaning", "dim")

    def search(self, text: str | None) -> bool:
        """Look for items, or nothing: then they come as they come; True if that was possible."""
        if text is None or not self.tried(lambda: self.session.search(self.teacher, text)):
            return False
        looking = self.session.search_of(self.teacher)
        said = "Items as they come."
        if looking is not None:
            said = f"{counted(looking[1], 'item')} {'fits' if looking[1] == 1 else 'fit'}."
        self.screen.say(said, "dim")
        return True

    def turn(self, way: str) -> bool:
        """Undo or redo, if there is something."""
        act = self.session.undo if way == "undo" else self.session.redo
        done = self.tried(lambda: act(self.teacher))
        if done:
            self.screen.say("Undone." if way == "undo" else "Redone.", "dim")
        return done

    def why(self, given: Given, label: str) -> bool:
        """What tells the item from its example."""
        example = given.guess.example
        assert example is not None
        everything = self.session.candidates(given.id, label)
        shown = everything
        self.screen.say(f"True of {name(given.item)}, not of {name(example)}:")
        self.offer(shown)
        self.screen.actions("feature", "write", "tag", "none", "back")
        while True:
            key = self.keyboard.key()
            if key is None:
                return False
            action = self.actions.get(key)
            if key.isdecimal() and 0 < int(key) <= len(shown):
                if self.say(given, "wrong", label, str(shown[int(key) - 1].feature)):
                    return True
            elif action == "none":
                if self.say(given, "wrong", label):
                    return True
            elif action == "back" and given.asks != "feature":
                return True  # the same item comes again
            elif action == "feature":
                words = (self.keyboard.line("find: ") or "").strip().lower()
                shown = [
                    one
                    for one in everything
                    if words in f"{one.feature} {spoken(one.feature)}".lower()
                ]
                self.offer(shown)
            elif action == "write":
                text = self.keyboard.line("condition: ")
                if text and self.say(given, "wrong", label, text):
                    return True
            elif action == "tag":
                text = self.keyboard.line("tag: ")
                if text and self.tag(given, label, text.strip()):
                    return True
            elif self.act(given, action):
                return True

    def offer(self, candidates: list[Candidate]) -> None:
        """Features to choose from."""
        self.screen.choices(offers(candidates))
        if not candidates:
            self.screen.say("  None of the columns. Write a condition, or set a tag.", "dim")

    def choose(self, labels: list[str]) -> str | None:
        """A label that is typed: a known one by a part of its name, or a new one."""
        text = (self.keyboard.line("label: ") or "").strip()
        label = typed(text, labels)
        if label in labels and text.lower() != label.lower():
            self.screen.say(f"{label}. A new label: type {NEW} {text}", "dim")
        return label

    def tag(self, given: Given, label: str, tag: str) -> bool:
        """A tag that the item has and the example has not."""

        def work() -> bool:
            feature = self.session.tag_apart(self.teacher, given, tag)
            return self.say(given, "wrong", label, feature)

        return self.tried(work)

    def say(
        self, given: Given, answer: str, label: str | None = None, feature: str | None = None
    ) -> bool:
        """Answer; True if that was possible."""

        def work() -> None:
            done = self.session.answer(self.teacher, given.id, answer, label, feature)
            if (words := said(done.outcome)) is not None:
                self.screen.say(words, "dim")

        return self.tried(work)

    def tried(self, work: Callable[[], object]) -> bool:
        """Do something; if it may not be, say why, and return False."""
        try:
            done = work()
        except TellapartError as error:
            self.screen.say(str(error).splitlines()[0], "red")
            return False
        return done is not False
