"""What a teacher says against one example, and the table that `columns.patience` makes of it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from tellapart.protocol import Feature
from tellapart.simulation.tape import COUNTER, SEPARATORS


class Said(tuple[Feature | None, ...]):
    """What is said to an ordinary item of each component; None where that depends on the item.

    >>> said = Said(["milk", None, "eggs", "milk"])
    >>> said[2], said.reasons
    ('eggs', ('milk', 'eggs'))
    """

    @cached_property
    def reasons(self) -> tuple[Feature, ...]:
        """All that is said, each once."""
        return tuple(dict.fromkeys(reason for reason in self if reason is not None))

    @cached_property
    def first(self) -> int:
        """The place of the first counter in the table."""
        return SEPARATORS + len(self)

    @cached_property
    def table(self) -> Any:
        """The table of a rule that nothing is known of: for each component the place of a counter.

        A view of cells, to be copied.
        """
        places = {reason: self.first + COUNTER * n for n, reason in enumerate(self.reasons)}
        table = np.zeros(self.first + COUNTER * len(places), dtype=np.int64)
        table[SEPARATORS : self.first] = [places.get(reason, 0) for reason in self]
        return table.data
