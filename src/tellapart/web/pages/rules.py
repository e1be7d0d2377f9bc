"""The rules page: every one as a sentence, to be edited or dropped."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from tellapart.sessions import Session
from tellapart.web.dependencies import Call, Name
from tellapart.web.pages.render import again, around, form, home, page
from tellapart.web.views import items, review

router = APIRouter(prefix="/s/{session}")


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
