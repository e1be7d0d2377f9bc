"""The rules page: every one as a sentence, to be edited or dropped."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from tellapart.sessions import Session
from tellapart.web.api.review import list_rules
from tellapart.web.api.schemas import Rule
from tellapart.web.api.teaching import find_item
from tellapart.web.auth import Call
from tellapart.web.pages.render import Form, page, redirect
from tellapart.web.session_pool import in_session, reads_session

router = APIRouter(prefix="/s/{session}")


@router.get("/rules")
@reads_session
def rules(session: Session, call: Call) -> Response:
    """Every rule as a sentence."""
    found = [(rule, _condition(rule)) for rule in list_rules(session)]
    return page(session, call, "rules", rules=found, meanings=session.meanings)


def _condition(rule: Rule) -> str:
    """What a rule asks, as one condition."""
    if len(rule.literals) == 1 and rule.literals[0].wanted:
        return rule.literals[0].feature
    return " AND ".join(
        f"({one.feature})" if one.wanted else f"NOT ({one.feature})" for one in rule.literals
    )


@router.post("/rules")
@in_session
def change_rule(session: Session, sent: Form, call: Call) -> Response:
    """Edit or drop a rule."""
    example = find_item(session.table, sent.get("example", ""))
    if sent.get("do") == "drop":
        session.drop_rule(call.name, example, id=sent.get("id"))
    else:
        condition, label = sent.get("condition", ""), sent.get("label", "").strip()
        session.edit_rule(call.name, example, condition, label, id=sent.get("id"))
    return redirect(session, "/rules")
