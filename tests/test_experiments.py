"""What experiments say follows from their numbers: other numbers, other words."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from io import BytesIO
from typing import Any

import numpy as np
import pytest

from tellapart.lab import EXPERIMENTS, Cell, Finding, Row, Rows, load
from tellapart.lab.figures import render
from tellapart.lab.sweep import run_cell

pytestmark = pytest.mark.slow

SHORT = {"items": 2_000, "rounds": 3_000, "streams": 3}  # in place of what a quick run has
LEFT_OUT: dict[str, Callable[[Any], bool]] = {
    "d": lambda d: d > 1000,
    "groups": lambda groups: groups > 5,
    "k": lambda k: k > 8,
    "m": lambda m: m > 8,
    "repeat": lambda repeat: repeat > 1,
}


@cache
def rows_of(name: str) -> tuple[Row, ...]:
    """The rows of a quick run made much shorter."""
    rows: list[Row] = []
    done: set[str] = set()
    for quick in load(name).cells(True):
        parameters = {
            key: min(value, SHORT[key] * (2 if value > 50_000 else 1)) if key in SHORT else value
            for key, value in quick.parameters.items()
        }
        cell = Cell(name, parameters)
        if cell.name in done or any(
            key in LEFT_OUT and LEFT_OUT[key](value) for key, value in parameters.items()
        ):
            continue
        done.add(cell.name)
        outcome = run_cell(name, parameters)
        assert outcome.rows is not None, outcome.error
        rows += outcome.rows
    return tuple(rows)


def read(name: str, change: Callable[[Row], object] = lambda row: None) -> Finding:
    rows = Rows(dict(row) for row in rows_of(name))
    for row in rows:
        change(row)
    return load(name).read(rows)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_reads_its_rows_and_draws_them(
    name: str, needs: Callable[[str], None]
) -> None:
    needs("matplotlib")
    finding = read(name)
    assert finding.seen.endswith(".")
    assert finding.verdict.endswith(".")
    assert "nan" not in finding.seen + finding.verdict
    for table in finding.tables:
        assert table.lines
        assert all(len(line) == len(table.columns) for line in table.lines)
    for picture in finding.pictures:
        made = render(picture)
        assert made["png"].startswith(b"\x89PNG")
        assert blank_margin(made["png"]) >= 4, "a label crosses the edge"
        assert b"<svg" in made["svg"]
        assert b"<dc:date>" not in made["svg"]


def blank_margin(png: bytes) -> int:
    """How many pixels from the edges of a picture are white, all around."""
    from matplotlib.image import imread

    dark = (imread(BytesIO(png))[..., :3] < 1).any(axis=2)
    return min(
        int(np.argmax(side.any(axis=1))) for side in (dark, dark[::-1], dark.T, dark.T[::-1])
    )


def put(row: Row, key: str, value: Any, **where: Any) -> None:
    if all(row.get(name) == wanted for name, wanted in where.items()):
        row[key] = value


FALSE: dict[str, Callable[[Row], object]] = {
    "theorem3": lambda row: put(row, "mistakes", row["bound"] + 1, learner="CappedDFF"),
    "slope": lambda row: put(row, "mistakes", 40 * row["k"], learner="RobustDFF"),
    "worst_case": lambda row: put(row, "mistakes", row["bound"] - 1, learner="CappedDFF"),
    "dimension": lambda row: put(row, "mistakes", row["d"], learner="CappedDFF"),
    "theorem1": lambda row: put(row, "needed", row["d"] * 99),
    "theorem2": lambda row: put(row, "mistakes", 1),
    "theorem4": lambda row: put(row, "rate", 0.5),
    "erratum_threshold": lambda row: put(row, "rate", 0.05),
    "erratum_logarithm": lambda row: put(row, "failed", None),
    "erratum_creation": lambda row: put(row, "rules", 3),
    "erratum_return": lambda row: put(row, "mistakes", 3),
    "erratum_reduction": lambda row: put(row, "needed", row["m"]),
    "erratum_waiting": lambda row: put(row, "first", 10),
    "ignorance": lambda row: put(row, "mistakes", 10**6, learner="Guarded"),
}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_what_was_not_seen_is_not_claimed(name: str) -> None:
    finding, truth = read(name, FALSE[name]), read(name)
    assert not finding.holds
    assert finding.seen != truth.seen
    assert finding.verdict != truth.verdict or not truth.holds


@pytest.mark.parametrize(
    "name",
    [
        "theorem3",
        "worst_case",
        "theorem1",
        "theorem2",
        "erratum_return",
        "erratum_reduction",
    ],
)
def test_what_short_runs_can_show_they_show(name: str) -> None:
    """The others need longer streams, or more exceptions, than a test has time for."""
    assert read(name).holds


def test_known_numbers() -> None:
    """Facts that docs/theory.md states."""
    [whole] = [row for row in rows_of("erratum_reduction") if row["groups"] == 4]
    assert (whole["m"], whole["d"], whole["needed"], whole["claimed"]) == (32, 16, 49, 48)
    last = [row for row in rows_of("erratum_return") if row["round"] == 150]
    assert {row["remember"]: row["mistakes"] for row in last} == {False: 150, True: 3}
    first = {row["scale"]: row["first"] for row in rows_of("erratum_waiting")}
    assert first[1.0] == 248
    naive = [row for row in rows_of("dimension") if row["learner"] == "DFF"]
    assert all(row["mistakes"] == row["d"] for row in naive)
    capped = [
        row
        for row in rows_of("theorem3")
        if row["placement"] == "hostile" and row["learner"] == "CappedDFF"
    ]
    assert all(row["mistakes"] == row["bound"] for row in capped)
