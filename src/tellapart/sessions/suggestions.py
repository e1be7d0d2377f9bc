"""Features that tell what is shown apart: candidates, and a look at one the teacher writes.

What a request costs does not grow with the table or with what was taught: candidates are ranked on
a few hundred of the last labelled items, and counted on a part of the table.
"""

from __future__ import annotations

from itertools import islice

from tellapart.features import Expression, canonical
from tellapart.features.candidates import Candidate
from tellapart.protocol import Label
from tellapart.sessions.acts import Shown
from tellapart.sessions.replies import Check
from tellapart.sessions.state import State
from tellapart.tables import Row
from tellapart.tables.candidates import telling

_BACK = 2_000  # so many rounds are looked back at
_EACH = 200  # for so many items of each of the two labels
_COUNTED = 2_000  # rows in which candidates are counted
_NAMED = 50  # so many features that were named before are offered again
_ONCE, _SO = 0.05, 0.15  # worth of having been named; of having told these two labels apart


def candidates(state: State, shown: Shown, label: str | None, limit: int) -> list[Candidate]:
    """Features that hold on the item and not on the example, the most telling first."""
    if shown.example is None:
        return []
    mine = shown.kept if label is None else state.labels.find(label)
    item, example = state.items.row(shown.place), state.items.row(shown.example)
    history: list[tuple[Row, Label]] = [(example, shown.label)]
    room: dict[Label, int] = {mine: _EACH, shown.label: _EACH}
    for told in islice(reversed(state.course.history.rounds), _BACK):
        if room.get(told.label, 0) and told.item.place not in (item.place, example.place):
            room[told.label] -= 1
            history.append((told.item, told.label))
    return telling(
        state.items.table,
        item,
        example,
        history,
        label=mine,
        limit=limit,
        counted=_COUNTED,
        named=_named(state, item, example, (mine, shown.label)),
    )


def _named(
    state: State, item: Row, example: Row, labels: tuple[Label, Label]
) -> dict[Expression, float]:
    """What was named before, or its opposite, where it tells the two apart; and what that adds:
    more if it told the same two labels apart."""
    found: dict[Expression, float] = {}
    seen: set[Expression] = set()
    for told in islice(reversed(state.course.history.rounds), _BACK):
        feature = None if told.correction is None else told.correction.feature
        if not isinstance(feature, Expression) or told.guess is None:
            continue
        pair: tuple[Label, Label] = (told.label, told.guess.label)
        seen.add(feature)
        if feature(item) == feature(example):
            continue
        if feature(example):
            feature, pair = Expression(canonical.negate(feature.tree)), pair[::-1]
        worth = _SO if pair == labels else _ONCE
        found[feature] = max(found.get(feature, 0.0), worth)
        if len(seen) >= _NAMED:
            break
    return found


def check(state: State, shown: Shown, text: str) -> Check:
    """What an expression says of the item and of the example, and how many items it covers."""
    from tellapart.features.to_polars import count

    feature = state.items.feature(text)
    table = state.items.table
    example = None if shown.example is None else state.items.row(shown.example)
    return Check(
        str(feature),
        feature.value(state.items.row(shown.place)),
        None if example is None else feature.value(example),
        count([feature], table.loaded(list(feature.schema)))[0],
    )
