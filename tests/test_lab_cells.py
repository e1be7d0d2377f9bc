"""The lab: cells that are there whole or not at all, and what is told of them."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import slow_experiment
from slow_experiment import local, runs
from tellapart import lab
from tellapart.cli import main
from tellapart.errors import LabError, MissingExtra, ParameterError
from tellapart.lab import Cell, Row
from tellapart.lab.cell_store import CellStore, write_atomic
from tellapart.lab.figures import render
from tellapart.lab.sweep import sweep

pytestmark = pytest.mark.usefixtures("runs_folder")


# -- cells


@pytest.mark.parametrize("quick", [True, False])
def test_every_cell_has_a_name_of_its_own(quick: bool) -> None:
    names = [cell.name for cell in lab.plan(quick=quick)]
    assert len(set(names)) == len(names) > 100
    assert len({CellStore(Path()).path(cell) for cell in lab.plan(quick=quick)}) == len(names)


@pytest.mark.slow
def test_cells_do_not_depend_on_order_or_process(tmp_path: Path) -> None:
    settings = {"m": 2, "k": 4, "s": 1, "repeat": 0}
    cells = [
        *slow_experiment.cells(True),
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
    from tellapart.lab import cell_store

    data = json.loads(path.read_text())
    cell = Cell(slow_experiment.NAME, {"k": 2})
    path.write_text(json.dumps(cell_store._record(cell, data["rows"], "another source")))


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
    spoil: Callable[[Path], object], tmp_path: Path, runs_folder: Path
) -> None:
    cells = slow_experiment.cells(True)
    before = local(cells, tmp_path / "out")
    path = CellStore(tmp_path / "out").path(cells[2])
    content = path.read_bytes()
    spoil(path)
    assert local(cells, tmp_path / "out") == before
    assert runs(runs_folder)[len(cells) :] == [2]
    assert path.read_bytes() == content


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace"])
def test_a_full_disk_leaves_nothing_behind(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "out" / "old"
    write_atomic(path, b"old")
    monkeypatch.setattr(step, full)
    with pytest.raises(OSError, match="No space") as error:
        write_atomic(path, b"new and longer")
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
    tmp_path: Path, runs_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = slow_experiment.cells(True)
    saved: list[str] = []

    def save(self: CellStore, cell: Cell, rows: list[Row], source: str) -> None:
        if len(saved) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        saved.append(cell.name)
        real(self, cell, rows, source)

    real = CellStore.save
    monkeypatch.setattr(CellStore, "save", save)
    with pytest.raises(OSError, match="No space"):
        local(cells, tmp_path / "out", workers=2)
    monkeypatch.setattr(CellStore, "save", real)
    (runs_folder / "runs").unlink()
    assert len(local(cells, tmp_path / "out")) == len(cells)
    assert len(runs(runs_folder)) == len(cells) - 2


def test_what_a_killed_lab_left_unfinished_is_swept_out(tmp_path: Path) -> None:
    cells = slow_experiment.cells(True)
    local(cells, tmp_path / "out")
    left = CellStore(tmp_path / "out").path(cells[0]).parent / "half.json.77.unfinished"
    left.write_text("{")
    local(cells, tmp_path / "out")
    assert not left.exists()


def test_one_lab_at_a_time(tmp_path: Path) -> None:
    with CellStore(tmp_path / "out"), pytest.raises(LabError, match="another lab is at work"):
        local([], tmp_path / "out")
    local([], tmp_path / "out")


def test_no_foreign_folder_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("mine")
    with pytest.raises(LabError, match="no lab's"):
        lab.run(tmp_path, [slow_experiment.NAME], workers=1)
    assert (tmp_path / "report.html").read_text() == "mine"


# -- report and command line


def test_the_report_needs_nothing_else(tmp_path: Path) -> None:
    [result] = lab.run(tmp_path / "out", [slow_experiment.NAME], quick=True, workers=1)
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


@pytest.mark.slow
def test_a_report_that_stands_is_not_drawn_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless a file of it is spoilt or gone, or it is made of something else."""
    drawn: list[str] = []

    def draw(picture: lab.Picture) -> dict[str, bytes]:
        drawn.append(picture.name)
        return render(picture)

    monkeypatch.setattr("tellapart.lab.report.render", draw)

    def times(name: str, *, quick: bool = True) -> int:
        drawn.clear()
        lab.run(tmp_path / "out", [name], quick=quick, workers=1)
        return len(drawn)

    assert [times("erratum_return"), times("erratum_return")] == [1, 0]
    figure = tmp_path / "out" / "figures" / "erratum_return.png"
    whole = figure.read_bytes()
    figure.write_bytes(whole[:-1])
    assert times("erratum_return") == 1
    assert figure.read_bytes() == whole
    (tmp_path / "out" / "report.html").unlink()
    assert times("erratum_return") == 1
    (tmp_path / "out" / ".report").write_text("[]")
    assert times("erratum_return") == 1
    assert times("erratum_return", quick=False) == 1
    own = slow_experiment.NAME
    assert [times(own), times(own)] == [1, 1], "who knows what it draws"


def test_the_command_says_what_was_seen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", slow_experiment.NAME, "--out", "out", "--quick", "--workers", "1"]) == 0
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
        (["slow_experiment:NAME"], "is no Experiment, but str"),
        ([slow_experiment.NAME, "--workers", "0"], "workers must be an integer >= 1, got 0"),
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
    with CellStore(tmp_path / "out") as store, pytest.raises(MissingExtra, match=rf"\[{extra}\]"):
        sweep(
            slow_experiment.cells(True), store, dask="tcp://nowhere:1" if extra == "dask" else None
        )


def test_unknown_experiment() -> None:
    with pytest.raises(ParameterError, match="unknown experiment 'x'"):
        lab.plan(["x"])
