"""Labels, tags and notes."""

from __future__ import annotations

from fastapi import APIRouter

from tellapart.sessions import Event, Session
from tellapart.web.api import schemas
from tellapart.web.api.schemas import Saved
from tellapart.web.api.teaching import find_item
from tellapart.web.auth import Call, SessionName

router = APIRouter(prefix="/sessions/{session}", tags=["labels, tags, notes"])


@router.get("/labels")
async def labels(session: SessionName, call: Call) -> schemas.Labels:
    """The labels there are, in order of their coming."""
    return await call.pool.run(session, lambda s: schemas.Labels(s.labels, s.meanings))


@router.post("/labels")
async def add_label(session: SessionName, body: schemas.AddLabel, call: Call) -> Saved:
    """One more label to choose from."""
    return await call.pool.run(
        session, lambda s: Saved(*s.add_label(call.name, body.label, id=body.id))
    )


@router.post("/labels/describe")
async def describe_label(session: SessionName, body: schemas.DescribeLabel, call: Call) -> Saved:
    """Say in a line what a label means."""
    return await call.pool.run(
        session,
        lambda s: Saved(*s.describe_label(call.name, body.label, body.meaning, id=body.id)),
    )


@router.post("/labels/rename")
async def rename_label(session: SessionName, body: schemas.RenameLabel, call: Call) -> Saved:
    """Call a label something else, in the past too."""
    return await call.pool.run(
        session, lambda s: Saved(*s.rename_label(call.name, body.label, body.to, id=body.id))
    )


@router.post("/labels/merge")
async def merge_labels(session: SessionName, body: schemas.MergeLabels, call: Call) -> Saved:
    """Make one label of two, in the past too."""
    return await call.pool.run(
        session, lambda s: Saved(*s.merge_labels(call.name, body.label, body.into, id=body.id))
    )


@router.get("/tags")
async def tags(session: SessionName, call: Call) -> schemas.Tags:
    """The tags there are."""
    return await call.pool.run(session, lambda s: schemas.Tags(list(s.table.tags)))


@router.post("/tags")
async def set_tag(session: SessionName, body: schemas.SetTag, call: Call) -> Saved:
    """Say of an item that it has a tag, has it not, or (null) that it is unknown."""

    def work(s: Session) -> Saved:
        row = find_item(s.table, body.item)
        return Saved(*s.set_tag(call.name, body.tag, row, body.value, id=body.id))

    return await call.pool.run(session, work)


def note(session: Session, event: Event) -> schemas.Note:
    """A note, and the item it is about."""
    about = event.data.get("item")
    return schemas.Note.of(event, None if about is None else find_item(session.table, about))


@router.get("/notes")
async def notes(session: SessionName, call: Call) -> schemas.Notes:
    """All notes."""
    return await call.pool.run(
        session, lambda s: schemas.Notes([note(s, event) for event in s.notes()])
    )


@router.post("/notes")
async def write_note(session: SessionName, body: schemas.WriteNote, call: Call) -> Saved:
    """Write something down, about an item or in general."""

    def work(s: Session) -> Saved:
        row = None if body.item is None else find_item(s.table, body.item)
        return Saved(*s.note(call.name, body.text, row, id=body.id))

    return await call.pool.run(session, work)
