"""Labels, tags and notes."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from tellapart.sessions import Session
from tellapart.web.dependencies import Call, Name, reply
from tellapart.web.schemas import sent, told
from tellapart.web.views import items, review, teaching

router = APIRouter(prefix="/sessions/{session}", tags=["labels, tags, notes"])


@router.get("/labels", response_model=told.Labels)
async def labels(session: Name, call: Call) -> Response:
    """The labels there are, in order of their coming."""
    return reply(await call.do(session, lambda s: {"labels": s.labels, "meanings": s.meanings}))


@router.post("/labels", response_model=told.Saved)
async def add_label(session: Name, body: sent.AddLabel, call: Call) -> Response:
    """One more label to choose from."""

    def work(s: Session) -> Any:
        return teaching.saved(s.add_label(call.name, body.label, id=body.id))

    return reply(await call.do(session, work))


@router.post("/labels/describe", response_model=told.Saved)
async def describe_label(session: Name, body: sent.DescribeLabel, call: Call) -> Response:
    """Say in a line what a label means."""

    def work(s: Session) -> Any:
        return teaching.saved(s.describe_label(call.name, body.label, body.meaning, id=body.id))

    return reply(await call.do(session, work))


@router.post("/labels/rename", response_model=told.Saved)
async def rename_label(session: Name, body: sent.RenameLabel, call: Call) -> Response:
    """Call a label something else, in the past too."""

    def work(s: Session) -> Any:
        return teaching.saved(s.rename_label(call.name, body.label, body.to, id=body.id))

    return reply(await call.do(session, work))


@router.post("/labels/merge", response_model=told.Saved)
async def merge_labels(session: Name, body: sent.MergeLabels, call: Call) -> Response:
    """Make one label of two, in the past too."""

    def work(s: Session) -> Any:
        return teaching.saved(s.merge_labels(call.name, body.label, body.into, id=body.id))

    return reply(await call.do(session, work))


@router.get("/tags", response_model=told.Tags)
async def tags(session: Name, call: Call) -> Response:
    """The tags there are."""
    return reply(await call.do(session, lambda s: {"tags": list(s.table.tags)}))


@router.post("/tags", response_model=told.Saved)
async def set_tag(session: Name, body: sent.SetTag, call: Call) -> Response:
    """Say of an item that it has a tag, has it not, or (null) that it is unknown."""

    def work(s: Session) -> Any:
        row = items.find(s.table, body.item)
        return teaching.saved(s.set_tag(call.name, body.tag, row, body.value, id=body.id))

    return reply(await call.do(session, work))


@router.get("/notes", response_model=told.Notes)
async def notes(session: Name, call: Call) -> Response:
    """All notes."""

    def work(s: Session) -> Any:
        return {"notes": [review.note(event, s.table) for event in s.notes()]}

    return reply(await call.do(session, work))


@router.post("/notes", response_model=told.Saved)
async def write_note(session: Name, body: sent.WriteNote, call: Call) -> Response:
    """Write something down, about an item or in general."""

    def work(s: Session) -> Any:
        row = None if body.item is None else items.find(s.table, body.item)
        return teaching.saved(s.note(call.name, body.text, row, id=body.id))

    return reply(await call.do(session, work))
