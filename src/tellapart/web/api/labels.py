"""Labels, tags and notes."""

from __future__ import annotations

from fastapi import APIRouter

from tellapart.sessions import Event, Saved, Session
from tellapart.web.access import Call
from tellapart.web.api import schemas
from tellapart.web.api.teaching import find_item
from tellapart.web.session_pool import in_session

router = APIRouter(prefix="/sessions/{session}", tags=["labels, tags, notes"])


@router.get("/labels")
@in_session
def list_labels(session: Session) -> schemas.Labels:
    """The labels there are, in order of their coming."""
    return schemas.Labels(session.labels, session.meanings)


@router.post("/labels")
@in_session
def add_label(session: Session, body: schemas.AddLabel, call: Call) -> Saved:
    """One more label to choose from."""
    return session.add_label(call.name, body.label, id=body.id)


@router.post("/labels/describe")
@in_session
def describe_label(session: Session, body: schemas.DescribeLabel, call: Call) -> Saved:
    """Say in a line what a label means."""
    return session.describe_label(call.name, body.label, body.meaning, id=body.id)


@router.post("/labels/rename")
@in_session
def rename_label(session: Session, body: schemas.RenameLabel, call: Call) -> Saved:
    """Call a label something else, in the past too."""
    return session.rename_label(call.name, body.label, body.to, id=body.id)


@router.post("/labels/merge")
@in_session
def merge_labels(session: Session, body: schemas.MergeLabels, call: Call) -> Saved:
    """Make one label of two, in the past too. For the owner."""
    call.must_own()
    return session.merge_labels(call.name, body.label, body.into, id=body.id)


@router.get("/tags")
@in_session
def list_tags(session: Session) -> schemas.Tags:
    """The tags there are."""
    return schemas.Tags(list(session.table.tags))


@router.post("/tags")
@in_session
def set_tag(session: Session, body: schemas.SetTag, call: Call) -> Saved:
    """Say of an item that it has a tag, has it not, or (null) that it is unknown."""
    row = find_item(session.table, body.item)
    return session.set_tag(call.name, body.tag, row, body.value, id=body.id)


def to_note(session: Session, event: Event) -> schemas.Note:
    """A note, and the item it is about."""
    about = event.data.get("item")
    item = None if about is None else find_item(session.table, about)
    return schemas.Note(event.id, event.number, event.at, event.by, event.data["text"], item)


@router.get("/notes")
@in_session
def list_notes(session: Session, call: Call) -> schemas.Notes:
    """All notes."""
    return schemas.Notes([to_note(session, event) for event in session.notes(viewer=call.viewer)])


@router.post("/notes")
@in_session
def write_note(session: Session, body: schemas.WriteNote, call: Call) -> Saved:
    """Write something down, about an item or in general."""
    row = None if body.item is None else find_item(session.table, body.item)
    return session.note(call.name, body.text, row, id=body.id)
