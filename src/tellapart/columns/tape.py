"""A decision list on columns, compiled: a tape of integers that `kernel` runs over.

The tape begins with a head: how many slots, how many cells a slot, how many binary digits a code,
the default's code, and addresses: of a scratch pad, of the columns `ordinary` and `noted` (0 where
there is none), of the planes of digits. Then, slot after slot: how many columns are forbidden (-1:
removed), how many needed, the code, and the addresses of these columns, in this order. So a change
of one rule is a change of a few cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tellapart.columns.bits import Words

SLOTS, STRIDE, DIGITS, DEFAULT, PAD, ORDINARY, NOTED, PLANES = range(8)
HEAD = PLANES + 64  # a code has at most 64 digits
FORBIDDEN, NEEDED, CODE, CELLS = range(4)
_LITERALS = 4  # room for so many, to begin with; doubled when needed, as are the slots


class Tape:
    """What `Plain` is, at the speed of memory; it has the same parameters and methods."""

    def __init__(
        self,
        planes: Sequence[Words],
        default: int,
        ordinary: Words | None = None,
        noted: Words | None = None,
    ) -> None:
        from tellapart.columns import kernel

        self._kernel: Any = kernel
        self._find: Any = kernel.find
        self.planes, self.default = tuple(planes), default
        self.digits = max(len(self.planes), default.bit_length())
        self.ordinary, self.noted = ordinary, noted
        self._addresses: dict[int, tuple[int, Words]] = {}  # by identity; keeps columns alive
        self._pad = np.empty(16 * (1 + len(self.planes)), dtype=np.uint64)
        self.clear()

    def clear(self) -> None:
        """Forget every conjunction."""
        self._slots, self._room = 0, 8
        self._stride = CELLS + _LITERALS
        self._lay(np.zeros((0, self._stride), dtype=np.int64))

    def _lay(self, slots: Any) -> None:
        """A fresh tape with room for more, and these slots on it."""
        self._tape = np.zeros(HEAD + self._room * self._stride, dtype=np.int64)
        head = [self._slots, self._stride, self.digits, self.default]
        for column in (self._pad, self.ordinary, self.noted, *self.planes):
            head.append(0 if column is None else column.ctypes.data)
        self._tape[: len(head)] = head
        body = self._tape[HEAD:].reshape(self._room, self._stride)
        body[: slots.shape[0], : slots.shape[1]] = slots
        self._cells = self._tape.data  # quicker than numpy for one cell at a time

    def _body(self) -> Any:
        return self._tape[HEAD:].reshape(-1, self._stride)[: self._slots]

    def append(self, code: int) -> int:
        """An empty conjunction after all others; returns its slot."""
        if self._slots == self._room:
            body = self._body()
            self._room *= 2
            self._lay(body)
        if code >> self.digits:
            self.digits = self._cells[DIGITS] = code.bit_length()
        slot = self._slots
        self._cells[HEAD + slot * self._stride + CODE] = code
        self._slots = self._cells[SLOTS] = slot + 1
        return slot

    def require(self, slot: int, column: Words, wanted: bool) -> None:
        """Add a literal to the conjunction in `slot`; nothing happens to one that was removed."""
        cells, start = self._cells, HEAD + slot * self._stride
        forbidden, needed = cells[start + FORBIDDEN], cells[start + NEEDED]
        if forbidden < 0:
            return
        if CELLS + forbidden + needed == self._stride:
            body = self._body()
            self._stride *= 2
            self._lay(body)
            cells, start = self._cells, HEAD + slot * self._stride
        known = self._addresses.get(id(column))
        if known is None:
            known = self._addresses[id(column)] = (column.ctypes.data, column)
        end = start + CELLS + forbidden + needed
        if wanted:
            cells[end] = known[0]
            cells[start + NEEDED] = needed + 1
        else:
            cells[end] = cells[start + CELLS + forbidden]
            cells[start + CELLS + forbidden] = known[0]
            cells[start + FORBIDDEN] = forbidden + 1

    def remove(self, slot: int) -> None:
        """Take the conjunction in `slot` out of the race."""
        self._cells[HEAD + slot * self._stride + FORBIDDEN] = -1

    def first(self, item: int) -> int:
        """The slot of the first conjunction that covers `item`, or -1."""
        return int(self._kernel.first(self._tape, item))

    def find(
        self, start: int, stop: int, shown: bool = True, quiet: int = -1, wrong_only: bool = False
    ) -> tuple[int, int, int]:
        """The first event from `start` to before `stop`; see `Plain.find`."""
        found: tuple[int, int, int] = self._find(self._tape, start, stop, shown, quiet, wrong_only)
        return found

    def say(self, items: int) -> None:
        """Write the code of every item into the planes."""
        self._kernel.say(self._tape, items)
