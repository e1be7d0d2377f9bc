"""What may tell an item from its example: features to choose from."""

from __future__ import annotations

import numpy as np

from tellapart.features.candidates import Candidate
from tellapart.sessions.replies import Given
from tellapart.sessions.session import Session
from tellapart.tables import Row

OFFERED = 30
"""So many candidate features, at most."""
LOOKED_AT = 2000
"""So many labelled items rank them."""


def candidates(
    session: Session, given: Given, label: str | None = None, limit: int = OFFERED
) -> list[Candidate]:
    """Features that hold on the item given and not on its example, the most telling first.

    `label` is what the teacher says the item is, once they have.
    """
    if given.guess.example is None:
        return []
    history = labelled(session, LOOKED_AT)
    history[given.guess.example] = str(given.guess.label)
    history.pop(given.item, None)
    found = session.table.candidates(
        given.item, given.guess.example, history, label=label or given.kept, limit=limit
    )
    return found


def labelled(session: Session, most: int) -> dict[Row, str | None]:
    """Items that were learnt from, evenly spread over the lesson, and their labels."""
    with session._ready() as state:
        rounds = state.course.rounds
        picked = range(len(rounds))
        if len(rounds) > most:
            picked = np.linspace(0, len(rounds) - 1, most).astype(int).tolist()
        found: dict[Row, str | None] = {}
        for n in picked:
            said = state.course.said(rounds[n]).label
            row = state.items.row(state.acts[rounds[n]].place)
            found[row] = None if said is None else state.labels.name(said)
        return found
