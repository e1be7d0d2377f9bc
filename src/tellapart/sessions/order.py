"""The order in which items come that nobody has seen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Sequence

import numpy as np
import numpy.typing as npt

from tellapart.errors import ParameterError
from tellapart.sessions.config import ORDERS

POOL = 32
"""So many items are compared to find the one the learner is least sure of."""
_LEAVE = 4  # so many of them make room before every choice
DRAWN = 4
"""In mixed order, one item in so many is drawn at random,"""
DRAWN_FIRST = 8
"""and so are the first ones: there are no rules yet to be unsure of."""
_PICKING = ("least sure", "mixed")


class Order:
    """Places in the order in which they are given out.

    - "file": as they stand in the table.
    - "random": shuffled by the session's seed. The estimates of the error assume it.
    - "least sure": of 32 shuffled ones, the one whose rule has the worst record so far. Before
      every choice some leave these 32 and others come in, so that about the least sure fifth of all
      items comes first; those passed by come at the end.
    - "mixed": one in four at random, and all of the first eight; the others are picked: of 32, one
      whose rule is doubtful and has many of the 32. While most of the later guesses on drawn items
      are wrong, all are drawn: such rules cannot tell what they are unsure of.

    Draws and picks come from two shuffled lines that know nothing of each other. So whatever was
    picked, in this order or before it, a draw is any of the items left with the same chance, and
    the estimates of the error hold if only the draws count.

    The line with which a session `began` is shuffled by its seed, the other by one made from it.
    The shuffling is done once; every request looks at a few places, never at the whole table.

    >>> order = Order(5, "file", seed=0)
    >>> order.next({0, 1}), order.next({0, 1, 2})
    (2, 3)
    >>> Order(3, "file", seed=0).next({0, 1, 2}) is None
    True
    """

    def __init__(self, length: int, kind: str, seed: int, *, began: str = "random") -> None:
        if kind not in ORDERS:
            raise ParameterError(f"an order is one of {', '.join(ORDERS)}, got {kind!r}")
        self.kind = kind
        seeds = ([seed, 1], seed) if began == "least sure" else (seed, [seed, 1])
        self._pool: list[int] = []
        places: Sequence[int] | npt.NDArray[np.intp] = range(length)
        if kind in ("random", "mixed"):
            places = np.random.default_rng(seeds[0]).permutation(length)
        self._draws = _Line(places if kind != "least sure" else ())
        picks = np.random.default_rng(seeds[1]).permutation(length) if kind in _PICKING else ()
        self._line = _Line(picks)
        self._drawn: set[int] = set()
        self._unsure: set[int] = set()

    def is_unsure_of(self, place: int) -> bool:
        """Whether an item came because the learner is unsure of it."""
        return place in self._unsure

    def picks(self, place: int) -> bool:
        """Whether an item that nobody has seen is no draw: the learner is unsure of it, or somebody
        asked for it by its name."""
        return place not in self._drawn

    def next(
        self,
        seen: Collection[int],
        doubt: Callable[[list[int]], list[float]] | None = None,
        *,
        errs: bool = False,
    ) -> int | None:
        """A place not in `seen`, or None. `doubt` says how unsure the learner is of some; `errs`,
        whether most of its later guesses on drawn items are wrong."""
        draw = self.kind not in _PICKING
        if self.kind == "mixed":
            draw = errs or len(seen) < DRAWN_FIRST or len(seen) % DRAWN == 0
        if not draw:
            return self._least_sure(seen, doubt)
        drawn = self._draws.first(seen)
        if drawn is not None:
            self._drawn.add(drawn)
            self._unsure.discard(drawn)
        return drawn

    def _least_sure(
        self, seen: Collection[int], doubt: Callable[[list[int]], list[float]] | None
    ) -> int | None:
        pool = [place for place in self._pool[_LEAVE:] if place not in seen]
        pool += self._line.some(seen, POOL - len(pool), {*pool})
        if len(pool) < POOL:  # at the end: once more over those passed by
            self._line.sweep(seen)
            pool += self._line.some(seen, POOL - len(pool), {*pool})
        self._pool = pool
        if not pool:
            return None
        doubts = [0.0] * len(pool) if doubt is None else doubt(pool)
        place = pool[max(range(len(pool)), key=lambda n: (doubts[n], -n))]
        self._drawn.discard(place)
        self._unsure.add(place)
        return place


class _Line:
    """Places in a row; those handed out are passed."""

    def __init__(self, places: Sequence[int] | npt.NDArray[np.intp]) -> None:
        self._places, self._at = places, 0

    def some(self, seen: Container[int], count: int, known: Container[int] = ()) -> list[int]:
        """The next few places neither seen nor known, and past them."""
        found: list[int] = []
        while len(found) < count and self._at < len(self._places):
            place = int(self._places[self._at])
            self._at += 1
            if place not in seen and place not in known:
                found.append(place)
        return found

    def first(self, seen: Container[int]) -> int | None:
        """The next place not seen."""
        found = self.some(seen, 1)
        if not found:
            return None
        self._at -= 1  # it may come to nothing: then it is next again
        return found[0]

    def sweep(self, seen: Container[int]) -> None:
        """Begin anew with what was passed by."""
        left = [place for place in map(int, self._places) if place not in seen]
        self._places, self._at = np.array(left, dtype=np.intp), 0
