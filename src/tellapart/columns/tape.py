"""A decision list on columns, compiled: a tape of integers that `kernel` runs over.

The tape begins with a head: how many slots, how many cells a slot, how many binary digits a code,
the default's code, the address of a scratch pad, and the addresses of the planes of digits. Then,
slot after slot: how many columns are forbidden (-1: removed), how many needed, the code, and the
addresses of these columns, in this order. So a change of one rule is a change of a few cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tellapart.columns.bits import Words

SLOTS, STRIDE, DIGITS, DEFAULT, PAD, PLANES = range(6)
HEAD = PLANES + 64  # a code has at most 64 digits
FORBIDDEN, NEEDED, CODE, CELLS = range(4)
_LITERALS = 4  # room for so many, to begin with; doubled when needed, as are the slots


class Tape:
    """What `Plain` is, at the speed of memory; it has the same parameters and methods."""

    def __init__(self, planes: Sequence[Words], default: int, digits: int | None = None) -> None:
        from tellapart.columns import kernel

        self._kernel: Any = kernel
        self._find: Any = kernel.find
        self.planes, self.default = tuple(planes), default
        self.digits = len(self.planes) if digits is None else digits
        self._pad = np.empty(16 * max(1, self.digits), dtype=np.uint64)
        self.clear()

    def clear(self) -> None:
        """Forget every conjunction."""
        self._slots, self._room = 0, 8
        self._stride = CELLS + _LITERALS
        self._alive: list[list[Words]] = []  # the columns whose addresses are on the tape
        self._lay(np.zeros((0, self._stride), dtype=np.int64))

    def _lay(self, slots: Any) -> None:
        """A fresh tape with room for more, and these slots on it."""
        self._tape = np.zeros(HEAD + self._room * self._stride, dtype=np.int64)
        head = [self._slots, self._stride, self.digits, self.default, self._pad.ctypes.data]
        addresses = [plane.ctypes.data for plane in self.planes]
        self._tape[: PLANES + len(addresses)] = head + addresses
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
        slot = self._slots
        self._cells[HEAD + slot * self._stride + CODE] = code
        self._slots = self._cells[SLOTS] = slot + 1
        self._alive.append([])
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
        self._alive[slot].append(column)
        end = start + CELLS + forbidden + needed
        if wanted:
            cells[end] = column.ctypes.data
            cells[start + NEEDED] = needed + 1
        else:
            cells[end] = cells[start + CELLS + forbidden]
            cells[start + CELLS + forbidden] = column.ctypes.data
            cells[start + FORBIDDEN] = forbidden + 1

    def remove(self, slot: int) -> None:
        """Take the conjunction in `slot` out of the race."""
        self._cells[HEAD + slot * self._stride + FORBIDDEN] = -1
        self._alive[slot] = []

    def first(self, item: int) -> int:
        """The slot of the first conjunction that covers `item`, or -1."""
        return int(self._kernel.first(self._tape, item))

    def find(
        self, start: int, stop: int, shown: bool, counting: bool, quiet: int
    ) -> tuple[int, int, int]:
        """The first event from `start` to before `stop`; see `Plain.find`."""
        found: tuple[int, int, int] = self._find(self._tape, start, stop, shown, counting, quiet)
        return found

    def say(self, items: int) -> None:
        """Write the code of every item into the planes."""
        self._kernel.say(self._tape, items)
