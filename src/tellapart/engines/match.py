"""Which clause comes first, for many items at once, 64 to a word."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from tellapart.columns.bits import Words, unpack
from tellapart.model import Clause
from tellapart.protocol import Feature


def clause_numbers(
    clauses: Sequence[Clause], truth: Callable[[Feature], Words], items: int
) -> npt.NDArray[np.uint32]:
    """The number of the first clause that covers each item, from 0; the last one covers the rest.

    The number is kept as binary digits, a packed column each, so that a clause costs a few passes
    over words and never one over items.

    >>> from tellapart.columns.bits import pack
    >>> from tellapart.model import Literal
    >>> clauses = [Clause((Literal("milk"),), "bear"), Clause((), "duck")]
    >>> clause_numbers(clauses, lambda feature: pack([False, True, True]), 3).tolist()
    [1, 0, 0]
    """
    last = len(clauses) - 1
    digits = [np.zeros(-(-items // 64), dtype=np.uint64) for _ in range(last.bit_length())]
    left = np.full(-(-items // 64), 2**64 - 1, dtype=np.uint64)
    covered = np.empty_like(left)
    for number, clause in enumerate(clauses):
        covered[:] = left
        if number < last:
            for feature, wanted in clause.literals:
                held = truth(feature)
                covered &= held if wanted else ~held
            left &= ~covered
        for place in range(len(digits)):
            if number >> place & 1:
                digits[place] |= covered
    numbers = np.zeros(items, dtype=np.uint32)
    for place, digit in enumerate(digits):
        numbers |= unpack(digit, items).astype(np.uint32) << np.uint32(place)
    return numbers
