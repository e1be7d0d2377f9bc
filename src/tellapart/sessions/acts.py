"""What teachers did, as far as it can be undone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tellapart.features import Expression


class Shown(NamedTuple):
    """What a teacher was shown: the item, and the guess with its example."""

    id: str
    teacher: str
    place: int
    label: str | None
    """The key of the label guessed."""
    example: int | None
    """The place of the example."""
    asks: str
    """answer: whether the guess is right. label: the label, there is no guess. feature: only what
    tells the item from the example; the label is known."""
    kept: str | None
    """The key of the label that is known when only the feature is asked."""
    until: float
    """When the lease ends."""
    sought: bool = False
    """Whether the item was looked for; then it is no random draw."""


class Said(NamedTuple):
    """An answer."""

    answer: str
    label: str | None = None
    """The key of the label: for a right guess, the guess's."""
    feature: Expression | None = None


@dataclass(slots=True)
class Act:
    """An event that can be undone."""

    id: str
    number: int
    at: str
    kind: str
    by: str | None
    place: int = -1
    shown: Shown | None = None
    said: Said | None = None
    target: int = -1
    """The act that this one changes."""
    changes: list[int] = field(default_factory=list)
    """The acts that change this one."""
    data: dict[str, Any] = field(default_factory=dict)
    alive: bool = True
    outcome: str | None = None
    """What became of it; see `Course`."""
