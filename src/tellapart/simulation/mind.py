"""How the teacher of a made world thinks of reasons, in numbers that compiled code can work with.

A reason is a code: twice the number of a column, and 1 more where it is the column's negation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from tellapart.model import Not
from tellapart.protocol import Feature

FEATURES, DRAWS, START, THOUGHTS, LIMIT, FORCED = range(6)
"""What is where in a row of cells."""


@dataclass(frozen=True)
class Mind:
    """What `kernel` must know to think as a teacher does (`columns.thinking`).

    Parameters
    ----------
    features : int
        How many columns there are.
    draws : int
        How many of them come to mind before the teacher gives up.
    start, thoughts : int
        Where the hashes of columns and of thoughts begin.
    limit : int
        How many exceptions may name the same reason against the same component.
    forced : for each component, pairs of a column and its truth
        What is true of its items whatever the hash says.
    """

    features: int
    draws: int
    start: int
    thoughts: int
    limit: int
    forced: Iterable[Iterable[tuple[int, bool]]]

    def cells(self) -> npt.NDArray[np.int64]:
        """All of it in one row: from `FORCED` on, for each component, where its list begins."""
        head = [self.features, self.draws, self.start, self.thoughts, self.limit]
        lists = [[2 * column + wanted for column, wanted in pairs] for pairs in self.forced]
        place = FORCED + len(lists)
        body: list[int] = []
        for codes in lists:
            head.append(place + len(body))
            body += [len(codes), *codes]
        return np.array(head + body, dtype=np.uint64).view(np.int64)

    def code(self, feature: Feature) -> int:
        """The code of a feature; -1 when it is neither a column nor the negation of one.

        >>> mind = Mind(features=9, draws=1, start=0, thoughts=0, limit=1, forced=())
        >>> mind.code("f7"), mind.code(Not("f7")), reason(15), mind.code("f9"), mind.code("legs")
        (14, 15, Not('f7'), -1, -1)
        """
        negated = isinstance(feature, Not)
        name = feature.feature if isinstance(feature, Not) else feature
        if not isinstance(name, str) or not name[1:].isdecimal():
            return -1
        number = int(name[1:])
        known = number < self.features and name == f"f{number}"
        return 2 * number + negated if known else -1


@cache
def reason(code: int) -> Feature:
    """The feature that a code stands for."""
    name = f"f{code >> 1}"
    return Not(name) if code & 1 else name
