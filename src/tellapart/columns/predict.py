"""A decision list over a whole packed table at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from tellapart.columns.bits import Source, Words, clear_tail, column, words_for
from tellapart.columns.labels import Codes, Labels
from tellapart.errors import FeatureError
from tellapart.model import Clause, DecisionList, holds
from tellapart.protocol import Feature, Label

_PART = 4096  # words at a time, so that the arrays in use stay in the cache
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def predict(model: DecisionList, source: Source) -> Labels:
    """The label of every item of `source`, packed.

    A source is a world, a `Table`, or anything with `truth(feature)`, a packed column, and a
    length. `labels.codes.array()` has the number of each item's label in `labels.names`.

    >>> import tellapart as ta
    >>> table = ta.Table({"milk": [True, False, False], "eggs": [False, True, False]})
    >>> model = ta.DecisionList(
    ...     (ta.Clause((ta.Literal("milk"),), "mammal"), ta.Clause((ta.Literal("eggs"),), "bird")),
    ...     default=ta.Clause((), "stone"))
    >>> labels = predict(model, table)
    >>> list(labels), labels.names, labels.codes.array()
    (['mammal', 'bird', 'stone'], ('mammal', 'bird', 'stone'), array([0, 1, 2], dtype=uint8))
    """
    code: dict[Label, int] = {}
    codes = [code.setdefault(clause.label, len(code)) for clause in model]
    return Labels(tuple(code), _from_source(model, source, codes))


def fired(model: DecisionList, source: Source) -> Codes:
    """The number of the clause that labels each item, packed; `len(model.clauses)` is the default.

    >>> import tellapart as ta
    >>> model = ta.DecisionList((ta.Clause((ta.Literal("milk"),), "mammal"),))
    >>> fired(model, ta.Table({"milk": [True, False]})).array()
    array([0, 1], dtype=uint8)
    """
    return _from_source(model, source, range(len(model.clauses) + 1))


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
    codes = clause_codes(clauses, range(len(clauses)), truth, items)
    return codes.array().astype(np.uint32, copy=False)


def clause_codes(
    clauses: Sequence[Clause], codes: Sequence[int], truth: Callable[[Feature], Words], items: int
) -> Codes:
    """The code of the first clause that covers each item, packed; the last one covers the rest."""
    columns: dict[Feature, Words] = {}  # each is asked for once
    for clause in clauses:
        for feature, _ in clause.literals:
            if feature not in columns:
                columns[feature] = truth(feature)
    planes = [np.zeros(words_for(items), dtype=np.uint64) for _ in range(max(codes).bit_length())]
    for first in range(0, words_for(items), _PART):
        part = slice(first, min(first + _PART, words_for(items)))
        left = clear_tail(np.full(part.stop - first, _ALL), min(items - 64 * first, 64 * _PART))
        for clause, code in zip(clauses, codes, strict=True):
            covered = left.copy()
            for feature, wanted in clause.literals:
                held = columns[feature][part]
                if wanted:
                    covered &= held
                else:  # and not the column, without a copy of it
                    covered |= held
                    covered ^= held
            left ^= covered
            for digit, plane in enumerate(planes):
                if code >> digit & 1:
                    plane[part] |= covered
    return Codes(planes, items)


def _from_source(model: DecisionList, source: Source, codes: Sequence[int]) -> Codes:
    if model.reading is not getattr(source, "reading", holds):
        raise FeatureError(
            "this model reads features by a `holds` of its own, which columns do not know:"
            " use model.predict(items)"
        )
    return clause_codes(list(model), codes, lambda feature: column(source, feature), len(source))
