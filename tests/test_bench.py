"""The benchmark: what it measures is there, and it says where."""

from __future__ import annotations

import json

import pytest

import tellapart as ta
from tellapart.cli.bench import bench as command
from tellapart.lab import bench
from tellapart.lab.measurement import Limit, Measurement


@pytest.fixture
def small(monkeypatch):
    """The same measurements on little worlds."""
    sizes = {1_000_000: 3000, 20_000: 300, 2_000: 200}
    for name in ("tree", "dnf"):
        make = getattr(bench, name)
        monkeypatch.setattr(
            bench, name, lambda n, *rest, make=make, **more: make(sizes[n], *rest, **more)
        )
    monkeypatch.setattr(bench, "_fresh", lambda program: 0.1)


@pytest.mark.slow
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
        *["one"] * 8,
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
        *["the"] * 2,
    ]
    assert all(row["value"] > 0 and row["note"] for row in limits)


@pytest.mark.usefixtures("small")
def test_it_prints(monkeypatch, capsys):
    monkeypatch.setattr(bench, "_can_import", lambda package: False)
    command(quick=True)
    shown = capsys.readouterr().out
    assert "simulate, CappedDFF" in shown
    assert "times as fast as teach" in shown
    assert "import tellapart: 0.1 seconds (limit 0.15: yes)" in shown
    assert "DecisionTreeClassifier" not in shown


def test_the_yardsticks_are_honest():
    """The loop over rules gives the same lesson, and the AND pass the AND."""
    world = ta.worlds.tree(300, 20, 5, 3, 0.05, seed=1)
    naive = ta.teach(bench.LoopingCapped(5), world.teacher(), world.items)
    assert naive == ta.teach(ta.CappedDFF(5), world.teacher(), world.items)
    columns = [world.truth(f"f{n}") for n in range(4)]
    room = columns[0].copy()
    bench.and_pass(columns, room)
    assert room.tolist() == [int(a & b & c & d) for a, b, c, d in zip(*columns, strict=True)]


def test_a_fresh_process_is_timed():
    assert 0.05 < bench._fresh("time.sleep(0.05)") < 5


def test_what_is_reached():
    assert Limit("import", 0.1, "seconds", 0.15, "").reached
    assert not Limit("import", 0.2, "seconds", 0.15, "").reached
    assert Limit("import", 0.2, "seconds", None, "").reached is None
    assert Measurement("a", "b", 0.6, 0.5, 1, 1, 1, "").reached


def test_a_lesson_is_compared_with_the_beginning_of_another():
    world, other = (ta.worlds.tree(400, 20, 4, 2, 0.1, seed=seed) for seed in (1, 2))
    whole = ta.simulate(ta.CappedDFF(4), world)
    for items in (world.items, world.items[:150]):
        assert bench.starts_like(whole, ta.teach(ta.CappedDFF(4), world.teacher(), items))
        assert not bench.starts_like(whole, ta.teach(ta.CappedDFF(3), world.teacher(), items))
    strange = ta.teach(ta.CappedDFF(4), other.teacher(), other.items[:150])
    assert not bench.starts_like(whole, strange)
