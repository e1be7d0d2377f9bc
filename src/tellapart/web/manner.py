"""How the pages of a server behave."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Manner:
    """What `tellapart teach` was asked for; a server of many sessions has nothing to say here."""

    keys: dict[str, str] | None = None
    """The keys; None: the usual ones, or those of a file beside the tables."""
    known: tuple[Path, str] | None = None
    """The table as it lies now, and its column with known labels, to compare answers with."""
    tour: bool = False
    """Whether to say a word with some items."""
