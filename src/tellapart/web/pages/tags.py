"""The page of tags: where each is known, and many items to fill in, one key each."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.responses import Response

from tellapart.sessions import Session
from tellapart.tables import Row, Tag
from tellapart.web.api.teaching import find_item
from tellapart.web.auth import Call, Caller
from tellapart.web.pages.comparison import item_card
from tellapart.web.pages.render import Form, page, redirect
from tellapart.web.pages.teach import picture_of
from tellapart.web.session_pool import in_session

SHOWN = 60
"""So many items that are to be filled in are shown at once."""

router = APIRouter(prefix="/s/{session}")


@router.get("/tags")
@in_session
def tags(session: Session, call: Call, tag: Annotated[str, Query(max_length=200)] = "") -> Response:
    """All tags, and the items of one: first those of which nothing is known."""
    table = session.table
    listed = [_counts(one, len(table)) for one in table.tags.values()]
    chosen = tag if tag in table.tags else next(iter(table.tags), None)
    cards: list[dict[str, Any]] = []
    if chosen is not None:
        known = dict(table.tags[chosen])
        unknown = (place for place in range(len(table)) if place not in known)
        places = [place for place, _ in zip(unknown, range(SHOWN), strict=False)]
        places += list(known)[: SHOWN - len(places)]
        cards = [_card(session, call, table.items[place], known.get(place)) for place in places]
    return page(session, call, "tags", listed=listed, chosen=chosen, cards=cards)


@router.post("/tags")
@in_session
def set_tag(session: Session, sent: Form, call: Call) -> Response:
    """What an item is, or a new tag."""
    tag = sent.get("tag", "").strip()
    value = {"yes": True, "no": False}.get(sent.get("value", ""))
    item = find_item(session.table, sent.get("item", ""))
    session.set_tag(call.name, tag, item, value, id=sent.get("id"))
    return redirect(session, f"/tags?{urlencode({'tag': tag})}")


def _counts(tag: Tag, items: int) -> dict[str, Any]:
    yes = sum(value for _, value in tag)
    return {"name": tag.name, "yes": yes, "no": len(tag) - yes, "unknown": items - len(tag)}


def _card(session: Session, call: Caller, item: Row, value: bool | None) -> dict[str, Any]:
    return {"value": value, **item_card(item, picture_of(session, call))}
