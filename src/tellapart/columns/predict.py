"""A decision list over a whole packed table at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from tellapart.columns.bits import Source, Words, clear_tail, column, unpack, words_for
from tellapart.columns.labels import Labels
from tellapart.errors import FeatureError
from tellapart.model import Clause, DecisionList, holds
from tellapart.protocol import Feature, Label

_PART = 4096  # words at a time, so that the arrays in use stay in the cache
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def predict(model: DecisionList, source: Source) -> Labels:
    """The label of every item of `source`.

    A source is a world, a `Table`, or anything with `truth(feature)`, a packed column, and a
    length. `labels.codes` has the number of each item's label in `labels.names`.

    >>> import tellapart as ta
    >>> table = ta.Table({"milk": [True, False, False], "eggs": [False, True, False]})
    >>> model = ta.DecisionList(
    ...     (ta.Clause((ta.Literal("milk"),), "mammal"), ta.Clause((ta.Literal("eggs"),), "bird")),
    ...     default=ta.Clause((), "stone"))
    >>> labels = predict(model, table)
    >>> list(labels), labels.names, labels.codes
    (['mammal', 'bird', 'stone'], ('mammal', 'bird', 'stone'), array([0, 1, 2], dtype=uint8))
    """
    code: dict[Label, int] = {}
    codes = [code.setdefault(clause.label, len(code)) for clause in model]
    kind = np.min_scalar_type(len(code))
    return Labels(tuple(code), np.array(codes, dtype=kind)[fired(model, source)])


def fired(model: DecisionList, source: Source) -> npt.NDArray[np.uint32]:
    """The number of the clause that labels each item; `len(model.clauses)` is the default.

    >>> import tellapart as ta
    >>> model = ta.DecisionList((ta.Clause((ta.Literal("milk"),), "mammal"),))
    >>> fired(model, ta.Table({"milk": [True, False]}))
    array([0, 1], dtype=uint32)
    """
    if model.reading is not getattr(source, "reading", holds):
        raise FeatureError(
            "this model reads features by a `holds` of its own, which columns do not know:"
            " use model.predict(items)"
        )
    return clause_numbers(list(model), lambda feature: column(source, feature), len(source))


def clause_numbers(
    clauses: Sequence[Clause], truth: Callable[[Feature], Words], items: int
) -> npt.NDArray[np.uint32]:
    """The number of the first clause that covers each item, from 0; the last one covers the rest.

    >>> from tellapart.model import Literal
    >>> from tellapart.columns import pack
    >>> clauses = [Clause((Literal("milk"),), "bear"), Clause((), "duck")]
    >>> clause_numbers(clauses, lambda feature: pack([False, True, True]), 3).tolist()
    [1, 0, 0]
    """
    features = dict.fromkeys(feature for clause in clauses for feature, _ in clause.literals)
    columns = {feature: truth(feature) for feature in features}
    kind = np.min_scalar_type(len(clauses) - 1)
    numbers = np.zeros(items, dtype=kind)
    for first in range(0, words_for(items), _PART):
        part = slice(first, min(first + _PART, words_for(items)))
        here = numbers[64 * first : 64 * part.stop]
        left = clear_tail(np.full(part.stop - first, _ALL), len(here))
        digits = [np.zeros_like(left) for _ in range((len(clauses) - 1).bit_length())]
        for number, clause in enumerate(clauses):
            covered = left.copy()
            for feature, wanted in clause.literals:
                held = columns[feature][part]
                if wanted:
                    covered &= held
                else:  # and not the column, without a copy of it
                    covered |= held
                    covered ^= held
            left ^= covered
            for place in range(len(digits)):
                if number >> place & 1:
                    digits[place] |= covered
        for place, digit in enumerate(digits):
            here |= unpack(digit, len(here)).astype(kind) << kind.type(place)
    return numbers.astype(np.uint32, copy=False)
