"""The HTTP API: what it says, what it refuses, and in which words."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest

from api_clients import ZOO, Client, begin, make_app, teach, write_tables
from tellapart.export.sql import Dialect
from tellapart.model import DecisionList
from tellapart.web.api.downloads import FORMATS, Language


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tables(tmp_path)


# -- teaching


def test_a_conversation(ann: Client) -> None:
    first = ann.next()
    assert (first["asks"], first["item"]["name"], first["candidates"]) == ("label", "bear", [])
    done = ann.answer(given=first["id"], answer="wrong", label="mammal", id="one", next=True)
    assert done["saved"]["outcome"] == "label"
    given = done["next"]["given"]
    assert (given["guess"], given["example"]["id"], given["item"]["id"]) == (
        "mammal",
        "bear",
        "duck",
    )
    assert {"column": "legs", "item": 2, "example": 4} in given["differs"]
    offered = {one["feature"]: one["items"] for one in given["candidates"]}
    assert offered["feathers"] == 2
    done = ann.answer(given=given["id"], answer="wrong", label="bird", feature="feathers")
    assert done["saved"]["outcome"] == "mistake"
    about = ann.call("GET", "/api/sessions/zoo")
    assert about["labels"] == ["mammal", "bird"]
    assert about["progress"]["mistakes"] == 1


def test_candidates_are_ranked_for_a_label(ann: Client) -> None:
    teach(ann)
    given = ann.next()
    path = f"/api/sessions/zoo/candidates?given={given['id']}&label=fish&limit=3"
    found = ann.call("GET", path)["candidates"]
    assert 1 < len(found) <= 3  # so many are true of different rows
    for one in found:
        tried = {"feature": one["feature"], "given": given["id"]}
        assert ann.call("POST", "/api/sessions/zoo/check", json=tried)["tells"]


def test_an_item_without_candidates(ann: Client) -> None:
    teach(ann)
    path = "/api/sessions/zoo/next"
    assert ann.call("POST", path, json={"candidates": False})["given"]["candidates"] == []
    assert ann.call("POST", path, json={})["given"]["candidates"]


def test_an_expression_is_checked(ann: Client) -> None:
    ann.answer(given=ann.next()["id"], answer="wrong", label="mammal")
    given = ann.next()["id"]

    def check(feature: str, **more: Any) -> Any:
        body = {"feature": feature, "given": given, **more}
        return ann.call("POST", "/api/sessions/zoo/check", json=body)

    good = check("legs < 3")
    assert (good["valid"], good["here"], good["there"], good["tells"]) == (True, True, False, True)
    assert good["items"] == 3
    assert not check("legs >= 2")["tells"]
    wrong = check("feather")
    assert (wrong["valid"], wrong["spot"]) == (False, [0, 7])
    assert "feathers" in wrong["message"]
    for evil in ("(SELECT 1)", "1; DROP TABLE x", "read_csv('x')", "legs = 1 -- x", "", "(" * 5000):
        assert not check(evil)["valid"]
    assert check("milk", item="lion", example="crow")["tells"]


def test_undo_redo_change_history(ann: Client) -> None:
    teach(ann)
    undone = ann.call("POST", "/api/sessions/zoo/undo", json={"next": True})
    assert undone["next"]["given"]["item"]["id"] == "duck"
    assert undone["next"]["can_redo"]
    ann.call("POST", "/api/sessions/zoo/redo")
    history = ann.call("GET", "/api/sessions/zoo/history")["answers"]
    assert [one["item"]["id"] for one in history] == ["duck", "bear"]
    changed = {"event": history[0]["event"], "answer": "wrong", "label": "fowl"}
    ann.call("POST", "/api/sessions/zoo/change", json=changed)
    assert ann.call("GET", "/api/sessions/zoo/history?item=duck")["answers"][0]["label"] == "fowl"
    page = ann.call("GET", "/api/sessions/zoo/history?limit=1")
    rest = ann.call("GET", f"/api/sessions/zoo/history?before={page['before']}")
    assert [one["item"]["id"] for one in rest["answers"]] == ["bear"]
    assert rest["before"] is None


def test_a_repeated_request_is_harmless(ann: Client) -> None:
    given = ann.next()["id"]
    said = {"given": given, "answer": "wrong", "label": "mammal", "id": "mine"}
    first = ann.answer(**said)
    assert ann.answer(**said) == first
    assert ann.answer(**{**said, "id": "other"})["saved"] == first["saved"]
    refused = ann.answer(409, **{**said, "label": "bird"})
    assert refused["kind"] == "ProtocolError"
    assert len(ann.call("GET", "/api/sessions/zoo/history")["answers"]) == 1


def test_rules_progress_odd(ann: Client) -> None:
    teach(ann)
    ann.answer(given=ann.next()["id"], answer="wrong", label="fish", feature="NOT feathers")
    rules = ann.call("GET", "/api/sessions/zoo/rules")["rules"]
    assert sum(rule["items"] for rule in rules) == 5
    assert rules[0]["example"]["id"] == "duck"
    assert rules[0]["teacher"] == "Ann"
    assert rules[-1]["is_default"]
    found = ann.call("GET", "/api/sessions/zoo/rules/1/items?limit=2")
    assert found["total"] == rules[0]["items"]
    progress = ann.call("GET", "/api/sessions/zoo/progress?m=3")
    assert progress["mistakes"] == 2
    assert progress["last"] == [True, True]
    assert progress["bound"]["mistakes"] >= 2
    assert progress["curve"][-1] == {"guess": 2, "mistakes": 2}
    assert 0 <= progress["error"]["low"] <= progress["error"]["high"] <= 1
    assert "odd" in ann.call("GET", "/api/sessions/zoo/odd")


def test_how_sure_rules_are(ann: Client) -> None:
    teach(ann)
    rules = ann.call("GET", "/api/sessions/zoo/rules")["rules"]
    assert [rule["since_changed"] for rule in rules] == [None] * len(rules)
    rules = ann.call("GET", "/api/sessions/zoo/rules?sure=true")["rules"]
    assert rules[0]["since_changed"]["high"] == 1.0
    base = "/api/sessions/zoo/export?to=sql"
    assert "'bird'" in ann.get(base).text
    assert "\nNULL\n" in ann.get(f"{base}&unsure=null").text
    assert "'bird'" in ann.get(f"{base}&unsure=null&error=1").text
    ann.call("GET", f"{base}&unsure=null&error=5", 422)
    made = ann.get("/api/sessions/zoo/predictions?unsure=null&format=jsonl").text.splitlines()
    assert {json.loads(line)["label"] for line in made} == {None}
    assert "5 rows are left empty" in ann.get("/s/zoo/export?unsure=null").text


def test_rules_by_hand(ann: Client) -> None:
    teach(ann)
    edit = {"example": "duck", "condition": "legs = 2", "label": "bird"}
    ann.call("POST", "/api/sessions/zoo/rules/edit", json=edit)
    rule = ann.call("GET", "/api/sessions/zoo/rules")["rules"][0]
    assert rule["by_hand"]
    assert rule["items"] == 2
    ann.call("POST", "/api/sessions/zoo/rules/drop", json={"example": "duck"})
    assert len(ann.call("GET", "/api/sessions/zoo/rules")["rules"]) == 1
    refused = ann.call("POST", "/api/sessions/zoo/rules/drop", 422, json={"example": "bass"})
    assert "no rule" in refused["error"]


def test_labels_tags_notes_settings(ann: Client) -> None:
    teach(ann)
    base = "/api/sessions/zoo"
    ann.call("POST", f"{base}/labels", json={"label": "fish"})
    ann.call("POST", f"{base}/labels/rename", json={"label": "bird", "to": "fowl"})
    assert ann.call("GET", f"{base}/labels")["labels"] == ["mammal", "fowl", "fish"]
    ann.call("POST", f"{base}/labels/merge", json={"label": "fish", "into": "fowl"})
    assert ann.call("GET", f"{base}/labels")["labels"] == ["mammal", "fowl"]
    ann.call("POST", f"{base}/tags", json={"tag": "cute", "item": "duck", "value": True})
    assert ann.call("GET", f"{base}/tags")["tags"] == ["cute"]
    tried = ann.call("POST", f"{base}/check", json={"feature": "cute"})
    assert tried["items"] == 1
    ann.call("POST", f"{base}/notes", json={"text": "look again", "item": "duck"})
    assert ann.call("GET", f"{base}/notes")["notes"][0]["item"]["name"] == "duck"
    ann.call("PATCH", base, json={"order": "random", "until": {"no mistake in": 40}})
    settings = ann.call("GET", base)["settings"]
    assert (settings["order"], settings["until"]) == ("random", {"no mistake in": 40})
    ann.call("PATCH", base, 422, json={})
    ann.call("PATCH", base, 422, json={"until": {"no such": 1}})


def test_labels_have_meanings_and_carry_them_away(ann: Client) -> None:
    teach(ann)
    base = "/api/sessions/zoo"
    ann.call("POST", f"{base}/labels/describe", json={"label": "bird", "meaning": "<b>flies</b>"})
    ann.call("POST", f"{base}/labels/describe", 422, json={"label": "bug", "meaning": "x"})
    assert ann.call("GET", f"{base}/labels")["meanings"] == {"bird": "<b>flies</b>"}
    text = ann.get(f"{base}/export?to=text").text
    assert text.endswith("\nbird: <b>flies</b>\n")
    written = ann.get(f"{base}/export?to=json").text
    assert json.loads(written)["meanings"] == {"bird": "<b>flies</b>"}
    assert DecisionList.from_json(written).clauses
    for page in ("teach", "progress", "rules"):
        shown = ann.get(f"/s/zoo/{page}").text
        assert "&lt;b&gt;flies&lt;/b&gt;" in shown
        assert "<b>flies" not in shown


def test_items_that_are_looked_for_come_next(ann: Client) -> None:
    teach(ann)
    base = "/api/sessions/zoo"
    ann.call("POST", f"{base}/search", json={"text": "bass"})
    assert ann.next()["item"]["name"] == "bass"
    ann.call("POST", f"{base}/search", json={"text": None})
    ann.call("POST", f"{base}/search", 422, json={"text": "bassoon"})
    assert "Teach these rows next" in ann.get("/s/zoo/data", params={"q": "legs > 1"}).text


def test_an_end_is_a_normal_answer(ann: Client) -> None:
    teach(ann)
    for _ in range(3):
        ann.answer(given=ann.next()["id"], answer="wrong", label="other")
    end = ann.call("POST", "/api/sessions/zoo/next")
    assert end["done"]
    assert "no items left" in end["message"]


# -- several teachers


def test_items_are_leased_and_answers_are_one_s_own(ann: Client, bob: Client) -> None:
    mine, his = ann.next(), bob.next()
    assert mine["item"]["id"] != his["item"]["id"]
    refused = bob.answer(409, given=mine["id"], answer="wrong", label="x")
    assert "Ann" in refused["error"]
    done = ann.answer(given=mine["id"], answer="wrong", label="mammal", id="a1")
    bob.answer(given=his["id"], answer="wrong", label="bird")
    assert [one["teacher"] for one in bob.call("GET", "/api/sessions/zoo/history")["answers"]] == [
        "Bob"
    ]
    assert len(ann.call("GET", "/api/sessions/zoo/history")["answers"]) == 2
    change = {"event": done["saved"]["id"], "answer": "unsure"}
    assert bob.call("POST", "/api/sessions/zoo/change", 403, json=change)["kind"] == "NotYours"
    bob.call("POST", "/api/sessions/zoo/undo", 409, json={"event": "a1"})


def test_disagreements_have_both_reasons(ann: Client, bob: Client) -> None:
    ann.call("PATCH", "/api/sessions/zoo", json={"overlap": 1.0})
    ann.answer(given=ann.next()["id"], answer="wrong", label="mammal")
    ann.answer(given=ann.next()["id"], answer="wrong", label="bird", feature="feathers")
    for _ in range(2):
        given = bob.next()
        assert given["item"]["id"] in ("bear", "duck")
        feature = None if given["example"] is None else given["candidates"][0]["feature"]
        bob.answer(given=given["id"], answer="wrong", label="thing", feature=feature)
    found = bob.call("GET", "/api/sessions/zoo/disagreements")
    assert len(found["disagreements"]) == 2
    assert {one["label"] for one in found["disagreements"][1]["answers"]} == {"bird", "thing"}
    assert found["agreement"]["items"] == 2
    assert found["agreement"]["labels"] == 0


def test_only_the_owner_begins_closes_and_takes_the_log(bob: Client) -> None:
    body = {"name": "more", "table": "zoo.csv"}
    assert bob.call("POST", "/api/sessions", 403, json=body)["kind"] == "OwnerOnly"
    bob.call("GET", "/api/tables", 403)
    bob.call("POST", "/api/sessions/zoo/close", 403)
    bob.call("GET", "/api/sessions/zoo/log", 403)


# -- sessions


def test_sessions_are_begun_listed_closed_and_found_again(ann: Client) -> None:
    teach(ann)
    assert ann.call("GET", "/api/tables")["tables"] == ["zoo.csv"]
    assert ann.call("GET", "/api/sessions")["sessions"][0]["open"]
    closed = ann.call("POST", "/api/sessions/zoo/close")["sessions"][0]
    assert (closed["name"], closed["open"], closed["items"]) == ("zoo", False, 5)
    assert ann.call("GET", "/api/sessions/zoo")["progress"]["labelled"] == 2
    again = {"name": "zoo", "table": "zoo.csv"}
    assert "already" in ann.call("POST", "/api/sessions", 409, json=again)["error"]
    assert ann.call("GET", "/api/sessions/none", 404)["kind"] == "NoSession"
    for path in ("../secret.csv", "/etc/passwd", "none.csv", "..", "\0.csv", "x" * 400 + ".csv"):
        ann.call("POST", "/api/sessions", 422, json={"name": "x", "table": path})
    for name in ("..", "a/b", " "):
        ann.call("POST", "/api/sessions", 422, json={"name": name, "table": "zoo.csv"})
    new = {"name": "x", "table": "zoo.csv"}
    for odd in (
        {"learner": "No"},
        {"learner": "DFF", "parameters": {"m": 3}},
        {"learner": "CappedDFF", "parameters": {"m": "three"}},
        {"learner": "AutoDFF", "parameters": {"columns": ["no such column"]}},
        {"separator": "ab"},
        {"separator": "é"},
        {"encoding": "\0"},
        {"encoding": "klingon"},
        {"id": "legs"},
        {"types": {"legs": "colour"}},
    ):
        ann.call("POST", "/api/sessions", 422, json={**new, **odd})
    assert len(ann.call("GET", "/api/sessions")["sessions"]) == 1


def test_a_session_says_how_its_table_was_read(folder: Path) -> None:
    (folder / "tables" / "odd.csv").write_text(
        "name,born,wet\nbear,1/2/2024,yes\nduck,3/4/2024,no\n"
    )
    with Client(make_app(folder)) as client:
        new = {"name": "odd", "table": "odd.csv", "id": "name"}
        table = client.call("POST", "/api/sessions", 201, json=new)["table"]
        assert [(one["column"], one["option"]) for one in table["findings"]] == [
            ("born", {"dates": "month-first"}),
            ("wet", {"true": ["yes"], "false": ["no"]}),
        ]
        page = client.get("/s/odd/data")
        assert page.status_code == 200
        assert "dates with the day first" in page.text
        more = {**new, "name": "right", "sample": 1}
        for finding in table["findings"]:  # what it says is what can be sent
            more |= finding["option"]
        table = client.call("POST", "/api/sessions", 201, json=more)["table"]
        assert (table["findings"], table["whole"]) == ([], 2)
        assert table["columns"] == {"name": "text", "born": "date", "wet": "bool"}
        odd = {"decimal": ";"}, {"dates": "up"}, {"sample": 0}, {"header": -1}, {"sheet": "x"}
        for one in odd:
            client.call("POST", "/api/sessions", 422, json={**new, "name": "x", **one})


def test_a_table_that_changed_is_named(folder: Path) -> None:
    with Client(make_app(folder)) as client:
        begin(client)
        teach(client)
    table = folder / "tables" / "zoo.csv"
    table.write_text(ZOO.replace("duck,false", "duck,true"))
    with Client(make_app(folder)) as client:
        refused = client.call("GET", "/api/sessions/zoo", 409)
        assert "has changed since the session began" in refused["error"]
        assert client.get("/health").status_code == 200
        table.write_text(ZOO)
        assert client.call("GET", "/api/sessions/zoo")["progress"]["labelled"] == 2


def test_two_servers_on_one_file(folder: Path) -> None:
    with Client(make_app(folder)) as one:
        begin(one)
        with Client(make_app(folder, 1)) as other:
            refused = other.call("GET", "/api/sessions/zoo", 409)
            assert "another program" in refused["error"]
        teach(one)


def test_a_heavy_condition_is_given_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "\n".join(f"n{n},{'abc' * (n % 9)}" for n in range(70_000))
    (folder / "tables" / "large.csv").write_text(f"name,text\n{rows}\n")
    monkeypatch.setattr("tellapart.tables.packed_columns.SECONDS", 0.0)
    with Client(make_app(folder)) as client:
        client.call("POST", "/api/sessions", 201, json={"name": "large", "table": "large.csv"})
        base, heavy = "/api/sessions/large", {"feature": "lower(text) LIKE '%a%b%c%'"}
        tried = client.call("POST", f"{base}/check", json=heavy)
        assert not tried["valid"]
        assert "takes more than 0 seconds on 70,000 items. Say it in a" in tried["message"]
        client.call("POST", f"{base}/search", 422, json={"text": heavy["feature"]})
        monkeypatch.undo()
        assert client.call("POST", f"{base}/check", json=heavy)["valid"]


def test_a_heavy_condition_holds_nobody_up(ann: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from tellapart.sessions import suggestions

    begun, enough, evaluate = threading.Event(), threading.Event(), suggestions.evaluate_soon

    def slow(*what: Any) -> Any:
        begun.set()
        assert enough.wait(30)
        return evaluate(*what)

    monkeypatch.setattr(suggestions, "evaluate_soon", slow)
    found: list[Any] = []
    path, heavy = "/api/sessions/zoo/check", {"feature": "legs > 3"}
    thread = threading.Thread(target=lambda: found.append(ann.post(path, json=heavy).json()))
    thread.start()
    assert begun.wait(30)
    teach(ann)  # others go on meanwhile
    assert found == []
    enough.set()
    thread.join()
    assert found[0]["items"] == 2


def test_health_asks_whoever_writes(ann: Client, folder: Path) -> None:
    assert ann.call("GET", "/health")["status"] == "ok"
    teach(ann)
    (folder / "zoo.db").rename(folder / "elsewhere.db")
    assert ann.call("GET", "/health", 503)["status"] == "failing"
    refused = ann.call("POST", "/api/sessions/zoo/notes", 503, json={"text": "nowhere"})
    assert "deleted, moved or replaced" in refused["error"]
    (folder / "elsewhere.db").rename(folder / "zoo.db")
    assert ann.call("GET", "/health")["status"] == "ok"


# -- what leaves the house


def test_no_two_downloads_have_the_same_name(ann: Client) -> None:
    teach(ann)
    ways = [f"export?to={one}" for one in get_args(Language) if one != "sql"]
    ways += [f"export?to=sql&dialect={one}" for one in get_args(Dialect)]
    ways += [f"predictions?format={one}" for one in FORMATS]
    said = [ann.get(f"/api/sessions/zoo/{way}").headers for way in (*ways, "log")]
    names = [one["content-disposition"].partition("filename=")[2].strip('"') for one in said]
    assert len({*names}) == len(names)
    assert {"zoo-postgres.sql", "zoo-python.py", "zoo-predictions.csv", "zoo-log.jsonl"} <= {*names}
    assert "zoo.csv" not in names  # the table itself


def test_exports(ann: Client) -> None:
    teach(ann)
    base = "/api/sessions/zoo/export"
    for language in get_args(Language):
        answer = ann.get(f"{base}?to={language}")
        assert answer.status_code == 200
        assert answer.headers["content-disposition"].startswith("attachment")
    for dialect in get_args(Dialect):
        assert ann.get(f"{base}?to=sql&dialect={dialect}").status_code == 200
    ann.call("GET", f"{base}?to=cobol", 422)
    lines = ann.get("/api/sessions/zoo/log").text.splitlines()
    assert json.loads(lines[0])["type"] == "opened"
    assert [json.loads(line)["n"] for line in lines] == list(range(1, len(lines) + 1))


def test_predictions_come_as_csv_jsonl_and_parquet(ann: Client, tmp_path: Path) -> None:
    teach(ann)
    base = "/api/sessions/zoo/predictions?column=note&column=legs&format="
    model = ann.get("/api/sessions/zoo/export?to=text").text
    assert "bird" in model
    lines = ann.get(base + "jsonl").text.splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["name"] for row in rows] == ["bear", "duck", "bass", "lion", "crow"]
    assert rows[0]["note"] == "=1+1"
    (tmp_path / "out.parquet").write_bytes(ann.get(base + "parquet").content)
    assert pl.read_parquet(tmp_path / "out.parquet").to_dicts() == rows
    ann.call("GET", "/api/sessions/zoo/predictions?column=nope", 422)


def test_a_spreadsheet_runs_nothing(ann: Client) -> None:
    ann.answer(given=ann.next()["id"], answer="wrong", label="=cmd|' /C calc'!A0")
    base = "/api/sessions/zoo/predictions?column=note&column=legs"
    rows = [line.split(",") for line in ann.get(base).text.splitlines()]
    assert rows[1] == ["bear", "'=1+1", "4", "'=cmd|' /C calc'!A0", "1", "bear"]
    assert rows[3][1] == "'@home"
    assert rows[4][1] == "'-"
    assert ann.get(base + "&exact=true").text.splitlines()[3].split(",")[1] == "@home"
