"""A tag as the reason: it holds on the item, and not on the example."""

from __future__ import annotations

from tellapart.errors import ParameterError
from tellapart.sessions.replies import Given
from tellapart.sessions.session import Session


def tag_apart(
    session: Session, teacher: str, given: Given, tag: str, *, id: str | None = None
) -> str:
    """Set a tag on the item given and take it from the example; returns the feature to name.

    `id` is made by the client: what is written has ids made from it.
    """
    if given.guess.example is None:
        raise ParameterError("there is no example yet to tell the item from")
    for end, row, value in (("item", given.item, True), ("example", given.guess.example, False)):
        session.set_tag(teacher, tag, row, value, id=id and f"{id}-{end}")
    quoted = tag.replace('"', '""')
    return f'"{quoted}"'
