"""A decision list on columns, compiled: a tape of integers that `kernel` runs over.

The tape begins with a head: how many slots, how many cells a slot, how many binary digits a code,
the default's code, what `find` found besides the item, and addresses: of a scratch pad, of the
columns `ordinary` and `noted` (0 where there is none), of what `columns.patience` needs, of the
planes of digits. Then, slot after slot: how many columns are forbidden (-1: removed), how many
needed, the code, the address of a table (`columns.patience`), and the addresses of these columns,
in this order. So a change of one rule is a change of a few cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tellapart.columns.bits import Words

SLOTS, STRIDE, DIGITS, DEFAULT, FIRED, UNCOVERED, PAD, ORDINARY, NOTED = range(9)
LOGGED, TOUCHED, LOG, TOUCHES, COMPONENT_DIGITS = range(9, 14)  # see `columns.patience`
PLANES = 14
COMPONENTS = PLANES + 64  # a code has at most 64 digits
HEAD = COMPONENTS + 64
FORBIDDEN, NEEDED, CODE, TABLE, CELLS = range(5)
MOST = 512
"""So many columns may be in the scratch pad's table of those in use, and mistakes in the log."""
_SLOTS, _LITERALS = 16, 12  # room for so many, to begin with; doubled when needed


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
        self.planes = tuple(planes)
        self.digits = max(len(self.planes), default.bit_length())
        self._kept: list[npt.NDArray[Any]] = []
        """Columns whose addresses are on the tape."""
        head = [0, CELLS + _LITERALS, self.digits, default, -1, 0]
        pad = np.empty(16 + MOST, dtype=np.uint64)
        for column in (pad, ordinary, noted):
            head.append(0 if column is None else self.hold(column))
        head += [0, 0, 0, 0, 0, *map(self.hold, self.planes)]
        self._lay(np.array(head, dtype=np.int64), _SLOTS)

    def hold(self, column: npt.NDArray[Any]) -> int:
        """What `require` wants of a column: its address."""
        self._kept.append(column)
        return self._kernel.address(column)  # type: ignore[no-any-return]

    def clear(self) -> None:
        """Forget every conjunction."""
        self._slots = self._cells[SLOTS] = 0
        self._tape[HEAD:] = 0

    def _lay(self, head: Any, room: int) -> None:
        """A fresh tape with this head, and so much room for slots."""
        self._room, self._stride = room, int(head[STRIDE])
        self._slots = int(head[SLOTS])
        self._tape: Any = np.zeros(HEAD + room * self._stride, dtype=np.int64)
        self._tape[: len(head)] = head
        self._address: int = self._kernel.address(self._tape)
        self._cells: Any = self._tape.data  # quicker than numpy for one cell at a time

    def _grow(self, room: int, stride: int) -> None:
        head, body = self._tape[:HEAD], self._body()
        head[STRIDE] = stride
        self._lay(head, room)
        self._body()[:, : body.shape[1]] = body

    def _body(self) -> Any:
        return self._tape[HEAD:].reshape(-1, self._stride)[: self._slots]

    def append(self, code: int) -> int:
        """An empty conjunction after all others; returns its slot."""
        if self._slots == self._room:
            self._grow(2 * self._room, self._stride)
        if code >> self.digits:
            self.digits = self._cells[DIGITS] = code.bit_length()
        slot = self._slots
        self._cells[HEAD + slot * self._stride + CODE] = code
        self._slots = self._cells[SLOTS] = slot + 1
        return slot

    def require(self, slot: int, column: int, wanted: bool) -> None:
        """Add a literal to the conjunction in `slot`; nothing happens to one that was removed.

        `column` is what `hold` gave for it.
        """
        cells, start = self._cells, HEAD + slot * self._stride
        forbidden, needed = cells[start], cells[start + NEEDED]
        if forbidden < 0:
            return
        if CELLS + forbidden + needed == self._stride:
            self._grow(self._room, 2 * self._stride)
            cells, start = self._cells, HEAD + slot * self._stride
        end = start + CELLS + forbidden + needed
        if wanted:
            cells[end] = column
            cells[start + NEEDED] = needed + 1
        else:
            cells[end] = cells[start + CELLS + forbidden]
            cells[start + CELLS + forbidden] = column
            cells[start + FORBIDDEN] = forbidden + 1

    def remove(self, slot: int) -> None:
        """Take the conjunction in `slot` out of the race."""
        self._cells[HEAD + slot * self._stride + FORBIDDEN] = -1

    def set(self, cell: int, value: int, slot: int | None = None) -> None:
        """Write into a cell of the head, or of a slot."""
        self._cells[cell if slot is None else HEAD + slot * self._stride + cell] = value

    def get(self, cell: int) -> int:
        """Read a cell of the head."""
        return int(self._cells[cell])

    def first(self, item: int) -> int:
        """The slot of the first conjunction that covers `item`, or -1."""
        return int(self._kernel.first(self._address, item))

    def find(
        self, start: int, stop: int, shown: bool = True, quiet: int = -1, wrong_only: bool = False
    ) -> tuple[int, int, int]:
        """The first event from `start` to before `stop`; see `Plain.find`."""
        item = self._find(self._address, start, stop, shown, quiet, wrong_only)
        cells = self._cells
        return item, cells[FIRED], cells[UNCOVERED]

    def say(self, items: int) -> None:
        """Write the code of every item into the planes."""
        self._kernel.say(self._address, items)
