"""The benchmark: what it measures is there, and it says where."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import tellapart as ta
from tellapart.cli.bench import bench as command
from tellapart.columns.engine import engine
from tellapart.columns.plain import Plain
from tellapart.lab import bench


@pytest.fixture
def small(monkeypatch):
    """The same measurements on little worlds."""
    sizes = {1_000_000: 3000, 20_000: 300, 2_000: 200}
    make = bench.tree
    monkeypatch.setattr(bench, "tree", lambda n, *rest, **more: make(sizes[n], *rest, **more))


@pytest.mark.usefixtures("small")
def test_everything_is_measured(needs, capsys):
    needs("scikit-learn")
    needs("river")
    command(quick=True, json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["machine"]["seed"] == 1
    assert found["machine"]["numpy"]
    rows = found["measurements"]
    assert [row["against"].split()[0] for row in rows] == [
        *["one"] * 4,
        "teach",
        "DecisionTreeClassifier.predict",
        "a",
        *["river's"] * 2,
        "learn_one",
    ]
    assert all(row["ratio"] > 0 and row["seconds"] > 0 for row in rows)
    assert "the same lesson" in rows[4]["note"]


@pytest.mark.usefixtures("small")
def test_it_prints(monkeypatch, capsys):
    monkeypatch.setattr(bench, "_has", lambda package: False)
    command(quick=True)
    shown = capsys.readouterr().out
    assert "simulate, CappedDFF" in shown
    assert "times as fast as teach (bar 50:" in shown
    assert "DecisionTreeClassifier" not in shown


def test_the_yardsticks_are_honest():
    """The loop over rules gives the same lesson, and the AND pass the AND."""
    world = ta.worlds.tree(300, 20, 5, 3, 0.05, seed=1)
    naive = ta.teach(bench.Naive(5), world.teacher(), world.items)
    assert naive == ta.teach(ta.CappedDFF(5), world.teacher(), world.items)
    columns = [world.truth(f"f{n}") for n in range(4)]
    room = columns[0].copy()
    bench.and_pass(columns, room)
    assert room.tolist() == [int(a & b & c & d) for a, b, c, d in zip(*columns, strict=True)]


def test_small_worlds_do_not_load_the_kernel():
    """Neither does the demo; nor a machine without numba."""
    program = """
import sys
import tellapart as ta
from tellapart.cli import main
world = ta.worlds.zoo()
ta.simulate(ta.CappedDFF(7), world)
main(["demo"])
assert "numba" not in sys.modules
sys.modules["numba"] = None
big = ta.worlds.tree(60_000, 20, 3, 2, seed=1)
assert ta.simulate(ta.CappedDFF(3), big).mistakes < 10
assert "tellapart.columns.kernel" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_which_engine(monkeypatch):
    monkeypatch.delitem(sys.modules, "tellapart.columns.kernel", raising=False)
    monkeypatch.setattr("tellapart.columns.engine._loads", lambda: False)
    assert engine(10**7) is Plain
