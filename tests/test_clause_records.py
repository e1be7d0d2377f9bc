"""Rules that know when they don't: records of clauses, their bounds, and models that abstain."""

from __future__ import annotations

import json
import random

import pytest

import tellapart as ta
from teaching import animals, teach
from tellapart.cli import main
from tellapart.errors import FormatError, ParameterError
from tellapart.model import Record
from tellapart.review import ClauseRecords
from tellapart.review.error_bound import regions
from tellapart.sessions import Session, Store
from zoo_session import answer

SURE, UNSURE = Record(200, 1, 340, 0.03), Record(9, 0, 341, 0.5)


def model(*records: Record | None) -> ta.DecisionList:
    """Mammals, fish, birds."""
    milk, fins, rest = records
    return ta.DecisionList(
        (
            ta.Clause((ta.Literal("milk"),), "mammal", "bear", record=milk),
            ta.Clause((ta.Literal("fins"),), "fish", "bass", record=fins),
        ),
        default=ta.Clause((), "bird", "duck", record=rest),
    )


# -- abstaining


def test_an_unsure_clause_says_nothing_in_every_language() -> None:
    zoo = model(UNSURE, SURE, None)
    unsure = zoo.abstain(0.05)
    items = [{"milk"}, {"fins"}, {"wings"}]
    assert unsure.predict(items) == [None, "fish", None]
    assert zoo.predict(items) == ["mammal", "fish", "bird"]
    assert list(ta.columns.predict(unsure, ta.Table({"milk": [True], "fins": [True]}))) == [None]
    lines = [line for line in ta.to_sql(unsure).splitlines() if "--" not in line]
    assert lines == [
        "CASE",
        "  WHEN milk THEN NULL",
        "  WHEN fins THEN 'fish'",
        "  ELSE NULL",
        "END",
    ]
    assert ta.to_sql(zoo, value="clause") == ta.to_sql(model(None, None, None), value="clause")
    assert ta.export.sentences(unsure) == [
        "It is unknown, if milk.",
        "It is: fish, like bass, if fins.",
        "Otherwise it is unknown.",
    ]
    program: dict[str, object] = {}
    exec(ta.export.to_python(unsure), program)
    assert [program["predict"](item) for item in items] == [None, "fish", None]
    picture = ta.export.to_svg(unsure)
    assert "unknown" in picture
    assert "None" not in picture
    assert "unknown" in unsure._repr_html_()


def test_what_is_unsure_at_the_end_is_one_else() -> None:
    assert str(model(SURE, UNSURE, UNSURE).abstain()) == "if milk: mammal, like bear\nelse: unknown"
    assert str(model(UNSURE, UNSURE, UNSURE).abstain()) == "always: unknown"
    assert model(UNSURE, UNSURE, UNSURE).abstain(0.5) == model(None, None, None)


def test_bad_thresholds_and_models_without_records_say_what_to_do() -> None:
    with pytest.raises(ParameterError, match="error must be from 0 to 1, got 5"):
        model(SURE, SURE, SURE).abstain(5)
    with pytest.raises(ParameterError, match="session model NAME --records"):
        model(None, None, None).abstain()


def test_records_are_in_the_model_file_and_on_the_command_line(tmp_path, capsys) -> None:
    zoo = model(SURE, UNSURE, None)
    path = tmp_path / "zoo.json"
    ta.save_model(zoo, path)
    assert [clause.record for clause in ta.load_model(path)] == [SURE, UNSURE, None]
    assert "record" not in json.loads(model(None, None, None).to_json())["clauses"][0]
    assert main(["export", str(path), "--to", "sql", "--unsure", "null"]) == 0
    assert "ELSE NULL" in capsys.readouterr().out
    assert main(["export", str(path), "--to", "text", "--unsure", "null", "--error", "0.6"]) == 0
    assert "2. It is: fish" in capsys.readouterr().out
    table, out = tmp_path / "t.csv", tmp_path / "out.csv"
    table.write_text("milk,fins\ntrue,false\nfalse,true\n")
    arguments = ["predict", str(path), str(table), "-o", str(out), "--quiet", "--unsure", "null"]
    assert main(arguments) == 0
    assert out.read_text().splitlines()[1:] == ["mammal,1,bear", ",2,"]


@pytest.mark.parametrize(
    "record", [[1, 2, 3], [1, -2, 3, 0.1], [1, 2, 3, 1.1], [1, 2, 3, "0.1"], [True, 2, 3, 0.1], 7]
)
def test_a_damaged_record_is_refused(record) -> None:
    file = json.loads(model(SURE, SURE, SURE).to_json())
    file["clauses"][0]["record"] = record
    with pytest.raises(FormatError, match="a damaged model file"):
        ta.DecisionList.from_json(json.dumps(file))


# -- records


def test_a_clause_is_judged_by_what_came_after_it_last_changed() -> None:
    records, one = ClauseRecords(), model(None, None, None)
    for _ in range(150):
        records.add(one, {"milk"}, "mammal")
        records.add(one, {"wings"}, "bird")
    records.add(one, {"fins"}, "bird")
    found = [clause.record for clause in records.judge(one)]
    assert [record[:3] for record in found] == [(150, 0, 299), (0, 1, 301), (150, 0, 300)]
    assert found[0].high < 0.05
    assert found[1].high == 1.0
    # the second clause asks for more: so the default gets other items too, but not the first clause
    fish = ta.Clause((ta.Literal("fins"), ta.Literal("gills")), "fish", "bass")
    other = ta.DecisionList((one.clauses[0], fish), one.default)
    found = [clause.record for clause in records.judge(other)]
    assert found[0][:2] == (150, 0)
    assert found[1:] == [Record(0, 0, None, 1.0)] * 2
    assert records.judge(one).default.record.right == 0  # and what is forgotten is forgotten


def test_items_that_were_not_drawn_are_no_evidence() -> None:
    records, one = ClauseRecords(), model(None, None, None)
    for _ in range(150):
        records.add(one, {"milk"}, "mammal", drawn=False)
    assert records.judge(one).clauses[0].record == Record(0, 0, 150, 1.0)


def test_regions_are_the_same_in_another_order() -> None:
    """Only what can cover an item of a clause matters to it."""
    milk, dry = ta.Literal("milk"), ta.Literal("milk", False)
    fins, wings = ta.Literal("fins"), ta.Literal("wings")
    bat = ta.Clause((milk, wings), "bat")
    bass, duck = ta.Clause((dry, fins), "bass"), ta.Clause((wings, dry), "duck")
    one, other = regions(ta.DecisionList((bat, bass, duck))), regions(ta.DecisionList((duck, bat)))
    assert one[0] == other[1]
    assert one[2] != other[0]  # a bass with wings
    assert one[3] != other[2]


@pytest.mark.slow
def test_the_errors_of_all_clauses_are_covered_in_all_rounds_at_once() -> None:
    """Three clauses with errors just above what runs of right guesses would refute; the second
    changes again and again."""
    risk, lessons, errors = 0.1, 200, {"milk": 0.05, "fins": 0.1, "wings": 0.2}
    labels = {"milk": "mammal", "fins": "fish", "wings": "bird"}
    false = 0
    for seed in range(lessons):
        chance, records = random.Random(seed), ClauseRecords(200)
        one, made = model(None, None, None), 0
        for _ in range(200):
            name = chance.choice(list(errors))
            mistake = chance.random() < errors[name]
            records.add(one, {name}, "other" if mistake else labels[name])
            clause = list(errors).index(name)
            if records.refutes(one, clause, errors[name], risk):
                false += 1
                break
            if name == "fins" and mistake:
                made += 1
                more = (ta.Literal("fins"), ta.Literal(f"x{made}", False))
                fish = ta.Clause(more, "fish", "bass")
                one = ta.DecisionList((one.clauses[0], fish), one.default)
    assert false <= risk * lessons


# -- sessions


def test_a_session_knows_which_of_its_rules_are_sure(store: Store) -> None:
    rows = {"n": list(range(400)), "even": [n % 2 == 0 for n in range(400)]}
    with Session.new(store, "n", ta.Table(rows), learner="DFF", order="random") as session:
        answer(session, "Ann", "wrong", "number")
        while session.summary().labelled < 240:
            given = session.next("Ann")
            label = "even" if given.item["even"] else "odd"
            if given.guess.label == label:
                session.answer("Ann", given.id, "right")
            elif given.guess.example is None:
                session.answer("Ann", given.id, "wrong", label)
            else:
                feature = "even" if label == "even" else "NOT even"
                differs = given.guess.example["even"] != given.item["even"]
                session.answer("Ann", given.id, "wrong", label, *([feature] if differs else []))
        judged = session.judged_model()
        assert judged == session.model
        assert [clause.record is not None for clause in judged] == [True] * len(list(judged))
        counted = sum(sum(clause.record[:2]) for clause in judged)
        assert 200 < counted < 240
        assert session.chosen_model("null", 0.1).clauses == judged.clauses
        assert {rule.label for rule in session.chosen_model("null", 0.001)} == {None}
        assert session.judged_model() is judged
        before = session.summary(), session.history()
        answer(session, "Ann", "skipped")
        assert session.judged_model() is not judged
        assert session.history()[: len(before[1])] == before[1]


@pytest.mark.parametrize("learner", ["CappedDFF:m=4", "AutoDFF"])
def test_a_session_knows_the_records_of_its_rules_without_teaching_anew(
    learner: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After undo, and when it is opened again: from what was kept, and from the log alone."""
    with Session.new(store, "s", animals(200), learner=learner, order="random") as session:
        teach(session, "Ann", 90)
        for _ in range(7):
            session.undo("Ann")
        teach(session, "Bob", 30)
        session.drop_rule("Ann", session.model.clauses[0].example)
        session.undo("Ann")
        with monkeypatch.context() as patch:
            patch.setattr(type(session.learner), "learn", None)
            judged = session.judged_model()
        records = [clause.record for clause in judged]
        assert sum(one.right for one in records if one is not None) > 20
        session._log.state.learning.cost = 1.0  # worth it to be kept
    with Session.open(store, "s", animals(200)) as session:
        assert [clause.record for clause in session.judged_model()] == records
        teach(session, "Ann", 5)
        after = [clause.record for clause in session.judged_model()]
    with store.connected() as connection:
        connection.execute("DELETE FROM tellapart_kept")
        connection.commit()
    with Session.open(store, "s", animals(200)) as session:
        assert [clause.record for clause in session.judged_model()] == after
