"""What was read, column by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tellapart.features.tree import Type

if TYPE_CHECKING:
    from tellapart.tables.table import Table


_LOOK = 10_000
"""Rows looked at to show what a column of texts holds."""


@dataclass(frozen=True)
class ColumnSummary:
    """One column: its type, how many values are unknown, and what the others look like."""

    name: str
    type: str
    unknown: int
    shown: str


@dataclass(frozen=True)
class Summary:
    """A table in short; `print` it."""

    name: str
    items: int
    columns: tuple[ColumnSummary, ...]
    unreadable: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.items:,} items, {len(self.columns)} columns"]
        width = max((len(column.name) for column in self.columns), default=0)
        for column in self.columns:
            unknown = f"  ({column.unknown:,} unknown)" if column.unknown else ""
            lines.append(f"  {column.name:<{width}}  {column.type:<8}  {column.shown}{unknown}")
        if self.unreadable:
            lines.append(f"  not readable by features: {', '.join(self.unreadable)}")
        return "\n".join(lines)


def summarise(table: Table) -> Summary:
    """Read every column once.

    >>> from tellapart.tables import Table
    >>> print(Table({"legs": [4, 2, None], "name": ["bear", "duck", "bass"]}).summary())
    table: 3 items, 2 columns
      legs  integer   2 to 4  (1 unknown)
      name  text      'bass', 'bear', 'duck'
    """
    columns = tuple(_column(table, name, kind) for name, kind in table.types.items())
    unreadable = tuple(f"{name} ({kind})" for name, kind in table.unreadable.items())
    return Summary(table.name, len(table), columns, unreadable)


def _column(table: Table, name: str, kind: Type) -> ColumnSummary:
    column = table.frame([name]).to_series()
    unknown = column.null_count()
    shown: str
    if unknown == len(column):
        shown = "nothing"
    elif kind is Type.BOOL:
        true = int(column.sum())
        shown = f"{true:,} true, {len(column) - unknown - true:,} false"
    elif kind is Type.TEXT:  # the first rows are enough
        head = column.head(_LOOK).drop_nulls().unique(maintain_order=True)
        shown = ", ".join(repr(_short(value)) for value in sorted(head.head(4).to_list()))
        if len(head) > 4:
            shown += f", ... ({len(head):,}{' or more' if len(column) > _LOOK else ''} different)"
    else:
        least, most = column.min(), column.max()
        shown = f"{least!s} to {most!s}"
    return ColumnSummary(name, kind.value, unknown, shown)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 24 else f"{text[:21]}..."
