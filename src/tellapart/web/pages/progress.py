"""The progress page: how it went, and the labels and settings changed on it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from tellapart.errors import ParameterError
from tellapart.sessions import Session
from tellapart.sessions.config import ORDERS
from tellapart.web.dependencies import Call, Name
from tellapart.web.pages.charts import curve
from tellapart.web.pages.render import again, around, form, home, page, safe
from tellapart.web.views import review

router = APIRouter(prefix="/s/{session}")


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
