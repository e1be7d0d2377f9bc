"""The corrections of a lesson with millions of mistakes, most of which say nothing new."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from tellapart.columns.bits import Words, unpack
from tellapart.protocol import Round


class Corrections(Sequence[Round]):
    """Rounds that were told, and rounds that can be told at any time, in order.

    Parameters
    ----------
    told : sequence of Round
        Those that happened, in order.
    noted : packed column
        The numbers of the other rounds.
    tell : number -> Round
        What one of those was.
    items : int
        How many rounds the lesson had.

    >>> from tellapart import Correction, Guess
    >>> from tellapart.columns import pack
    >>> def tell(number):
    ...     return Round(number, f"item {number}", Guess("fish", "bass"), Correction("bird"))
    >>> corrections = Corrections([tell(3)], pack([True, False, True, False]), tell, 4)
    >>> len(corrections), [corrected.number for corrected in corrections], corrections[-1].item
    (3, [0, 2, 3], 'item 3')
    """

    def __init__(
        self, told: Sequence[Round], noted: Words, tell: Callable[[int], Round], items: int
    ) -> None:
        self._told = {corrected.number: corrected for corrected in told}
        self._noted, self._tell, self._items = noted, tell, items

    @cached_property
    def numbers(self) -> npt.NDArray[np.int64]:
        """The numbers of the rounds, in order."""
        where = unpack(self._noted, self._items).copy()
        where[list(self._told)] = True
        return np.flatnonzero(where)

    @cached_property
    def _length(self) -> int:
        return len(self._told) + int(np.bitwise_count(self._noted).sum())

    def __len__(self) -> int:
        return self._length

    def _round(self, number: int) -> Round:
        told = self._told.get(number)
        return self._tell(number) if told is None else told

    @overload
    def __getitem__(self, index: int) -> Round: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Round, ...]: ...
    def __getitem__(self, index: int | slice) -> Round | tuple[Round, ...]:
        if isinstance(index, slice):
            return tuple(map(self._round, self.numbers[index].tolist()))
        return self._round(int(self.numbers[index]))

    def __iter__(self) -> Iterator[Round]:
        return map(self._round, self.numbers.tolist())

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, tuple | Corrections):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))
