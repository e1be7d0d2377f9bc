"""Tables that come with the package.

`bank.csv` and `november.csv` are a bank statement, all made up (`benchmarks/bank.py` writes it).

`zoo.csv` has the facts of the Zoo data set by Richard Forsyth (1990), UCI Machine Learning
Repository, doi 10.24432/C5R59V, licensed CC BY 4.0; taken from the copy in the `orange3` package
(which writes "airborne", "toothed" and so on in full).
"""

from __future__ import annotations

import csv
from importlib.resources import files
from pathlib import Path
from typing import Any

BANK = ("bank.csv", "november.csv")
"""The statement, and the file that comes next."""


def write_bank(folder: Path) -> Path:
    """The bank statement in a folder, and that of the next month; what is there already is kept."""
    for name in BANK:
        if not (folder / name).exists():
            text = files("tellapart.samples").joinpath(name).read_text(encoding="utf-8")
            (folder / name).write_text(text, encoding="utf-8")
    return folder / BANK[0]


def animals() -> list[tuple[dict[str, Any], str]]:
    """The 101 animals of the zoo, in alphabetical order, each with its class."""
    text = files("tellapart.samples").joinpath("zoo.csv").read_text(encoding="utf-8")
    found = []
    for row in csv.DictReader(text.splitlines()):
        label = row.pop("type")
        facts: dict[str, Any] = {name: cell == "1" for name, cell in row.items()}
        found.append((facts | {"name": row["name"], "legs": int(row["legs"])}, label))
    return found
