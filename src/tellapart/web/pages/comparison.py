"""What a teacher sees: the item beside the example, what differs first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from markupsafe import Markup

from tellapart.sessions import Given
from tellapart.sessions.phrasing import name, show
from tellapart.tables import Row

MAX_CHARACTERS = 4_000
"""So many characters of a cell are shown."""
_LONG, _LINES = 300, 8  # what is longer gets a box of its own: each takes time to be drawn
_SHORT = 80  # characters of a cell in a line
_MARK = Markup("<mark>{}</mark>")
_MORE = Markup(' <span class="unknown">… {:,} more characters</span>')
_IMAGE = re.compile(r"\.(png|jpe?g|gif|webp|avif|svg|bmp)$", re.IGNORECASE)
_WORDS = re.compile(r"\w+|\W+")

Source = Callable[[str], str | None]
"""Where a picture named in a cell can be had; None if it is not to be shown."""


@dataclass(frozen=True)
class Cell:
    """One value."""

    kind: str
    """text, yes, no, image or unknown."""
    text: str
    html: Markup
    """Made here, as a template takes much longer."""


@dataclass(frozen=True)
class Line:
    """One column of both items."""

    column: str
    mine: Cell
    theirs: Cell
    differs: bool


@dataclass(frozen=True)
class Comparison:
    """An item beside its example."""

    given: str
    asks: str
    item: str
    guess: str | None
    example: str | None
    rows: list[Line]
    same: list[Line]
    tags: tuple[str, ...] = ()
    """Tags that the guess asks for, unknown for the item."""


def compare(given: Given, picture: Source = lambda name: None) -> Comparison:
    """Item and example side by side.

    >>> from tellapart.protocol import Guess
    >>> bear, duck = Row("bear", {"legs": 4, "hair": True}), Row("duck", {"legs": 2, "hair": True})
    >>> shown = compare(Given("g1", "Ann", duck, Guess("mammal", bear), "answer", None, 0.0))
    >>> [line.column for line in shown.rows], [line.column for line in shown.same]
    (['legs'], ['hair'])
    """
    example = given.guess.example
    named_by = None if given.item.table is None else given.item.table.id
    pictured = picture(str(given.item.identity)) is not None  # then the name itself is looked at
    columns = [column for column in given.item if column != named_by or pictured]
    lines = [_line(column, given.item, example, picture) for column in columns]
    lines.sort(key=lambda line: "image" not in (line.mine.kind, line.theirs.kind))  # seen first
    shown = given.id, given.asks, name(given.item)
    if example is None:
        return Comparison(*shown, None, None, lines, [])
    rows = [line for line in lines if line.differs]
    same = [line for line in lines if not line.differs]
    return Comparison(*shown, str(given.guess.label), name(example), rows, same, given.tags)


def item_card(
    item: Row, picture: Source, first: Sequence[str] = (), lines: int = 3
) -> dict[str, Any]:
    """An item in a few lines, the columns in `first` before others; a picture if it has one.

    >>> item_card(Row("duck", {"legs": 2, "hair": False}), lambda name: None, ["hair"])["lines"]
    [('hair', 'no'), ('legs', '2')]
    """
    table = item.table
    hidden = () if table is None else (*table.tags, table.title, table.id)
    asked = [column for column in first if show(item.get(column)) != name(item)]
    wanted = dict.fromkeys([*asked, *(column for column in item if column not in hidden)])
    found = first_picture(item, picture, item)
    cells = {column: item.get(column) for column in wanted}
    said = [(column, cut(show(cell), _SHORT)) for column, cell in cells.items() if cell is not None]
    told = said[: lines if found is None else min(len(first), lines)]
    return {"id": item.identity, "name": name(item), "picture": found, "lines": told}


def first_picture(item: Row, picture: Source, columns: Iterable[str]) -> str | None:
    """Where the first picture can be had that some cells of an item name; its name is one, too."""
    cells = (item.get(column) for column in columns)
    found = (picture(one) for one in cells if isinstance(one, str) and is_picture(one))
    return next((address for address in found if address is not None), None)


def cut(text: str, most: int) -> str:
    """A text, or its beginning.

    >>> cut("duck", 4), cut("platypus", 4)
    ('duck', 'pla…')
    """
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def is_picture(text: str) -> bool:
    """Whether a text looks like the name of a picture."""
    return len(text) < 1000 and _IMAGE.search(text) is not None


def _line(column: str, item: Row, example: Row | None, picture: Source) -> Line:
    mine = item[column]
    theirs = None if example is None else example.get(column)
    differs = example is not None and ((mine is None) != (theirs is None) or mine != theirs)
    return Line(
        column,
        _cell(mine, theirs, picture, mark=differs),
        _cell(theirs, mine, picture, mark=differs),
        differs,
    )


def _cell(value: Any, other: Any, picture: Source, *, mark: bool) -> Cell:
    text = show(value)
    if value is None or isinstance(value, bool):
        return Cell("unknown" if value is None else text, text, Markup.escape(text))
    if isinstance(value, str) and is_picture(text) and (source := picture(text)) is not None:
        return Cell("image", text, Markup('<img src="{}" alt="{}">').format(source, text))
    shown, more = text[:MAX_CHARACTERS], max(0, len(text) - MAX_CHARACTERS)
    html = Markup.escape(shown)
    if mark and isinstance(value, str) and isinstance(other, str) and " " in text:
        html = _mark_words(shown, other)
    if more:
        html += _MORE.format(more)
    if len(shown) > _LONG or shown.count("\n") > _LINES:
        html = Markup("<div>{}</div>").format(html)  # with a scroll bar of its own
    return Cell("text", shown, html)


def _mark_words(text: str, other: str) -> Markup:
    """Mark the words that the other text does not have; none if they are most of them: then each
    text is read as it is.

    >>> print(_mark_words("the duck quacks", "the goose quacks"))
    the <mark>duck</mark> quacks
    >>> print(_mark_words("the duck quacks", "the old goose hisses"))
    the duck quacks
    """
    known = {word.lower() for word in _WORDS.findall(other[: 10 * MAX_CHARACTERS])}

    def is_new(word: str) -> bool:
        return word[:1].isalnum() and word.lower() not in known

    words = _WORDS.findall(text)
    new = [is_new(word) for word in words if any(map(str.isalnum, word))]
    if 2 * sum(new) > len(new):
        return Markup.escape(text)
    return Markup().join(
        _MARK.format("".join(run)) if new else "".join(run) for new, run in groupby(words, is_new)
    )
