"""Who may what: every route of the app, found by walking it, as a stranger, a teacher, an owner."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from starlette.routing import Mount, Route

import tellapart.web
from api_clients import Client, three_people

PUBLIC = {"GET /health", "GET /static"}
OWNER = {
    "POST /",
    "POST /sample",
    "POST /upload",
    "GET /api/tables",
    "POST /api/sessions",
    "PATCH /api/sessions/{session}",
    "POST /api/sessions/{session}/close",
    "POST /api/sessions/{session}/labels/merge",
    "GET /api/sessions/{session}/log",
    "POST /api/sessions/{session}/rows",
    "GET /read",
    "GET /s/{session}/take",
    "POST /s/{session}/settings",
    "POST /s/{session}/take",
}
TEACHER = {
    "GET /",
    "GET /metrics",
    "GET /api/openapi.json",
    "GET /api/me",
    "GET /api/sessions",
    "GET /api/sessions/{session}",
    *(
        f"GET /api/sessions/{{session}}/{name}"
        for name in [
            "candidates",
            "disagreements",
            "events",
            "export",
            "history",
            "labels",
            "notes",
            "odd",
            "predictions",
            "progress",
            "rules",
            "rules/{number}/items",
            "sweep",
            "tags",
        ]
    ),
    *(
        f"POST /api/sessions/{{session}}/{name}"
        for name in [
            "answers",
            "change",
            "check",
            "labels",
            "labels/describe",
            "labels/rename",
            "next",
            "notes",
            "predict",
            "redo",
            "rules/drop",
            "rules/edit",
            "search",
            "sweep",
            "tags",
            "undo",
        ]
    ),
    *(
        f"GET /s/{{session}}/{name}"
        for name in [
            "answers",
            "answers.csv",
            "card",
            "check",
            "data",
            "export",
            "file",
            "help",
            "label",
            "moved",
            "progress",
            "repair/{item:path}",
            "rules",
            "sweep",
            "teach",
        ]
    ),
    *(
        f"POST /s/{{session}}/{name}"
        for name in [
            "answer",
            "labels",
            "meaning",
            "note",
            "repair",
            "rules",
            "search",
            "sweep",
            "tag",
            "tagged",
            "turn",
        ]
    ),
}
"""Who may call each route. A new route must be added to one of these three."""

BODIES: dict[str, dict[str, Any]] = {
    "POST /api/sessions": {"name": "more", "table": "zoo.csv"},
    "PATCH /api/sessions/{session}": {"order": "file"},
    "POST /api/sessions/{session}/labels/merge": {"label": "mammal", "into": "bird"},
}
"""What the owner's routes are sent, so that nothing else is wrong with the request."""


NOTHING_THERE = {"/s/{session}/file", "/s/{session}/take"}
"""Pages that this session has nothing for: no pictures, no column that was left out."""


def walk(app: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """All methods and paths of an app, also of the routers that it includes."""
    for route in app.routes:
        if hasattr(route, "original_router"):  # FastAPI keeps routers as they are
            yield from walk(route.original_router, prefix + route.include_context.prefix)
        elif isinstance(route, Mount):
            yield "GET", prefix + route.path
        else:
            assert isinstance(route, APIRoute | Route)
            for method in (route.methods or set()) - {"HEAD"}:
                yield method, prefix + route.path


@pytest.fixture
def people(tmp_path: Path) -> Iterator[dict[str, Client]]:
    with three_people(tmp_path) as found:
        yield found


def fill(path: str, given: str) -> str:
    path = path.replace("{item:path}", "duck")
    path = path.format(session="zoo", number=1) if "{" in path else path
    query = {
        "candidates": f"?given={given}",
        "label": f"?given={given}&label=fish",
        "check": f"?given={given}&feature=milk",
        "file": "?path=zoo.png",
        "events": "?follow=false",
        "moved": "?event=1",
        "read": "?table=zoo.csv",
        "sweep": "?label=mammal",
        "take": "?column=kind",
    }
    if path == "/upload":
        return "/upload?name=more.csv"
    return path + (query.get(path.rpartition("/")[2], "") if path != "/" else "")


def test_every_route_says_who_may_call_it(people: dict[str, Client]) -> None:
    found = {f"{method} {path}" for method, path in walk(people["Ann"].app)}
    assert found == PUBLIC | OWNER | TEACHER
    assert len(found) == len(PUBLIC) + len(OWNER) + len(TEACHER)


@pytest.mark.slow
def test_every_route_as_every_role(people: dict[str, Client]) -> None:
    app: Any = people["Ann"].app
    given = people["Carol"].next()["id"]
    routes = sorted(walk(app), key=lambda route: route[1].endswith("/close"))
    for method, path in routes:
        route = f"{method} {path}"
        for role, client in people.items():
            where = fill(path, given) if path != "/static" else "/static/tellapart.css"
            how = {"json": BODIES.get(route, {})} if method != "GET" else {}
            answer = client.request(method, where, **how)
            about = (role, route, answer.status_code, answer.text[:200])
            if role == "stranger" and route not in PUBLIC:
                assert answer.status_code in (401, 429), about
            elif role in ("Carol", "Bob") and route in OWNER:
                assert answer.status_code == 403, about
                assert answer.json()["kind"] == "OwnerOnly", about
            else:
                assert answer.status_code not in (401, 429, 500), about
                assert "OwnerOnly" not in answer.text, about
                if method == "GET" and role == "Ann" and path not in NOTHING_THERE:
                    mine = "given" in where or answer.status_code in (200, 303)
                    assert mine, about


SECRETS = ("bob-1", "bob-2", "bob-is-sure")


def test_no_route_shows_a_teacher_what_another_answered(people: dict[str, Client]) -> None:
    """The rules are shown to all, and so are the names of labels and teachers."""
    app: Any = people["Ann"].app
    given = people["Carol"].next()
    assert given["item"]["id"] in ("bear", "duck"), "a second opinion is asked"
    seen = dict.fromkeys(people, "")
    for method, path in sorted(walk(app)):
        if method == "GET" and path not in ("/static", "/api/openapi.json"):
            for role, client in people.items():
                seen[role] += client.get(fill(path, given["id"])).text
    for secret in SECRETS:
        assert secret in seen["Ann"]
        assert secret in seen["Bob"]
        assert secret not in seen["Carol"]


@pytest.mark.parametrize("path", ["/s/zoo/answers.csv", "/s/zoo/answers", "/s/zoo/data"])
def test_pages_have_one_s_own_answers(people: dict[str, Client], path: str) -> None:
    marks = {"data": '<a href="/s/zoo/repair/duck', "answers": "<td>Bob<"}
    mark = marks.get(path.rpartition("/")[2], ",Bob,")
    for who, sees in (("Ann", True), ("Bob", True), ("Carol", False)):
        text = people[who].get(path).text
        assert (mark in text) is sees, who


def test_disagreements_are_seen_by_those_who_disagree(people: dict[str, Client]) -> None:
    ann, bob, carol = people["Ann"], people["Bob"], people["Carol"]
    for client in (ann, ann):
        client.answer(given=client.next()["id"], answer="wrong", label="bodkin")
    for path in ("/api/sessions/zoo/disagreements", "/s/zoo/answers?tab=disputed"):
        for client, sees in ((ann, True), (bob, True), (carol, False)):
            assert ("bodkin" in client.get(path).text) is sees


def test_nobody_confirms_the_odd_answer_of_another(people: dict[str, Client]) -> None:
    sent = {"event": "bob-2", "do": "keep", "from": "answers?tab=odd"}
    for who, status in (("Carol", 403), ("Bob", 303), ("Ann", 303)):
        assert people[who].post("/s/zoo/repair", data=sent).status_code == status
    said = people["Ann"].get("/s/zoo/answers?tab=odd&kept=bob-2").text
    assert "stays" in said
    assert "stays" not in people["Carol"].get("/s/zoo/answers?tab=odd&kept=bob-2").text


def test_nobody_repairs_the_answer_of_another_or_settles_but_the_owner(
    people: dict[str, Client],
) -> None:
    for what, teachers in (("settle", 403), ("", 303)):
        sent = {"event": "bob-2", "label": "thing", "do": what, "from": "answers?tab=odd"}
        for who, status in (("Carol", 403), ("Bob", teachers), ("Ann", 303)):
            assert people[who].post("/s/zoo/repair", data=sent).status_code == status, (who, what)


# -- the owner repairs


def test_the_owner_undoes_what_any_teacher_did(people: dict[str, Client]) -> None:
    ann, bob, carol = people["Ann"], people["Bob"], people["Carol"]
    path = "/api/sessions/zoo/undo"
    assert carol.call("POST", path, 403, json={"teacher": "Bob"})["kind"] == "OwnerOnly"
    ann.call("POST", path, 409, json={"event": "bob-2"})  # whose it is must be said
    done = ann.call("POST", path, json={"teacher": "Bob", "id": "u1"})
    assert done["saved"]["event"] == "bob-2"
    assert ann.call("POST", path, json={"teacher": "Bob", "id": "u1"}) == done
    assert ann.call("GET", "/api/sessions/zoo")["progress"]["labelled"] == 1
    ann.call("POST", "/api/sessions/zoo/redo", json={"teacher": "Bob"})
    assert ann.call("GET", "/api/sessions/zoo")["progress"]["labelled"] == 2
    ann.call("POST", path, json={"teacher": "Bob", "event": "bob-1"})
    assert bob.call("GET", "/api/sessions/zoo/history")["answers"][1]["undone"]
    ann.call("POST", path, 409, json={"teacher": "Nobody"})
    # the item comes back to who answered it; and the log says the same when it is opened again
    assert bob.next()["item"]["id"] == "bear"
    before = ann.call("GET", "/api/sessions/zoo/history")
    ann.call("POST", "/api/sessions/zoo/close")
    assert ann.call("GET", "/api/sessions/zoo/history") == before


def test_the_owner_takes_an_answer_back_on_the_page(people: dict[str, Client]) -> None:
    sent = {"event": "bob-2", "do": "undo", "from": "answers"}
    assert people["Carol"].post("/s/zoo/repair", data=sent).status_code == 403
    assert people["Ann"].post("/s/zoo/repair", data=sent).status_code == 303
    history = people["Ann"].call("GET", "/api/sessions/zoo/history")["answers"]
    assert [one["undone"] for one in history] == [True, False]


def test_rules_are_changed_by_who_taught_them_or_the_owner(people: dict[str, Client]) -> None:
    edit = {"example": "duck", "condition": "legs = 2", "label": "bird"}
    base = "/api/sessions/zoo/rules"
    for way, body in (("edit", edit), ("drop", {"example": "duck"})):
        refused = people["Carol"].call("POST", f"{base}/{way}", 403, json=body)
        assert refused["kind"] == "NotYours"
        sent = {**body, "do": way}
        assert people["Carol"].post("/s/zoo/rules", data=sent).status_code == 403
    people["Bob"].call("POST", f"{base}/edit", json=edit)
    assert people["Ann"].call("GET", base)["rules"][0]["teacher"] == "Bob"
    assert people["Carol"].call("GET", base)["rules"][0]["teacher"] is None
    people["Ann"].call("POST", f"{base}/edit", json={**edit, "condition": "feathers"})
    people["Bob"].call("POST", f"{base}/drop", 403, json={"example": "duck"})
    people["Ann"].call("POST", f"{base}/drop", json={"example": "duck"})


def test_only_the_owner_merges_labels_on_the_page(people: dict[str, Client]) -> None:
    sent = {"label": "mammal", "to": "bird"}
    assert people["Carol"].post("/s/zoo/labels", data=sent).status_code == 403
    assert people["Ann"].post("/s/zoo/labels", data=sent).status_code == 303


def test_pages_offer_what_one_may_do(people: dict[str, Client]) -> None:
    for who, words in (("Ann", True), ("Carol", False)):
        assert ("Which row comes next" in people[who].get("/s/zoo/progress").text) is words
        assert ("the two become one" in people[who].get("/s/zoo/progress").text) is words
        assert ("Save the rule" in people[who].get("/s/zoo/rules").text) is words


def test_every_reading_of_answers_says_for_whom() -> None:
    """What shows answers has a viewer, and no page or route may leave it out."""
    shows = ("history", "label_of", "taught", "rule_teacher", "notes", "disagreements", "odd_ones")
    missing = []
    for path in sorted(Path(tellapart.web.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                named = {keyword.arg for keyword in node.keywords}
                if node.func.attr in shows and "viewer" not in named:
                    missing.append(f"{path.name}:{node.lineno}")
    assert missing == []
