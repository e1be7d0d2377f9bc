"""How far each clause of a model can be trusted, by what it said before the answer was known.

The rows that made a rule agree with it, so they prove nothing. A clause is judged by the items it
labelled *after* it last changed, and only by those drawn at random.

A draw falls to one clause, and that clause errs with a chance that is its error on all items that
fall to it. So the game of `without_replacement` can be played clause by clause: the players who
begin at a draw bet on the later draws that fall to the same clause, until it changes. All of them
share the money of one. So the bounds of all clauses, of all models there ever were, hold at once
and in all rounds with one risk; clauses that come and go cost little.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from math import ceil, log, log1p

import numpy as np

from tellapart.errors import check
from tellapart.model import DecisionList, Record
from tellapart.protocol import Item, Label
from tellapart.review.without_replacement import Draws, shares_of

_ENDLESS = 2**60  # rows: so many that none is missed
_NEAR = 1e-4  # how exactly a bound is found


@dataclass
class _Seen:
    """What happened to a clause."""

    numbers: list[int] = field(default_factory=list)
    """Of the draws that fell to it, from 1."""
    mistakes: list[bool] = field(default_factory=list)
    last: int | None = None


class ClauseRecords:
    """What each clause of a changing model got right and wrong since it last changed.

    Assumptions: the items drawn at random are independent draws from one source, and a model
    changes only by what it is told. Then with the given confidence `Record.high` bounds the error
    of every clause on further items from that source, for all clauses and in all rounds at once.

    Parameters
    ----------
    rows : int, default=None
        The most draws there can be, such as the rows of a table; the bounds are smaller then.

    >>> from tellapart import Clause
    >>> records = ClauseRecords()
    >>> model = DecisionList(default=Clause((), "mammal", "bear"))
    >>> for _ in range(200):
    ...     records.add(model, {"milk"}, "mammal")
    >>> records.judge(model).default.record
    Record(right=200, wrong=0, last=200, high=0.0179)
    """

    def __init__(self, rows: int | None = None) -> None:
        self.rows = rows
        self._rounds = self._draws = 0
        self._model: DecisionList | None = None
        self._keys: list[Hashable] = []
        self._seen: dict[Hashable, _Seen] = {}

    def add(self, model: DecisionList, item: Item, label: Label, *, drawn: bool = True) -> None:
        """One round: the model before the label was known, and the label. `drawn` says whether the
        item was drawn at random; if not, it is no evidence."""
        self._take(model)
        self._rounds += 1
        self._draws += drawn
        clause = model.match(item)
        number = next(n for n, one in enumerate(model) if one is clause)
        seen = self._seen[self._keys[number]]
        seen.last = self._rounds
        if drawn:
            seen.numbers.append(self._draws)
            seen.mistakes.append(clause.label != label)

    def judge(self, model: DecisionList, confidence: float = 0.95) -> DecisionList:
        """The model with a record for each clause."""
        check("judge", "confidence", confidence, "between 0 and 1", lambda c: 0 < c < 1, float)
        self._take(model)
        records = [self._record(number, 1 - confidence) for number in range(len(self._keys))]
        *clauses, default = (
            replace(clause, record=record) for clause, record in zip(model, records, strict=True)
        )
        return DecisionList(tuple(clauses), default, model.reading)

    def refutes(self, model: DecisionList, number: int, error: float, risk: float) -> bool:
        """Whether the draws of a clause, by its number from 0, refute such an error of it."""
        self._take(model)
        draws = len(self._seen[self._keys[number]].mistakes)
        if error < 1 and draws * -log1p(-error) < -log(risk):
            return False  # nobody can own enough yet
        return self._drawn(number).refute(error * _ENDLESS, risk)

    def _take(self, model: DecisionList) -> None:
        """Keep the records of the clauses that are still there."""
        if model is not self._model:
            self._model, self._keys = model, regions(model)
            self._seen = {key: self._seen.get(key) or _Seen() for key in self._keys}

    def _drawn(self, number: int) -> Draws:
        seen = self._seen[self._keys[number]]
        return Draws(
            np.array(seen.mistakes, dtype=np.bool_),
            np.full(len(seen.numbers), _ENDLESS, dtype=np.intp),
            shares_of(seen.numbers, self.rows),
            _ENDLESS,
        )

    def _record(self, number: int, risk: float) -> Record:
        seen, drawn = self._seen[self._keys[number]], self._drawn(number)
        inside, out = 0.0, 1.0
        while out - inside > _NEAR / 2:
            middle = (inside + out) / 2
            if drawn.refute(middle * _ENDLESS, risk):
                out = middle
            else:
                inside = middle
        high = min(1.0, round(ceil(out / _NEAR) * _NEAR, 4))
        wrong = sum(seen.mistakes)
        return Record(len(seen.mistakes) - wrong, wrong, seen.last, high)


def regions(model: DecisionList) -> list[Hashable]:
    """For each clause and the default, what makes it: equal where the same items get the same label
    from it.

    These are its own literals, its label, and the literals of the earlier clauses that can cover
    items of it. The order of those does not matter.

    >>> from tellapart import Clause, Literal
    >>> bass = Clause((Literal("fins"), Literal("milk", False)), "bass")
    >>> one = DecisionList((Clause((Literal("milk"),), "bear"), bass))
    >>> other = DecisionList((bass,))
    >>> regions(one)[1] == regions(other)[0], regions(one)[2] == regions(other)[1]
    (True, False)
    """
    earlier: list[frozenset[tuple[Hashable, bool]]] = []
    keys: list[Hashable] = []
    for clause in model:
        own = frozenset((feature, wanted) for feature, wanted in clause.literals)
        against = {(feature, not wanted) for feature, wanted in own}
        before = frozenset(literals for literals in earlier if not literals & against)
        keys.append((clause.label, own, before))
        earlier.append(own)
    return keys
