"""What can be asked of a session; nothing here writes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from tellapart.errors import ProtocolError
from tellapart.features.candidates import Candidate
from tellapart.learners import BaseLearner
from tellapart.model import DecisionList
from tellapart.protocol import Item
from tellapart.review import Transcript
from tellapart.sessions import agreement, suggestions, summary
from tellapart.sessions.acts import Shown
from tellapart.sessions.events import Event
from tellapart.sessions.logged import Logged
from tellapart.sessions.prefetch import LIMIT, Ahead
from tellapart.sessions.replies import (
    Agreement,
    Answered,
    Check,
    Disagreement,
    Given,
    OddOne,
    Summary,
)
from tellapart.sessions.state import State


class Known(Logged):
    """The questions."""

    @cached_property
    def _ahead(self) -> Ahead:
        return Ahead()

    _named: tuple[DecisionList, dict[str, str], DecisionList] | None = None

    @property
    def opened(self) -> Event:
        """How it began: table, learner, seed."""
        with self._ready() as state:
            return state.opened

    @property
    def learner(self) -> BaseLearner:
        """Who learns; to be looked at, not taught."""
        with self._ready() as state:
            return state.course.now.learner.inner

    def mistakes(self) -> list[bool]:
        """Of every guess, whether it was a mistake."""
        with self._ready() as state:
            return list(state.course.mistakes)

    def rules_over_time(self) -> list[int]:
        """How many rules there were after every guess."""
        with self._ready() as state:
            return list(state.course.sizes)

    @property
    def labels(self) -> list[str]:
        """The names of the labels there are, in order of their coming."""
        with self._ready() as state:
            return [state.labels.name(key) for key in state.label_keys()]

    @property
    def meanings(self) -> dict[str, str]:
        """What labels mean, by their names; those that were described."""
        with self._ready() as state:
            keys = [key for key in state.label_keys() if state.meanings.get(key)]
            return {state.labels.name(key): state.meanings[key] for key in keys}

    def search_of(self, teacher: str) -> tuple[str, int] | None:
        """What a teacher looks for, and how many items fit; None when items come as they come."""
        with self._ready() as state:
            looking = state.searches.get(teacher)
            held = state.desk.held.get(teacher)
            on_it = held is not None and held.sought
            if looking is None or not (on_it or looking.next() is not None):
                return None
            return looking.text, len(looking.places)

    @property
    def teachers(self) -> list[str]:
        """Who has joined."""
        with self._ready() as state:
            return list(state.teachers)

    @property
    def settings(self) -> dict[str, Any]:
        """order, overlap, lease and until."""
        with self._ready() as state:
            return dict(vars(state.settings))

    @property
    def model(self) -> DecisionList:
        """What was learnt, with people's edits, in the names that labels have now."""
        with self._ready() as state:
            inner = state.course.now.learner.model
            names = {key: state.labels.name(key) for key in state.labels.current()}
            if self._named is None or self._named[0] is not inner or self._named[1] != names:
                self._named = (inner, names, summary.named(state, inner))
            return self._named[2]

    def records(self) -> dict[Any, tuple[int, int]]:
        """How often the rule with each example (by its id) was right, and wrong."""
        with self._ready() as state:
            found = state.course.now.records
            return {state.items.identity(place): counts for place, counts in found.items()}

    def notes(self) -> list[Event]:
        """All notes."""
        with self._ready() as state:
            return list(state.notes)

    def history(
        self, *, item: Item = None, teacher: str | None = None, last: int | None = None
    ) -> list[Answered]:
        """Every answer, undone ones too, in order; of one item, of one teacher, or the last few."""
        with self._ready() as state:
            if item is None:
                numbers: Sequence[int] = [
                    n for n, act in enumerate(state.acts) if act.kind == "answered"
                ]
            else:
                numbers = state.answers.get(self.table.place(item), [])
            if teacher is not None:
                numbers = [n for n in numbers if state.acts[n].by == teacher]
            if last is not None:
                numbers = numbers[len(numbers) - min(last, len(numbers)) :]
            return [summary.answered(state, number) for number in numbers]

    def label_of(self, item: Item) -> str | None:
        """The label an item was given; None if it has none."""
        with self._ready() as state:
            place = self.table.place(item)
            number = state.course.now.taught.get(place, state.course.now.waiting.get(place))
            if number is None:
                return None
            key = state.course.said(number).label
            return None if key is None else state.labels.name(key)

    def prepare(self) -> None:
        """Make what the first question needs, the order of the items and the index of their ids:
        in a large table that takes a second, in which nobody should have to wait.
        """
        with self._ready() as state:
            if len(state.items):
                self.table.place(state.items.identity(0))
                _ = state.line

    def summary(self) -> Summary:
        """How far it is."""
        with self._ready() as state:
            return summary.summary(state)

    def can_undo(self, teacher: str) -> bool:
        """Whether there is something to undo."""
        with self._ready() as state:
            return teacher in state.teachers and bool(state.teachers[teacher].done)

    def can_redo(self, teacher: str) -> bool:
        """Whether there is something to redo."""
        with self._ready() as state:
            return teacher in state.teachers and bool(state.teachers[teacher].undone)

    # -- what is shown

    def given(self, given: str) -> Given:
        """What was given under an id."""
        with self._ready() as state:
            return summary.given(state, self._shown(state, given))

    def candidates(
        self, given: str, label: str | None = None, *, limit: int = LIMIT
    ) -> list[Candidate]:
        """Features that tell the item from the example shown with it, the most telling first.

        `label` is what the teacher is about to say; with it the ranking is better.
        """
        with self._ready() as state:
            return self._ahead.candidates(state, self._shown(state, given), label, limit)

    def look_ahead(self) -> bool:
        """Work out one thing that may be asked for next; False when nothing is left to do.

        It changes nothing but how soon an answer comes. For when nobody waits.
        """
        with self._lock:
            return self._state is not None and self._ahead.look(self._state)

    def expect(self) -> None:
        """Learn aside what the first feature would teach, if features are before somebody; else be
        ready for an undo.

        It changes nothing but how soon the next answer comes. For when the last one is out.
        """
        with self._lock:
            if self._state is not None and not self._ahead.expect(self._state):
                self._state.course.keep()

    def catch_up(self) -> None:
        """Do what the last answers left for later; else one of the next has to.

        It changes nothing but how soon an answer comes. For when nobody waits.
        """
        with self._lock:
            if self._state is not None:
                self._state.course.catch_up()

    def check(self, given: str, expression: str) -> Check:
        """Whether an expression holds on the item and on the example, and on how many items.

        Raises `FeatureError` for what is no expression.
        """
        with self._ready() as state:
            return suggestions.check(state, self._shown(state, given), expression)

    def _shown(self, state: State, given: str) -> Shown:
        shown = state.shown.get(given)
        if shown is None:
            raise ProtocolError(f"nothing was given under the id {given!r}")
        return shown

    # -- several teachers

    def disagreements(self) -> list[Disagreement]:
        """The items that teachers called differently, with everybody's answer."""
        with self._ready() as state:
            return agreement.disagreements(state)

    def agreement(self) -> Agreement:
        """How far teachers agree on labels and on features."""
        with self._ready() as state:
            return agreement.agreement(state)

    def odd_ones(self, teacher: str | None = None) -> list[OddOne]:
        """Suspected slips, of all or of one teacher, the oddest first.

        Others can go on meanwhile: it judges what there was when it began.
        """
        with self._ready() as state:
            history = Transcript(list(state.course.history.rounds))
            acts = list(state.course.rounds)
        found = agreement.slips(state, history, self._lock)
        with self._lock:
            odd = [agreement.odd_one(state, suspect, acts[suspect.round]) for suspect in found]
        return [one for one in odd if teacher is None or one.answer.teacher == teacher]

    def slips(self) -> dict[str, tuple[int, int]]:
        """For each teacher, how many of their answers are suspected, and how many there are."""
        with self._ready() as state:
            taught = [state.acts[number].by for number in state.course.rounds]
        odd = [one.answer.teacher for one in self.odd_ones()]
        return {name: (odd.count(name), taught.count(name)) for name in self.teachers}
