"""What a teacher sees: the item beside the example, what differs first."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from tellapart.sessions import Given
from tellapart.sessions.phrasing import name, show
from tellapart.tables import Row

MAX_CHARACTERS = 4_000
"""So many characters of a cell are shown."""
_LONG, _LINES = 300, 8  # what is longer gets a box of its own: each takes time to be drawn
_MARK = Markup("<mark>{}</mark>")
_MORE = Markup(' <span class="unknown">… {:,} more characters</span>')
_IMAGE = re.compile(r"\.(png|jpe?g|gif|webp|avif|svg|bmp)$", re.IGNORECASE)
_WORDS = re.compile(r"\w+|\W+")

Source = Callable[[str], str | None]
"""Where a picture named in a cell can be had; None if it is not to be shown."""


@dataclass(frozen=True)
class Part:
    """A piece of text, marked if the other item does not have it."""

    text: str
    marked: bool = False


@dataclass(frozen=True)
class Cell:
    """One value: a text in parts, yes or no, a picture, or unknown."""

    kind: str
    text: str
    parts: tuple[Part, ...] = ()
    more: int = 0
    src: str | None = None

    @property
    def html(self) -> Markup:
        """What is in the cell; made here, as a template takes much longer."""
        if self.kind == "image":
            return Markup('<img src="{}" alt="{}">').format(self.src, self.text)
        made = Markup().join(_MARK.format(p.text) if p.marked else p.text for p in self.parts)
        if self.more:
            made += _MORE.format(self.more)
        if len(self.text) > _LONG or self.text.count("\n") > _LINES:
            made = Markup("<div>{}</div>").format(made)  # with a scroll bar of its own
        return made


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
    rows: list[Line] = field(default_factory=list)
    same: list[Line] = field(default_factory=list)


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
    columns = [column for column in given.item if column != named_by]
    lines = [_line(column, given.item, example, picture) for column in columns]
    if example is None:
        return Comparison(given.id, given.asks, name(given.item), None, None, lines)
    return Comparison(
        given.id,
        given.asks,
        name(given.item),
        str(given.guess.label),
        name(example),
        [line for line in lines if line.differs],
        [line for line in lines if not line.differs],
    )


def is_picture(text: str) -> bool:
    """Whether a text looks like the name of a picture."""
    return len(text) < 1000 and _IMAGE.search(text) is not None


def _line(column: str, item: Row, example: Row | None, picture: Source) -> Line:
    mine = item[column]
    theirs = None if example is None else example.get(column)
    differs = (example is not None and (mine is None) != (theirs is None)) or mine != theirs
    return Line(
        column,
        _cell(mine, theirs, picture, mark=differs and example is not None),
        _cell(theirs, mine, picture, mark=differs),
        differs and example is not None,
    )


def _cell(value: Any, other: Any, picture: Source, *, mark: bool) -> Cell:
    text = show(value)
    if value is None:
        return Cell("unknown", text, (Part(text),))
    source = picture(text) if isinstance(value, str) and is_picture(text) else None
    if source is not None:
        return Cell("image", text, src=source)
    shown, more = text[:MAX_CHARACTERS], max(0, len(text) - MAX_CHARACTERS)
    if isinstance(value, bool):
        return Cell(text, text, (Part(text),))
    if not mark or not isinstance(value, str) or not isinstance(other, str) or " " not in text:
        return Cell("text", shown, (Part(shown),), more)
    known = {word.lower() for word in _WORDS.findall(other[: 10 * MAX_CHARACTERS])}
    parts: list[Part] = []
    for word in _WORDS.findall(shown):
        marked = word[:1].isalnum() and word.lower() not in known
        if parts and parts[-1].marked == marked:
            parts[-1] = Part(parts[-1].text + word, marked)
        else:
            parts.append(Part(word, marked))
    if all(part.marked for part in parts if any(map(str.isalnum, part.text))):
        parts = [Part(shown)]  # nothing in common: marks would only be in the way
    return Cell("text", shown, tuple(parts), more)
