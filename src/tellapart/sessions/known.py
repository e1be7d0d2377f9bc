"""What can be asked of a session; nothing here writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tellapart.model import DecisionList
from tellapart.protocol import Item
from tellapart.sessions import report
from tellapart.sessions.events import Event
from tellapart.sessions.logged import Logged
from tellapart.sessions.replies import Answered, Summary


class Known(Logged):
    """The questions."""

    _named: tuple[DecisionList, dict[str, str], DecisionList] | None = None

    @property
    def labels(self) -> list[str]:
        """The names of the labels there are, in order of their coming."""
        with self._ready() as state:
            return [state.labels.name(key) for key in state.label_keys()]

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
                self._named = (inner, names, report.named(state, inner))
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
            return [report.answered(state, number) for number in numbers]

    def label_of(self, item: Item) -> str | None:
        """The label an item was given; None if it has none."""
        with self._ready() as state:
            place = self.table.place(item)
            number = state.course.now.taught.get(place, state.course.now.waiting.get(place))
            if number is None:
                return None
            key = state.course.said(number).label
            return None if key is None else state.labels.name(key)

    def summary(self) -> Summary:
        """How far it is."""
        with self._ready() as state:
            return report.summary(state)

    def can_undo(self, teacher: str) -> bool:
        """Whether there is something to undo."""
        with self._ready() as state:
            return teacher in state.teachers and bool(state.teachers[teacher].done)

    def can_redo(self, teacher: str) -> bool:
        """Whether there is something to redo."""
        with self._ready() as state:
            return teacher in state.teachers and bool(state.teachers[teacher].undone)
