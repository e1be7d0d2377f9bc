"""Tables that are on a machine anyway, for the wishes of `two_keys.py`; each row has a `label`."""

from __future__ import annotations

import ast
import csv
import gzip
import json
import mimetypes
import os
import re
import stat
import subprocess
import sysconfig
import unicodedata
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl

Rows = list[dict[str, Any]]
HERE = Path(__file__).parent
VEGA = Path("vega-datasets", "data")
MDN = Path("browser-compat-data", "data.json")


def packages() -> Rows:
    """Packages of Debian; the label is the section."""
    lists = Path("/var/lib/apt/lists").glob("*main*_Packages*")
    found = max(lists, key=lambda path: path.stat().st_size)  # updates have lists of their own
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


def uploads() -> Rows:
    """Entries of Debian's changelogs; the label is what was done."""
    rows: Rows = []
    entry = re.compile(
        r"^(\S+) \(([^)]+)\) ([^;]+); urgency=(\w+).*?\n(.*?)\n -- (.*?) <(.*?)>  (.*?)$",
        re.MULTILINE | re.DOTALL,
    )
    for path in sorted(Path("/usr/share/doc").glob("*/changelog.Debian.gz")):
        text = gzip.decompress(path.read_bytes()).decode(errors="replace")
        for package, version, suite, urgency, said, who, mail, at in entry.findall(text)[:40]:
            changes = " ".join(said.split())[:1000]
            rows.append(
                {
                    "package": package,
                    "version": version,
                    "suite": suite,
                    "urgency": urgency.lower(),
                    "changes": changes,
                    "number": len(re.findall(r"^  \* ", said, re.MULTILINE)),
                    "uploader": who,
                    "email": mail,
                    "date": parsedate_to_datetime(at).date(),
                    "label": _upload(changes, suite),
                }
            )
    return rows


def _upload(changes: str, suite: str) -> str:
    for label, shape in (
        ("security", r"CVE-|security"),
        ("stable update", None),
        ("release", r"new (upstream )?(version|release)"),
        ("translation", r"translation|debconf"),
        ("packaging", r"standards-version|debhelper|lintian|d/(rules|control|watch)|debian/"),
        ("fix", r"closes|fix|bug"),
    ):
        if (shape is None and suite not in ("unstable", "experimental")) or (
            shape is not None and re.search(shape, changes, re.IGNORECASE)
        ):
            return label
    return "other"


def cars() -> Rows:
    """Cars of the seventies; the label is where they are from."""
    rows: Rows = []
    for row in _vega("cars.json"):
        made = {**row, "Year": date.fromisoformat(row["Year"])}
        label = made.pop("Origin")
        rows.append({**made, "label": label})
    return rows


def quakes() -> Rows:
    """Earthquakes of a week; the label is the part of the world."""
    wanted = ("mag", "place", "felt", "tsunami", "net", "nst", "rms", "gap", "magType", "types")
    rows: Rows = []
    found = json.loads((VEGA / "earthquakes.json").read_text())["features"]
    for one in found:
        known = one["properties"]
        made = {name: known[name] for name in (*wanted, "type", "status")}
        longitude, latitude, depth = one["geometry"]["coordinates"]
        moment = datetime.fromtimestamp(known["time"] / 1000, UTC).replace(tzinfo=None)
        where = known["place"].rsplit(", ", 1)[-1]
        label = {"CA": "California", "Alaska": "Alaska", "Hawaii": "Hawaii"}.get(where)
        if label is None:
            label = "the other states" if longitude < -65 and 25 < latitude < 50 else "abroad"
        place = {"latitude": latitude, "longitude": longitude, "depth": depth}
        numbers = {n: None if made[n] is None else float(made[n]) for n in ("mag", "rms", "gap")}
        rows.append({**made, **numbers, **place, "time": moment, "label": label})
    return rows


def sources() -> Rows:
    """Python files of installed packages; the label is the package."""
    home = Path(str(pl.__file__)).parents[1]
    wanted = ("polars", "sqlglot", "rich", "matplotlib", "numpy", "sklearn", "hypothesis", "PIL")
    rows: Rows = []
    for package in wanted:
        for path in sorted((home / package).rglob("*.py")):
            text = path.read_text(errors="replace")
            parsed = ast.parse(text)
            doc = ast.get_docstring(parsed)
            imports = sorted(
                {
                    name
                    for node in ast.walk(parsed)
                    for name in (
                        [one.name for one in node.names]
                        if isinstance(node, ast.Import)
                        else [node.module or "."]
                        if isinstance(node, ast.ImportFrom)
                        else []
                    )
                }
            )
            kinds = Counter(type(node) for node in ast.walk(parsed))
            rows.append(
                {
                    "path": str(path.relative_to(home / package)),
                    "lines": text.count("\n"),
                    "imports": ", ".join(imports) or None,
                    "classes": kinds[ast.ClassDef],
                    "functions": kinds[ast.FunctionDef],
                    "first_line": text.split("\n", 1)[0][:200] or None,
                    "doc": None if doc is None else " ".join(doc.split())[:300],
                    "label": package,
                }
            )
    return rows


def manuals() -> Rows:
    """Pages of the manual; the label is the section."""
    sections = {
        "1": "command", "2": "system call", "3": "function", "5": "file", "7": "overview",
        "8": "administration",
    }  # fmt: skip
    rows: Rows = []
    for number, label in sections.items():
        for path in sorted(Path(f"/usr/share/man/man{number}").glob("*.gz")):
            if path.is_symlink():
                continue
            text = gzip.decompress(path.read_bytes()).decode(errors="replace")
            title = re.search(r"^\.SH \"?NAME\"?\n((?:[^.\n].*\n)+)", text, re.MULTILINE)
            if title is None:
                continue
            name, _, what = re.sub(r"\\(?:f.|&)", "", title[1]).partition("\\-")
            head = re.search(r"^\.TH (.*)", text, re.MULTILINE)
            heads = re.findall(r"^\.SH \"?(.*?)\"?$", text, re.MULTILINE)
            rows.append(
                {
                    "name": " ".join(name.split()),
                    "summary": " ".join(what.split()) or None,
                    "page": path.name.removesuffix(".gz").rsplit(".", 1)[0],
                    "headings": ", ".join(heads)[:500],
                    "title": None if head is None else head[1].replace('"', "")[:100],
                    "size": len(text),
                    "lines": text.count("\n"),
                    "label": label,
                }
            )
    return rows


def football() -> Rows:
    """Football matches; the label is how they ended."""
    rows: Rows = []
    for row in _vega("football.json"):
        home, away = row["home_score"], row["away_score"]
        label = "draw" if home == away else "home win" if home > away else "away win"
        rows.append({**row, "date": date.fromisoformat(row["date"]), "label": label})
    return rows


def penguins() -> Rows:
    """Penguins; the label is the species."""
    rows: Rows = []
    for row in _vega("penguins.json"):
        made = {**row, "Body Mass (g)": row["Body Mass (g)"]}
        label = made.pop("Species")
        rows.append({**made, "label": label})
    return rows


def receipts() -> Rows:
    """What the United States take in, in thousands of dollars; the label is the category."""
    years = ("1980", "1990", "2000", "2010")
    rows: Rows = []
    for row in _vega("budget.json"):
        made = {name: row[name] for name in ("Agency name", "Bureau name", "Account name")}
        made["Off-budget"] = row["On- or off-budget"] == "Off-budget"
        money = {f"Receipts {year}": int(str(row[year]).replace(",", "")) for year in years}
        rows.append({**made, **money, "label": row["Source category name"]})
    return rows


def airports() -> Rows:
    """Airports of some states; the label is the state."""
    names = {
        "AK": "Alaska", "TX": "Texas", "CA": "California", "FL": "Florida", "NY": "New York",
        "OH": "Ohio",
    }  # fmt: skip
    rows: Rows = []
    for row in _vega("airports.csv"):
        if row["state"] in names:
            place = {name: float(row[name]) for name in ("latitude", "longitude")}
            texts = {name: row[name] for name in ("iata", "name", "city")}
            rows.append({**texts, **place, "label": names[row["state"]]})
    return rows


def countries() -> Rows:
    """Countries in some years; the label is the part of the world."""
    parts = ("South Asia", "Europe", "Africa", "America", "East Asia", "Middle East")
    wanted = ("year", "country", "pop", "life_expect", "fertility")
    return [
        {**{name: row[name] for name in wanted}, "label": parts[row["cluster"]]}
        for row in _vega("gapminder.json")
    ]


def browsers() -> Rows:
    """Features of browsers; the label is the language they belong to."""
    found = json.loads(MDN.read_text())
    wanted = ("api", "css", "html", "javascript", "svg", "http", "webextensions")
    rows: Rows = []

    def walk(node: dict[str, Any], path: list[str]) -> None:
        known = node.get("__compat")
        if known is not None:
            first: dict[str, Any] = {}
            for browser in ("chrome", "firefox", "safari"):
                support = known["support"].get(browser, {})
                support = support[0] if isinstance(support, list) else support
                added = support.get("version_added")
                first[browser] = float(added) if re.fullmatch(r"[\d.]+", str(added)) else None
            rows.append(
                {
                    "name": path[-1],
                    "inside": ".".join(path[1:-1]) or None,
                    "description": known.get("description"),
                    "page": known.get("mdn_url"),
                    **first,
                    "depth": len(path),
                    "experimental": bool(known.get("status", {}).get("experimental")),
                    "deprecated": bool(known.get("status", {}).get("deprecated")),
                    "label": path[0],
                }
            )
        for name, child in node.items():
            if name != "__compat" and isinstance(child, dict):
                walk(child, [*path, name])

    for area in wanted:
        walk(found[area], [area])
    return rows


TUNED: dict[str, Callable[[], Rows]] = {
    "packages": packages,
    "movies": movies,
    "returns": returns,
    "files": files,
    "characters": characters,
    "libraries": libraries,
    "installed": installed,
    "uploads": uploads,
    "cars": cars,
    "quakes": quakes,
    "sources": sources,
}
APART: dict[str, Callable[[], Rows]] = {
    "weather": weather,
    "strikes": strikes,
    "zones": zones,
    "media": media,
    "functions": functions,
    "commits": commits,
    "manuals": manuals,
    "football": football,
    "penguins": penguins,
    "receipts": receipts,
    "airports": airports,
    "countries": countries,
    "browsers": browsers,
}
