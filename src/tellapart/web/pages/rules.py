"""The rules page: every one as a sentence, to be edited or dropped."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from tellapart.sessions import Session
from tellapart.web.api.review import list_rules
from tellapart.web.api.schemas import Rule
from tellapart.web.api.teaching import find_item
from tellapart.web.auth import Call, SessionName
from tellapart.web.pages.render import Form, frame, home, page, redirect

router = APIRouter(prefix="/s/{session}")


@router.get("/rules")
async def rules(session: SessionName, call: Call) -> Response:
    """Every rule as a sentence."""

    def work(s: Session) -> dict[str, Any]:
        found = [(rule, _condition(rule)) for rule in list_rules(s)]
        return {"rules": found, "meanings": s.meanings, **frame(s, call)}

    return page("rules.html", title="Rules", here="/rules", **await call.pool.read(session, work))


def _condition(rule: Rule) -> str:
    """What a rule asks, as one condition."""
    if len(rule.literals) == 1 and rule.literals[0].wanted:
        return rule.literals[0].feature
    return " AND ".join(
        f"({one.feature})" if one.wanted else f"NOT ({one.feature})" for one in rule.literals
    )


@router.post("/rules")
async def change_rule(session: SessionName, sent: Form, call: Call) -> Response:
    """Edit or drop a rule."""

    def work(s: Session) -> None:
        example = find_item(s.table, sent.get("example", ""))
        if sent.get("do") == "drop":
            s.drop_rule(call.name, example, id=sent.get("id"))
        else:
            condition, label = sent.get("condition", ""), sent.get("label", "").strip()
            s.edit_rule(call.name, example, condition, label, id=sent.get("id"))

    await call.pool.run(session, work)
    return redirect(home(session) + "/rules")
