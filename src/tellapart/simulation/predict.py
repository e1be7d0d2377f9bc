"""A decision list over a whole packed table at once, or chunk after chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from tellapart.errors import FeatureError
from tellapart.model import Clause, DecisionList, holds
from tellapart.protocol import Feature, Label
from tellapart.simulation.numpy_engine import ColumnRule, write_codes
from tellapart.simulation.packed_columns import Source, Words, column, words_for
from tellapart.simulation.packed_labels import Codes, Labels


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


def predict_chunks(model: DecisionList, sources: Iterable[Source]) -> Iterator[Labels]:
    """`predict` for a table that does not fit in memory, given in parts, one at a time.

    >>> import tellapart as ta
    >>> model = ta.DecisionList((ta.Clause((ta.Literal("milk"),), "mammal"),))
    >>> parts = (ta.Table({"milk": [n % 2 == 0] * 1000}) for n in range(3))
    >>> sum(list(labels).count("mammal") for labels in predict_chunks(model, parts))
    2000
    """
    for source in sources:
        yield predict(model, source)


def clause_numbers(
    clauses: Sequence[Clause], truth: Callable[[Feature], Words], items: int
) -> npt.NDArray[np.uint32]:
    """The number of the first clause that covers each item, from 0; the last one covers the rest.

    >>> from tellapart.model import Literal
    >>> from tellapart.simulation import pack
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
    *rules, default = column_rules(clauses, codes, truth)
    size = words_for(items)
    planes = [np.empty(size, dtype=np.uint64) for _ in range(max(codes).bit_length())]
    write_codes(planes, rules, default.code, items)
    return Codes(planes, items)


def column_rules(
    clauses: Iterable[Clause], codes: Iterable[int], truth: Callable[[Feature], Words]
) -> list[ColumnRule]:
    """Clauses with the columns of their features; each column is asked for once."""
    columns: dict[Feature, Words] = {}
    rules = []
    for clause, code in zip(clauses, codes, strict=True):
        for feature, _ in clause.literals:
            if feature not in columns:
                columns[feature] = truth(feature)
        forbidden = [columns[feature] for feature, wanted in clause.literals if not wanted]
        needed = [columns[feature] for feature, wanted in clause.literals if wanted]
        rules.append(ColumnRule(forbidden, needed, code))
    return rules


def _from_source(model: DecisionList, source: Source, codes: Sequence[int]) -> Codes:
    if model.reading is not getattr(source, "reading", holds):
        raise FeatureError(
            "this model reads features by a `holds` of its own, which columns do not know:"
            " use model.predict(items)"
        )
    return clause_codes(list(model), codes, lambda feature: column(source, feature), len(source))
