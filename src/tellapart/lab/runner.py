"""Run cells in local processes or on a Dask cluster, and keep what is finished.

Each experiment has a file of JSON lines, one for each finished cell, written as soon as the cell is
finished. A run that was stopped or killed goes on with the cells that are left. A line counts only
if it is whole and was made by the source code that asks for it.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import tellapart
from tellapart.errors import LabError, MissingExtra, check
from tellapart.lab.experiment import Cell, Experiment, Row, Rows, run_cell

_CONNECT = 10  # seconds to wait for a Dask scheduler, and then for its first worker


def run_cells(
    experiments: Sequence[Experiment],
    folder: Path,
    *,
    quick: bool = False,
    only: Mapping[str, Sequence[str]] | None = None,
    workers: int | None = None,
    dask: str | None = None,
    on_cell: Callable[[Cell, bool], None] = lambda cell, ran: None,
) -> dict[str, Rows]:
    """The rows of experiments by name. Cells finished before are read from `folder`.

    Parameters
    ----------
    only : {axis: patterns}, optional
        Only these values, such as {"k": ["4"], "learner": ["Capped*"]}.
    workers : int, default=None
        Local processes; by default one for each core.
    dask : str, default=None
        The address of a Dask scheduler, to run there instead.
    on_cell : (cell, ran) -> None
        Called for every finished cell; `ran` is False if it was finished before.

    Raises `LabError` if cells fail, after all others are finished and kept.
    """
    if workers is not None:
        check("the lab", "workers", workers, "an integer >= 1", lambda v: v >= 1)
    cells = {one.name: one.cells(quick=quick, only=only) for one in experiments}
    files = {one.name: CellFile(folder, one) for one in experiments}
    left = []
    for one in experiments:
        for cell in cells[one.name]:
            if cell.name in files[one.name].rows:
                on_cell(cell, False)
            else:
                left.append((one.function, cell, package_source()))
    failed = []
    # the largest cells are usually the last of a grid: they start first
    for cell, rows, error in _outcomes(left[::-1], workers, dask) if left else ():
        if error:
            failed.append(f"{cell.name}: {error}")
        else:
            files[cell.experiment].add(cell, rows)
            on_cell(cell, True)
    if failed:
        more = f"{len(failed)} cells failed; the others are kept. The first was {failed[0]}"
        raise LabError(more)
    return {
        name: Rows(row for cell in own for row in files[name].rows[cell.name])
        for name, own in cells.items()
    }


def _run(
    function: Callable[..., Iterable[Row]], cell: Cell, source: str
) -> tuple[Cell, list[Row], str]:
    """In a worker: the rows of a cell, or what went wrong."""
    if source != package_source():
        return cell, [], "its worker has another version of tellapart"
    try:
        return cell, run_cell(function, cell), ""
    except Exception:
        return cell, [], traceback.format_exc(limit=-3).strip()


def _outcomes(
    tasks: Sequence[tuple[Any, ...]], workers: int | None, dask: str | None
) -> Iterator[tuple[Cell, list[Row], str]]:
    """What `_run` returns of each task, as it comes in."""
    try:
        from joblib import Parallel, delayed
        from joblib.externals.loky.process_executor import BrokenProcessPool
    except ImportError:
        raise MissingExtra("tellapart lab", "lab") from None
    with _cluster(dask):
        # (pre_dispatch stays as it is: loky cannot be stopped cleanly with a long queue)
        parallel = Parallel(n_jobs=workers or -1, return_as="generator_unordered", batch_size=1)
        try:
            yield from parallel(delayed(_run)(*task) for task in tasks)
        except BrokenProcessPool as error:
            raise LabError(
                "a worker process died; perhaps memory is short: try fewer workers. Run it again"
                " to go on with what is left"
            ) from error


@contextmanager
def _cluster(address: str | None) -> Iterator[None]:
    """Send the work of joblib to a Dask scheduler, if there is an address."""
    if address is None:
        yield
        return
    try:
        import distributed
        from joblib import parallel_config
    except ImportError:
        raise MissingExtra("--dask", "dask") from None
    try:
        make: Any = distributed.Client  # (it has no types)
        client = make(address, timeout=_CONNECT, set_as_default=False)
        client.wait_for_workers(1, timeout=_CONNECT)
    except (OSError, ValueError, TypeError) as error:
        raise LabError(f"no Dask scheduler with workers at {address!r} ({error})") from error
    with client, parallel_config(backend="dask", client=client):
        yield


class CellFile:
    """The finished cells of one experiment: JSON lines in a file of `folder`."""

    def __init__(self, folder: Path, experiment: Experiment) -> None:
        self.path = folder / "cells" / f"{experiment.name}.jsonl"
        own = inspect.getsourcefile(experiment.function)
        self._source = _hash([Path(own)] if own else []) + package_source()
        self.rows: dict[str, list[Row]] = {}
        """By the names of the cells."""
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        for line in text.splitlines():
            try:
                found = json.loads(line)
                if found["source"] == self._source:
                    self.rows[found["cell"]] = found["rows"]
            except (ValueError, KeyError, TypeError):
                continue  # the process was killed while it wrote this line
        self._start = "" if text.endswith("\n") or not text else "\n"

    def add(self, cell: Cell, rows: list[Row]) -> None:
        """Keep a finished cell."""
        found = {"cell": cell.name, "source": self._source, "rows": rows}
        line = json.dumps(found, ensure_ascii=False, allow_nan=False)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{self._start}{line}\n")
        self._start = ""
        self.rows[cell.name] = json.loads(line)["rows"]


@cache
def package_source() -> str:
    """A hash of the code of tellapart."""
    return _hash(sorted(Path(tellapart.__file__).parent.rglob("*.py")))


def _hash(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
