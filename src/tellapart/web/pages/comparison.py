"""What a teacher sees: the row beside the earlier one, what differs first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from tellapart.sessions import Given
from tellapart.sessions.phrasing import counted_columns, name, show_cell
from tellapart.sessions.picks import Offer, Part, offers, parts
from tellapart.tables import Row

MAX_CHARACTERS = 4_000
"""So many characters of a cell are shown."""
_LONG, _LINES = 120, 4  # what is longer gets a box of its own: each takes time to be drawn
_SHORT = 80  # characters of a cell in a line
_NAME = 120  # characters of a name in a sentence
_MORE = Markup(' <span class="soft">… {:,} more characters</span>')
_BOX = Markup('<div class="prose" tabindex="0" role="group" aria-label="{}">{}</div>')
_WORD = Markup(
    '<button form="tell" name="feature" value="{0}" class="word" tabindex="-1"'
    ' aria-pressed="false" data-column="{1}" data-word="{2}">{3}</button>'
)
_CHIP = Markup(
    '<button form="tell" name="feature" value="{0}" class="chip{1}" tabindex="-1"'
    ' aria-pressed="false">{2}</button>'
)
_IMAGE = re.compile(r"\.(png|jpe?g|gif|webp|avif|svg|bmp)$", re.IGNORECASE)
_LINK = re.compile(r"https?://[^\s\"'<>]+")

Source = Callable[[str], str | None]
"""Where a picture named in a cell can be had; None if it is not to be shown."""


@dataclass(frozen=True)
class Called:
    """What a row is called in a sentence."""

    title: str
    aside: str | None
    quoted: bool


@dataclass(frozen=True)
class Line:
    """One column of both rows."""

    column: str
    text: str
    mine: Markup
    """Made here, as a template takes much longer."""
    theirs: Markup
    number: bool
    differs: bool
    seen: bool
    """Whether one of the two is a picture."""
    picks: Markup
    """The cell, with what can be picked in it as a reason."""


@dataclass(frozen=True)
class Comparison:
    """A row beside the earlier one."""

    given: str
    asks: str
    row: Called
    guess: str | None
    earlier: Called | None
    lines: list[Line]
    same: list[Line]
    same_words: str
    titled: bool
    """Whether the column of the title is among the lines: then it is not said again."""
    tags: tuple[str, ...]
    """Tags that the guess asks for, unknown for the row."""


def compare(
    given: Given, picture: Source = lambda name: None, *, picking: bool = False
) -> Comparison:
    """A row and the earlier one side by side; with `picking`, what can be picked as a reason.

    >>> from tellapart.protocol import Guess
    >>> bear, duck = Row("bear", {"legs": 4, "hair": True}), Row("duck", {"legs": 2, "hair": True})
    >>> shown = compare(Given("g1", "Ann", duck, Guess("mammal", bear), "answer", None, 0.0))
    >>> [line.column for line in shown.lines], [line.column for line in shown.same]
    (['legs'], ['hair'])
    """
    item, earlier = given.item, given.guess.example
    table = item.table
    named_by = None if table is None else table.id
    pictured = picture(str(item.identity)) is not None  # then the name itself is looked at
    columns = [column for column in item if column != named_by or pictured]
    lines = [_line(column, item, earlier, picture, picking) for column in columns]
    title = None if table is None else table.title
    # pictures are seen first, then the column that rows are called by
    lines.sort(key=lambda line: (not line.seen, line.column != title))
    shown = [line for line in lines if line.differs or earlier is None]
    same = [line for line in lines if not line.differs and earlier is not None]
    return Comparison(
        given.id,
        given.asks,
        called(item),
        None if earlier is None else str(given.guess.label),
        None if earlier is None else called(earlier),
        shown,
        same,
        counted_columns([line.column for line in same]),
        any(line.column == title for line in shown),
        given.tags,
    )


def called(item: Row) -> Called:
    """What a row is called in a sentence."""
    if item.table is None:
        return Called(cut(name(item), _NAME), None, quoted=False)
    title, aside = item.table.called(item.place)
    return Called(cut(title, _NAME), aside and in_prose(aside), item.table.quoted)


def in_prose(text: str) -> str:
    """A number with the minus that is read.

    >>> in_prose("-55.85, row 3"), in_prose("2026-01-02")
    ('−55.85, row 3', '2026-01-02')
    """
    return re.sub(r"(?<![\w.])-(?=[\d.])", "\N{MINUS SIGN}", text)


def item_card(
    item: Row, picture: Source, first: Sequence[str] = (), lines: int = 3
) -> dict[str, Any]:
    """A row in a few lines, the columns in `first` before others; a picture if it has one.

    >>> item_card(Row("duck", {"legs": 2, "hair": False}), lambda name: None, ["hair"])["lines"]
    [('hair', 'no'), ('legs', '2')]
    """
    table = item.table
    hidden = () if table is None else (*table.tags, table.title, table.id)
    asked = [column for column in first if show_cell(item, column) != name(item)]
    found = first_picture(item, picture, item)
    columns = [column for column in dict.fromkeys([*asked, *item]) if column not in hidden]
    said = [
        (column, in_prose(cut(show_cell(item, column), _SHORT)))
        for column in columns
        if item.get(column) is not None
    ]
    told = said[: lines if found is None else min(len(first), lines)]
    aside = called(item).aside
    return {
        "id": item.identity,
        "name": name(item),
        "called": called(item),
        "picture": found,
        "lines": told,
        "told": list(dict.fromkeys([*([aside] if aside else []), *(cell for _, cell in told)])),
    }


def first_picture(item: Row, picture: Source, columns: Iterable[str]) -> str | None:
    """Where the first picture can be had that some cells of a row name; its name is one, too."""
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


def _line(column: str, item: Row, earlier: Row | None, picture: Source, picking: bool) -> Line:
    mine = item[column]
    theirs = None if earlier is None else earlier.get(column)
    differs = earlier is not None and ((mine is None) != (theirs is None) or mine != theirs)
    text = show_cell(item, column)
    plain, seen = _cell(column, mine, text, picture)
    other, also = _cell(
        column, theirs, "" if earlier is None else show_cell(earlier, column), picture
    )
    picks = plain
    if picking and differs and earlier is not None:
        picks = _picks(column, item, earlier, None if seen else mine, plain)
    number = isinstance(mine, int | float) and not isinstance(mine, bool)
    return Line(column, text, plain, other, number, differs, seen or also, picks)


def _cell(column: str, value: Any, text: str, picture: Source) -> tuple[Markup, bool]:
    """A value as it is shown, and whether it is a picture."""
    if value is None:
        return Markup('<span class="soft">{}</span>').format(text), False
    if isinstance(value, str) and is_picture(text) and (source := picture(text)) is not None:
        return Markup('<img src="{}" alt="{}">').format(source, text), True
    if not isinstance(value, str):
        return Markup.escape(in_prose(text)), False
    shown, more = text[:MAX_CHARACTERS], max(0, len(text) - MAX_CHARACTERS)
    return _boxed(column, shown, _linked(shown), more), False


def _linked(text: str) -> Markup:
    """A text whose addresses are links."""
    made, at = Markup(), 0
    for found in _LINK.finditer(text):
        link = Markup('<a href="{0}" rel="noreferrer noopener" target="_blank">{0}</a>')
        made += text[at : found.start()] + link.format(found[0])
        at = found.end()
    return made + text[at:]


def _boxed(column: str, text: str, html: Markup, more: int = 0) -> Markup:
    """A long text has a box with a scroll bar of its own."""
    if more:
        html += _MORE.format(more)
    if len(text) > _LONG or text.count("\n") > _LINES:
        return _BOX.format(column, html)
    return html


def _picks(column: str, item: Row, earlier: Row, value: Any, plain: Markup) -> Markup:
    """A cell with what can be picked in it."""
    offered = offers(item, earlier, column)
    html = plain
    if isinstance(value, str):
        shown, more = value[:MAX_CHARACTERS], max(0, len(value) - MAX_CHARACTERS)
        if " " not in value.strip() and offered and len(value) <= _SHORT:
            html, offered = Markup().join(map(_chip, offered)), []
        else:
            runs = Markup().join(
                _part(column, one) for one in parts(column, shown, earlier[column])
            )
            html = _boxed(column, shown, Markup('<span class="words">{}</span>').format(runs), more)
    below = Markup().join(map(_chip, offered))
    if below:
        html += Markup('<div class="offers" role="group" aria-label="{}">{}</div>').format(
            column, below
        )
    return html


def _part(column: str, part: Part) -> Markup:
    if part.reason is None:
        return Markup.escape(part.text)
    return _WORD.format(part.reason, column, part.word, part.text)


def _chip(offer: Offer) -> Markup:
    return _CHIP.format(offer.reason, " weak" if offer.weak else "", offer.text)
