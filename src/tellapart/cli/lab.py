"""`tellapart lab`: experiments, and what they show; `tellapart compare` is one of them."""

from __future__ import annotations

import json as json_format
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tellapart.cli.options import Whole
from tellapart.errors import LabError, ParameterError, check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tellapart.lab import Experiment, Result
    from tellapart.lab.experiment import Cell

ON_TABLES = ("corrections", "shift", "length")
"""Experiments that need real tables: they run only if they are named."""
INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


def lab(
    *experiments: str,
    out: Path = Path("tellapart-lab"),
    quick: bool = False,
    only: list[str] | None = None,
    workers: Whole | None = None,
    dask: str | None = None,
    list: bool = False,
    json: bool = False,
) -> int:
    """Test claims by experiment, and write a report with figures and numbers.

    Needs the extra 'lab'. Finished parts are kept in the folder: the same command
    goes on where an earlier one was stopped.

    Examples:

        tellapart lab --quick
        tellapart lab theorem3 slope --out paper --dask tcp://10.0.0.1:8786
        tellapart lab ./mine.py --only k=8 --only learner='Capped*'

    Parameters
    ----------
    experiments
        Names of experiments, or Python files of your own; if none is given, all about
        theorems and bounds.
    out
        The folder for report.html, figures, numbers and finished cells.
    quick
        Fewer and shorter runs: about a minute on two cores.
    only
        Only these values of an axis, as in row='heart*' (again for more).
    workers
        How many local processes to use; one for each core if not given.
    dask
        The address of a Dask scheduler, to run on its workers instead (needs the
        extra 'dask'; tellapart must be installed there, too).
    list
        Say which experiments there are, or the axes of those named, and stop.
    json
        Print the claims as one JSON object instead.
    """
    from tellapart.lab.experiment import experiments as known
    from tellapart.lab.experiment import load

    names = experiments or [name for name in known() if name not in ON_TABLES]
    found = [one for name in dict.fromkeys(names) for one in load(name)]
    if list:
        for one in found if experiments else known().values():
            print(f"{one.name:<18} {one.title}")
            for axis, values in one.grid.items() if experiments else ():
                print(f"    {axis}: {', '.join(map(str, values))}")
        return 0
    how = {"quick": quick, "only": _patterns(found, only or []), "workers": workers, "dask": dask}
    return _run(found, out, how, as_json=json)


def compare(
    *,
    out: Path = Path("tellapart-compare"),
    quick: bool = False,
    only: list[str] | None = None,
    workers: Whole | None = None,
    json: bool = False,
) -> int:
    """Compare learners by the corrections they need, on real tables and made worlds.

    The same as `tellapart lab corrections`. Needs the extras 'lab' and 'compare'.

    Examples:

        tellapart compare --quick
        tellapart compare --only row='heart*' --only learner=AutoDFF --only learner='tree*'

    Parameters
    ----------
    out
        The folder for report.html, figures, numbers and finished cells.
    quick
        Few rows, short streams, two seeds.
    only
        Only these values of an axis: row, group (kept, tuned), teacher, learner, seed
        (again for more). A learner may have parameters, as in learner=capped:m=7.
    workers
        How many local processes to use; one for each core if not given.
    json
        Print the claims as one JSON object instead.
    """
    return lab("corrections", out=out, quick=quick, only=only, workers=workers, json=json)


def _patterns(experiments: Sequence[Experiment], only: Sequence[str]) -> dict[str, list[str]]:
    """{axis: patterns} of texts like row=heart*."""
    found: dict[str, list[str]] = {}
    axes = dict.fromkeys(axis for one in experiments for axis in one.grid)
    for text in only:
        axis, equals, pattern = text.partition("=")
        if not equals or axis not in axes:
            raise ParameterError(f"--only takes AXIS=VALUE, of {', '.join(axes)}; got {text!r}")
        found.setdefault(axis, []).append(pattern)
    return found


def _run(
    experiments: Sequence[Experiment], out: Path, how: dict[str, Any], *, as_json: bool
) -> int:
    from tellapart.lab import run

    if how["workers"] is not None:
        check("lab", "workers", how["workers"], "an integer >= 1", lambda v: v >= 1)
    cells = [c for one in experiments for c in one.cells(quick=how["quick"], only=how["only"])]
    if not cells:
        raise LabError("nothing is left to run: choose other values with --only")
    bars = Bars(cells)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with bars.progress:
            results = run(experiments, out, on_cell=bars.advance, **how)
    except KeyboardInterrupt:
        kept = f"{bars.done} of {len(cells)} cells are kept in {out}"
        print(f"tellapart: interrupted. {kept}; the same command goes on from there",
              file=sys.stderr)  # fmt: skip
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before)
    if as_json:
        told = {"cells": len(cells), "cells_run": bars.ran, "report": str(out / "report.html")}
        print(json_format.dumps({"tellapart": "lab", "format": 2} | told | _as_json(results)))
    else:
        _show(results, out / "report.html")
    return 0


class Bars:
    """A progress bar for each experiment, on stderr."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeElapsedColumn as Elapsed

        self.done = self.ran = 0
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Elapsed()
        self.progress = Progress(*columns, console=Console(stderr=True))
        counts = Counter(cell.experiment for cell in cells)
        self._tasks = {
            name: self.progress.add_task(name, total=own) for name, own in counts.items()
        }

    def advance(self, cell: Cell, ran: bool) -> None:
        """A cell is finished; it was run just now, or kept from before."""
        self.done += 1
        self.ran += ran
        self.progress.advance(self._tasks[cell.experiment])


def _show(results: Sequence[Result], report: Path) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from tellapart.lab.report import WORDS

    console = Console(highlight=False)
    styles = {True: "green", False: "bold red", None: "dim"}
    for result in results:
        console.print(Text(result.experiment.title, "bold"))
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
        for claim, holds, seen in result.verdicts:
            table.add_row(Text(WORDS[holds], styles[holds]), Text(claim), Text(seen, "dim"))
        console.print(table)
    console.print(f"Report: {report}", soft_wrap=True, markup=False)


def _as_json(results: Sequence[Result]) -> dict[str, Any]:
    return {
        "experiments": [
            {
                "experiment": result.experiment.name,
                "title": result.experiment.title,
                "claims": [verdict._asdict() for verdict in result.verdicts],
            }
            for result in results
        ]
    }
