"""`tellapart lab`: experiments, and what they show; `tellapart compare` is one of them."""

from __future__ import annotations

import json as json_format
import signal
import sys
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
    from rich.console import Console
    from rich.progress import Progress

    from tellapart.lab import run

    if how["workers"] is not None:
        check("lab", "workers", how["workers"], "an integer >= 1", lambda v: v >= 1)
    cells = [c for one in experiments for c in one.cells(quick=how["quick"], only=how["only"])]
    if not cells:
        raise LabError("nothing is left to run: choose other values with --only")
    done: list[bool] = []
    progress = Progress(console=Console(stderr=True))
    task = progress.add_task("cells", total=len(cells))

    def advance(_: Cell, ran: bool) -> None:
        """A cell is finished; it was run just now, or kept from before."""
        done.append(ran)
        progress.advance(task)

    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with progress:
            results = run(experiments, out, on_cell=advance, **how)
    except KeyboardInterrupt:
        kept = f"{len(done)} of {len(cells)} cells are kept in {out}"
        said = f"tellapart: interrupted. {kept}; the same command goes on from there"
        print(said, file=sys.stderr)
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before)
    report = out / "report.html"
    if as_json:
        counts = {"cells": len(cells), "cells_run": sum(done), "report": str(report)}
        told = {"tellapart": "lab", "format": 2} | counts | {"experiments": _as_json(results)}
        print(json_format.dumps(told))
    else:
        _show(results)
        print(f"Report: {report}")
    return 0


def _show(results: Sequence[Result]) -> None:
    from tellapart.lab.report import WORDS

    for result in results:
        print(result.experiment.title)
        for claim, holds, seen in result.verdicts:
            print(f"  {WORDS[holds]}: {claim} ({seen})")


def _as_json(results: Sequence[Result]) -> list[dict[str, Any]]:
    return [
        {
            "experiment": result.experiment.name,
            "title": result.experiment.title,
            "claims": [verdict._asdict() for verdict in result.verdicts],
        }
        for result in results
    ]
