"""The benchmark: what it measures is there, and it says where."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from tellapart.simulation.engine import engine
from tellapart.simulation.plain import Plain

import tellapart as ta
from tellapart.cli.bench import bench as command
from tellapart.lab.bench import Limit, Measurement, peers, run, simulating, starting


@pytest.fixture
def small(monkeypatch):
    """The same measurements on little worlds."""
    sizes = {1_000_000: 3000, 20_000: 300, 2_000: 200}
    for name in ("tree", "dnf"):
        make = getattr(run, name)
        monkeypatch.setattr(
            run, name, lambda n, *rest, make=make, **more: make(sizes[n], *rest, **more)
        )
    monkeypatch.setattr(starting, "_fresh", lambda program: 0.1)


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
        *["one"] * 18,
        "the",
        *["teach"] * 4,
        "DecisionTreeClassifier.predict",
        "a",
        *["river's"] * 2,
        "learn_one",
    ]
    assert all(row["ratio"] > 0 and row["seconds"] > 0 for row in rows)
    assert all("the same lesson" in row["note"] for row in rows if row["against"] == "teach")
    limits = found["limits"]
    assert [row["what"].split()[0] for row in limits] == [
        *["memory"] * 6,
        "import",
        "tellapart",
        "the",
    ]
    assert all(row["value"] > 0 and row["note"] for row in limits)


@pytest.mark.usefixtures("small")
def test_it_prints(monkeypatch, capsys):
    monkeypatch.setattr(run, "_has", lambda package: False)
    command(quick=True)
    shown = capsys.readouterr().out
    assert "simulate, CappedDFF" in shown
    assert "times as fast as teach" in shown
    assert "import tellapart: 0.1 seconds (limit 0.15: yes)" in shown
    assert "DecisionTreeClassifier" not in shown


def test_the_yardsticks_are_honest():
    """The loop over rules gives the same lesson, and the AND pass the AND."""
    world = ta.worlds.tree(300, 20, 5, 3, 0.05, seed=1)
    naive = ta.teach(peers.Naive(5), world.teacher(), world.items)
    assert naive == ta.teach(ta.CappedDFF(5), world.teacher(), world.items)
    columns = [world.truth(f"f{n}") for n in range(4)]
    room = columns[0].copy()
    simulating.and_pass(columns, room)
    assert room.tolist() == [int(a & b & c & d) for a, b, c, d in zip(*columns, strict=True)]


def test_the_compiled_yardstick_reads_everything(needs):
    needs("numba")
    from tellapart.simulation import kernel, pack

    words = [pack(np.arange(2048) % 7 != n) for n in range(7)]
    addresses = np.array([column.ctypes.data for column in words])
    assert kernel.meet(addresses[:6], 32)
    assert not kernel.meet(addresses, 32)


def test_a_fresh_process_is_timed():
    assert 0.05 < starting._fresh("time.sleep(0.05)") < 5


def test_what_is_reached():
    assert Limit("import", 0.1, "seconds", 0.15, "").reached
    assert not Limit("import", 0.2, "seconds", 0.15, "").reached
    assert Limit("import", 0.2, "seconds", None, "").reached is None
    assert Measurement("a", "b", 0.6, 0.5, 1, 1, 1, "").reached


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
assert "tellapart.simulation.kernel" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_numba_that_must_not_compile_is_as_none(needs):
    """NUMBA_DISABLE_JIT=1, as one sets it to look for an error, ended a simulation with one."""
    needs("numba")
    program = """
import tellapart as ta
world = ta.worlds.tree(60_000, 20, 3, 2, seed=1)
print(ta.simulate(ta.CappedDFF(3), world).mistakes)
"""
    said = [
        subprocess.run(
            [sys.executable, "-c", program],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "NUMBA_DISABLE_JIT": wanted},
        ).stdout
        for wanted in "01"
    ]
    assert said[0] == said[1]


def test_which_engine(monkeypatch):
    monkeypatch.delitem(sys.modules, "tellapart.simulation.kernel", raising=False)
    monkeypatch.setattr("tellapart.simulation.engine._loads", lambda: False)
    assert engine(10**7) is Plain


def test_a_lesson_is_compared_with_the_beginning_of_another():
    world, other = (ta.worlds.tree(400, 20, 4, 2, 0.1, seed=seed) for seed in (1, 2))
    whole = ta.simulate(ta.CappedDFF(4), world)
    for items in (world.items, world.items[:150]):
        assert simulating._alike(whole, ta.teach(ta.CappedDFF(4), world.teacher(), items))
        assert not simulating._alike(whole, ta.teach(ta.CappedDFF(3), world.teacher(), items))
    strange = ta.teach(ta.CappedDFF(4), other.teacher(), other.items[:150])
    assert not simulating._alike(whole, strange)
