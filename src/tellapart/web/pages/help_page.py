"""The help page: keys, words, and what each label means."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from tellapart.console.keyboard import KEYS
from tellapart.sessions import Session
from tellapart.web.dependencies import Call, Name
from tellapart.web.pages.render import again, around, form, home, page

router = APIRouter(prefix="/s/{session}")


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
