"""A table read in a process of its own, with a limit on memory and time.

A server reads what strangers send with `read_apart`: the worst file costs one message. What the
process hands back is a file of ours, not one of theirs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from tellapart.errors import FormatError, TellapartError
from tellapart.tables.findings import Finding
from tellapart.tables.options import STRANGERS, Limits, ReadOptions
from tellapart.tables.source import Opened, open_source
from tellapart.tables.table import Table


def read_apart(path: Path, limits: Limits = STRANGERS, **reading: Any) -> Table:
    """What `read_table` reads, within `limits`.

    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "zoo.csv")
    ...     _ = path.write_text("name,legs\\nbear,4\\nduck,2\\n")
    ...     read_apart(path)
    <zoo.csv: 2 items, 2 columns>
    """
    with TemporaryDirectory() as folder:
        out = Path(folder, "table.arrow")
        wanted = {
            "path": str(path.absolute()),
            "out": str(out),
            "limits": vars(limits),
            "reading": reading,
        }
        threads = {"POLARS_MAX_THREADS": "2", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-P", "-c", f"from {__name__} import main; main()"]
        paths = os.pathsep.join(place for place in sys.path if place)
        try:
            done = subprocess.run(
                command,
                input=json.dumps(wanted),
                capture_output=True,
                text=True,
                timeout=limits.seconds,
                env={**os.environ, **threads, "PYTHONPATH": paths},
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise FormatError(
                f"{path.name} takes more than {limits.seconds} seconds to be read. Take fewer rows"
                " or columns"
            ) from None
        try:
            found = json.loads(done.stdout.rpartition("\n")[2])
        except ValueError:
            raise FormatError(
                f"{path.name} needs more than {limits.memory >> 20:,} MB of memory to be read. Take"
                " fewer rows or columns"
            ) from None
        if "error" in found:
            raise FormatError(found["error"], **found["advice"])
        findings = [Finding(*one) for one in found["findings"]]
        frame = pl.read_ipc(out.read_bytes())
    return Table(Opened(frame, findings, found["name"], found["whole"], looked=True))


def main() -> None:
    """Read what standard input names; the other side of `read_apart`."""
    wanted = json.loads(sys.stdin.read())
    limits = Limits(**wanted["limits"])
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (limits.memory, limits.memory))
    try:
        said: Mapping[str, Any] = _read(wanted, limits)
    except FormatError as error:
        said = {"error": error.said(lambda name, _: f"{{{name}}}"), "advice": error.advice}
    except TellapartError as error:
        said = {"error": str(error), "advice": {}}
    print("\n" + json.dumps(said, default=str), end="")


def _read(wanted: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    options = ReadOptions(**wanted["reading"], limits=limits)
    with open_source(wanted["path"], options) as source:
        opened = source.table()
        lazy = opened.frame.lazy()
        rows = int(lazy.select(pl.len()).collect().item())
        limits.check(opened.name, "cells", rows * len(lazy.collect_schema()))
        table = Table(replace(opened, frame=lazy.collect()))
        found = [(f.column, f.code, dict(f.facts), dict(f.option)) for f in table.findings]
        lazy.sink_ipc(wanted["out"])
    return {"name": opened.name, "findings": found, "whole": opened.whole}
