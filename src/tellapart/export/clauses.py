"""What all exports share: the clauses that can ever apply, and examples as text."""

from __future__ import annotations

from typing import Any

from tellapart import codec
from tellapart.model import Clause, DecisionList


def reachable(model: DecisionList) -> list[Clause]:
    """The clauses down to the first that always applies, which is the default at the latest.

    >>> from tellapart.model import Literal
    >>> always = Clause((), "fish")
    >>> len(reachable(DecisionList((Clause((Literal("milk"),), "bear"), always, always), always)))
    2
    """
    clauses = []
    for clause in model:
        clauses.append(clause)
        if not clause.literals:
            break
    return clauses


def example_text(example: Any) -> str | None:
    """An example in a cell of a table: by its own name, or as JSON where it has none.

    >>> example_text("duck"), example_text(frozenset({"milk", "hair"})), example_text(None)
    ('duck', '["hair","milk"]', None)
    """
    if example is None:
        return None
    if isinstance(example, set | frozenset):
        return codec.dump(sorted(codec.encode(part) for part in example))
    if type(example) in (dict, list, tuple, bool, int, float):
        return codec.dump(codec.encode(example))
    return str(example)
