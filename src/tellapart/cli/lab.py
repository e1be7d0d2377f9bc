"""`tellapart lab`: every theorem as a table and a picture."""

from __future__ import annotations

import json as json_format
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tellapart.cli.options import Whole
from tellapart.errors import check

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tellapart.lab import Cell, Result

T = TypeVar("T")

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


def lab(
    *experiments: str,
    out: Path = Path("tellapart-lab"),
    quick: bool = False,
    workers: Whole | None = None,
    dask: str | None = None,
    list: bool = False,
    json: bool = False,
) -> int:
    """Test the theorems by experiment, and write a report with figures and numbers.

    Needs the extra 'lab'. Finished parts are kept in the folder: the same command
    goes on where an earlier one was stopped, on this machine or another.

    Examples:

        tellapart lab --quick
        tellapart lab theorem3 slope --out paper --dask tcp://10.0.0.1:8786

    Parameters
    ----------
    experiments
        Names of experiments; all if none is given.
    out
        The folder for report.html, figures, numbers and finished cells.
    quick
        Fewer and shorter runs: under two minutes on two cores.
    workers
        How many local processes to use; one for each core if not given.
    dask
        The address of a Dask scheduler, to run on its workers instead (needs the
        extra 'dask'; tellapart must be installed there, too).
    list
        Say which experiments there are, and stop.
    json
        Print the verdicts as one JSON object instead.
    """
    from tellapart.lab import EXPERIMENTS, load, plan, run

    names = [*dict.fromkeys(experiments)] or [*EXPERIMENTS]
    titles = {name: load(name).title for name in names}
    if list:
        width = max(map(len, titles))
        for name, title in titles.items():
            print(f"{name:<{width}}  {title}")
        return 0
    if workers is not None:
        check("lab", "workers", workers, "an integer >= 1", lambda v: v >= 1)
    cells = plan(names, quick=quick)
    bars = Bars(cells)
    results = run_with_bars(
        bars,
        out,
        lambda: run(out, names, quick=quick, workers=workers, dask=dask, on_cell=bars.advance),
    )
    if results is None:
        return INTERRUPTED
    report = out / "report.html"
    if json:
        print(json_format.dumps(_as_json(results, report, bars), ensure_ascii=False))
    else:
        _show(results, report)
    return 0


def run_with_bars(bars: Bars, out: Path, work: Callable[[], T]) -> T | None:
    """Run cells under their bars; None, and a line that says what is kept, if somebody stops it."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with bars.progress:
            return work()
    except KeyboardInterrupt:
        from tellapart.lab.cell_store import CellStore

        with CellStore(out) as store:  # one more than was told may be finished
            kept = sum(store.load(cell) is not None for cell in bars.cells)
        print(
            f"tellapart: interrupted. {kept} of {bars.total} cells are kept in {out}; the same"
            " command goes on from there",
            file=sys.stderr,
        )
        return None
    finally:
        signal.signal(signal.SIGTERM, before)


class Bars:
    """A progress bar for each experiment, on stderr."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeElapsedColumn as Elapsed

        self.done = self.ran = 0
        self.cells, self.total = cells, len(cells)
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            Elapsed(),
            console=Console(stderr=True),
        )
        self._tasks: dict[str, Any] = {}
        for name, own in Counter(cell.experiment for cell in cells).items():
            shown = name.rpartition(":")[2].lower()
            self._tasks[name] = self.progress.add_task(shown, total=own)

    def advance(self, cell: Cell, ran: bool) -> None:
        """A cell is finished; it was run just now, or kept from before."""
        self.done += 1
        self.ran += ran
        self.progress.advance(self._tasks[cell.experiment])
        if self.done == self.total:
            self.progress.add_task("report", total=None)


def _show(results: Sequence[Result], report: Path) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 1, 0))
    for experiment, _, finding in results:
        word, style = ("seen", "green") if finding.holds else ("not seen", "bold red")
        table.add_row(Text(experiment.title), Text(word, style), Text(finding.verdict))
    console.print(table)
    console.print(f"Report: {report}", soft_wrap=True, markup=False)


def _as_json(results: Sequence[Result], report: Path, bars: Bars) -> dict[str, Any]:
    return {
        "tellapart": "lab",
        "format": 1,
        "report": str(report),
        "cells": bars.done,
        "cells_run": bars.ran,
        "experiments": [result.summary() for result in results],
    }
