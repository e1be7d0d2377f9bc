"""The lab: run experiments, and write what they found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tellapart.lab.cell_store import Store
from tellapart.lab.experiment import EXPERIMENTS, Cell, load
from tellapart.lab.report import Result, write_report
from tellapart.lab.sweep import sweep


def plan(only: Sequence[str] = (), *, quick: bool = False) -> list[Cell]:
    """Every cell of the experiments named in `only`, or of all.

    >>> len(plan(["theorem2"], quick=True)) < len(plan(["theorem2"]))
    True
    """
    return [cell for name in _names(only) for cell in load(name).cells(quick)]


def run(
    folder: Path | str,
    only: Sequence[str] = (),
    *,
    quick: bool = False,
    workers: int | None = None,
    dask: str | None = None,
    on_cell: Callable[[Cell, bool], None] = lambda cell, ran: None,
) -> list[Result]:
    """Run experiments into `folder`: report.html, figures/, numbers/, and cells/ to resume from.

    Parameters
    ----------
    only : names of experiments, default all
        See `EXPERIMENTS`.
    quick : bool, default=False
        Fewer and shorter cells: under two minutes on two cores.
    workers, dask, on_cell
        As for `sweep`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [result] = run(folder, ["erratum_return"], quick=True, workers=1)
    ...     result.finding.holds, sorted(path.name for path in Path(folder).glob("[a-z]*"))
    (True, ['cells', 'figures', 'numbers', 'report.html'])
    """
    folder = Path(folder)
    cells = plan(only, quick=quick)
    with Store(folder) as store:
        rows = sweep(cells, store, workers=workers, dask=dask, on_cell=on_cell)
        results = []
        for name in _names(only):
            experiment = load(name)
            found = [row for c in cells if c.experiment == name for row in rows[c.name]]
            results.append(Result(experiment, found, experiment.read(found)))
        write_report(results, folder, quick=quick, cells=len(cells))
    return results


def _names(only: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(only or EXPERIMENTS))
