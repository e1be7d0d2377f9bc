"""`tellapart predict`: by a model file, or by a table that was taught."""

from __future__ import annotations

import io
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import tellapart as ta
from tellapart.cli import main
from tellapart.cli.open_session import open_or_begin
from tellapart.sessions import Store

BANK = "date;payee;amount\n" + "".join(
    f"0{n % 9 + 1}.10.2024;{['REWE Markt', 'Netflix'][n % 2]} {n};-{n},50\n" for n in range(1, 20)
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: Any) -> Path:
    """A folder with a table of two kinds of payees, and another one like it."""
    monkeypatch.chdir(tmp_path)
    Path("bank.csv").write_text(BANK)
    Path("november.csv").write_text(BANK.replace(".10.", ".11.").replace("Markt", "City"))
    return tmp_path


def teach(table: str = "bank.csv", name: str = "bank", **reading: Any) -> None:
    with Store(f"{table}.sessions.db") as store:
        session = open_or_begin(store, table, name, reading, for_teach=True)
        for _ in range(4):
            given = session.next("ann")
            label = "fun" if "Netflix" in given.item["payee"] else "food"
            if given.guess.label == label:
                session.answer("ann", given.id, "right")
            else:
                word = "Netflix" if label == "fun" else "REWE"
                reason = None if given.guess.label is None else f"payee contains '{word}'"
                session.answer("ann", given.id, "wrong", label, reason)
        session.close()


@pytest.mark.usefixtures("folder")
def test_dates_of_another_file_are_read_in_the_order_found_when_teaching() -> None:
    Path("sold.csv").write_text("n,sold\n1,03/25/2024\n2,05/01/2024\n3,06/30/2024\n")
    Path("more.csv").write_text("n,sold\n1,03/04/2024\n2,04/03/2024\n")  # either order fits
    with Store("sold.csv.sessions.db") as store:
        session = open_or_begin(store, "sold.csv", "sold", {}, for_teach=True)
        for _ in range(3):
            given = session.next("ann")
            label = "new" if given.item["sold"] >= date(2024, 4, 1) else "old"
            if given.guess.label == label:
                session.answer("ann", given.id, "right")
            else:
                reason = f"sold {'>=' if label == 'new' else '<'} DATE '2024-04-01'"
                reason = None if given.guess.label is None else reason
                session.answer("ann", given.id, "wrong", label, reason)
        session.close()
        open_or_begin(store, "sold.csv", "sold", {}, for_teach=True).close()  # as it was begun
    assert main(["predict", "sold.csv", "more.csv", "--quiet"]) == 0
    rows = Path("more-labelled.csv").read_text().splitlines()[1:]
    assert [row.split(",")[2] for row in rows] == ["old", "new"]


@pytest.mark.usefixtures("folder")
def test_a_taught_table_stands_for_its_model(capsys: Any) -> None:
    teach()
    assert main(["predict", "bank.csv", "november.csv"]) == 0
    assert "19 rows labelled" in capsys.readouterr().out
    made = Path("november-labelled.csv").read_text().splitlines()
    assert made[0] == "date,payee,amount,label,clause,example"
    assert made[1].startswith('02.11.2024,Netflix 1,"-1,50",fun,')
    assert made[2].startswith('03.11.2024,REWE City 2,"-2,50",food,')
    Path("out").mkdir()
    Path("bank.csv").unlink()  # the rules are in the session
    assert main(["predict", "bank.csv", "november.csv", "-o", "out/x.csv", "--keep", "payee"]) == 0
    assert Path("out/x.csv").read_text().startswith("payee,label,clause,example\nNetflix 1,fun,")
    assert sorted(Path("out").iterdir()) == [Path("out/x.csv")]


@pytest.mark.usefixtures("folder")
def test_while_somebody_teaches() -> None:
    teach()
    with Store("bank.csv.sessions.db") as store, ta.Session.open(store, "bank"):
        assert main(["predict", "bank.csv", "november.csv"]) == 0
        assert main(["export", "bank", "--db", "bank.csv.sessions.db", "--to", "sql"]) == 0


@pytest.mark.usefixtures("folder")
def test_the_other_table_is_read_as_the_taught_one() -> None:
    for name in ("bank.csv", "november.csv"):
        Path(name).write_text("# of the bank\n" + Path(name).read_text())
    teach(comment="#")
    assert main(["predict", "bank.csv", "november.csv"]) == 0
    assert len(Path("november-labelled.csv").read_text().splitlines()) == 20


@pytest.mark.usefixtures("folder")
def test_a_table_that_was_not_taught(capsys: Any) -> None:
    assert main(["predict", "bank.csv", "november.csv"]) == 1
    said = capsys.readouterr().err
    assert "bank.csv is no model file, and no table that was taught" in said
    assert "'tellapart teach bank.csv' begins one" in said
    teach(name="one")
    teach(name="two")
    assert main(["predict", "bank.csv", "november.csv"]) == 1
    assert "has the sessions one, two, and none called 'bank'" in capsys.readouterr().err
    assert not Path("november-labelled.csv").exists()


@pytest.mark.usefixtures("folder")
def test_standard_input_has_no_name(monkeypatch: Any, capsys: Any) -> None:
    teach()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BANK.encode())))
    assert main(["predict", "bank.csv", "-"]) == 1
    assert "say where the labels go with -o" in capsys.readouterr().err
    assert main(["predict", "bank.csv", "-", "-o", "out.jsonl", "--quiet"]) == 0
    assert len(Path("out.jsonl").read_text().splitlines()) == 19


@pytest.mark.usefixtures("folder")
def test_numbers_of_clauses_are_those_of_the_sentences(capsys: Any) -> None:
    milk, never = ta.Literal("milk"), ta.Literal("milk", False)
    model = ta.DecisionList(
        (ta.Clause((milk, never), "cat"), ta.Clause((milk,), "cow")), ta.Clause((), "owl")
    )
    ta.save_model(model, "zoo.json")
    Path("zoo.csv").write_text("name,milk\na,true\nb,false\n")
    assert main(["predict", "zoo.json", "zoo.csv"]) == 0
    assert Path("zoo-labelled.csv").read_text() == "label,clause,example\ncow,1,\nowl,2,\n"
    assert main(["export", "zoo.json", "--to", "text"]) == 0
    assert "1. It is: cow" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_a_taught_table_is_exported_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "bank.csv", "--to", "text"]) == 1
    assert "'tellapart teach bank.csv' begins one" in capsys.readouterr().err
    assert main(["export", "none.csv", "--to", "text"]) == 1
    assert "there is no file none.csv" in capsys.readouterr().err
    teach()
    capsys.readouterr()
    assert main(["export", "bank.csv", "--to", "text"]) == 0
    assert "It is: food" in capsys.readouterr().out
