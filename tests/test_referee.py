"""The referee of the statement about the rows left (`benchmarks/referee.py`), run small."""

from __future__ import annotations

import importlib
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tellapart.sessions import Given, Session, Store, Summary


@pytest.fixture
def referee(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "benchmarks"))
    return importlib.import_module("referee")


def test_a_few_lessons_have_no_false_statement(
    referee: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    referee.main(["--lessons", "2", "--rows", "50", "--kind", "all of it", "--kind", "repairs"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["all of it", "repairs"]
    assert all("false in 0 of 2 lessons" in line for line in lines), lines


def test_the_rows_left_are_those_of_the_summary(referee: Any, store: Store) -> None:
    world = referee.World(40, random.Random(3))
    with Session.new(store, "a", world.table, order="random") as session:
        for _ in range(15):
            given = session.next("Ann")
            assert isinstance(given, Given)
            label = world.label(given.item)
            referee.answer(session, "Ann", given, label, world, referee.Kind(), random.Random(0))
        wrong = world.wrong(session)
        world.labels = ["nothing"] * 40  # every row left is wrong
        left = session.summary().error.rows_left
        assert world.wrong(session) == left > wrong


def test_a_false_statement_is_noticed(
    referee: Any, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = Session.summary

    def false_summary(session: Session) -> Summary:
        true = summary(session)
        error = replace(true.error, low=0.0, likely=0.0, high=0.0, wrong_left=0)
        return replace(true, error=error)

    monkeypatch.setattr(Session, "summary", false_summary)
    assert referee.lesson(referee.KINDS["random order"], 40, 0, store).false


def test_the_interval_is_that_of_clopper_and_pearson(referee: Any) -> None:
    assert referee.interval(0, 100) == pytest.approx((0.0, 0.0362), abs=1e-4)
    assert referee.interval(5, 100) == pytest.approx((0.0164, 0.1128), abs=1e-4)
    assert referee.interval(10, 10) == pytest.approx((0.6915, 1.0), abs=1e-4)
