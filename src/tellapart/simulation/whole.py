"""A decision list over a whole packed table at once, or chunk after chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tellapart.errors import FeatureError
from tellapart.model import Clause, DecisionList, holds
from tellapart.protocol import Feature, Label
from tellapart.simulation.bits import Words, blank, words_for
from tellapart.simulation.codes import Codes, Labels
from tellapart.simulation.engine import engine
from tellapart.simulation.plain import Plain
from tellapart.simulation.source import Source, column


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
    return Labels(tuple(code), _say(model, source, codes, len(code)))


def fired(model: DecisionList, source: Source) -> Codes:
    """The number of the clause that labels each item, packed; `len(model.clauses)` is the default.

    >>> import tellapart as ta
    >>> model = ta.DecisionList((ta.Clause((ta.Literal("milk"),), "mammal"),))
    >>> fired(model, ta.Table({"milk": [True, False]})).array()
    array([0, 1], dtype=uint8)
    """
    clauses = len(model.clauses) + 1
    return _say(model, source, range(clauses), clauses)


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


def _say(model: DecisionList, source: Source, codes: Sequence[int], count: int) -> Codes:
    """The code of the clause that fires, for every item; the last of `codes` is the default's."""
    if model.reading is not getattr(source, "reading", holds):
        raise FeatureError(
            "this model reads features by a `holds` of its own, which columns do not know:"
            " use model.predict(items)"
        )
    size = words_for(len(source))
    planes = [blank(size) for _ in range((count - 1).bit_length())]
    columns: dict[Feature, Any] = {}
    made = engine(len(source))(planes, codes[-1])
    for clause, code in zip(model.clauses, codes, strict=False):
        slot = made.append(code)
        for feature, wanted in clause.literals:
            if feature not in columns:
                columns[feature] = made.hold(column(source, feature))
            made.require(slot, columns[feature], wanted)
    made.say(len(source))
    return Codes(planes, len(source))


def clause_numbers(
    clauses: Sequence[Clause], truth: Callable[[Feature], Words], items: int
) -> npt.NDArray[np.uint32]:
    """The number of the first clause that covers each item, from 0; the last one covers the rest.

    The number is kept as binary digits, a packed column each, so that a clause costs a few passes
    over words and never one over items.

    >>> from tellapart.model import Clause, Literal
    >>> from tellapart.simulation.bits import pack
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
