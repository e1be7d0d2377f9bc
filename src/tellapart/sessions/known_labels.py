"""Labels that are known beforehand, to check a teacher afterwards, or to practise."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tellapart.sessions.phrasing import name
from tellapart.sessions.replies import Answered
from tellapart.tables import read_table

if TYPE_CHECKING:
    from tellapart.sessions.session import Session


def known_labels(path: Path, column: str, session: Session) -> dict[Hashable, str]:
    """The label of each item by its id, from a column that the session's table leaves out."""
    read = dict(session.opened.data.get("source") or {})
    how = {key: value for key, value in read.items() if key not in ("path", "without")}
    whole = read_table(path, **how)
    pairs = zip(whole.ids(), whole.labels(column), strict=True)
    return {identity: str(label) for identity, label in pairs if label is not None}


def compare(
    answers: Iterable[Answered], known: Mapping[Hashable, str]
) -> tuple[int, dict[str, tuple[str, str]]]:
    """How many items were called what is known, and the others: name -> (said, known)."""
    said: dict[Hashable, tuple[str, str]] = {}
    for one in answers:
        if one.undone or one.answer in ("unsure", "skipped"):
            continue
        label = one.guess.label if one.answer == "right" else one.label
        if label is not None and one.item.identity in known:
            said[one.item.identity] = name(one.item), str(label)
    odd = {
        called: (label, known[identity])
        for identity, (called, label) in said.items()
        if label != known[identity]
    }
    return len(said) - len(odd), odd
