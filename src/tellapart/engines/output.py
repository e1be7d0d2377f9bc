"""What comes out: the label, the clause and the example of every row, in a file that is there whole
or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tellapart.errors import ParameterError
from tellapart.export.clauses import example_text, reachable
from tellapart.export.sql import label_kind
from tellapart.features.tree import Type
from tellapart.model import Clause, DecisionList

KINDS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
COLUMNS = ("label", "clause", "example")

_TYPES = {str: Type.TEXT, bool: Type.BOOL, int: Type.INTEGER, float: Type.NUMBER}


class Predicted(NamedTuple):
    """What was done."""

    rows: int
    path: Path


@dataclass(frozen=True)
class Answers:
    """What each clause says, by number: rows of the output are looked up here."""

    clauses: Sequence[Clause]
    labels: list[Any]
    type: Type
    """What the labels are: text, bool, integer or number."""
    examples: list[str | None]

    @classmethod
    def of(cls, model: DecisionList) -> Answers:
        clauses = reachable(model)
        labels: list[Any] = [clause.label for clause in clauses]
        examples = [example_text(clause.example) for clause in clauses]
        return cls(clauses, labels, _TYPES[label_kind(labels)], examples)


def output_kind(path: Path) -> str:
    """csv, jsonl or parquet, by the ending."""
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        raise ParameterError(f"the output must end in {', '.join(KINDS)}, got {path.name!r}")
    return kind


def output_names(keep: Sequence[str], prefix: str = "") -> list[str]:
    """The columns of the output: those kept, then ours; a name that is taken is refused."""
    names = [*keep, *(prefix + name for name in COLUMNS)]
    for name in names:
        if names.count(name) > 1:
            raise ParameterError(
                f"the output would have two columns {name!r}: give a prefix for ours, such as"
                " --prefix predicted_, or do not keep the other"
            )
    return names
