"""What was read, column by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tellapart.features.tree import Type

if TYPE_CHECKING:
    from tellapart.tables.table import Table


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
    elif kind is Type.TEXT:  # the first ten thousand will do to show what it looks like
        values = sorted(column.head(10_000).drop_nulls().unique().head(1_000).to_list())
        shown = ", ".join(repr(_short(value)) for value in values[:4])
        shown += (
            f", ... ({_many(column.head(10_000).n_unique())} different)" if len(values) > 4 else ""
        )
    else:
        least, most = column.min(), column.max()
        shown = f"{least!s} to {most!s}"
    return ColumnSummary(name, kind.value, unknown, shown)


def _many(count: int) -> str:
    return f"{count:,}" if count < 10_000 else "10,000 or more"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 24 else f"{text[:21]}..."
