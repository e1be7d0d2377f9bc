"""An experiment for tests: adds numbers, slowly, and can be told to misbehave.

`SLOW_EXPERIMENT_FOLDER` names a folder. Every run of a cell leaves a line in `runs` there; a file
named `kill-K` makes cell K kill its own process once, `kill-K-always` every time, `raise-K` raises;
`wait-K` makes all cells before K wait to be killed.
"""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path
from typing import Any

from tellapart.lab import Cell, Experiment, Finding, Picture, Row, Table
from tellapart.lab.cell_store import CellStore
from tellapart.lab.sweep import sweep

NAME = "slow_experiment:EXPERIMENT"


def cells(quick: bool) -> list[Cell]:
    return [Cell(NAME, {"k": k}, weight=k) for k in range(6 if quick else 10)]


def run(seed: int, k: int) -> list[Row]:
    folder = Path(os.environ["SLOW_EXPERIMENT_FOLDER"])
    with (folder / "runs").open("a") as runs:
        runs.write(f"{k}\n")
    if (folder / f"kill-{k}").exists():
        (folder / f"kill-{k}").unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    if (folder / f"kill-{k}-always").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    if (folder / f"raise-{k}").exists():
        raise ValueError(f"cell {k} was told to fail")
    if any(k < int(path.name.removeprefix("wait-")) for path in folder.glob("wait-*")):
        time.sleep(600)
    return [{"sum": random.Random(seed).random() + k, "half": k / 2, "nothing": None}]


def read(rows: list[Row]) -> Finding:
    total = sum(row["sum"] for row in rows)

    def draw(figure: Any) -> None:
        figure.subplots().plot([row["k"] for row in rows], [row["sum"] for row in rows])

    table = Table("All <sums>.", ["k", "sum"], [[row["k"], row["sum"]] for row in rows])
    return Finding(f"k^2 & {total:.3f}", "fine", True, [table], [Picture("sums", "Sums.", draw)])


EXPERIMENT = Experiment("sums", "Sums & <more>", "k = 2 adds up.", cells, run, read)


def runs(folder: Path) -> list[int]:
    """Which cells were run, in order."""
    path = folder / "runs"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def local(cells: list[Cell], folder: Path, workers: int = 1) -> dict[str, list[Row]]:
    with CellStore(folder) as store:
        return sweep(cells, store, workers=workers)
