"""Erratum: the logarithm in q

q(ε, t') shall bound the exceptions in every stretch of t' rounds, at all times t, with probability
1-δ/2. Its printed logarithm, log(8t'³/δ), gives every short stretch the same chance to fail,
however many have gone by; the union bound of the proof needs log(8t³/δ).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tellapart.lab.experiment import Cell, Finding, Row, Rows, Table
from tellapart.lab.experiments import picture
from tellapart.lab.figures import BLUE, RED, label_lines, reference_line

_EPSILON, _DELTA = 0.2, 0.1
_SCALE = 0.4  # at 1 the inequalities are so loose that neither form ever fails
_LONGEST = 200  # the most exceptions in a window that is checked
_FORMS = {"printed": "as printed", "repaired": "repaired"}


def cells(quick: bool) -> list[Cell]:
    rounds, streams, blocks = (30_000, 10, 4) if quick else (100_000, 10, 10)
    return [
        Cell(
            "erratum_logarithm",
            {"scale": scale, "rounds": rounds, "streams": streams, "block": block},
            weight=rounds / 3e4,
        )
        for scale in (_SCALE, 1.0)
        for block in range(blocks)
    ]


def run(seed: int, scale: float, rounds: int, streams: int, block: int) -> list[Row]:
    generator = np.random.default_rng(seed)
    rows: list[Row] = []
    for stream in range(streams):
        odd = np.flatnonzero(generator.random(rounds) < _EPSILON) + 1
        for form in _FORMS:
            failed = _first_failure(odd, scale, form == "repaired")
            rows.append({"form": form, "stream": stream, "failed": failed})
    return rows


def _first_failure(
    odd: npt.NDArray[np.signedinteger[Any]], scale: float, repaired: bool
) -> int | None:
    """The first round that ends a window with more exceptions than q allows, or None.

    `odd` has the rounds of the exceptions; only windows from one exception to another matter.
    """
    first = None
    for count in range(1, min(_LONGEST, len(odd)) + 1):
        ends = odd[count - 1 :]
        window = (ends - odd[: len(odd) - count + 1] + 1).astype(np.float64)
        # this is theory.q for many windows at once
        logarithm = np.log(8 * (ends if repaired else window).astype(np.float64) ** 3 / _DELTA)
        deviation = 2 / 3 * logarithm + np.sqrt(2 * _EPSILON * window * logarithm)
        failed = np.flatnonzero(count > _EPSILON * window + scale * deviation)
        if len(failed) and (first is None or ends[failed[0]] < first):
            first = int(ends[failed[0]])
    return first


def read(rows: Rows) -> Finding:
    small = rows.where(scale=_SCALE)
    most = int(rows.distinct("rounds")[0])
    failed = {form: _failed(small.where(form=form)) for form in _FORMS}
    share = {form: len(failed[form]) / len(small.where(form=form)) for form in _FORMS}
    whole = {form: len(_failed(rows.where(scale=1.0, form=form))) for form in _FORMS}
    sums = {n: _union(n) for n in (10, 100, most)}
    holds = share["printed"] > 0.9 and share["repaired"] < 0.5 and sums[most][1] < _DELTA / 2
    seen = (
        f"With the deviations scaled by {_SCALE}, the event failed within {most:,} rounds in"
        f" {share['printed']:.0%} of {len(small) // 2} streams as printed, and in"
        f" {share['repaired']:.0%} repaired. At the paper's own constants it failed"
        f" {whole['printed']} and {whole['repaired']} times: there the fault is in the proof. Its"
        f" union bound adds up to {sums[100][0]:.1f} after 100 rounds, and {sums[most][0]:,.0f}"
        f" after {most:,}; with the current round in the logarithm it stays at {sums[most][1]:.3f},"
        f" below δ/2 = {_DELTA / 2}."
    )
    verdict = (
        "As printed the failures add up without end; repaired they do not."
        if holds
        else "The failure or the repair was not seen here."
    )
    table = Table(
        "What the union bound over windows of all lengths t' and ends t adds up to: δ/(4t'³) as"
        " printed, δ/(4t³) repaired.",
        ["rounds", "as printed", "repaired"],
        [[n, *sums[n]] for n in sums],
    )

    @picture(
        f"Share of random streams (ε = {_EPSILON}) in which some stretch has held more exceptions"
        f" than q allows, with its deviation terms scaled by {_SCALE}.",
        size=(7, 4),
    )
    def chart(figure: Any) -> None:
        axes = figure.subplots()
        streams = len(small) // 2
        for form, colour in zip(_FORMS, (RED, BLUE), strict=True):
            rounds = sorted(failed[form])
            axes.step(
                [1, *rounds, most],
                [number / streams for number in (*range(len(rounds) + 1), len(rounds))],
                where="post",
                color=colour,
                label=_FORMS[form],
            )
        reference_line(axes, _DELTA / 2, "δ/2", 10)
        axes.set(xscale="log", xlim=(10, most), ylim=(0, 1.02))
        axes.set(xlabel="rounds", ylabel="streams that have failed")
        axes.yaxis.set_major_formatter("{x:.0%}")
        label_lines(axes)

    return Finding(seen, verdict, holds, [table], [chart])


def _failed(rows: Rows) -> list[int]:
    return [int(row["failed"]) for row in rows if row["failed"] is not None]


def _union(n: int) -> tuple[float, float]:
    t = np.arange(1, n + 1, dtype=np.float64)
    printed = _DELTA / 4 * np.cumsum(t**-3.0).sum()
    repaired = _DELTA / 4 * (t * t**-3.0).sum()
    return float(printed), float(repaired)
