"""Which clause comes first, for many items at once, 64 to a word."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from tellapart.model import Clause
from tellapart.protocol import Feature
from tellapart.simulation import Codes, Plain, Words, blank, words_for


def clause_numbers(
    clauses: Sequence[Clause], truth: Callable[[Feature], Words], items: int
) -> npt.NDArray[np.uint32]:
    """The number of the first clause that covers each item, from 0; the last one covers the rest.

    The number is kept as binary digits, a packed column each, so that a clause costs a few passes
    over words and never one over items.

    >>> from tellapart.simulation.bits import pack
    >>> from tellapart.model import Literal
    >>> clauses = [Clause((Literal("milk"),), "bear"), Clause((), "duck")]
    >>> clause_numbers(clauses, lambda feature: pack([False, True, True]), 3).tolist()
    [1, 0, 0]
    """
    last = len(clauses) - 1
    digits = [blank(words_for(items)) for _ in range(last.bit_length())]
    clause_list = Plain(digits, default=last)
    for number, clause in enumerate(clauses[:last]):
        clause_list.append(code=number)
        for feature, wanted in clause.literals:
            clause_list.require(number, truth(feature), wanted)
    clause_list.say(items)
    return Codes(digits, items).array().astype(np.uint32, copy=False)
