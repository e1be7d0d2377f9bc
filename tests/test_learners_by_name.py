"""One way to name a learner, on every command and in every request."""

from __future__ import annotations

from pathlib import Path

import pytest

from tellapart.cli import main
from tellapart.cli.open_session import open_or_begin
from tellapart.cli.options import TableOptions
from tellapart.errors import ParameterError
from tellapart.lab.corrections import corrections
from tellapart.learners import AdaptiveDFF, AutoDFF, Guarded
from tellapart.learners.by_name import (
    format_learner,
    learner_classes,
    make_learner,
    parse_learner,
    world_facts,
)
from tellapart.sessions import Session, Store
from tellapart.tables import Table


@pytest.mark.parametrize("name", learner_classes())
def test_every_learner_can_be_named(name: str) -> None:
    facts = world_facts(m=4, k=2, s=1, n=100)
    made = make_learner(name, facts=facts)
    assert type(made).__name__ == {"Hindsight": "ShortList", "SRDFF": "CappedDFF"}.get(name, name)
    assert type(make_learner(name.lower().removesuffix("dff") or name, facts=facts)) is type(made)
    assert make_learner(name, facts=facts) is not made


@pytest.mark.parametrize(
    "text",
    ["capped:m=7,remember=true", "CappedDFF:m=7,remember=True", " CAPPED : m = 7, remember=TRUE,"],
)
def test_case_endings_and_spaces_do_not_matter(text: str) -> None:
    assert parse_learner(text) == ("CappedDFF", {"m": 7, "remember": True})
    assert format_learner(*parse_learner(text)) == "CappedDFF:m=7,remember=true"


def test_values() -> None:
    name, values = parse_learner("stro:m=7,epsilon=1e-2,sigma=0,delta=.1,as_printed=false")
    assert name == "StRoDFF"
    assert values == {"m": 7, "epsilon": 0.01, "sigma": 0, "delta": 0.1, "as_printed": False}
    assert parse_learner("adaptive:schedule=ruler")[1] == {"schedule": "ruler"}
    assert parse_learner("adaptive:schedule='ruler'")[1] == {"schedule": "ruler"}
    assert parse_learner("robust:patience=none")[1] == {"patience": None}
    made = make_learner("guarded:practical=auto,guaranteed=adaptive")
    assert repr(made) == repr(Guarded(AutoDFF(), AdaptiveDFF()))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "oracle",
            "unknown learner 'oracle'; known are AdaptiveDFF, AutoDFF, CappedDFF:m=..., DFF",
        ),
        ("capped:k=3", "CappedDFF has no parameter 'k'; it has m, remember"),
        ("capped:m", "parameters are written m=7,k=2; got 'm'"),
        ("capped", "CappedDFF must be told m, as in CappedDFF:m=...; AutoDFF and AdaptiveDFF need"),
        ("capped:m=0", "CappedDFF: m must be an integer >= 1, got 0"),
        ("dff:holds=len", "DFF has no parameter 'holds'; it has remember"),
    ],
)
def test_a_message_says_what_can_be_written(text: str, said: str) -> None:
    with pytest.raises(ParameterError) as raised:
        make_learner(text)
    assert said in str(raised.value)


def test_what_a_learner_must_be_told() -> None:
    with pytest.raises(ParameterError, match="RobustDFF must be told k"):
        make_learner("robust", facts=world_facts(m=4))


def test_a_session_keeps_the_full_name_and_knows_every_other(tmp_path: Path) -> None:
    table = tmp_path / "pets.csv"
    table.write_text("name,legs\nrex,4\ntom,2\n")
    with Store(tmp_path / "pets.db") as store:
        open_or_begin(
            store, table, "pets", None, TableOptions(learner="capped:m=7,remember=true")
        ).close()
        begun = store.opened("pets").data
        assert (begun["learner"], begun["parameters"]) == ("CappedDFF", {"m": 7, "remember": True})
        for same in ("CappedDFF", "capped:m=7", "cappeddff:remember=TRUE"):
            open_or_begin(store, table, "pets", None, TableOptions(learner=same)).close()
        with pytest.raises(ParameterError, match="another learner, CappedDFF:m=7,remember=true"):
            open_or_begin(store, table, "pets", None, TableOptions(learner="capped:m=8"))
        pets = Table({"name": ["rex", "tom"], "legs": [4, 2]}, id="name")
        Session.new(store, "other", pets, learner="robust:m=2", parameters={"k": 1, "s": 1}).close()
        begun = store.opened("other").data
        assert (begun["learner"], begun["parameters"]) == ("RobustDFF", {"m": 2, "k": 1, "s": 1})


def test_compare_takes_its_own_names_and_every_other(capsys: pytest.CaptureFixture[str]) -> None:
    only = {"row": ["zoo"], "learner": ["robust", "capped:m=7", "CappedDFF"], "seed": ["0"]}
    names = [cell.parameters["learner"] for cell in corrections.cells(only=only)]
    assert names == ["robust", "capped:m=7", "CappedDFF"]
    made = {
        name: corrections(row="zoo", teacher="tree", learner=name, seed=0, rounds=101)[0]
        for name in ("CappedDFF", "capped:m=7", "CappedDFF:m=1")
    }
    wrong = {name: row["corrections"] for name, row in made.items()}
    assert wrong["CappedDFF"] == wrong["capped:m=7"] != wrong["CappedDFF:m=1"]
    assert main(["compare", "--only", "learner=oracle"]) == 1
    assert "unknown learner 'oracle'; known are AdaptiveDFF, " in capsys.readouterr().err
    assert main(["compare", "--only", "learner=capped:k=3"]) == 1
    assert "CappedDFF has no parameter 'k'; it has m" in capsys.readouterr().err
