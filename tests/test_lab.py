"""The lab: cells that are there whole or not at all, wherever they run and whatever dies."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import lab_sums
from tellapart import lab
from tellapart.cli import main
from tellapart.errors import LabError, MissingExtra, ParameterError
from tellapart.lab import Cell, Row
from tellapart.lab.store import Store, write
from tellapart.lab.sweep import sweep

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def sums(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, needs: Callable[[str], None]
) -> Iterator[Path]:
    """Where `lab_sums` writes down its runs; workers find it through the environment."""
    needs("joblib")
    needs("matplotlib")
    folder = tmp_path / "sums"
    folder.mkdir()
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("TELLAPART_SUMS", str(folder))
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.chdir(tmp_path)
    yield folder
    # the next test's workers shall have the next test's environment
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)


def runs(folder: Path) -> list[int]:
    """Which cells were run, in order."""
    path = folder / "runs"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def local(cells: list[Cell], folder: Path, workers: int = 1) -> dict[str, list[Row]]:
    with Store(folder) as store:
        return sweep(cells, store, workers=workers)


# -- cells


@pytest.mark.parametrize("quick", [True, False])
def test_every_cell_has_a_name_of_its_own(quick: bool) -> None:
    names = [cell.name for cell in lab.plan(quick=quick)]
    assert len(set(names)) == len(names) > 100
    assert len({Store(Path()).path(cell) for cell in lab.plan(quick=quick)}) == len(names)


def test_cells_do_not_depend_on_order_or_process(tmp_path: Path) -> None:
    settings = {"m": 2, "k": 4, "s": 1, "repeat": 0}
    cells = [
        *lab_sums.cells(True),
        Cell("theorem2", {"m": 4, "repeat": 0}),
        Cell("erratum_return", {"times": 5}),
        Cell("theorem3", {**settings, "placement": "burst", "items": 500}),
        Cell("theorem3", {**settings, "placement": "hostile", "items": 0}),
    ]
    forth = local(cells, tmp_path / "forth")
    assert local(cells[::-1], tmp_path / "back") == forth
    assert local(cells[4:], tmp_path / "some", workers=2).items() <= forth.items()


def test_the_seed_is_the_name() -> None:
    assert Cell("slope", {"k": 1}).seed != Cell("slope", {"k": 2}).seed
    assert Cell("slope", {"k": 1}, weight=9).seed == Cell("slope", {"k": 1}).seed


# -- the store


def spoil_half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def spoil_number(path: Path) -> None:
    text = path.read_text()
    path.write_text(text.replace('"half": 1.0', '"half": 7.0'))
    assert path.read_text() != text


def spoil_source(path: Path) -> None:
    """A cell of another version, right in itself."""
    from tellapart.lab import store

    data = json.loads(path.read_text())
    cell = Cell(lab_sums.NAME, {"k": 2})
    path.write_text(json.dumps(store._sealed(cell, data["rows"], "another source")))


@pytest.mark.parametrize(
    "spoil",
    [
        spoil_half,
        spoil_number,
        spoil_source,
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"\xff\xfe"),
        lambda path: path.write_text("[]"),
        lambda path: path.write_text('{"rows": 3}'),
        lambda path: path.write_bytes(
            path.with_name(sorted(os.listdir(path.parent))[0]).read_bytes()
        ),
    ],
)
def test_a_spoilt_cell_is_run_again(
    spoil: Callable[[Path], object], tmp_path: Path, sums: Path
) -> None:
    cells = lab_sums.cells(True)
    before = local(cells, tmp_path / "out")
    path = Store(tmp_path / "out").path(cells[2])
    content = path.read_bytes()
    spoil(path)
    assert local(cells, tmp_path / "out") == before
    assert runs(sums)[len(cells) :] == [2]
    assert path.read_bytes() == content


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace"])
def test_a_full_disk_leaves_nothing_behind(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "out" / "old"
    write(path, b"old")
    monkeypatch.setattr(step, full)
    with pytest.raises(OSError, match="No space") as error:
        write(path, b"new and longer")
    assert error.value.filename == str(path)
    assert os.listdir(path.parent) == ["old"]
    assert path.read_bytes() == b"old"


def test_a_full_disk_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert main(["lab", "erratum_return", "--out", str(tmp_path / "out"), "--workers", "1"]) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert "erratum_return" in said
    assert said.endswith(
        "No space left on device. Make room, and run it again; what was finished is kept"
    )


def test_a_full_disk_stops_the_sweep_and_keeps_what_was_finished(
    tmp_path: Path, sums: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = lab_sums.cells(True)
    saved: list[str] = []

    def save(self: Store, cell: Cell, rows: list[Row], source: str) -> None:
        if len(saved) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        saved.append(cell.name)
        real(self, cell, rows, source)

    real = Store.save
    monkeypatch.setattr(Store, "save", save)
    with pytest.raises(OSError, match="No space"):
        local(cells, tmp_path / "out", workers=2)
    monkeypatch.setattr(Store, "save", real)
    (sums / "runs").unlink()
    assert len(local(cells, tmp_path / "out")) == len(cells)
    assert len(runs(sums)) == len(cells) - 2


def test_what_a_killed_lab_left_unfinished_is_swept_out(tmp_path: Path) -> None:
    cells = lab_sums.cells(True)
    local(cells, tmp_path / "out")
    left = Store(tmp_path / "out").path(cells[0]).parent / "half.json.77.unfinished"
    left.write_text("{")
    local(cells, tmp_path / "out")
    assert not left.exists()


def test_one_lab_at_a_time(tmp_path: Path) -> None:
    with Store(tmp_path / "out"), pytest.raises(LabError, match="another lab is at work"):
        local([], tmp_path / "out")
    local([], tmp_path / "out")


def test_no_foreign_folder_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("mine")
    with pytest.raises(LabError, match="no lab's"):
        lab.run(tmp_path, [lab_sums.NAME], workers=1)
    assert (tmp_path / "report.html").read_text() == "mine"


# -- workers that misbehave


def test_a_killed_worker_is_replaced(tmp_path: Path, sums: Path) -> None:
    cells = lab_sums.cells(False)
    expected = local(cells, tmp_path / "calm")
    (sums / "kill-9").touch()
    assert local(cells, tmp_path / "out", workers=2) == expected


def test_a_cell_that_kills_every_worker_ends_the_sweep(tmp_path: Path, sums: Path) -> None:
    cells = lab_sums.cells(True)
    (sums / "kill-3-always").touch()
    with pytest.raises(LabError, match=r"died 3 times in a row.*near \S+ k=3\."):
        local(cells, tmp_path / "out", workers=2)
    (sums / "kill-3-always").unlink()
    (sums / "runs").unlink()
    assert len(local(cells, tmp_path / "out")) == len(cells)
    assert runs(sums) == [3], "all others are finished and kept"


def test_a_failing_cell_does_not_stop_the_others(tmp_path: Path, sums: Path) -> None:
    cells = lab_sums.cells(True)
    (sums / "raise-4").touch()
    with pytest.raises(LabError, match=r"1 of 6 cells failed.*k=4(.|\n)*told to fail"):
        local(cells, tmp_path / "out")
    (sums / "raise-4").unlink()
    (sums / "runs").unlink()
    local(cells, tmp_path / "out")
    assert runs(sums) == [4]


def test_a_worker_of_another_version_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = iter(["the worker's", *["ours"] * 9])
    monkeypatch.setattr("tellapart.lab.sweep.source_of", lambda name: next(versions))
    with pytest.raises(LabError, match="another version of tellapart"):
        local(lab_sums.cells(True)[:1], tmp_path / "out")
    assert not list((tmp_path / "out").rglob("*.json"))


# -- a lab that is stopped, and goes on


def start(out: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tellapart", "lab", lab_sums.NAME, "--out", str(out), *more]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def wait_for_cells(out: Path, number: int) -> None:
    deadline = time.monotonic() + 120
    while len(list(out.rglob("k=*.json"))) < number:
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


def stop_early(out: Path, sums: Path, how: signal.Signals) -> tuple[int, str, set[int]]:
    """Stop a lab after three cells: its exit code, its last words, and the cells it kept."""
    (sums / "wait-7").touch()
    stopped = start(out, "--workers", "2")
    assert living(stopped.pid)
    wait_for_cells(out, 3)
    stopped.send_signal(how)
    _, said = stopped.communicate(timeout=120)
    wait_for_the_end_of(stopped.pid)
    assert not (out / "report.html").exists()
    assert not list(out.rglob("*.unfinished")) or how == signal.SIGKILL
    with Store(out) as store:
        kept = {c.parameters["k"] for c in lab_sums.cells(False) if store.load(c) is not None}
    (sums / "runs").unlink()
    (sums / "wait-7").unlink()
    return stopped.returncode, said, kept


def test_a_killed_lab_goes_on(tmp_path: Path, sums: Path) -> None:
    calm, out = tmp_path / "calm", tmp_path / "out"
    lab.run(calm, [lab_sums.NAME], workers=1)
    (sums / "runs").unlink()
    _, _, kept = stop_early(out, sums, signal.SIGKILL)
    again = start(out, "--workers", "2", "--json")
    told, said = again.communicate(timeout=120)
    assert again.returncode == 0, said
    assert set(runs(sums)) == set(range(10)) - kept
    assert json.loads(told)["cells_run"] == 10 - len(kept)
    for path in ("report.html", "numbers/sums.csv", "figures/sums.svg", "figures/sums.png"):
        assert (out / path).read_bytes() == (calm / path).read_bytes()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_lab_says_what_it_kept(
    how: signal.Signals, tmp_path: Path, sums: Path
) -> None:
    code, said, kept = stop_early(tmp_path / "out", sums, how)
    assert code == 130
    assert kept == {7, 8, 9}
    assert "interrupted. 3 of 10 cells are kept" in said
    assert len(local(lab_sums.cells(False), tmp_path / "out")) == 10
    assert set(runs(sums)) == set(range(10)) - kept


# -- Dask


def test_dask_with_a_killed_worker_gives_the_same_numbers(
    tmp_path: Path, sums: Path, needs: Callable[[str], None]
) -> None:
    needs("distributed")
    from distributed import LocalCluster

    cells = lab_sums.cells(False)
    expected = local(cells, tmp_path / "local")
    (sums / "runs").unlink()
    (sums / "kill-5").touch()
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Store(tmp_path / "out") as store,
    ):
        address = cluster.scheduler_address
        assert sweep(cells, store, dask=address) == expected
        assert runs(sums).count(5) > 1
        (sums / "runs").unlink()
        assert sweep(cells, store, dask=address) == expected
        assert not runs(sums)


def test_dask_gives_up_on_a_cell_that_kills_its_workers(
    tmp_path: Path, sums: Path, needs: Callable[[str], None]
) -> None:
    needs("distributed")
    import dask
    from distributed import LocalCluster

    cells = lab_sums.cells(True)
    (sums / "kill-3-always").touch()
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Store(tmp_path / "out") as store,
    ):
        with pytest.raises(LabError, match=r"of 6 cells failed.*k=\d: KilledWorker"):
            sweep(cells, store, dask=cluster.scheduler_address)
        # a neighbour may have been on the killed workers, too
        assert sum(store.load(cell) is not None for cell in cells) >= 4
        assert store.load(cells[3]) is None


def test_no_scheduler_is_one_line(
    needs: Callable[[str], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needs("distributed")
    monkeypatch.setattr("tellapart.lab.sweep._CONNECT", 0.5)
    assert main(["lab", lab_sums.NAME, "--out", "out", "--dask", "tcp://127.0.0.1:1"]) == 1
    assert "no Dask scheduler at 'tcp://127.0.0.1:1'" in capsys.readouterr().err


# -- report and command line


def test_the_report_needs_nothing_else(tmp_path: Path) -> None:
    [result] = lab.run(tmp_path / "out", [lab_sums.NAME], quick=True, workers=1)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Sums &amp; &lt;more&gt;" in page
    assert "k<sup>2</sup> &amp; " in page
    assert page.count("src='data:image/svg+xml;base64,") == 1
    links = re.findall(r"(?:src|href)=['\"]([^'\"]*)", page)
    assert {link for link in links if not link.startswith(("data:", "#"))} == {
        "numbers/sums.csv",
        "numbers/sums.json",
    }
    with (tmp_path / "out" / "numbers" / "sums.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    assert [float(row["sum"]) for row in read] == [row["sum"] for row in result.rows]
    numbers = json.loads((tmp_path / "out" / "numbers" / "sums.json").read_text())
    assert numbers["rows"] == result.rows
    assert (tmp_path / "out" / "figures" / "sums.png").read_bytes().startswith(b"\x89PNG")


def test_the_command_says_what_was_seen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", lab_sums.NAME, "--out", "out", "--quick", "--workers", "1"]) == 0
    out = capsys.readouterr().out
    assert "seen" in out
    assert "Report: out/report.html" in out
    assert main(["lab", "--list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in lab.EXPERIMENTS)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["theorem9"], "unknown experiment 'theorem9'; known are theorem3"),
        (["no_such_module:EXPERIMENT"], "cannot load the experiment"),
        (["lab_sums:NAME"], "is no Experiment, but str"),
        ([lab_sums.NAME, "--workers", "0"], "workers must be an integer >= 1, got 0"),
    ],
)
def test_errors_are_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", *arguments, "--out", "out"]) == 1
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(("module", "extra"), [("joblib", "lab"), ("distributed", "dask")])
def test_missing_extras(
    module: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with Store(tmp_path / "out") as store, pytest.raises(MissingExtra, match=rf"\[{extra}\]"):
        sweep(lab_sums.cells(True), store, dask="tcp://nowhere:1" if extra == "dask" else None)


def test_unknown_experiment() -> None:
    with pytest.raises(ParameterError, match="unknown experiment 'x'"):
        lab.plan(["x"])
