"""Which item comes next among those nobody has seen: never a look at the whole table.

- "file": as they stand in the table.
- "random": shuffled by the session's seed. The estimates of the error assume it.
- "least sure": of 32 shuffled ones, the one whose rule has the worst record so far. Before every
  choice some leave these 32 and others come in, so that about the least sure fifth of all items
  comes first; those passed by come at the end.

Every request looks at a few places; the shuffling is done once.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TYPE_CHECKING

import numpy as np

from tellapart.errors import ParameterError

if TYPE_CHECKING:
    import numpy.typing as npt

ORDERS = ("file", "random", "least sure")
POOL = 32
"""So many items are compared to find the one the learner is least sure of."""
_LEAVE = 4  # so many of them make room before every choice


class Line:
    """Places in the order in which they are to be given out.

    >>> line = Line(5, "file", seed=0)
    >>> line.next({0, 1}), line.next({0, 1, 2})
    (2, 3)
    >>> Line(3, "file", seed=0).next({0, 1, 2}) is None
    True
    """

    def __init__(self, length: int, kind: str, seed: int) -> None:
        if kind not in ORDERS:
            raise ParameterError(f"an order is one of {', '.join(ORDERS)}, got {kind!r}")
        self.kind, self._length = kind, length
        self._at = 0
        self._pool: list[int] = []
        self._shuffled: npt.NDArray[np.intp] | None = None
        if kind != "file":
            self._shuffled = np.random.default_rng(seed).permutation(length)

    def next(
        self, seen: Container[int], doubt: Callable[[list[int]], list[float]] | None = None
    ) -> int | None:
        """A place not in `seen`, or None. `doubt` says how unsure the learner is of some."""
        if self.kind != "least sure" or doubt is None:
            found = self._some(seen, 1)
            if found:
                self._at -= 1  # it may come to nothing: then it is next again
                return found[0]
            return None
        pool = [place for place in self._pool[_LEAVE:] if place not in seen]
        pool += self._some(seen, POOL - len(pool))
        if len(pool) < POOL:  # at the end: once more over those passed by
            self._sweep(seen)
            pool += self._some({*pool}, POOL - len(pool))  # nothing seen is left in the line
        self._pool = pool
        if not pool:
            return None
        doubts = doubt(pool)
        return pool[max(range(len(pool)), key=lambda n: (doubts[n], -n))]

    def _some(self, seen: Container[int], count: int) -> list[int]:
        """The next few places not seen, and past them."""
        found: list[int] = []
        while len(found) < count and self._at < self._length:
            place = self._at if self._shuffled is None else int(self._shuffled[self._at])
            self._at += 1
            if place not in seen:
                found.append(place)
        return found

    def _sweep(self, seen: Container[int]) -> None:
        """Begin anew with what was passed by."""
        assert self._shuffled is not None
        left = [place for place in self._shuffled.tolist() if place not in seen]
        self._shuffled = np.array(left, dtype=np.intp)
        self._length, self._at = len(left), 0
