"""What can be picked in a row as a reason: words that the earlier row lacks, limits, values.

Every pick is true of the row and not of the earlier one, and is written as people type it. So the
page fills it in and the session parses it like anything else.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any, NamedTuple

from tellapart.columns.thresholds import round_cuts
from tellapart.features import letter_case
from tellapart.features.phrasing import shown_number, shown_time
from tellapart.features.tree import NAMES, Type
from tellapart.tables import Row

MOST_WORDS = 400
"""So many words of a cell can be picked; what follows is plain text."""
LIMITS = 3
"""So many limits are offered for a number."""
LONGEST = 40
"""A longer text is not offered as a whole."""
_RUNS = re.compile(r"\s+|[^\s]+")
_INNER = re.compile(r"\w(?:.*\w)?", re.DOTALL)
_PLAIN = re.compile(r"[^\W\d]\w*")


class Part(NamedTuple):
    """A run of a cell's text; with a reason, it can be picked."""

    text: str
    reason: str | None = None
    word: str = ""
    """What the reason looks for; words side by side make a phrase."""


class Offer(NamedTuple):
    """Something to pick below a cell."""

    text: str
    reason: str
    weak: bool = False
    """Dates seldom tell rows apart."""


def column_text(column: str) -> str:
    """A column as it is written in a reason.

    >>> column_text("amount"), column_text("fine print")
    ('amount', '"fine print"')
    """
    return column if _PLAIN.fullmatch(column) else '"{}"'.format(column.replace('"', '""'))


def parts(column: str, mine: str, theirs: Any) -> list[Part]:
    """The text of a cell in runs; a word that the earlier row has too is plain.

    >>> [part.word for part in parts("payee", "SUSHI BAR, Kyo", "BARMER") if part.reason]
    ['sushi', 'kyo']
    >>> parts("payee", "SUSHI BAR", "REWE")[0].reason
    'payee contains "sushi"'
    """
    other = letter_case.lower(theirs) if isinstance(theirs, str) else ""
    name, found, words = column_text(column), [], 0
    for run in _RUNS.findall(mine):
        inner = _INNER.search(run)
        word = letter_case.lower(inner[0]) if inner else ""
        words += bool(word)
        if not word or word in other or '"' in word or words > MOST_WORDS:
            found.append(Part(run))
        else:
            found.append(Part(run, f'{name} contains "{word}"', word))
    return found


def offers(row: Row, earlier: Row, column: str) -> list[Offer]:
    """What is offered below a cell.

    >>> duck, bear = Row("duck", {"legs": 2, "hair": False}), Row("bear", {"legs": 4, "hair": True})
    >>> [offer.reason for column in ("legs", "hair") for offer in offers(duck, bear, column)]
    ['legs < 3', 'legs < 4', 'not hair']
    """
    mine, theirs = row[column], earlier.get(column)
    name, kind = column_text(column), None if row.table is None else row.table.types.get(column)
    if mine == theirs:
        return []
    if mine is None:
        return [Offer("is empty", f"{name} is unknown")]
    if isinstance(mine, bool):
        return [Offer("yes", name) if mine else Offer("no", f"not {name}")]
    if isinstance(mine, str):
        if '"' in mine or len(mine) > LONGEST or (row.table is not None and column == row.table.id):
            return []
        whole = "is exactly this" if " " in mine.strip() else f"is {mine}"
        return [Offer(whole, f'{name} is "{mine}"')]
    if theirs is None:
        return [Offer("is known", f"{name} is known")]
    if isinstance(mine, date) or (kind is not None and kind.temporal):
        return _of_date(name, mine, theirs)
    return _limits(name, mine, theirs) + _value(row, column, kind)


def _limits(name: str, mine: Any, theirs: Any) -> list[Offer]:
    op = ">=" if mine > theirs else "<"
    cuts = [cut for cut, _ in round_cuts(min(mine, theirs), max(mine, theirs))][:LIMITS]
    said = sorted(cuts, reverse=op == ">=")
    return [Offer(f"{op} {_shown(cut)}", f"{name} {op} {_number(cut)}") for cut in said]


def _shown(cut: float) -> str:
    """A limit as the list of suggestions writes it.

    >>> _shown(2_500_000.0), _shown(0.25)
    ('2,500,000', '0.25')
    """
    return shown_number(int(cut) if cut == int(cut) else cut)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _value(row: Row, column: str, kind: Type | None) -> list[Offer]:
    """The number itself, where there are only a few."""
    if row.table is None or kind is not Type.INTEGER:
        return []
    known = row.table.profile().numbers(column).shares
    if row[column] not in known:
        return []
    return [Offer(f"is {row[column]}", f"{column_text(column)} = {row[column]}")]


def _of_date(name: str, mine: Any, theirs: Any) -> list[Offer]:
    op = ">=" if mine > theirs else "<"
    cuts = round_cuts(min(mine, theirs), max(mine, theirs))[:1]
    found = []
    for cut, _ in cuts:
        shown = shown_time(cut) if isinstance(cut, datetime) else str(cut)
        found.append(Offer(f"{op} {shown}", f"{name} {op} {cut}", weak=True))
    if mine.month != theirs.month:
        month = NAMES["month"][mine.month - 1]
        found.append(Offer(f"in {month}", f"month of {name} is {month}", weak=True))
    return found
