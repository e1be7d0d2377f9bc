"""What experiments say follows from their numbers: every claim can be seen, and can fail."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tellapart import lab
from tellapart.lab import Rows
from tellapart.lab.experiment import Cell, Row, experiments, run_cell
from tellapart.lab.figures import render

ON_TABLES = {"corrections", "shift", "length"}  # tested in test_corrections
NAMES = [name for name in experiments() if name not in ON_TABLES]

SMALL: dict[str, dict[str, Any]] = {  # in place of the axes of a quick run
    "theorem1": {"d": (1, 2, 4, 16), "k": (1, 4), "repeat": [0]},
    "theorem2": {"m": (4, 8, 16), "repeat": [0]},
    "theorem3": {"m": [2], "k": [32], "s": (1, 32), "items": [500]},
    "theorem4": {"n": (100, 1_000, 10_000), "world": [0]},
    "slope": {"k": (32, 64, 128), "repeat": [0]},
    "worst_case": {"world": ("1,1", "2,0", "2,1")},
    "dimension": {"d": (10, 100, 1_000), "items": [500], "repeat": range(3)},
    "ignorance": {"k": (0, 4, 16), "repeat": [0]},
    "unique_labels": {"m": [2, 6], "k": [0, 20], "repeat": range(3), "runs": [20]},
    "erratum_threshold": {"items": [20_000], "world": range(4)},
    "erratum_creation": {"items": (10_000, 300_000), "world": [0]},
    "erratum_reduction": {"groups": (1, 4, 5)},
    "erratum_waiting": {"items": [20_000], "world": [0]},
}
TOO_SHORT = {"theorem4"}  # it needs a million rounds to fall


@cache
def rows_of(name: str) -> tuple[Row, ...]:
    found = experiments()[name]
    quick = dict(found.quick)
    found.quick = quick | {key: list(values) for key, values in SMALL.get(name, {}).items()}
    cells = found.cells(quick=True)
    found.quick = quick
    return tuple(row for cell in cells for row in run_cell(found.function, cell))


def failing(name: str, change: Callable[[Row], object] = lambda row: None) -> set[str]:
    """The claims that fail on the rows of a short run, all changed."""
    rows = Rows(dict(row) for row in rows_of(name))
    for row in rows:
        change(row)
    return {claim for claim, holds, _ in experiments()[name].verdicts(rows) if not holds}


def put(key: str, value: Callable[[Row], Any] | Any, **where: Any) -> Callable[[Row], object]:
    def change(row: Row) -> None:
        if all(row.get(name) == wanted for name, wanted in where.items()):
            row[key] = value(row) if callable(value) else value

    return change


WRONG: dict[str, list[Callable[[Row], object]]] = {
    "theorem1": [
        put("components", lambda row: 99 * row["d"], part="a"),
        put("components", 1, part="b"),
    ],
    "theorem2": [put("mistakes", 0.1), put("mistakes", 99)],
    "theorem3": [
        put("share of the bound", 1.1),
        put("share of the bound", 0.5),
        put("mistakes", 10**6, learner="CappedDFF"),
    ],
    "theorem4": [
        put("rate", 0.5),
        put("rate", lambda row: 0.5 if row["n"] < 10_000 else 0.1),
        put("rate", 0.9, learner="CappedDFF"),
    ],
    "slope": [put("mistakes", lambda row: row["k"]), put("mistakes", lambda row: row["k"] ** 2)],
    "worst_case": [
        put("mistakes", lambda row: row["bound"] + 1),
        put("mistakes", 0),
        put("mistakes", lambda row: row["theorem 3"], learner="RobustDFF"),
    ],
    "dimension": [put("mistakes", 3), put("mistakes", lambda row: row["d"])],
    "ignorance": [put("mistakes", lambda row: 1 if row["learner"] == "CappedDFF" else 10**6)],
    "unique_labels": [
        put("mistakes", 10**6, learner="UniqueLabelDFF"),
        put("mistakes", 10**6, learner="UniqueLabelDFF without m"),
    ],
    "erratum_threshold": [put("deleted", 0), put("deleted", 1), put("rate", 0.5)],
    "erratum_creation": [put("rules", 3), put("rules", 99), put("rate", 0.5)],
    "erratum_return": [put("mistakes", 3), put("mistakes", 10**6)],
    "erratum_reduction": [put("components", 1), put("components", 0)],
    "erratum_waiting": [put("first", 1), put("rate", 0.1), put("deleted", 0)],
}


KNOWN: dict[str, Callable[[Rows], bool]] = {  # facts that docs/theory.md states
    "erratum_reduction": lambda rows: (
        rows.where(groups=4).column("components")[:2] == [48, 49]  # claimed, and needed
    ),
    "erratum_return": lambda rows: (
        rows.where(round=150).column("mistakes") == [150, 3]  # without memory, and with it
    ),
    "erratum_waiting": lambda rows: {*rows.where(scale=1.0).column("first")} == {248},
    "dimension": lambda rows: all(r["mistakes"] == r["d"] for r in rows.where(learner="DFF")),
    "theorem3": lambda rows: all(
        row["mistakes"] == row["bound"]
        for row in rows.where(placement="hostile", learner="CappedDFF")
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_claim_can_be_seen_and_can_fail(name: str, needs: Callable[[str], None]) -> None:
    """And the figures have room for their text."""
    rows, found = Rows(rows_of(name)), experiments()[name]
    claims = {claim for claim, _, _ in found.verdicts(rows)}
    assert name in TOO_SHORT or failing(name) == set()
    assert set().union(*(failing(name, change) for change in WRONG[name])) >= claims
    assert name not in KNOWN or KNOWN[name](rows)
    needs("matplotlib")
    from matplotlib.image import imread

    for figure in found.figures:
        svg, pdf, png = render(figure, rows, ["svg", "pdf", "png"])
        assert b"<svg" in svg
        assert b"<dc:date>" not in svg
        assert pdf.startswith(b"%PDF")
        dark = (imread(BytesIO(png))[..., :3] < 1).any(axis=2)
        sides = (dark, dark[::-1], dark.T, dark.T[::-1])
        assert min(int(np.argmax(side.any(axis=1))) for side in sides) >= 4, "text crosses the edge"


def test_nothing_is_claimed_where_nothing_is_tested() -> None:
    """With the constants of its proof, Theorem 4 allows more mistakes than there are rounds."""
    [found] = [v for v in experiments()["theorem4"].verdicts(Rows(rows_of("theorem4")))
               if v.claim.startswith("the rate stays within the bound")]  # fmt: skip
    assert found.holds is None
    assert "nothing is tested" in found.seen


def test_cells_have_names_of_their_own_and_names_are_seeds() -> None:
    for quick in (True, False):
        cells = [cell for name in NAMES for cell in experiments()[name].cells(quick=quick)]
        assert len({cell.name for cell in cells}) == len(cells) > 100
    assert Cell("slope", {"k": 1}).seed != Cell("slope", {"k": 2}).seed


def test_a_first_figure_takes_thirty_lines(tmp_path: Path, needs: Callable[[str], None]) -> None:
    """An own learner, teacher, world and experiment, as docs/lab.md prints them."""
    page = (Path(__file__).parents[1] / "docs" / "lab.md").read_text(encoding="utf-8")
    [text] = re.findall(r"## A first figure.*?```python\n(.*?)```", page, flags=re.DOTALL)
    lines = [line for line in text.splitlines() if line.strip()]
    assert len(lines) <= 30
    assert not re.search(r"\._[a-z]|import _", text), "a private name"
    (tmp_path / "silence.py").write_text(text, encoding="utf-8")
    [result] = lab.run(lab.load(str(tmp_path / "silence.py")), tmp_path / "out", workers=1)
    means = [mean for _, mean, _ in result.rows.curve("rate", "mistakes")]
    assert means[0] < means[-1]
    needs("matplotlib")
    assert list((tmp_path / "out" / "figures").glob("*.svg"))
