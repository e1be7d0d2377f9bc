"""Run cells in local processes or on an existing Dask cluster.

Only this process writes. It saves a cell as soon as the cell is finished, so a crash of a worker or
of this process costs only the unfinished cells.
"""

from __future__ import annotations

import os
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import closing, contextmanager
from functools import partial
from typing import Any, NamedTuple
from uuid import uuid4

from tellapart.errors import LabError, MissingExtra, check
from tellapart.lab.cell_store import CellStore, source_fingerprint
from tellapart.lab.experiment import Cell, Row, Value, load

_MAX_CRASHES = 3  # in a row, without a finished cell between them
_WATCHER = "tellapart: exit with the parent process"
_CONNECT = 10  # seconds to wait for a Dask scheduler, and then for its first worker


class Outcome(NamedTuple):
    """What a worker sends back."""

    name: str
    rows: list[Row] | None
    source: str
    error: str | None


def run_cell(experiment: str, parameters: Mapping[str, Value]) -> Outcome:
    """Run one cell in this process; an error is part of the outcome."""
    cell = Cell(experiment, parameters)
    try:
        rows = [{**parameters, **row} for row in load(experiment).run(cell.seed, **parameters)]
        return Outcome(cell.name, rows, source_fingerprint(experiment), None)
    except Exception:
        return Outcome(cell.name, None, "", traceback.format_exc(limit=-3).strip())


def _run_in_worker(parent: int, experiment: str, parameters: Mapping[str, Value]) -> Outcome:
    """`run_cell` in a process that exits when its parent is gone."""
    if os.getpid() != parent and not any(t.name == _WATCHER for t in threading.enumerate()):
        threading.Thread(target=_exit_with, args=(parent,), name=_WATCHER, daemon=True).start()
    return run_cell(experiment, parameters)


def _exit_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def sweep(
    cells: Sequence[Cell],
    store: CellStore,
    *,
    workers: int | None = None,
    dask: str | None = None,
    on_cell: Callable[[Cell, bool], None] = lambda cell, ran: None,
) -> dict[str, list[Row]]:
    """The rows of all cells by name. Cells in the store are loaded, the others run.

    Parameters
    ----------
    workers : int, default=None
        Local processes; by default one for each core.
    dask : str, default=None
        The address of a Dask scheduler, to run there instead.
    on_cell : (cell, ran) -> None
        Called for every finished cell; `ran` is False if it came from the store.

    Raises `LabError` if cells fail, after all others are finished and saved.
    """
    if workers is not None:
        check("a sweep", "workers", workers, "an integer >= 1", lambda v: v >= 1)
    rows: dict[str, list[Row]] = {}
    waiting: dict[str, Cell] = {}
    for cell in cells:
        known = store.load(cell)
        if known is None:
            waiting[cell.name] = cell
        else:
            rows[cell.name] = known
            on_cell(cell, False)
    order = sorted(waiting.values(), key=lambda cell: -cell.weight)
    outcomes = _run_local(order, workers) if dask is None else _run_on_dask(order, dask)
    failures = []
    with closing(outcomes):
        for outcome in outcomes:
            cell = waiting[outcome.name]
            if outcome.rows is None:
                failures.append(f"{cell.name}: {outcome.error}")
                continue
            here = source_fingerprint(cell.experiment)
            if outcome.source != here:
                raise LabError(
                    f"a worker ran {cell.name!r} with another version of tellapart (its source is"
                    f" {outcome.source}, here it is {here}). Install the same one on all workers"
                    " and restart them"
                )
            store.save(cell, outcome.rows, outcome.source)
            rows[cell.name] = outcome.rows
            on_cell(cell, True)
    if failures:
        raise LabError(
            f"{len(failures)} of {len(cells)} cells failed; the others are kept. The first was"
            f" {failures[0]}"
        )
    return rows


def _run_local(cells: Sequence[Cell], workers: int | None) -> Generator[Outcome]:
    """Yield outcomes of local processes as they finish; replace processes that die."""
    try:
        from joblib import Parallel, delayed, effective_n_jobs
    except ImportError:
        raise MissingExtra("tellapart lab", "lab") from None
    waiting = {cell.name: cell for cell in cells}
    jobs = effective_n_jobs(-1 if workers is None else workers)
    crashes = 0
    while waiting:
        parallel = Parallel(
            n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs"
        )
        run = delayed(partial(_run_in_worker, os.getpid()))
        # after a crash, run one cell alone: a crash ends every cell in progress
        batch = list(waiting.values())[: 1 if crashes else None]
        tasks = [run(cell.experiment, dict(cell.parameters)) for cell in batch]
        try:
            with _closing(parallel(tasks)) as outcomes:
                for outcome in outcomes:
                    del waiting[outcome.name]
                    crashes = 0
                    yield outcome
        except BrokenExecutor as error:
            crashes += 1
            if crashes >= _MAX_CRASHES:
                names = ", ".join(list(waiting)[:3])
                raise LabError(
                    f"worker processes died {crashes} times in a row ({type(error).__name__}),"
                    f" near {names}. Perhaps memory is short: try fewer workers. Run again to go"
                    " on with what is left"
                ) from error
            # one of the first cells caused it; move them to the end
            for name in list(waiting)[: max(1, min(2 * jobs, len(batch) // 2))]:
                waiting[name] = waiting.pop(name)


@contextmanager
def _closing(outcomes: Any) -> Iterator[Any]:
    """Close a joblib generator without its warning that tasks are cancelled."""
    try:
        yield outcomes
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            outcomes.close()


def _run_on_dask(cells: Sequence[Cell], address: str) -> Generator[Outcome]:
    """Yield outcomes of a cluster as they finish. Dask itself moves the cells of a lost worker.

    joblib's Dask backend is not used: it hangs when the cluster gives up on a task.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise MissingExtra("--dask", "dask") from None
    if not cells:
        return
    client = _connect(Client, address)
    try:
        run = uuid4().hex
        in_turn: Callable[..., Iterator[Any]] = as_completed
        futures: dict[Any, Cell] = {
            client.submit(
                run_cell,
                cell.experiment,
                dict(cell.parameters),
                key=f"tellapart-{run}-{number}",
                priority=len(cells) - number,
                pure=False,
            ): cell
            for number, cell in enumerate(cells)
        }
        try:
            for future in in_turn(futures, loop=client.loop):
                try:
                    yield future.result()
                except Exception as error:
                    yield Outcome(
                        futures[future].name, None, "", f"{type(error).__name__}: {error}"
                    )
        finally:
            client.cancel(list(futures))
    finally:
        client.close()


def _connect(client: Any, address: str) -> Any:
    deadline = time.monotonic() + 2 * _CONNECT
    try:
        _check_address(address)
        connected = client(address, timeout=_CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise LabError(
            f"no Dask scheduler at {address!r} ({error}). Start one with `dask scheduler`, or leave"
            " out --dask to run on this machine"
        ) from error
    while not connected.scheduler_info()["workers"]:
        if time.monotonic() > deadline:
            connected.close()
            raise LabError(
                f"the Dask scheduler at {address} has no workers; start some with"
                f" `dask worker {address}`"
            )
        time.sleep(0.1)
    return connected


def _check_address(address: str) -> None:
    """Reject a bad address; a Dask client takes twenty seconds and prints a traceback."""
    from distributed.comm.addressing import get_address_host_port, parse_address
    from distributed.comm.registry import get_backend

    scheme, _ = parse_address(address)
    get_backend(scheme)
    if scheme in ("tcp", "tls"):
        get_address_host_port(address)
