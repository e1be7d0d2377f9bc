"""Give hostile files to every command that reads one: clear messages, no hang, nothing lost.

    python tests/fuzz/fuzz_files.py [--seed 0] [--changed 8] [--only table] [--server]

Tables of all kinds, models, learners, SQL, logs and databases of sessions: cut at every tenth, with
bytes changed, and bombs, lies, deep, wide and long ones. Each is read by a command of its own
process with 3 GB of memory and 60 seconds. What is wrong is a traceback, a process that is killed,
a very long message, or a file that a command changed or left behind. Prints what is wrong,
how many were read and refused, and the longest time; a small sample is a test.

With `--server`, tables are dropped on a page of a running server instead, and somebody else asks it
all the while. Printed are the answers, the longest that somebody else waited, and the most memory.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import json
import random
import resource
import sqlite3
import subprocess
import sys
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import polars as pl

sys.path.insert(0, str(Path(__file__).parent.parent))

import tellapart as ta
from server_process import serving
from teaching import animals, teach
from tellapart.sessions import Session, Store, export_log

SECONDS = 60
MEMORY = 3 * 2**30
COMMANDS = {
    "table": ["predict", "good.json", "{file}", "-o", "out.csv"],
    "taught": ["predict", "{file}", "good.csv", "-o", "out.csv"],
    "model": ["export", "{file}", "--to", "sql"],
    "sql": ["import", "{file}", "-o", "out.json"],
    "log": ["session", "import", "{file}", "--db", "out.db"],
    "database": ["session", "check", "--db", "{file}"],
}
"""What reads a file of some kind."""


class Hostile(NamedTuple):
    reader: str
    name: str
    content: bytes
    what: str


@cache
def good_files() -> dict[str, tuple[str, bytes]]:
    """By name: who reads it, and what is in it."""
    rows = pl.DataFrame({"a": range(50), "b": ["x", "y"] * 25, "day": ["2024-01-02"] * 50})
    text = rows.write_csv().encode()
    found = {
        "t.csv": text, "t.csv.gz": gzip.compress(text), "t.csv.bz2": bz2.compress(text),
        "t.jsonl": rows.write_ndjson().encode(), "t.json": json.dumps(rows.to_dicts()).encode(),
    }  # fmt: skip
    for name, write in {
        "t.parquet": rows.write_parquet, "t.arrow": rows.write_ipc, "t.xlsx": rows.write_excel,
    }.items():  # fmt: skip
        out = io.BytesIO()
        write(out)
        found[name] = out.getvalue()
    found["t.zip"] = zipped(text)
    made = {name: ("table", content) for name, content in found.items()}
    model = ta.from_sql("CASE WHEN a > 3 AND b LIKE 'x%' THEN 'many' ELSE 'few' END")
    made["m.json"] = ("model", model.to_json().encode())
    made["r.sql"] = ("sql", ta.to_sql(model).encode())
    made["r2.sql"] = ("sql", b"SELECT id, CASE WHEN a > 3 OR b = 'x' THEN 'p' END AS k FROM t")
    with TemporaryDirectory() as folder:
        with Store(Path(folder, "s.db")) as store:
            with Session.new(store, "zoo", animals()) as session:
                teach(session, "Ann", 12)
            made["s.jsonl"] = ("log", "".join(export_log(store, "zoo")).encode())
        made["s.db"] = ("database", Path(folder, "s.db").read_bytes())
        made["t2.csv.sessions.db"] = ("database", made["s.db"][1])
    return made


def zipped(text: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", text)
    return out.getvalue()


def bombs() -> Iterator[Hostile]:
    """Small files that hold very much, or that lie."""
    many = b"a,b,day\n" + b"1,x,2024-01-02\n" * 200_000
    zeros = b"0" * (3 * 2**30 // 64)
    yield Hostile("table", "t.csv.gz", gzip.compress(b"".join([zeros] * 64)), "a bomb of 3 GB")
    yield Hostile("table", "t.csv.bz2", bz2.compress(zeros * 4), "a bomb")
    yield Hostile("table", "t.zip", zipped(zeros * 4), "a bomb")
    yield Hostile("table", "t.csv.gz", gzip.compress(many)[:-8], "no end")
    yield Hostile("table", "t.csv", b"\0" * 100_000, "nothing but zeros")
    yield Hostile("table", "t.csv", b"a," * 50_000 + b"a\n", "wide")
    yield Hostile("table", "t.csv", b'a,b\n"' + b"x" * 5_000_000, "an open quote")
    yield Hostile("table", "t.csv", b"a,b\n" + b"9" * 1_000_000 + b",x\n", "a long number")
    yield Hostile("table", "t.csv", b"\xff\xfe" + b"a,b\n1,2\n", "another encoding than it says")
    deep = 200_000
    values = {
        "deep lists": b"[" * deep + b"]" * deep,
        "deep objects": b'{"a":' * deep + b"1" + b"}" * deep,
        "no end": b"[" * deep, "long digits": b"9" * 100_000, "exponent": b"1e999999999",
        "lone surrogate": b'"\\ud800"', "a key twice": b'{"a": 1, "a": 2}', "nan": b"NaN",
    }  # fmt: skip
    for what, value in values.items():
        yield Hostile("table", "t.json", b'[{"a": ' + value + b"}]", what)
        yield Hostile("table", "t.jsonl", b'{"a": 1}\n{"a": ' + value + b"}\n", what)
        clause = b'{"if": [], "label": %s, "example": null, "origin": 0}' % value
        whole = b'{"tellapart": "model", "format": 1, "clauses": [], "default": %s}' % clause
        yield Hostile("model", "m.json", whole, what)
        yield Hostile("log", "s.jsonl", b'{"tellapart": "session", "x": %s}\n' % value, what)
        yield Hostile("taught", "m.json", whole, what)
    lines = good_files()["s.jsonl"][1].splitlines(keepends=True)
    for n in range(0, len(lines), 3):
        yield Hostile("log", "s.jsonl", b"".join(lines[:n] + lines[n + 1 :]), f"without line {n}")
        yield Hostile("log", "s.jsonl", b"".join([*lines[: n + 1], *lines[n:]]), f"line {n} twice")
    for what, condition in {
        "brackets": "(" * 5_000 + "a > 1" + ")" * 5_000, "not": "NOT " * 20_000 + "a > 1",
        "many": " OR ".join(f"a = {n}" for n in range(20_000)), "digits": "a > " + "9" * 100_000,
        "open text": "b = 'x", "zero": "b = '\0'", "jinja": "b = '{{ x }}'", "none": "",
        "long text": f"b = '{'x' * 2_000_000}'", "query": "a > (SELECT max(a) FROM t)",
        "minus": "a > " + "-" * 20_000 + "1", "case": "CASE WHEN " * 2_000 + "a",
    }.items():  # fmt: skip
        yield Hostile("sql", "r.sql", f"CASE WHEN {condition} THEN 'x' END".encode(), what)
    with TemporaryDirectory() as folder:
        other = sqlite3.connect(Path(folder, "o.db"))
        other.execute("CREATE TABLE events (x)")
        other.commit()
        other.close()
        yield Hostile("database", "o.db", Path(folder, "o.db").read_bytes(), "another database")


def damaged(changed: int, dice: random.Random) -> Iterator[Hostile]:
    """Good files cut at every tenth, and with bytes changed; so many of each kind."""
    for name, (reader, content) in good_files().items():
        for tenth in range(10):
            yield Hostile(reader, name, content[: len(content) * tenth // 10], f"cut at {tenth}/10")
        for number in range(changed):
            made = bytearray(content)
            for _ in range(dice.choice((1, 3, 20, 200))):
                made[dice.randrange(len(made))] = dice.randrange(256)
            yield Hostile(reader, name, bytes(made), f"bytes changed, {number}")


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def judge(one: Hostile, folder: Path) -> tuple[str, str | None]:
    """What a command did with a file, and what is wrong about that, if anything."""
    good = {name: content for name, (_, content) in good_files().items()}
    (folder / "good.json").write_bytes(good["m.json"])
    (folder / "good.csv").write_bytes(good["t.csv"])
    (folder / one.name).write_bytes(one.content)
    words = [word.format(file=one.name) for word in COMMANDS[one.reader]]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "tellapart", *words], cwd=folder, capture_output=True,
            timeout=SECONDS, preexec_fn=limited, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "hangs", f"longer than {SECONDS} s"
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode not in (0, 1):
        return "killed", f"exit {done.returncode}: {said[-300:]}"
    if "Traceback" in said:
        return "traceback", said[-600:]
    if len(said) > 20_000:
        return "long", f"a message of {len(said):,} characters"
    if (folder / one.name).read_bytes() != one.content:
        return "changed", "the file is another one now"
    if done.returncode == 0:
        return "read", None
    if not said.strip():
        return "silent", "no message"
    left = {path.name for path in folder.iterdir()} - {"good.json", "good.csv", one.name}
    if left - {"out.db", "out.db.lock", f"{one.name}.lock"}:
        return "left behind", str(sorted(left))
    return "refused", None


def run(files: Iterator[Hostile], show: int = 20) -> Counter[str]:
    """Judge every file; print what is wrong and how it went."""
    counts: Counter[str] = Counter()
    longest = (0.0, "")
    for one in files:
        started = time.monotonic()
        with TemporaryDirectory() as folder:
            what, wrong = judge(one, Path(folder))
        longest = max(longest, (time.monotonic() - started, f"{one.name}, {one.what}"))
        counts[what] += 1
        if wrong is not None and counts[what] <= show:
            print(f"{what}: {one.reader} {one.name}, {one.what}: {wrong}", flush=True)
    print(f"{dict(counts)}, longest {longest[0]:.1f} s: {longest[1]}", flush=True)
    return counts


def run_server(files: Iterator[Hostile]) -> bool:
    """Send every table to a server; whether it stayed up and said what is wrong."""
    answers: Counter[int] = Counter()
    waits: list[float] = []
    done = threading.Event()
    with TemporaryDirectory() as folder:
        Path(folder, "good.csv").write_bytes(good_files()["t.csv"][1])
        with serving("good.csv", cwd=Path(folder)) as server, server.client("Ann") as owner:

            def look() -> None:
                with server.client("Ann") as somebody:
                    while not done.wait(0.1):
                        began = time.monotonic()
                        somebody.get("/api/sessions/good/progress").raise_for_status()
                        waits.append(time.monotonic() - began)

            looking = threading.Thread(target=look)
            looking.start()
            try:
                for number, one in enumerate(files):
                    named = {"name": f"n{number}-{one.name}"}
                    sent = owner.post("/upload", params=named, content=one.content, timeout=120)
                    answers[sent.status_code] += 1
                    if sent.status_code >= 500:
                        print(f"{one.name}, {one.what}: {sent.text[:500]}", flush=True)
                state = Path(f"/proc/{server.pid}/status").read_text().split()
            finally:
                done.set()
                looking.join()
    waits.sort()
    print(
        f"{dict(answers)}; somebody else was served {len(waits)} times, median"
        f" {waits[len(waits) // 2]:.2f} s, longest {waits[-1]:.2f} s; memory of the server at most"
        f" {int(state[state.index('VmHWM:') + 1]) // 1000} MB",
        flush=True,
    )
    return all(code < 500 for code in answers)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--changed", type=int, default=8)
    parser.add_argument("--only", choices=COMMANDS)
    parser.add_argument("--server", action="store_true")
    given = parser.parse_args()
    files = [*bombs(), *damaged(given.changed, random.Random(given.seed))]
    if given.only:
        files = [one for one in files if one.reader == given.only]
    if given.server:
        return int(not run_server(one for one in files if one.reader == "table"))
    counts = run(iter(files))
    return int(counts.total() > counts["read"] + counts["refused"])


if __name__ == "__main__":
    sys.exit(main())
