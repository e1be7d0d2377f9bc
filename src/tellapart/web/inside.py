"""What the views need of a session's inside, in one place."""

from __future__ import annotations

from tellapart.learners import BaseLearner
from tellapart.sessions import Event, Session


def opened(session: Session) -> Event:
    """The first event."""
    with session._ready() as state:
        return state.opened


def mistakes(session: Session) -> list[bool]:
    """Of every guess, whether it was a mistake."""
    with session._ready() as state:
        return list(state.course.mistakes)


def learner(session: Session) -> BaseLearner:
    """Who learns."""
    with session._ready() as state:
        return state.course.now.learner.inner


def rules_over_time(session: Session) -> list[int]:
    """How many rules there were after every guess."""
    with session._ready() as state:
        return list(state.course.sizes)
