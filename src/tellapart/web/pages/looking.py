"""Pages for looking back: rules, progress, history, odd ones, disagreements, data, export, help."""

from __future__ import annotations

from collections import Counter
from pathlib import Path as FilePath
from typing import Annotated, Any
from urllib.parse import urlencode

import numpy as np
from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from tellapart.columns import unpack
from tellapart.errors import ExportError, FeatureError, ParameterError
from tellapart.features.spoken import spoken
from tellapart.sessions import Answered, Session
from tellapart.sessions.beforehand import compare, known_labels
from tellapart.sessions.keys import KEYS
from tellapart.sessions.order import ORDERS
from tellapart.sessions.search import condition
from tellapart.sessions.showing import name, show
from tellapart.tables.packed import evaluate
from tellapart.web.calling import Call, Name
from tellapart.web.faults import Refused
from tellapart.web.pages.charts import curve
from tellapart.web.pages.drawing import again, around, form, home, page, safe
from tellapart.web.views import exports, items, review

router = APIRouter(prefix="/s/{session}")
SHOWN = 200
"""So many rows are drawn on a page; downloads have all."""
DIALECTS = ("duckdb", "sqlite", "postgres", "spark", "bigquery", "snowflake")


@router.get("/rules")
async def rules(session: Name, call: Call) -> Response:
    """Every rule as a sentence."""

    def work(s: Session) -> dict[str, Any]:
        found = [{**rule, "condition": _condition(rule)} for rule in review.rules(s)["rules"]]
        return {"rules": found, "meanings": s.meanings, **around(s, call)}

    return page("rules.html", title="Rules", here="/rules", **await call.read(session, work))


def _condition(rule: dict[str, Any]) -> str:
    """What a rule asks, as one condition."""
    parts = [
        f"({one['feature']})" if one["wanted"] else f"NOT ({one['feature']})"
        for one in rule["literals"]
    ]
    if len(parts) == 1 and rule["literals"][0]["wanted"]:
        return str(rule["literals"][0]["feature"])
    return " AND ".join(parts)


@router.post("/rules")
async def change_rule(session: Name, request: Request, call: Call) -> Response:
    """Edit or drop a rule."""
    sent = await form(request)

    def work(s: Session) -> None:
        example = items.find(s.table, sent.get("example", ""))
        made = sent.get("id") or None
        if sent.get("do") == "drop":
            s.drop_rule(call.name, example, id=made)
        else:
            condition, label = sent.get("condition", ""), sent.get("label", "").strip()
            s.edit_rule(call.name, example, condition, label, id=made)

    await call.do(session, work)
    return again(home(session) + "/rules")


@router.get("/progress")
async def progress(session: Name, call: Call) -> Response:
    """How far it is, and how it went."""

    def work(s: Session) -> dict[str, Any]:
        mistakes = s.mistakes()
        about = around(s, call)
        groups = max(len(s.labels), about["summary"].rules + 1)
        found = review.progress(s, m=groups)["bound"]["mistakes"]
        bound = None
        if found is not None and found >= sum(mistakes):
            bound = (
                f"Proven: if you have {groups} groups in mind and no exception comes, at most"
                f" {found:,.0f} mistakes, however many items there are."
            )
        elif found is not None:
            bound = (
                f"With {groups} groups and no exception there would be at most {found:,.0f}"
                " mistakes: so there are more groups than that, exceptions, or slips."
            )
        return {
            "mistakes": safe(curve(np.cumsum(mistakes).tolist(), "guesses", "mistakes so far")),
            "rules_curve": safe(curve(s.rules_over_time(), "guesses", "rules")),
            "bound": bound,
            "settings": s.settings,
            **_tally(s),
            "orders": [(order, _ORDERS.get(order, order)) for order in ORDERS],
            "overlaps": _overlaps(s) if len(call.house.people.all) > 1 else [],
            **about,
        }

    values = await call.read(session, work)
    return page("progress.html", title="Progress", here="/progress", **values)


def _tally(session: Session) -> dict[str, Any]:
    """How often each label was said, and what each teacher did."""
    labels = dict.fromkeys(session.labels, 0)
    teachers: dict[str, Counter[str]] = {}
    for one in session.history():
        if one.undone:
            continue
        said = str(one.guess.label) if one.answer == "right" else one.label
        if said is not None and one.answer in ("right", "wrong"):
            labels[said] = labels.get(said, 0) + 1
        done = teachers.setdefault(one.teacher, Counter())
        done["answers"] += 1
        done[one.answer] += 1
    return {"said": labels, "teachers": teachers}


@router.post("/labels")
async def rename(session: Name, request: Request, call: Call) -> Response:
    """Call a label something else; by the name of another label, make one of the two."""
    sent = await form(request)

    def work(s: Session) -> None:
        label, to = sent.get("label", ""), sent.get("to", "").strip()
        act = s.merge_labels if to in s.labels else s.rename_label
        act(call.name, label, to, id=sent.get("id") or None)

    await call.do(session, work)
    return again(home(session) + "/progress")


_OVERLAPS = {0.0: "none", 0.1: "a tenth", 0.25: "a quarter", 0.5: "half", 1.0: "all"}


def _overlaps(session: Session) -> list[tuple[float, str]]:
    """Shares of the items that two teachers may be asked about, the present one among them."""
    now = session.settings["overlap"]
    return sorted({now: f"{now:.0%}", **_OVERLAPS}.items())


_ORDERS = {
    "file": "as in the file",
    "random": "at random",
    "least sure": "where the rules are least sure",
}


@router.post("/settings")
async def settings(session: Name, request: Request, call: Call) -> Response:
    """Switch the order of items, or the share that two teachers are asked about."""
    sent = await form(request)
    made = sent.get("id") or None
    wanted: dict[str, Any] = {"order": sent.get("order", "")}
    if "overlap" in sent:
        try:
            wanted = {"overlap": float(sent["overlap"])}
        except ValueError:
            raise ParameterError(
                f"overlap is a number from 0 to 1, got {sent['overlap']!r}"
            ) from None
    await call.do(session, lambda s: s.set(call.name, **wanted, id=made))
    return again(home(session) + "/progress")


@router.get("/history")
async def history(
    session: Name,
    call: Call,
    q: Annotated[str, Query(max_length=200)] = "",
    mistakes: bool = False,
) -> Response:
    """Every answer, to be searched and changed."""

    def work(s: Session) -> dict[str, Any]:
        everything = s.history()[::-1]
        wanted = q.strip().lower()
        found = []
        for one in everything:
            words = " ".join(
                str(part)
                for part in (name(one.item), one.teacher, one.guess.label, one.label, one.feature)
                if part is not None
            )
            if wanted in words.lower() and (not mistakes or one.outcome == "mistake"):
                found.append(one)
        shown = [
            {
                "id": one.id,
                "number": one.number,
                "teacher": one.teacher,
                "item": name(one.item),
                "guess": one.guess.label or "",
                "said": _said(s, one),
                "became": "undone" if one.undone else one.outcome or "",
                "label": one.label,
                "feature": one.feature,
                "undone": one.undone,
            }
            for one in found[:SHOWN]
        ]
        return {
            "answers": shown,
            "found": len(found),
            "total": len(everything),
            "q": q,
            "only_mistakes": mistakes,
            "notes": _notes(s, wanted),
            "labels": s.labels,
            **around(s, call),
        }

    values = await call.read(session, work)
    return page("history.html", title="History", here="/history", **values)


@router.get("/answers.csv")
async def answers(session: Name, call: Call) -> Response:
    """What was said, by whom, and why: an answer a line."""
    made = await call.do(session, exports.answers)
    headers = {"content-disposition": "attachment; filename=answers.csv"}
    return Response(made, headers=headers, media_type="text/csv; charset=utf-8")


def _notes(session: Session, wanted: str) -> list[dict[str, Any]]:
    """Notes that people wrote, the latest first; those that settle odd answers are not."""
    found = [review.note(event, session.table) for event in session.notes()[::-1]]
    return [
        one for one in found if not one["text"].startswith(_CONFIRMS) and wanted in str(one).lower()
    ][:SHOWN]


def _said(session: Session, one: Answered) -> str:
    if one.answer != "wrong":
        return one.answer
    if one.feature is None:
        return f"{one.label}"
    try:
        return f"{one.label}, because {spoken(session.table.parse(one.feature))}"
    except FeatureError:
        return f"{one.label}, because {one.feature}"


@router.post("/change")
async def change(session: Name, request: Request, call: Call) -> Response:
    """Another answer in place of an earlier one."""
    sent = await form(request)

    def work(s: Session) -> None:
        _change(s, call.name, call.is_owner, sent)

    await call.do(session, work)
    return again(home(session) + "/history")


def _change(session: Session, teacher: str, owner: bool, sent: dict[str, str]) -> None:
    event, answer = sent.get("event", ""), sent.get("answer", "")
    if not owner and all(one.id != event for one in session.history(teacher=teacher)):
        raise Refused(403, "NotYours", "only your own answers, unless you own the server")
    label = feature = None
    if answer == "wrong":
        label = sent.get("label", "").strip() or None
        feature = sent.get("feature", "").strip() or None
    session.change(teacher, event, answer, label, feature, id=sent.get("id") or None)


@router.get("/odd")
async def odd(session: Name, call: Call) -> Response:
    """Answers that the others contradict."""

    def work(s: Session) -> dict[str, Any]:
        looked_at = _confirmed(s)
        found = [one for one in review.odd(s)["odd"] if one["event"] not in looked_at]
        against = _against_known(s, call.house.manner.known)
        return {"odd": found, "against": against, "labels": s.labels, **around(s, call)}

    return page("odd.html", title="Odd ones", here="/odd", **await call.read(session, work))


def _against_known(session: Session, known: tuple[FilePath, str] | None) -> dict[str, Any] | None:
    """Answers that are not those of the table, if it is known what they should be."""
    if known is None:
        return None
    right, odd = compare(session.history(), known_labels(*known, session))
    return {"column": known[1], "right": right, "odd": odd}


_CONFIRMS = "it is so: "


def _confirmed(session: Session) -> set[str]:
    """The answers that somebody has looked at again and left as they are."""
    said = (str(note.data["text"]) for note in session.notes())
    return {text.removeprefix(_CONFIRMS) for text in said if text.startswith(_CONFIRMS)}


@router.post("/odd")
async def settle(session: Name, request: Request, call: Call) -> Response:
    """Leave an odd answer as it is, or correct it."""
    sent = await form(request)

    def work(s: Session) -> None:
        event, label = sent.get("event", ""), sent.get("label", "").strip()
        if sent.get("do") == "confirm":
            s.note(call.name, _CONFIRMS + event, id=sent.get("id") or None)
            return
        if not label:
            raise ParameterError("a label is wanted: what is it?")
        guessed = next((one.guess.label for one in s.history() if one.id == event), None)
        answer = "right" if label == guessed else "wrong"
        _change(s, call.name, call.is_owner, {**sent, "answer": answer})

    await call.do(session, work)
    return again(home(session) + "/odd")


@router.get("/disagreements")
async def disagreements(session: Name, call: Call) -> Response:
    """What teachers called differently, with both reasons."""

    def work(s: Session) -> dict[str, Any]:
        found = review.disagreements(s)
        agreed = found["agreement"]
        about = "No item has been answered about by two teachers."
        if agreed["items"]:
            about = f"{agreed['items']:,} items have several answers"
            if agreed["labels"] is not None:
                about += f"; {agreed['labels']:.0%} of pairs agree on the label"
            if agreed["alpha"] is not None:
                about += f" (Krippendorff's alpha {agreed['alpha']:.2f})"
            if agreed["features"] is not None:
                about += f", {agreed['features']:.0%} of those that can on the feature"
            about += "."
        disputed = found["disagreements"]
        return {"disputed": disputed, "agreement": about, **around(s, call)}

    values = await call.read(session, work)
    return page("disagreements.html", title="Disagreements", here="/disagreements", **values)


@router.get("/data")
async def data(
    session: Name,
    call: Call,
    q: Annotated[str, Query(max_length=20_000)] = "",
    label: Annotated[str, Query(max_length=200)] = "",
    rule: Annotated[int | None, Query(ge=1)] = None,
) -> Response:
    """What the rules say of every item."""

    def work(s: Session) -> dict[str, Any]:
        model, table, types = s.model, s.table, s.table.types
        clauses = list(model)
        numbers = review.numbers(table, model)
        keep = np.ones(len(table), dtype=np.bool_)
        wrong = None
        if rule is not None:
            keep &= numbers == rule - 1
        if label:
            right = [n for n, clause in enumerate(clauses) if clause.label == label]
            keep &= np.isin(numbers, right)
        if q.strip():
            try:
                keep &= unpack(evaluate(table, condition(table, q)), len(table))
            except FeatureError as error:
                wrong = str(error).splitlines()[0]
        places = np.flatnonzero(keep)
        columns = [column for column in table.columns if column != table.id][:12]
        rows = []
        for place in places[:SHOWN].tolist():
            row = table.items[place]
            cells = [show(row[column])[:200] for column in columns]
            predicted = clauses[numbers[place]].label
            rows.append(
                {
                    "item": name(row),
                    "predicted": predicted,
                    "taught": s.label_of(row),
                    "cells": cells,
                }
            )
        return {
            "rows": rows,
            "found": len(places),
            "columns": columns,
            "numeric": {one for one in columns if one in types and types[one].numeric},
            "q": q,
            "label": label,
            "rule": rule,
            "labels": s.labels,
            "wrong": wrong,
            "formats": list(exports.FORMATS),
            **around(s, call),
        }

    return page("data.html", title="Data", here="/data", **await call.read(session, work))


@router.get("/export")
async def export(
    session: Name, call: Call, to: Annotated[str, Query(max_length=40)] = "text"
) -> Response:
    """The model in every language, to be copied or saved."""
    ways = ["text", *(f"sql, {one}" for one in DIALECTS), "python", "json", "dot"]
    if to not in ways:
        raise ParameterError(f"to is one of {'; '.join(ways)}, got {to!r}")
    language, _, dialect = to.partition(", ")

    def work(s: Session) -> dict[str, Any]:
        text, wrong = "", None
        try:
            text = exports.model(s, language, dialect or "duckdb")
        except ExportError as error:
            wrong = str(error)
        query = {"to": language, **({"dialect": dialect} if dialect else {})}
        return {
            "text": text,
            "wrong": wrong,
            "ways": ways,
            "to": to,
            "query": urlencode(query),
            **around(s, call),
        }

    return page("export.html", title="Export", here="/export", **await call.read(session, work))


@router.get("/help")
async def explain(session: Name, call: Call) -> Response:
    """Keys, words, how it learns."""

    def work(s: Session) -> dict[str, Any]:
        return {"labels": s.labels, "meanings": s.meanings, **around(s, call)}

    values = await call.do(session, work)
    actions = [(action, words) for action, (_, words) in KEYS.items()]
    return page("help.html", title="Help", here="/help", actions=actions, **values)


@router.post("/meaning")
async def describe(session: Name, request: Request, call: Call) -> Response:
    """What a label means."""
    sent = await form(request)
    label, meaning, made = sent.get("label", ""), sent.get("meaning", "").strip(), sent.get("id")
    await call.do(session, lambda s: s.describe_label(call.name, label, meaning, id=made or None))
    return again(home(session) + "/help#labels")
