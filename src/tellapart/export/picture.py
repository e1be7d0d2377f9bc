"""A decision list as a picture: one question a row, with its answer to the right."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple
from xml.sax.saxutils import escape

from tellapart.export.text import name_of, reachable
from tellapart.features.phrasing import spoken
from tellapart.model import Clause, DecisionList

_LETTER, _LINE, _PAD, _GAP = 7.5, 18, 12, 28  # sizes in pixels
_WIDEST = 46  # letters of a condition in one line
_COLOURS = (
    "#cfe8ff", "#ffe2c6", "#d8f3d0", "#f6d5e8", "#fff3b8", "#e3dcff", "#d0f0ee", "#f3d9d0",
)  # fmt: skip
_AT_NIGHT = (
    "<style>@media (prefers-color-scheme: dark) { .ground, .if { fill: #1c2025 }"
    " .then { fill-opacity: 0.25 } .if, .then, path { stroke: #a7afb9 } text { fill: #e8e6e1 }"
    " .word, marker path { fill: #a7afb9 } }</style>"
)


class _Box(NamedTuple):
    """Some lines of text, and the place of their box."""

    lines: list[str]
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


def to_svg(model: DecisionList) -> str:
    """The picture as an SVG document; it needs no other file and no program but a browser. It is
    dark where the reader's system is.

    >>> svg = to_svg(DecisionList((), Clause((), "<duck>")))
    >>> svg.startswith("<svg "), "&lt;duck&gt;" in svg
    (True, True)
    """
    clauses = reachable(model)
    colours = _colours(clauses)
    questions = [_lines(_condition(clause)) for clause in clauses[:-1]]
    answers = [_answer(clause) for clause in clauses]
    left = max(map(_width, questions), default=0.0)
    right = max(map(_width, answers))
    answer_x = _GAP + left + 2.5 * _GAP if questions else _GAP
    parts: list[str] = []
    y: float = _GAP
    above: _Box | None = None
    for number, answer in enumerate(answers):
        asked = questions[number] if number < len(questions) else []
        height = max(_height(asked), _height(answer))
        here = _Box(asked or answer, _GAP, y, left if asked else right, height)
        if above is not None:
            start = above.y + above.height
            parts.append(_arrow(_GAP + 30, start, _GAP + 30, y, "no"))
        if asked:
            parts.append(_box("if", here, "#ffffff", 3))
            reply = _Box(answer, answer_x, y, right, height)
            parts.append(_arrow(_GAP + left, here.middle, answer_x, here.middle, "yes"))
        else:
            reply = here
        parts.append(_box("then", reply, colours[clauses[number].label], 14))
        above = here
        y += height + _GAP
    width = (answer_x + right if questions else _GAP + right) + _GAP
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:g} {y:g}"'
        f' width="{width:g}" height="{y:g}" font-family="sans-serif" font-size="14">'
    )
    title = f"<title>A decision list of {len(clauses)} clauses</title>"
    ground = f'<rect class="ground" width="{width:g}" height="{y:g}" fill="#ffffff"/>'
    head = (
        '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8"'
        ' markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#555555"/></marker></defs>'
    )
    return "\n".join([opening, title, _AT_NIGHT, head, ground, *parts, "</svg>", ""])


def _condition(clause: Clause) -> list[str]:
    words = [spoken(*literal) for literal in clause.literals]
    return [*(f"{word} and" for word in words[:-1]), f"{words[-1]}?"]


def _answer(clause: Clause) -> list[str]:
    like = [] if clause.example is None else [f"like {name_of(clause.example)}"]
    return _lines(["unknown" if clause.label is None else str(clause.label), *like])


def _colours(clauses: Iterable[Clause]) -> dict[object, str]:
    labels = dict.fromkeys(clause.label for clause in clauses)
    return {label: _COLOURS[n % len(_COLOURS)] for n, label in enumerate(labels)}


def _lines(texts: Iterable[str]) -> list[str]:
    """Texts cut into lines at spaces; what an XML file cannot hold is replaced."""
    lines: list[str] = []
    for text in texts:
        clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
        lines += textwrap.wrap(clean, _WIDEST) or [""]
    return lines


def _width(lines: list[str]) -> float:
    letters = max(
        (sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line) for line in lines),
        default=0,
    )
    return letters * _LETTER + 2 * _PAD


def _height(lines: list[str]) -> float:
    return len(lines) * _LINE + 1.5 * _PAD if lines else 0.0


def _box(kind: str, box: _Box, colour: str, corner: int) -> str:
    rect = (
        f'<rect class="{kind}" x="{box.x:g}" y="{box.y:g}"'
        f' width="{box.width:g}" height="{box.height:g}" rx="{corner}"'
        f' fill="{colour}" stroke="#555555"/>'
    )
    top = box.middle - len(box.lines) * _LINE / 2 + 13
    texts = (
        f'<text x="{box.x + _PAD:g}" y="{top + n * _LINE:g}">{escape(line)}</text>'
        for n, line in enumerate(box.lines)
    )
    return rect + "".join(texts)


def _arrow(x1: float, y1: float, x2: float, y2: float, word: str) -> str:
    x, y = ((x1 + x2) / 2 - 10, y1 - 6) if y1 == y2 else (x1 + 8, (y1 + y2) / 2 + 4)
    return (
        f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="#555555" marker-end="url(#head)"/>'
        f'<text x="{x:g}" y="{y:g}" class="word" font-size="12" fill="#555555">{word}</text>'
    )
