"""The conversation with a teacher at a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rich.console import Console

from tellapart.console.keyboard import Keyboard
from tellapart.console.screen import Screen, offer
from tellapart.errors import TellapartError
from tellapart.sessions import Ending, Given, Session
from tellapart.sessions.keys import KEYS

_SAID = {
    "again": "Saved. The rules changed meanwhile: the label is kept, but what tells it now?",
    "unsure": "Saved as unsure: kept, not learnt from.",
    "skipped": "Skipped: it comes back later.",
}


def talk(
    session: Session, teacher: str, keyboard: Keyboard, console: Console, keys: Mapping[str, str]
) -> None:
    """Teach until there are no items left, or no more keys."""
    _Talk(session, teacher, keyboard, Screen(console, keys), keys).run()


class _Talk:
    def __init__(
        self,
        session: Session,
        teacher: str,
        keyboard: Keyboard,
        screen: Screen,
        keys: Mapping[str, str],
    ) -> None:
        self.session, self.teacher = session, teacher
        self.keyboard, self.screen = keyboard, screen
        self.keys, self.actions = keys, {key: action for action, key in keys.items()}

    def run(self) -> None:
        """Item after item."""
        while True:
            found = self.session.next(self.teacher)
            if isinstance(found, Ending):
                self.screen.say(str(found), "bold")
                return
            self.screen.item(found)
            if not self.ask(found):
                self.screen.say(f"Saved. {self.session.summary()}")
                return

    def ask(self, given: Given) -> bool:
        """One item, until it is answered; False at the end of the keys."""
        labels = self.session.labels
        keyed = {str(n): label for n, label in enumerate(labels, 1) if n < 10}
        self.screen.guess(given)
        if given.asks == "feature":
            return self.why(given, str(given.kept))
        self.screen.labels(
            [label for label in labels if label != given.guess.label],
            {label: key for key, label in keyed.items()},
        )
        usual = ("label", "skip", "unsure", "undo", "redo", "note", "help")
        self.screen.actions(*(("right", *usual) if given.asks == "answer" else usual))
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
                if given.asks == "label":
                    self.say(given, "wrong", label)
                    return True
                return self.why(given, label)
            if self.act(given, action):
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
            return self.tried(lambda: getattr(self.session, action)(self.teacher))
        if action == "note":
            text = self.keyboard.line("note: ")
            if text:
                self.tried(lambda: self.session.note(self.teacher, text, given.item))
                self.screen.say("Noted.", "dim")
        if action == "help":
            self.screen.say("1 to 9: choose a label, then a feature. A correction is two keys.")
            self.screen.actions(*KEYS)
        return False

    def why(self, given: Given, label: str) -> bool:
        """What tells the item from its example."""
        offers = self.session.candidates(given.id, label)
        shown = offers
        self.screen.say(f"True of {given.item}, not of {given.guess.example}:")
        self.screen.choices([offer(one) for one in shown])
        self.screen.actions("feature", "write", "tag", "none", "back")
        while True:
            key = self.keyboard.key()
            if key is None:
                return False
            action = self.actions.get(key)
            if key in "123456789" and int(key) <= len(shown):
                if self.say(given, "wrong", label, str(shown[int(key) - 1].feature)):
                    return True
            elif action == "none":
                return self.say(given, "wrong", label)
            elif action == "back" and given.asks != "feature":
                return True  # the same item comes again
            elif action == "feature":
                words = (self.keyboard.line("find: ") or "").lower()
                shown = [one for one in offers if words in str(one.feature).lower()]
                self.screen.choices([offer(one) for one in shown])
            elif action == "write":
                text = self.keyboard.line("condition: ")
                if text and self.say(given, "wrong", label, text):
                    return True
            elif action == "tag":
                text = self.keyboard.line("tag: ")
                if text and self.tag(given, label, text.strip()):
                    return True

    def choose(self, labels: list[str]) -> str | None:
        """A label that is typed: a known one by its beginning, or a new one."""
        text = (self.keyboard.line("label: ") or "").strip()
        exact = [label for label in labels if label.lower() == text.lower()]
        begin = [label for label in labels if label.lower().startswith(text.lower())]
        if exact or (text and len(begin) == 1):
            return (exact or begin)[0]
        return text or None

    def tag(self, given: Given, label: str, tag: str) -> bool:
        """A tag that the item has and the example has not."""

        def work() -> None:
            self.session.set_tag(self.teacher, tag, given.item, True)
            self.session.set_tag(self.teacher, tag, given.guess.example, False)

        quoted = '"' + tag.replace('"', '""') + '"'
        return self.tried(work) and self.say(given, "wrong", label, quoted)

    def say(
        self, given: Given, answer: str, label: str | None = None, feature: str | None = None
    ) -> bool:
        """Answer; True if that was possible."""

        def work() -> None:
            done = self.session.answer(self.teacher, given.id, answer, label, feature)
            if done.outcome in _SAID:
                self.screen.say(_SAID[done.outcome], "dim")

        return self.tried(work)

    def tried(self, work: Callable[[], object]) -> bool:
        """Do something; if it may not be, say why."""
        try:
            work()
        except TellapartError as error:
            self.screen.say(str(error).splitlines()[0], "red")
            return False
        return True
