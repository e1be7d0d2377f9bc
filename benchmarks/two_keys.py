"""How often a correction takes two keys: what a person would say is among the first nine.

python benchmarks/two_keys.py [--tables packages weather ...] [--vega FOLDER] [--misses] [--show]

`wishes.toml` has conditions that a person who knows a table would say to tell two labels apart.
Each was written down before the first nine of its table were looked at. For each wish, some pairs
are drawn: an item with the one label on which the wish holds, an example with the other on which
it does not, and 20 or 100 labelled items that went before. The wish counts if one of the first
nine holds on the same rows of the table: at most 2 % of the rows on which either holds differ.

A place among the nine is wasted if it has a stopword or less than three letters, a list of three
values or more, an equality with a measured number, holds on a single row, or holds on the same
rows as an earlier place.

The tables are on the machine: Debian's lists of packages, files below /usr, Unicode, time zones,
types of media, the standard library, the history of this repository; and, from `npm pack
vega-datasets` (the folder `data` in it), movies, weather and bird strikes. What is not there is
left out. The ranking was tuned on the first group and never on the second.
"""

from __future__ import annotations

import ast
import csv
import json
import mimetypes
import os
import re
import stat
import subprocess
import sysconfig
import tomllib
import unicodedata
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl

from tellapart.features import Expression, tree
from tellapart.features.tree import Value, Wild
from tellapart.features.vocabulary import STOPWORDS
from tellapart.simulation import unpack
from tellapart.tables import Table
from tellapart.tables.packed_columns import evaluate

Rows = list[dict[str, Any]]
ROWS = 2_000
"""The most rows of a table; some are drawn if there are more."""
HERE = Path(__file__).parent
VEGA = Path("vega-datasets", "data")


def packages() -> Rows:
    """Packages of Debian; the label is the section."""
    (found,) = Path("/var/lib/apt/lists").glob("*main*_Packages*")
    how = ["lz4", "-dc"] if found.suffix == ".lz4" else ["cat"]
    text = subprocess.run([*how, str(found)], check=True, capture_output=True).stdout.decode()
    wanted = {
        "Package": "package",
        "Section": "label",
        "Description": "summary",
        "Maintainer": "maintainer",
        "Architecture": "arch",
        "Depends": "depends",
        "Homepage": "homepage",
        "Tag": "tags",
        "Installed-Size": "installed_size",
        "Version": "version",
    }
    sections = {
        "python", "perl", "rust", "javascript", "libs", "libdevel", "doc", "games", "fonts",
        "localization", "net", "science", "web", "admin", "sound", "utils",
    }  # fmt: skip
    rows: Rows = []
    for block in text.split("\n\n"):
        fields = dict(re.findall(r"^([\w-]+): ?((?:.*\n?(?: .*\n?)*))", block, re.MULTILINE))
        row = {ours: " ".join(fields.get(name, "").split()) for name, ours in wanted.items()}
        if row["label"] in sections:
            made: dict[str, Any] = {name: value or None for name, value in row.items()}
            made["installed_size"] = int(row["installed_size"] or 0)
            rows.append(made)
    return rows


def _vega(name: str) -> Rows:
    text = (VEGA / name).read_text()
    if name.endswith(".json"):
        found: Rows = json.loads(text)
        return found
    return [
        {column: cell or None for column, cell in row.items()}
        for row in csv.DictReader(text.splitlines())
    ]


def _released(text: Any) -> date | None:
    try:
        return datetime.strptime(str(text), "%b %d %Y").date()
    except ValueError:
        return None


def movies() -> Rows:
    """Movies; the label is the genre."""
    rows = []
    for row in _vega("movies.json"):
        if row["Major Genre"] is not None:
            texts = {name: None if row[name] is None else str(row[name]) for name in ("Title",)}
            made = {**row, **texts, "Release Date": _released(row["Release Date"])}
            label = made.pop("Major Genre")
            rows.append({**made, "label": label})
    return rows


def returns() -> Rows:
    """The same movies; the label is what became of the money."""
    rows = []
    for row in movies():
        gross, budget = row["Worldwide Gross"], row["Production Budget"]
        if isinstance(gross, int) and isinstance(budget, int):
            label = "loss" if gross < budget else "hit" if gross >= 3 * budget else "fair"
            rows.append({**row, "Major Genre": row["label"], "label": label})
    return rows


def files() -> Rows:
    """Files below /usr; the label is what they are for."""
    rows: Rows = []
    for top in ("bin", "sbin", "include", "lib", "share"):
        for folder, folders, names in os.walk(Path("/usr", top)):
            folders.sort()
            for name in sorted(names):
                path = Path(folder, name)
                known = path.lstat()
                rows.append(
                    {
                        "folder": folder,
                        "name": name,
                        "extension": path.suffix[1:] or None,
                        "size": known.st_size,
                        "modified": datetime.fromtimestamp(known.st_mtime, UTC).replace(
                            tzinfo=None
                        ),
                        "executable": bool(known.st_mode & 0o100),
                        "link": stat.S_ISLNK(known.st_mode),
                        "label": _purpose(path),
                    }
                )
    return rows


def _purpose(path: Path) -> str:
    text = str(path)
    for label, shape in (
        ("manual", r"^/usr/share/(man|info)/"),
        ("documentation", r"^/usr/share/doc"),
        ("translation", r"/locale/|\.mo$|/i18n/"),
        ("program", r"^/usr/s?bin/"),
        ("header", r"\.(h|hpp)$"),
        ("library", r"\.so[.\d]*$|\.a$"),
        ("python", r"\.py$|\.pyc$|python3"),
        ("time zone", r"/zoneinfo/"),
        ("perl", r"/perl"),
    ):
        if re.search(shape, text):
            return label
    return "other"


def characters() -> Rows:
    """Characters of Unicode; the label is what they are."""
    kinds = {"L": "letter", "M": "mark", "N": "number", "P": "punctuation", "S": "symbol"}
    rows: Rows = []
    for code in range(0x20, 0x3000):
        letter = chr(code)
        kind = kinds.get(unicodedata.category(letter)[0])
        if kind is not None:
            rows.append(
                {
                    "code": code,
                    "name": unicodedata.name(letter),
                    "direction": unicodedata.bidirectional(letter),
                    "width": unicodedata.east_asian_width(letter),
                    "combining": unicodedata.combining(letter),
                    "mirrored": bool(unicodedata.mirrored(letter)),
                    "decomposition": unicodedata.decomposition(letter) or None,
                    "numeric": unicodedata.numeric(letter, None),
                    "lower": letter.islower(),
                    "label": kind,
                }
            )
    return rows


def weather() -> Rows:
    """Days in Seattle; the label is the weather."""
    rows: Rows = []
    for row in _vega("seattle-weather.csv"):
        day = date.fromisoformat(row["date"].replace("/", "-"))
        numbers = {n: float(row[n]) for n in ("precipitation", "temp_max", "temp_min", "wind")}
        rows.append({"date": day, **numbers, "label": row["weather"]})
    return rows


def strikes() -> Rows:
    """Birds that aircraft met; the label is the damage."""
    whole = ("Cost Other", "Cost Repair", "Cost Total $", "Speed IAS in knots")
    rows: Rows = []
    for row in _vega("birdstrikes.csv"):
        label = {"Medium": "Substantial"}.get(
            row["Effect Amount of damage"], row["Effect Amount of damage"]
        )
        if label in ("None", "Minor", "Substantial"):
            made = {name: cell for name, cell in row.items() if not name.startswith("Effect")}
            numbers = {n: None if made[n] is None else int(made[n]) for n in whole}
            day = date.fromisoformat(made["Flight Date"])
            rows.append({**made, **numbers, "Flight Date": day, "label": label})
    hurt = [row for row in rows if row["label"] != "None"]
    return hurt + [row for row in rows if row["label"] == "None"][:: len(rows) // 1200]


def zones() -> Rows:
    """Time zones; the label is the part of the world."""
    winter, summer = datetime(2025, 1, 15, 12, tzinfo=UTC), datetime(2025, 7, 15, 12, tzinfo=UTC)
    rows: Rows = []
    for line in Path("/usr/share/zoneinfo/zone.tab").read_text().splitlines():
        if line.startswith("#"):
            continue
        code, place, zone, *comment = line.split("\t")
        signs = re.fullmatch(r"([+-]\d+)([+-]\d+)", place)
        assert signs is not None
        latitude, longitude = (_degrees(signs[n], n + 1) for n in (1, 2))
        there = [moment.astimezone(ZoneInfo(zone)) for moment in (winter, summer)]
        offsets = [
            (moment.utcoffset() or winter - winter).total_seconds() / 3600 for moment in there
        ]
        rows.append(
            {
                "zone": zone,
                "country": code,
                "comment": comment[0] if comment else None,
                "latitude": latitude,
                "longitude": longitude,
                "offset_january": offsets[0],
                "offset_july": offsets[1],
                "abbreviation": there[0].tzname(),
                "label": zone.split("/")[0],
            }
        )
    return rows


def _degrees(text: str, digits: int) -> float:
    sign, rest = -1 if text[0] == "-" else 1, text[1:]
    minutes, seconds = rest[digits : digits + 2], rest[digits + 2 :] or "0"
    return round(sign * (int(rest[:digits]) + int(minutes) / 60 + int(seconds) / 3600), 2)


def media() -> Rows:
    """Types of media; the label is the first half of the type."""
    rows: Rows = []
    found = next(path for path in mimetypes.knownfiles if Path(path).exists())
    for line in Path(found).read_text().splitlines():
        kind, *extensions = (
            line.split()[:20] if not line.startswith("#") and line.strip() else ["#"]
        )
        if "/" in kind:
            label, subtype = kind.split("/", 1)
            rows.append(
                {
                    "subtype": subtype,
                    "extensions": " ".join(extensions) or None,
                    "number_of_extensions": len(extensions),
                    "label": label,
                }
            )
    return rows


def functions() -> Rows:
    """Functions and classes of the standard library; the label is the package."""
    wanted = ("tkinter", "xml", "lib2to3", "distutils", "importlib", "ctypes", "concurrent", "json")
    return _functions(Path(sysconfig.get_path("stdlib")), wanted)


def libraries() -> Rows:
    """Functions and classes of installed packages; the label is the package."""
    wanted = ("polars", "sqlglot", "rich", "fastapi", "playwright", "starlette", "matplotlib")
    return _functions(Path(str(pl.__file__)).parents[1], wanted)


def _functions(home: Path, wanted: tuple[str, ...]) -> Rows:
    rows: Rows = []
    for package in wanted:
        for path in sorted((home / package).rglob("*.py")):
            if {"test", "tests"} & {*path.parts}:
                continue
            for node in ast.walk(ast.parse(path.read_text(errors="replace"))):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    doc = ast.get_docstring(node)
                    is_class = isinstance(node, ast.ClassDef)
                    args = [] if isinstance(node, ast.ClassDef) else node.args.args
                    rows.append(
                        {
                            "name": node.name,
                            "kind": "class"
                            if is_class
                            else "method"
                            if args[:1] and args[0].arg == "self"
                            else "function",
                            "file": path.name,
                            "parameters": len(args),
                            "lines": (node.end_lineno or node.lineno) - node.lineno + 1,
                            "doc": None if doc is None else " ".join(doc.split())[:400],
                            "label": package,
                        }
                    )
    return rows


def installed() -> Rows:
    """Packages on this machine with the files in them; the label is the section."""
    shown = "${Package}\t${Section}\t${Installed-Size}\n"
    made = subprocess.run(["dpkg-query", "-W", "-f", shown], check=True, capture_output=True)
    rows: Rows = []
    for line in made.stdout.decode().splitlines():
        name, section, size = line.split("\t")
        lists = sorted(Path("/var/lib/dpkg/info").glob(f"{name}*.list"))
        files = [f for path in lists[:1] for f in path.read_text().splitlines() if "." in f]
        if section in ("libs", "libdevel", "perl", "python", "utils", "admin", "devel", "fonts"):
            listed = ", ".join(file.lstrip("/") for file in files)[:2000]
            row = {"name": name, "files": listed or None, "number": len(files), "size": int(size)}
            rows.append({**row, "label": section})
    return rows


def commits() -> Rows:
    """Commits of this repository; the label is the folder with the most changed lines."""
    made = subprocess.run(
        ["git", "log", "--no-merges", "--numstat", "--format=%x01%h%x02%aI%x02%s"],
        cwd=HERE, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    rows: Rows = []
    for block in made.split("\x01")[1:]:
        head, *lines = block.strip().splitlines()
        _, at, subject = head.split("\x02")
        changes = [line.split("\t") for line in lines if line.count("\t") == 2]
        changes = [(a, d, p) for a, d, p in changes if a.isdigit() and d.isdigit()]
        sizes: Counter[str] = Counter()
        for added, deleted, path in changes:
            parts = path.split("/")
            where = parts[2] if parts[0] == "src" and len(parts) > 3 else parts[0]
            sizes[where] += int(added) + int(deleted)
        if sizes:
            rows.append(
                {
                    "date": datetime.fromisoformat(at).astimezone(UTC).replace(tzinfo=None),
                    "subject": subject,
                    "files": ", ".join(path for _, _, path in changes)[:2000],
                    "changed": len(changes),
                    "insertions": sum(int(a) for a, _, _ in changes),
                    "deletions": sum(int(d) for _, d, _ in changes),
                    "label": sizes.most_common(1)[0][0],
                }
            )
    return rows


TUNED: dict[str, Callable[[], Rows]] = {
    "packages": packages,
    "movies": movies,
    "returns": returns,
    "files": files,
    "characters": characters,
    "libraries": libraries,
    "installed": installed,
}
APART: dict[str, Callable[[], Rows]] = {
    "weather": weather,
    "strikes": strikes,
    "zones": zones,
    "media": media,
    "functions": functions,
    "commits": commits,
}


class Wishes:
    """A table with its labels and wishes."""

    def __init__(self, name: str) -> None:
        rows = {**TUNED, **APART}[name]()
        dice = np.random.default_rng(0)
        if len(rows) > ROWS:
            rows = [rows[n] for n in sorted(dice.permutation(len(rows))[:ROWS].tolist())]
        self.labels = np.array([row.pop("label") for row in rows])
        self.table = Table(pl.DataFrame(rows, infer_schema_length=None), name=name)
        said = tomllib.loads((HERE / "wishes.toml").read_text())[name]["wishes"]
        self.wishes = [(mine, theirs, self.table.parse(text)) for mine, theirs, text in said]
        self._held: dict[Expression, Any] = {}

    def held(self, feature: Expression) -> Any:
        """Where a feature holds."""
        if feature not in self._held:
            words = evaluate(self.table, feature)
            self._held[feature] = np.asarray(unpack(words, len(self.table)), dtype=bool)
        return self._held[feature]

    def draws(self, wish: tuple[str, str, Expression], seed: int) -> Iterator[tuple[int, int, Any]]:
        """Items, examples, and the items labelled before."""
        mine, theirs, feature = wish
        held, dice = self.held(feature), np.random.default_rng(seed)
        ours = np.flatnonzero(held & (self.labels == mine))
        others = (self.labels != mine) if theirs == "*" else (self.labels == theirs)
        unlike = np.flatnonzero(~held & others)
        if not len(ours) or not len(unlike):
            raise SystemExit(f"{self.table.name}: nothing to draw for {feature} ({mine}, {theirs})")
        for known in (20, 100) * 3:
            yield (
                int(dice.choice(ours)),
                int(dice.choice(unlike)),
                dice.permutation(len(self.labels))[:known],
            )

    def wasted(self, nine: list[Expression]) -> list[str]:
        """The places among the nine that say nothing."""
        found = []
        for place, feature in enumerate(nine):
            held = self.held(feature)
            again = any(_alike(held, self.held(other)) == 1 for other in nine[:place])
            if again or held.sum() <= 1 or _is_waste(feature, self.table):
                found.append(str(feature))
        return found


def _alike(one: Any, other: Any) -> float:
    either = np.count_nonzero(one | other)
    return float(np.count_nonzero(one & other) / either) if either else 1.0


def _is_waste(feature: Expression, table: Table) -> bool:
    """A stopword or a fragment, a long list, an equality with a measured number."""
    match feature.tree:
        case tree.In(values=values):
            return len(values) > 2
        case tree.Like(pattern=pattern):
            text = "".join(part for part in pattern if not isinstance(part, Wild)).strip().lower()
            return (
                len(text.strip("-_./: ")) < 3 and Wild.ANY in (pattern[0],)
            ) or text in STOPWORDS
        case tree.Compare("=" | "<>", tree.Column(name, kind), Value()) if kind.numeric:
            values = table.frame([name]).to_series().n_unique()
            return values > 20 and table.count(feature) < len(table) / 20
    return False


def measure(name: str, *, misses: bool, show: bool) -> tuple[float, float, float]:
    """The share of wishes met with 20 and with 100 labelled items, and places wasted."""
    said = Wishes(name)
    met: dict[int, list[bool]] = {20: [], 100: []}
    wasted: list[int] = []
    for number, wish in enumerate(said.wishes):
        missed = []
        for here, there, before in said.draws(wish, number):
            history = [(int(n), said.labels[n]) for n in (*before, there)]
            label = said.labels[here]
            listed = said.table.candidates(here, there, history, label=label, limit=9)
            nine = [one.feature for one in listed]
            held = said.held(wish[2])
            found = any(one == wish[2] or _alike(said.held(one), held) >= 0.98 for one in nine)
            met[len(before)].append(found)
            wasted.append(len(said.wasted(nine)))
            if not found:
                missed.append((len(before), here, there, nine))
        if misses and missed:
            print(f"  {6 - len(missed)} of 6: {wish[2]} ({wish[0]}, not {wish[1]})")
            if show:
                known, here, there, nine = missed[-1]
                bad = said.wasted(nine)
                print(f"      {known} labelled, {here} against {there}:")
                for one in nine:
                    print(f"        {'-' if str(one) in bad else ' '} {str(one)[:110]}")
    few, many = (float(np.mean(met[known])) for known in (20, 100))
    whole, lost = (few + many) / 2, float(np.mean(wasted))
    print(
        f"{name:10} {len(said.table):5} rows, {len(said.wishes):2} wishes: {whole:.2f} among nine"
        f" ({few:.2f} after 20, {many:.2f} after 100), {lost:.1f} wasted",
        flush=True,
    )
    return few, many, lost


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("--tables", nargs="*", choices=[*TUNED, *APART], default=[*TUNED, *APART])
    parser.add_argument("--vega", type=Path, default=VEGA)
    parser.add_argument("--misses", action="store_true", help="print the wishes that were not met")
    parser.add_argument("--show", action="store_true", help="and the nine that were there")
    chosen = parser.parse_args()
    VEGA = chosen.vega
    for title, group in (("tuned on", TUNED), ("kept apart", APART)):
        results = []
        print(title)
        for name in (name for name in chosen.tables if name in group):
            try:
                results.append(measure(name, misses=chosen.misses, show=chosen.show))
            except (OSError, ValueError, StopIteration) as error:
                print(f"{name:10} is not on this machine ({type(error).__name__}: {error})")
        if results:
            few, many, lost = np.mean(results, axis=0)
            print(
                f"{'mean':10} {(few + many) / 2:.2f} among nine ({few:.2f} after 20, {many:.2f}"
                f" after 100), {lost:.1f} wasted"
            )
