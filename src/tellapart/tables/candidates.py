"""Candidate features on a table: a part of the history ranks them, a part of the table counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tellapart.features.candidates import Candidate, candidates
from tellapart.features.expression import Expression
from tellapart.protocol import Item, Label
from tellapart.tables.rows import Row

if TYPE_CHECKING:
    from tellapart.tables.table import Table

HISTORY = 2_000
"""At most so many labelled items of either label rank the candidates."""
RANKED = 2_000
"""So many rows of the table, evenly spread, say how common a candidate is when it is ranked."""
COUNTED = 20_000
"""In a larger table so many rows, evenly spread, estimate how many items a candidate covers."""


def telling(
    table: Table,
    item: Item,
    example: Item,
    history: Mapping[Item, Label] | Sequence[tuple[Item, Label]],
    *,
    label: Label,
    limit: int,
    counted: int = COUNTED,
    named: Mapping[Expression, float] | None = None,
) -> list[Candidate]:
    """See `Table.candidates`."""
    pairs = history.items() if isinstance(history, Mapping) else history
    labels = {table.place(one): given for one, given in pairs}
    mine, theirs = table.place(item), table.place(example)
    label = labels.get(mine) if label is None else label
    other = labels.get(theirs)
    like = [n for n, given in labels.items() if given == label and label is not None]
    unlike = [n for n, given in labels.items() if given == other and other is not None]
    if label == other:  # nothing to tell apart but the two items themselves
        like, unlike = [], []
    ours = _spread([mine, *(n for n in like if n != mine)])
    others = _spread([theirs, *(n for n in unlike if n != theirs)])
    known = table.loaded(table.columns)[ours + others]
    part, ranked = table.part(counted), table.part(min(counted, RANKED))
    made = candidates(
        _row(table, item, mine),
        _row(table, example, theirs),
        table.types,
        known[: len(ours)],
        known[len(ours) :],
        limit=limit,
        part=ranked.rows,
        held=ranked.count,
        vocabulary=table.vocabulary,
        named=named,
        name=table.id,
    )
    rows = part.rows.height
    unknown = [c.feature for c in made if not table.knows(c.feature)]
    counts = dict(zip(unknown, part.count(unknown), strict=True))
    return [
        c._replace(covers=round(counts[c.feature] * len(table) / rows), exact=rows == len(table))
        if c.feature in counts
        else c._replace(covers=table.count(c.feature), exact=True)
        for c in made
    ]


def _row(table: Table, item: Item, place: int) -> Row:
    """The item as a row of the table: as it is, if it is one."""
    return item if isinstance(item, Row) and item.table is table else table.items[place]


def _spread(places: list[int]) -> list[int]:
    """All places, or some of them evenly spread, the first always among them."""
    if len(places) <= HISTORY:
        return places
    return [places[n] for n in np.linspace(0, len(places) - 1, HISTORY).astype(np.int64)]
