"""What can be proven, under one name: `bounds` and `representations`."""

from tellapart import bounds, representations
from tellapart.bounds import *  # noqa: F403  (each says in __all__ what it gives)
from tellapart.representations import *  # noqa: F403

__all__ = [*bounds.__all__, *representations.__all__]  # noqa: PLE0604  (two lists of names)
