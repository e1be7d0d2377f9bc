"""Tables that grow by rows at their end."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api_clients import BOB, Client, begin, make_app, teach, write_tables
from archive_writer import outcome
from teaching import animals, words
from tellapart.errors import FormatError, ParameterError, SessionError
from tellapart.sessions import Given, Session, Store
from tellapart.sessions.items import _FEW, Items
from tellapart.tables import Table
from tellapart.web.pages.render import PAGES

ZOO = "name,legs\nbear,4\nduck,2\n"


@pytest.fixture(autouse=True, scope="module")
def _whole_summaries() -> Iterator[None]:
    """Compare all of a summary: the archive leaves out what came after 0.1."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("archive_writer.summary_of", lambda session: asdict(session.summary()))
        yield


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "zoo.csv").write_text(ZOO)
    return tmp_path / "zoo.csv"


def new(store: Store, path: Path) -> Session:
    return Session.new(store, "zoo", path, learner="DFF", reading={"id": "name"})


def test_rows_that_were_added_to_the_file_are_taken_on(store: Store, path: Path) -> None:
    with new(store, path) as session:
        session.answer("Ann", session.next("Ann").id, "wrong", "mammal")
    path.write_text(f"{ZOO}bass,0\npike,0\n")
    for _ in range(2):  # once: the second time they are known
        with Session.open(store, "zoo") as session:
            assert session.summary().items == 4
            assert session.label_of("bear") == "mammal"
    added = [event for event in store.log("zoo") if event.type == "rows added"]
    assert [(event.by, event.data["rows"]) for event in added] == [(None, 2)]
    assert added[0].data["table"]["items"] == 4
    with Session.open(store, "zoo") as session:
        met = set()
        while isinstance(given := session.next("Ann"), Given):
            met.add(str(given.item))
            session.answer("Ann", given.id, "unsure")
        assert met >= {"bass", "pike"}
    path.write_text(f"{ZOO}bass,0\npike,1\n")
    with pytest.raises(SessionError, match="some cells are different"):
        Session.open(store, "zoo")
    path.write_text(ZOO)
    with pytest.raises(SessionError, match="it had 4 items and now has 2"):
        Session.open(store, "zoo")


def test_rows_are_added_while_the_session_is_open(store: Store, path: Path) -> None:
    with new(store, path) as session:
        session.answer("Ann", session.next("Ann").id, "wrong", "mammal")
        assert session.take_rows() == 0
        assert session.add_rows("Ann", [{"name": "bass, sea", "legs": 0}], id="one") == 1
        assert session.add_rows("Ann", [{"name": "bass, sea", "legs": 0}], id="one") == 1
        assert path.read_text() == f'{ZOO}"bass, sea",0\n'
        assert session.label_of("bear") == "mammal"
        assert session.table.item("bass, sea")["legs"] == 0
        for rows, message in (
            ([{"nme": "x"}], "zoo.csv has no column 'nme'"),
            ([{"name": "bear", "legs": 1}], "bear"),
            ([{"name": "pike", "legs": "many"}], "'many' is no number"),
            ([{"name": "pike", "legs": [1]}], "a cell is a text"),
        ):
            with pytest.raises((ParameterError, FormatError, SessionError), match=message):
                session.add_rows("Ann", rows)
        assert path.read_text() == f'{ZOO}"bass, sea",0\n', "what is refused is taken back"
        before = outcome(session)
    with Session.open(store, "zoo") as session:
        assert outcome(session) == before


def test_few_rows_and_many_are_read_alike() -> None:
    """Few are read one by one, many at once."""
    table = Table({"name": [f"item {n}" for n in range(40)], "size": list(range(40))}, id="name")
    places = [(7 * n) % 40 for n in range(40)]
    for count in (0, 1, _FEW, _FEW + 1, 40):
        rows = Items(table).fetch(places[:count])
        assert [row.place for row in rows] == places[:count]
        assert [dict(row) for row in rows] == [dict(table.items[n]) for n in places[:count]]


def test_a_table_without_a_file(store: Store) -> None:
    whole = animals(60)
    with Session.new(store, "zoo", first(whole, 40), learner="DFF") as session:
        with pytest.raises(SessionError, match="has no file"):
            session.take_rows()
        assert session.take_rows("Ann", whole) == 20
        assert session.summary().items == 60
    with Session.open(store, "zoo", animals(60)) as session:
        assert session.summary().items == 60


def first(table: Table, rows: int) -> Table:
    return Table(table.frame(list(table.types))[:rows], id="name", name="animals")


@pytest.mark.slow
@settings(max_examples=15, derandomize=True)
@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=5),
    st.sampled_from(["DFF", "AdaptiveDFF", "AutoDFF"]),
    st.sampled_from(["file", "random", "least sure"]),
)
def test_rows_added_in_between_are_as_a_replay(parts: list[int], learner: str, order: str) -> None:
    """Teach, add rows, teach: what comes of it is what the log replays to with the whole table."""
    whole, rows = animals(60), 10
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "a.db")) as store:
        with Session.new(store, "s", first(whole, rows), learner=learner, order=order) as session:
            for part in parts:
                for _ in range(part):
                    given = session.next("Ann")
                    if isinstance(given, Given):
                        session.answer("Ann", given.id, *words(session, given))
                if part % 3 == 0 and session.can_undo("Ann"):
                    session.undo("Ann")
                rows = min(60, rows + part)
                session.take_rows("Ann", first(whole, rows))
            live = outcome(session)
        with Session.open(store, "s", first(whole, rows)) as session:
            assert outcome(session) == live


# -- over HTTP


@pytest.mark.slow
def test_rows_over_the_api(tmp_path: Path) -> None:
    folder = write_tables(tmp_path)
    with Client(make_app(folder)) as ann:
        begin(ann)
        teach(ann)
        new = {"rows": [{"name": "hen", "milk": False, "feathers": True, "legs": 2}], "id": "h1"}
        path = "/api/sessions/zoo/rows"
        assert Client(ann.app, BOB).call("POST", path, 403, json=new)["kind"] == "OwnerOnly"
        assert ann.call("POST", path, json=new) == {"rows": 1, "items": 6}
        assert ann.call("POST", path, json=new)["rows"] == 1  # a repeat
        assert ann.call("GET", "/api/sessions/zoo")["table"]["items"] == 6
        rows = ann.get("/api/sessions/zoo/predictions").text.splitlines()
        assert rows[-1].startswith("hen,bird")
        with (folder / "tables" / "zoo.csv").open("a") as file:
            file.write("cat,true,false,4,\n")
        assert ann.call("POST", path, json={}) == {"rows": 1, "items": 7}
        assert ann.call("POST", path, json={}) == {"rows": 0, "items": 7}
        assert "no column" in ann.call("POST", path, 422, json={"rows": [{"x": 1}]})["error"]
        assert len(ann.call("GET", "/api/sessions/zoo/history")["answers"]) == 2
        ann.call("POST", "/api/sessions/zoo/close")
        assert ann.call("GET", "/api/sessions/zoo")["table"]["items"] == 7


def test_a_parquet_file_is_written_by_others(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "zoo.parquet"
    pl.DataFrame({"name": ["bear"], "legs": [4]}).write_parquet(path)
    with new(store, path) as session:
        with pytest.raises(ParameterError, match=r"CSV files and JSON lines, not to zoo.parquet"):
            session.add_rows("Ann", [{"name": "duck", "legs": 2}])
        pl.DataFrame({"name": ["bear", "duck"], "legs": [4, 2]}).write_parquet(path)
        assert session.take_rows("Ann") == 1


# -- a table that has changed, or is gone


@pytest.mark.slow
@pytest.mark.parametrize("gone", [False, True])
def test_what_goes_on_without_the_table(
    gone: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_tables(tmp_path)
    table = folder / "tables" / "zoo.csv"
    with Client(make_app(folder)) as ann:
        begin(ann)
        teach(ann)
        bob = Client(ann.app, BOB)
        bob.answer(given=bob.next()["id"], answer="unsure", id="b1")
        events = [one["event"] for one in ann.call("GET", "/api/sessions/zoo/history")["answers"]]
        changed = {"event": events[1], "answer": "wrong", "label": "fowl"}
        ann.call("POST", "/api/sessions/zoo/change", json=changed)
        whole = ann.call("GET", "/api/sessions/zoo/history")
        model = ann.get("/api/sessions/zoo/export?to=text").text
    if gone:
        table.unlink()
        why = "is gone"
    else:
        table.write_text(table.read_text().replace("duck,false", "duck,true"))
        why = "has changed since"
    with Client(make_app(folder)) as ann:
        assert why in ann.call("POST", "/api/sessions/zoo/next", 409)["error"]
        found = ann.call("GET", "/api/sessions/zoo/history")
        assert why in found["note"]
        for one, before in zip(found["answers"], whole["answers"], strict=True):
            assert one == {**before, "outcome": one["outcome"]}
        turned = ann.call("POST", "/api/sessions/zoo/undo")["saved"]  # it needs no table
        assert ann.call("POST", "/api/sessions/zoo/redo")["saved"]["event"] == turned["event"]
        bob = Client(ann.app, BOB)
        assert [a["event"] for a in bob.call("GET", "/api/sessions/zoo/history")["answers"]] == [
            "b1"
        ]
        written = ann.get("/api/sessions/zoo/export?to=text")
        assert written.text == model
        assert why in written.headers["x-note"]
        assert "This is the model after event" in written.headers["x-note"]
        assert "\n'fowl'\n-- The model" in ann.get("/api/sessions/zoo/export?to=sql").text
        predicted = ann.get("/api/sessions/zoo/predictions")
        assert predicted.status_code == (409 if gone else 200)
        if not gone:  # of the table as it is now
            assert predicted.text.splitlines()[2] == "duck,fowl,1,duck"
            assert why in predicted.headers["x-note"]
        assert len(ann.get("/api/sessions/zoo/log").text.splitlines()) > 5
        for _, path in PAGES:  # and on the pages
            shown = ann.get(f"/s/zoo{path}")
            assert shown.status_code == 200
            assert why in shown.text
            assert "It is: fowl, like duck." in shown.text
            assert "b1" not in shown.text
            by_ann = "<td>Ann</td>"
            assert shown.text.count(by_ann) == sum(
                one["teacher"] == "Ann" for one in whole["answers"]
            )
            of_bob = bob.get(f"/s/zoo{path}").text
            assert of_bob.count(by_ann) == 0
            assert "It is: fowl" in of_bob
        for path in ("export?unsure=null", "predictions?unsure=null"):
            assert ann.call("GET", f"/api/sessions/zoo/{path}", 409)["kind"] == "TableChanged"
        assert len(bob.get("/s/zoo/answers.csv").text.splitlines()) == 2
        assert ann.get("/s/zoo/card").status_code == 409
    from tellapart.cli import main

    assert main(["session", "model", "zoo", "--db", str(folder / "zoo.db")]) == 0
    out, err = capsys.readouterr()
    assert '"fowl"' in out
    assert why in err
    assert "This is the model after event" in err


def test_guesses_before_rows_were_added_say_nothing_of_them(store: Store) -> None:
    """100 right guesses on a table say much of its rows, and nothing of rows that came later."""
    columns = {"name": [f"i{n}" for n in range(200)], "legs": [4] * 200}
    more = {"name": [f"i{n}" for n in range(300)], "legs": [4] * 300}
    with Session.new(
        store, "s", Table(columns, id="name"), learner="DFF", order="random"
    ) as session:
        for number in range(100):
            given = session.next("Ann")
            assert isinstance(given, Given)
            session.answer("Ann", given.id, *(("right",) if number else ("wrong", "mammal")))
        assert session.summary().error.high < 0.1
        session.take_rows("Ann", Table(more, id="name"))
        found = session.summary().error
        assert found.high == 1
    with Session.open(store, "s", Table(more, id="name")) as session:
        assert session.summary().error == found


def test_a_session_that_leaves_unsure_rows_gives_no_model_without_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_tables(tmp_path)
    with Client(make_app(folder)) as ann:
        begin(ann)
        teach(ann)
        ann.call("PATCH", "/api/sessions/zoo", json={"unsure": "null", "error": 0.1})
    (folder / "tables" / "zoo.csv").unlink()
    with Client(make_app(folder)) as ann:
        assert "is gone" in ann.call("GET", "/api/sessions/zoo/export?to=sql", 409)["error"]
        assert ann.get("/api/sessions/zoo/export?to=sql&unsure=label").status_code == 200
    from tellapart.cli import main

    assert main(["session", "model", "zoo", "--db", str(folder / "zoo.db")]) == 1
    assert "is gone" in capsys.readouterr().err
