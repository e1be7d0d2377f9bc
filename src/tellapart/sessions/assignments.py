"""Who is asked about which rows: by a condition, or by the label that the rules give them now.

Rows that fit the condition of an assignment are only for those who have it; all other rows are for
those without a condition. Among their rows, teachers with labels get first what the rules call so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tellapart.columns import fired, unpack
from tellapart.model import DecisionList
from tellapart.tables.packed_columns import evaluate_soon

if TYPE_CHECKING:
    from tellapart.sessions.log import State

Mask = npt.NDArray[np.bool_]


class Assignments:
    """The assignments of a session, from its settings."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._given = state.history.settings.assignments
        rows = len(state.items)
        order = np.arange(rows)
        if state.history.settings.order != "file":
            order = np.random.default_rng(state.history.opened.data["seed"]).permutation(rows)
        self._rank = np.empty(rows, dtype=np.intp)
        self._rank[order] = np.arange(rows)
        self._where: dict[str, Mask] = {}
        for teacher, what in self._given.items():
            if "where" in what:
                feature = state.items.feature(what["where"])
                self._where[teacher] = unpack(evaluate_soon(state.items.table, feature), rows)
        taken = [np.zeros(rows, np.bool_), *self._where.values()]
        self._rest: Mask = ~np.logical_or.reduce(taken)
        self._called: tuple[DecisionList, npt.NDArray[np.int64]] | None = None

    def allows(self, place: int, teacher: str) -> bool:
        """Whether a teacher may be asked about an item."""
        return bool(self._rows(teacher)[place])

    def next(self, teacher: str) -> int | None:
        """The next item for a teacher that nobody has seen."""
        seen = np.zeros(len(self._rank), np.bool_)
        seen[list(self._state.queue.seen)] = True
        left = self._rows(teacher) & ~seen
        for rows in (left & self._labelled(teacher), left):
            places = np.flatnonzero(rows)
            if len(places):
                return int(places[np.argmin(self._rank[places])])
        return None

    def left_to_others(self, teacher: str) -> dict[str | None, int]:
        """How many items go only to others and have no answer yet, by the teacher who may have
        them; None stands for everybody without a condition."""
        state = self._state
        closed = {*state.learning.taught, *state.learning.waiting, *state.history.unsure}
        left = ~self._rows(teacher)
        left[[*closed, *state.queue.leases]] = False
        whose: list[tuple[str | None, Mask]] = [*self._where.items(), (None, self._rest)]
        counts = {name: int((left & rows).sum()) for name, rows in whose}
        return {name: count for name, count in counts.items() if count}

    def _rows(self, teacher: str) -> Mask:
        rows: Mask = self._where.get(teacher, self._rest)
        return rows

    def _labelled(self, teacher: str) -> Mask:
        """The rows that the rules now give one of the teacher's labels."""
        names = self._given.get(teacher, {}).get("labels", ())
        state = self._state
        model = state.learning.model
        if not names or model.default.label is None:
            return np.zeros(len(self._rank), np.bool_)
        if self._called is None or self._called[0] is not model:
            self._called = (model, fired(model, state.items.table).astype(np.int64))
        keys = {state.history.labels.find(name) for name in names}
        own = [
            n for n, one in enumerate(model) if state.history.labels.same(str(one.label)) in keys
        ]
        found: Mask = np.isin(self._called[1], own)
        return found
