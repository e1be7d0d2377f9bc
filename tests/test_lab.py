"""The lab goes on, wherever its cells run and whatever dies."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import slow_experiment
from slow_experiment import local, runs
from tellapart import lab
from tellapart.cli import main
from tellapart.errors import LabError, ParameterError
from tellapart.lab.cell_store import CellStore
from tellapart.lab.sweep import sweep

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("runs_folder")]


# -- workers that misbehave


def test_a_killed_worker_is_replaced(tmp_path: Path, runs_folder: Path) -> None:
    cells = slow_experiment.cells(False)
    expected = local(cells, tmp_path / "calm")
    (runs_folder / "kill-9").touch()
    assert local(cells, tmp_path / "out", workers=2) == expected


def test_a_cell_that_kills_every_worker_ends_the_sweep(tmp_path: Path, runs_folder: Path) -> None:
    cells = slow_experiment.cells(True)
    (runs_folder / "kill-3-always").touch()
    with pytest.raises(LabError, match=r"died 3 times in a row.*near \S+ k=3\."):
        local(cells, tmp_path / "out", workers=2)
    (runs_folder / "kill-3-always").unlink()
    (runs_folder / "runs").unlink()
    assert len(local(cells, tmp_path / "out")) == len(cells)
    assert runs(runs_folder) == [3], "all others are finished and kept"


def test_a_failing_cell_does_not_stop_the_others(tmp_path: Path, runs_folder: Path) -> None:
    cells = slow_experiment.cells(True)
    (runs_folder / "raise-4").touch()
    with pytest.raises(LabError, match=r"1 of 6 cells failed.*k=4(.|\n)*told to fail"):
        local(cells, tmp_path / "out")
    (runs_folder / "raise-4").unlink()
    (runs_folder / "runs").unlink()
    local(cells, tmp_path / "out")
    assert runs(runs_folder) == [4]


def test_a_worker_of_another_version_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = iter(["the worker's", *["ours"] * 9])
    monkeypatch.setattr("tellapart.lab.sweep.source_fingerprint", lambda name: next(versions))
    with pytest.raises(LabError, match="another version of tellapart"):
        local(slow_experiment.cells(True)[:1], tmp_path / "out")
    assert not list((tmp_path / "out").rglob("*.json"))


# -- a lab that is stopped, and goes on


def start(out: Path, *more: str) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "tellapart",
        "lab",
        slow_experiment.NAME,
        "--out",
        str(out),
        *more,
    ]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def wait_for_cells(out: Path, number: int, started: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while len(list(out.rglob("k=*.json"))) < number:
        assert started.poll() is None, started.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def living(group: int) -> list[str]:
    """The processes of a group; not those that are dead, and wait for the system to notice."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just gone
            name, _, more = path.read_text().rpartition(")")
            state, _, its_group = more.split()[:3]
            if int(its_group) == group and state not in "ZX":
                found.append(name)
    return found


def wait_for_the_end_of(group: int) -> None:
    """Workers do not outlive their lab."""
    deadline = time.monotonic() + 120
    while left := living(group):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def stop_early(out: Path, runs_folder: Path, how: signal.Signals) -> tuple[int, str, set[int]]:
    """Stop a lab after three cells: its exit code, its last words, and the cells it kept."""
    (runs_folder / "wait-7").touch()
    stopped = start(out, "--workers", "2")
    assert living(stopped.pid)
    wait_for_cells(out, 3, stopped)
    stopped.send_signal(how)
    _, said = stopped.communicate(timeout=120)
    wait_for_the_end_of(stopped.pid)
    assert not (out / "report.html").exists()
    assert not list(out.rglob("*.unfinished")) or how == signal.SIGKILL
    with CellStore(out) as store:
        kept = {
            c.parameters["k"] for c in slow_experiment.cells(False) if store.load(c) is not None
        }
    (runs_folder / "runs").unlink()
    (runs_folder / "wait-7").unlink()
    return stopped.returncode, said, kept


def test_a_killed_lab_goes_on(tmp_path: Path, runs_folder: Path) -> None:
    calm, out = tmp_path / "calm", tmp_path / "out"
    lab.run(calm, [slow_experiment.NAME], workers=1)
    (runs_folder / "runs").unlink()
    _, _, kept = stop_early(out, runs_folder, signal.SIGKILL)
    again = start(out, "--workers", "2", "--json")
    told, said = again.communicate(timeout=120)
    assert again.returncode == 0, said
    assert set(runs(runs_folder)) == set(range(10)) - kept
    assert json.loads(told)["cells_run"] == 10 - len(kept)
    for path in ("report.html", "numbers/sums.csv", "figures/sums.svg", "figures/sums.png"):
        assert (out / path).read_bytes() == (calm / path).read_bytes()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_lab_says_what_it_kept(
    how: signal.Signals, tmp_path: Path, runs_folder: Path
) -> None:
    code, said, kept = stop_early(tmp_path / "out", runs_folder, how)
    assert code == 130
    assert kept == {7, 8, 9}
    assert "interrupted. 3 of 10 cells are kept" in said
    assert len(local(slow_experiment.cells(False), tmp_path / "out")) == 10
    assert set(runs(runs_folder)) == set(range(10)) - kept


# -- Dask


def test_dask_with_a_killed_worker_gives_the_same_numbers(
    tmp_path: Path, runs_folder: Path, needs: Callable[[str], None]
) -> None:
    needs("distributed")
    from distributed import LocalCluster

    cells = slow_experiment.cells(False)
    expected = local(cells, tmp_path / "local")
    (runs_folder / "runs").unlink()
    (runs_folder / "kill-5").touch()
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        CellStore(tmp_path / "out") as store,
    ):
        address = cluster.scheduler_address
        assert sweep(cells, store, dask=address) == expected
        assert runs(runs_folder).count(5) > 1
        (runs_folder / "runs").unlink()
        assert sweep(cells, store, dask=address) == expected
        assert not runs(runs_folder)


def test_dask_gives_up_on_a_cell_that_kills_its_workers(
    tmp_path: Path, runs_folder: Path, needs: Callable[[str], None]
) -> None:
    needs("distributed")
    import dask
    from distributed import LocalCluster

    cells = slow_experiment.cells(True)
    (runs_folder / "kill-3-always").touch()
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        CellStore(tmp_path / "out") as store,
    ):
        with pytest.raises(LabError, match=r"of 6 cells failed.*k=\d: KilledWorker"):
            sweep(cells, store, dask=cluster.scheduler_address)
        # neighbours may have been on both killed workers, too
        assert sum(store.load(cell) is not None for cell in cells) >= 3
        assert store.load(cells[3]) is None


def test_no_scheduler_is_one_line(
    needs: Callable[[str], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needs("distributed")
    monkeypatch.setattr("tellapart.lab.sweep._CONNECT", 0.5)
    assert main(["lab", slow_experiment.NAME, "--out", "out", "--dask", "tcp://127.0.0.1:1"]) == 1
    assert "no Dask scheduler at 'tcp://127.0.0.1:1'" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["", "nonsense", "http://localhost:80"])
def test_an_address_that_is_none_is_one_line_too(
    address: str, needs: Callable[[str], None], tmp_path: Path
) -> None:
    """A client with such an address left a traceback when it died, and took its time."""
    needs("distributed")
    command = [sys.executable, "-m", "tellapart", "lab", "erratum_return", "--dask", address]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "out")],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert f"no Dask scheduler at {address!r}" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("workers", [0, -1, 1.5])
def test_workers_are_counted_from_one(workers: int, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="workers must be an integer >= 1"):
        lab.run(tmp_path / "out", [slow_experiment.NAME], workers=workers)
