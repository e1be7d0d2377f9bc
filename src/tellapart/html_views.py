"""How things look in a notebook: small tables and a curve, every word of them escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

LISTED = 20
"""So many lines of a long table are shown."""


def table(head: Sequence[str], lines: Iterable[Sequence[object]], caption: str = "") -> str:
    """A table; None is an empty cell.

    >>> table(["a"], [["<b>"], [None]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr><tr><td></td></tr></tbody></table>'
    """
    made = [f"<caption>{html.escape(caption)}</caption>"] if caption else []
    made += ["<thead><tr>", *(f"<th>{html.escape(word)}</th>" for word in head), "</tr></thead>"]
    made.append("<tbody>")
    for line in lines:
        cells = ("" if cell is None else html.escape(str(cell)) for cell in line)
        made.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    return f"<table>{''.join(made)}</tbody></table>"


def steps(places: Sequence[int], end: int) -> str:
    """A curve that goes up by one at each of some places, from 0 to `end`."""
    width, height = 480, 120
    across, up = width / max(1, end), height / max(1, len(places))
    path = f"M0 {height}"
    for number, place in enumerate(places, 1):
        path += f"H{place * across:.1f}V{height - number * up:.1f}"
    return (
        f'<svg viewBox="-2 -4 {width + 4} {height + 8}" width="{width}" role="img"'
        f' aria-label="{len(places)} mistakes in {end} rounds">'
        f'<path d="{path}H{width}" fill="none" stroke="#3240c4" stroke-width="2"/>'
        f'<path d="M0 {height}H{width}" stroke="#8888"/></svg>'
    )
