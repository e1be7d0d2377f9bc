"""A curve as SVG: no script, no style, letters large enough to read."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_W, _H, _LEFT, _BOTTOM, _TOP = 640, 240, 56, 40, 12


def curve(values: Sequence[float], across: str, up: str) -> str:
    """A line from the first to the last value, with its last value written out.

    >>> "<polyline" in curve([0, 1, 1, 2], "guesses", "mistakes")
    True
    """
    if not values:
        return f'<p class="hint">No {escape(across)} yet.</p>'
    most = max(1.0, *values)
    step = max(1, len(values) // 600)
    places = sorted({*range(0, len(values), step), len(values) - 1})
    wide, high = _W - _LEFT - 60, _H - _TOP - _BOTTOM

    def x(n: int) -> float:
        return _LEFT + wide * (n + 1) / len(values)  # nothing has happened at 0

    def y(value: float) -> float:
        return _TOP + high * (1 - value / most)

    points = f"{_LEFT},{y(0):.1f} " + " ".join(f"{x(n):.1f},{y(values[n]):.1f}" for n in places)
    ticks = "".join(
        f'<line x1="{_LEFT}" x2="{_LEFT + wide}" y1="{y(v):.1f}" y2="{y(v):.1f}"'
        f' stroke="currentColor" stroke-opacity="0.2"/>'
        f'<text x="{_LEFT - 8}" y="{y(v) + 5:.1f}" text-anchor="end">{v:g}</text>'
        for v in _ticks(most)
    )
    title = f"{up}: {values[-1]:g} after {len(values):,} {across}"
    return (
        f'<svg class="curve" viewBox="0 0 {_W} {_H}" width="{_W}" height="{_H}" role="img"'
        f' aria-label="{escape(title)}" font-size="14" fill="currentColor">{ticks}'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="2.5"/>'
        f'<text x="{x(len(values) - 1) + 6:.1f}" y="{y(values[-1]) + 5:.1f}"'
        f' font-weight="bold">{values[-1]:g}</text>'
        f'<text x="{_LEFT + wide / 2}" y="{_H - 8}" text-anchor="middle">'
        f"{len(values):,} {escape(across)}</text></svg>"
    )


def _ticks(most: float) -> list[float]:
    step = 1.0
    while most / step > 5:
        step *= 2 if str(int(step))[0] in "15" else 2.5
    return [n * step for n in range(int(most / step) + 1)]
