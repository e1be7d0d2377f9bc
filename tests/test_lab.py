"""The lab: what is finished is kept, runs go on where they were stopped, and one file is enough."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tellapart import lab
from tellapart.cli import main
from tellapart.errors import LabError, MissingExtra, ParameterError
from tellapart.lab.experiment import Experiment
from tellapart.lab.runner import run_cells

Needs = Callable[[str], None]

MINE = '''
import os, random, signal, time
from pathlib import Path
from tellapart.lab import experiment

HERE = Path(__file__).parent

@experiment("Sums & <more>", k=range(8), name=("a", "b"), quick={"k": range(3)})
def sums(k, name, seed):
    """k^2 adds up."""
    with (HERE / "runs").open("a") as runs:
        runs.write(f"{k}{name}\\n")
    if (HERE / f"raise-{k}").exists():
        raise ValueError(f"cell {k} was told to fail")
    if (HERE / f"kill-{k}").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    if k < 4 and (HERE / "wait").exists():
        time.sleep(600)
    yield {"sum": k + random.Random(seed).random(), "nothing": None}

@sums.claims
def _(rows):
    yield "sums <grow>", rows.mean("sum") > 1, f"k^2 & {rows.mean('sum'):.3f}"

sums.figure("k", "sum", line="name")
'''


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    path = tmp_path / "mine" / "mine.py"
    path.write_text(MINE)
    return path


def runs(mine: Path) -> list[str]:
    """Which cells were run since it was asked last."""
    path = mine.with_name("runs")
    found = path.read_text().split() if path.exists() else []
    path.unlink(missing_ok=True)
    return found


def rows_of(mine: Path, out: Path, **how: Any) -> list[dict[str, Any]]:
    return run_cells(lab.load(str(mine)), out, **{"workers": 1} | how)["sums"]


# -- cells


def test_a_second_run_reads_what_the_first_has_finished(mine: Path, tmp_path: Path) -> None:
    quick = rows_of(mine, tmp_path / "out", quick=True)
    assert len(runs(mine)) == 6
    whole = rows_of(mine, tmp_path / "out")
    assert len(runs(mine)) == 16 - 6
    assert all(row in whole for row in quick)
    assert rows_of(mine, tmp_path / "out") == whole == rows_of(mine, tmp_path / "other", workers=2)


@pytest.mark.parametrize("tail", ["{", '{"cell": 1}\n', "[]\n", '{"cell": "sums", "sour'])
def test_a_line_that_is_not_whole_is_run_again(tail: str, mine: Path, tmp_path: Path) -> None:
    before = rows_of(mine, tmp_path, quick=True)
    runs(mine)
    path = tmp_path / "cells" / "sums.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]) + tail)
    assert rows_of(mine, tmp_path, quick=True) == before
    assert len(runs(mine)) == 1
    assert rows_of(mine, tmp_path, quick=True) == before
    assert not runs(mine)


def test_cells_of_other_code_are_run_again(mine: Path, tmp_path: Path) -> None:
    rows_of(mine, tmp_path, quick=True)
    runs(mine)
    mine.write_text(MINE.replace("k + random", "k + 1 + random"))
    assert len(rows_of(mine, tmp_path, quick=True)) == len(runs(mine)) == 6


def test_a_failing_cell_does_not_stop_the_others(mine: Path, tmp_path: Path) -> None:
    mine.with_name("raise-1").touch()
    with pytest.raises(LabError, match=r"2 cells failed(.|\n)*told to fail"):
        rows_of(mine, tmp_path, quick=True)
    mine.with_name("raise-1").unlink()
    runs(mine)
    rows_of(mine, tmp_path, quick=True)
    assert sorted(runs(mine)) == ["1a", "1b"]


@pytest.mark.slow
def test_a_killed_worker_is_told_and_a_rerun_goes_on(mine: Path, tmp_path: Path) -> None:
    mine.with_name("kill-1").touch()
    with pytest.raises(LabError, match="a worker process died"):
        rows_of(mine, tmp_path / "out", workers=2)
    mine.with_name("kill-1").unlink()
    assert rows_of(mine, tmp_path / "out") == rows_of(mine, tmp_path / "calm")


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_stopped_lab_goes_on(how: signal.Signals, mine: Path, tmp_path: Path) -> None:
    """Same result as if nothing had happened; and what was finished is not run again."""
    out, kept = tmp_path / "out", tmp_path / "out" / "cells" / "sums.jsonl"
    mine.with_name("wait").touch()
    words = [sys.executable, "-m", "tellapart", "lab", str(mine), "--out", str(out)]
    started = subprocess.Popen(
        [*words, "--workers", "2"], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while not kept.exists() or kept.read_text().count("\n") < 8:  # the others wait
        assert started.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    # as if the machine stopped, or as a person stops it
    os.killpg(started.pid, how) if how == signal.SIGKILL else started.send_signal(how)
    said = started.communicate(timeout=120)[1]
    if how != signal.SIGKILL:
        assert started.returncode == 130
        # (the last one may be on disk, and not counted yet)
        assert re.search("interrupted. [78] of 16 cells are kept", said)
        assert "Exception" not in said
        assert "Warning" not in said
    mine.with_name("wait").unlink()
    runs(mine)
    assert rows_of(mine, out) == rows_of(mine, tmp_path / "calm")
    assert len(runs(mine)) == 8 + 16


@pytest.mark.slow
def test_dask_gives_the_same_numbers(mine: Path, tmp_path: Path, needs: Needs) -> None:
    needs("distributed")
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        there = rows_of(mine, tmp_path / "out", dask=cluster.scheduler_address)
    assert there == rows_of(mine, tmp_path / "here")


@pytest.mark.slow
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x"])
def test_no_scheduler_is_one_line(
    address: str, mine: Path, needs: Needs, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    needs("distributed")
    monkeypatch.setattr("tellapart.lab.runner._CONNECT", 0.5)
    assert main(["lab", str(mine), "--out", "out", "--dask", address]) == 1
    assert f"no Dask scheduler with workers at {address!r}" in capsys.readouterr().err


# -- report and command


@pytest.mark.slow
def test_the_command_runs_a_file_of_ones_own(
    mine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], needs: Needs
) -> None:
    needs("matplotlib")
    words = ["lab", str(mine), "--quick", "--workers", "1", "--out", str(tmp_path / "out")]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "seen" in shown
    assert "sums <grow>" in shown
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Sums &amp; &lt;more&gt;" in page
    assert "k<sup>2</sup> &amp; " in page
    links = re.findall(r"(?:src|href)=['\"]([^'\"]*)", page)
    assert [link for link in links if not link.startswith(("data:", "#"))] == ["numbers/sums.csv"]
    with (tmp_path / "out" / "numbers" / "sums.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    assert len(read) == 6
    assert {path.name for path in (tmp_path / "out" / "figures").iterdir()} == {
        "sums.pdf",
        "sums.svg",
    }
    content = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*.*")}
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["cells"], told["cells_run"]) == (6, 0)
    [claim] = told["experiments"][0]["claims"]
    assert claim["holds"] is True
    assert content == {path: path.read_bytes() for path in (tmp_path / "out").rglob("*.*")}


def test_only_some_values(mine: Path) -> None:
    [sums] = lab.load(str(mine))

    def chosen(**only: list[str]) -> list[tuple[Any, ...]]:
        return [tuple(cell.parameters.values()) for cell in sums.cells(only=only)]

    assert chosen(k=["1", "7"], name=["B"]) == [(1, "b"), (7, "b")]
    assert chosen(k=["9"], name=["*"]) == [(9, "a"), (9, "b")], "a new value"
    with pytest.raises(ParameterError, match=r"nothing matches 'c\*'; known are a, b"):
        chosen(name=["c*"])
    with pytest.raises(ParameterError, match="'x' is no value like 0, 1"):
        chosen(k=["x"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["theorem9"], "unknown experiment 'theorem9'; known are theorem1"),
        (["./nowhere.py"], "cannot run ./nowhere.py: FileNotFoundError"),
        (["slope", "--workers", "0"], "workers must be an integer >= 1, got 0"),
        (["slope", "--only", "q=1"], "--only takes AXIS=VALUE, of m, s, k, repeat; got 'q=1'"),
        (["corrections", "--only", "row=zoos"], "unknown row 'zoos'; known are banana"),
        (["corrections", "--only", "learner=oracle"], "unknown learner 'oracle'"),
        (["corrections", "--only", "row=zoo", "--only", "group=kept"], "nothing is left to run"),
    ],
)
def test_errors_are_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", *words, "--out", "out"]) == 1
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_a_file_without_experiments_or_with_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("x = 1")
    with pytest.raises(ParameterError, match="has no experiment"):
        lab.load(str(path))
    path.write_text("x = 1/0")
    with pytest.raises(ParameterError, match="ZeroDivisionError: division by zero"):
        lab.load(str(path))
    with pytest.raises(ParameterError, match="quick has an axis that the grid has not: n"):
        lab.experiment("Title", quick={"n": 1}, k=3)


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "--list"]) == 0
    listed = capsys.readouterr().out
    assert listed.count("\n") == 17
    assert main(["lab", "corrections", "--list"]) == 0
    assert "teacher: tree, informed" in capsys.readouterr().out


@pytest.mark.parametrize(("module", "extra"), [("joblib", "lab"), ("distributed", "dask")])
def test_missing_extras(
    module: str, extra: str, mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"\[{extra}\]"):
        rows_of(mine, tmp_path, dask="tcp://nowhere:1" if extra == "dask" else None)


def test_an_experiment_can_be_called() -> None:
    [found] = lab.load("slope")
    assert isinstance(found, Experiment)
    [first, *_] = found(m=2, s=1, k=1, seed=0)
    assert first["learner"] == "RobustDFF"
