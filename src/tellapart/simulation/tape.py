"""A decision list on columns, compiled: a tape of integers that `kernel` runs over.

The tape begins with a head: how many slots, how many cells a slot, how many binary digits a code,
the default's code, what `find` found besides the item, and addresses: of the columns `ordinary`
and `noted` (0 where there is none), of what `columns.patience` needs, of the planes of digits; then
a scratch pad, and the addresses of all columns in use. Then, slot after slot: how many columns are
forbidden (-1: removed), how many needed, the code, the address of a table (`columns.patience`), and
the addresses of these columns, in this order. So a change of one rule is a change of a few cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tellapart.simulation.bits import Words
from tellapart.simulation.codes import Planes
from tellapart.theory import Tolerance
from tellapart.theory.bounds import log_over

SLOTS, STRIDE, DIGITS, DEFAULT, FIRED, UNCOVERED, ORDINARY, NOTED, NOTED_END = range(9)
LOGGED, TOUCHED, LOG, TOUCHES, COMPONENT_DIGITS = range(9, 14)  # see `columns.patience`
LABEL, COMPONENT, SLOPE, ROOT, SINCE, TIME, LOGARITHM, PART, KNOWN = range(14, 23)
MIND, COUNTERS, RESORT = range(23, 26)  # see `columns.thinking`; the default's table
WRITTEN, AHEAD = 26, 27  # words of `noted`; how far rounds are ahead of the numbers of items
GIVEN_K, GIVEN_S, EPSILON, SIGMA, LOG_DELTA, SCALE, AS_PRINTED = range(28, 35)  # of a learner
DESK = 35  # see `columns.stretch`
PLANES = 36
COMPONENTS = PLANES + 64  # a code has at most 64 digits
PAD = COMPONENTS + 64
STRIP = 16
"""Words that `kernel` reads at a time."""
MOST = 512
"""So many columns may be in the table of those in use."""
USUAL = 16
"""So many codes may have a strip of the scratch pad each."""
LOGS, LOG_CELLS, NUMBER = 4096, 2, 40
"""So many mistakes may be in the log; of each, the item and, above so many bits, the number of the
guess; then the code of the reason and, above, the component against which it counts."""
TOUCHABLE = 1024
"""So many counters may have news."""
SEEN = (2 + USUAL) * STRIP
"""Where in the pad it stands how far the columns were touched."""
PAD_CELLS = SEEN + 1
KNOWN_COLUMNS = PAD + PAD_CELLS
HEAD = KNOWN_COLUMNS + MOST
FORBIDDEN, NEEDED, CODE, TABLE, CELLS = range(5)
SLACK, SPENT, BORN, SAID, OWNER, EXAMPLE, KIND, AGAINST, SEPARATORS = range(9)  # of a rule's table
LEFT, COUNT, FIRST, NEWS, COUNTER = range(5)  # of a counter
USED, ENTRIES, ENTRY, OWNERS = 1, 2, 2 + COUNTER, 40  # of the table of counters
EVERYWHERE = -1
"""Stands for the address of a column that is set on every item, and takes no room."""
Growth: TypeAlias = tuple[float, ...]
"""How many more items become quiet as others go by; see `Tape.find`."""
_NONE: Growth = (0.0, 0.0, 0.0, 1.0, 1.0, 0.0)
_LONG = 1 << 15  # words that are worth a second thread
_SLOTS, _LITERALS = 16, 12  # room for so many, to begin with; doubled when needed


@cache
def _compiled() -> tuple[Any, Callable[[], int]]:
    """What is loaded when it is first needed."""
    from tellapart.simulation import kernel
    from tellapart.simulation.desk import company

    return kernel, company


class Tape:
    """What `Plain` is, at the speed of memory; it has the same parameters and methods."""

    _slots: int

    def __init__(
        self,
        planes: Sequence[Words],
        default: int,
        ordinary: Words | None = None,
        noted: Words | None = None,
    ) -> None:
        self._kernel, company = _compiled()
        self._find = self._kernel.find
        self.planes = planes if isinstance(planes, tuple) else tuple(planes)
        self.digits = max(len(self.planes), default.bit_length())
        self._kept: list[Any] = []
        """Columns whose addresses are on the tape."""
        self._known: set[int] = set()  # those of columns in some conjunction
        self._growth: Growth | None = _NONE
        stride = CELLS + _LITERALS
        self._lay(np.zeros(HEAD + _SLOTS * stride, dtype=np.int64), _SLOTS, stride)
        cells = self.cells
        cells[DIGITS], cells[DEFAULT] = self.digits, default
        self.hold_all(self.planes, PLANES)
        if ordinary is not None:
            cells[ORDINARY] = self.hold(ordinary) if ordinary.strides[0] else EVERYWHERE
        if noted is not None:
            self.note(noted, 0)
        if self.planes and len(self.planes[0]) >= _LONG:
            cells[DESK] = company()

    def note(self, noted: Words, first: int) -> None:
        """Put mistakes down in `noted`, whose first word is word `first`, as far as it goes."""
        self.cells[NOTED] = self.hold(noted) - 8 * first
        self.cells[NOTED_END], self.cells[WRITTEN] = first + len(noted), first

    @property
    def written(self) -> int:
        """The word of `noted` from which on nothing was put down, and there may be anything."""
        written: int = self.cells[WRITTEN]
        return written

    def hold(self, column: npt.NDArray[Any]) -> int:
        """What `require` wants of a column: its address."""
        self._kept.append(column)
        address: int = self._kernel.address(column)
        return address

    def hold_all(self, planes: Sequence[Words], cell: int) -> None:
        """Write the addresses of planes into cells of the head."""
        if isinstance(planes, Planes):
            self._kept.append(planes)
            addresses: Iterable[int] = planes.addresses
        else:
            addresses = map(self.hold, planes)
        for place, address in enumerate(addresses, cell):
            self.cells[place] = address

    def keep(self, counters: int, owner: int, code: int, counter: int, *of_it: int) -> bool:
        """`thinking.keep_counter`."""
        return bool(self._kernel.keep(counters, owner, code, counter, *of_it))

    def think(self, item: int, component: int, example: int, kind: int, against: int) -> int:
        """`thinking.think_of`."""
        code: int = self._kernel.think(self._address, item, component, example, kind, against)
        return code

    def name(self, against: int, code: int) -> None:
        """`thinking.name_reason`."""
        self._kernel.name(self._address, against, code)

    def clear(self) -> None:
        """Forget every conjunction."""
        if self._slots:
            self._slots = self.cells[SLOTS] = self.cells[KNOWN] = 0
            self._known.clear()
            self._tape[HEAD:] = 0

    def _lay(self, tape: Any, room: int, stride: int) -> None:
        """Use a tape with room for so many slots."""
        self._room, self._stride, self._tape = room, stride, tape
        self._address: int = self._kernel.address(tape)
        self.cells: Any = tape.data
        """The tape as it is now, quicker than numpy for one cell at a time."""
        self._floats: Any = tape.view(np.float64).data
        self.cells[STRIDE] = stride
        self._slots = int(self.cells[SLOTS])

    def _grow(self, room: int, stride: int) -> None:
        before, body = self._tape, self._body()
        tape = np.zeros(HEAD + room * stride, dtype=np.int64)
        tape[:HEAD] = before[:HEAD]
        self._lay(tape, room, stride)
        self._body()[:, : body.shape[1]] = body

    def _body(self) -> Any:
        return self._tape[HEAD:].reshape(-1, self._stride)[: self._slots]

    def append(self, code: int) -> int:
        """An empty conjunction after all others; returns its slot."""
        if self._slots == self._room:
            self._grow(2 * self._room, self._stride)
        if code >> self.digits:
            self.digits = self.cells[DIGITS] = code.bit_length()
        slot = self._slots
        self.cells[HEAD + slot * self._stride + CODE] = code
        self._slots = self.cells[SLOTS] = slot + 1
        return slot

    def require(self, slot: int, column: int, wanted: bool) -> None:
        """Add a literal to the conjunction in `slot`; nothing happens to one that was removed.

        `column` is what `hold` gave for it.
        """
        cells, start = self.cells, HEAD + slot * self._stride
        forbidden, needed = cells[start], cells[start + NEEDED]
        if forbidden < 0:
            return
        if CELLS + forbidden + needed == self._stride:
            self._grow(self._room, 2 * self._stride)
            cells, start = self.cells, HEAD + slot * self._stride
        if column not in self._known and len(self._known) < MOST:
            cells[KNOWN_COLUMNS + len(self._known)] = column
            self._known.add(column)
            cells[KNOWN] = len(self._known)
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
        self.cells[HEAD + slot * self._stride + FORBIDDEN] = -1

    def tolerate(self, tolerance: Tolerance, ahead: int) -> None:
        """Let mistakes of rules that can take them be counted (`columns.patience`).

        `ahead` is how far the learner's rounds are ahead of the numbers of items.
        """
        k, s, epsilon, sigma, delta, scale, as_printed = tolerance
        self.cells[AHEAD], self.cells[AS_PRINTED] = ahead, as_printed
        given = (k, s, epsilon, sigma, log_over(8, delta), scale)
        for cell, value in enumerate(given, GIVEN_K):
            self._floats[cell] = value

    def set(self, cell: int, value: int, slot: int) -> None:
        """Write into a cell of a slot."""
        self.cells[HEAD + slot * self._stride + cell] = value

    def first(self, item: int) -> int:
        """The slot of the first conjunction that covers `item`, or -1."""
        return int(self._kernel.first(self._address, item))

    def find(
        self,
        start: int,
        stop: int,
        shown: bool = True,
        quiet: int = -1,
        wrong_only: bool = False,
        growth: Growth | None = None,
        began: int | None = None,
        counted: int = 0,
    ) -> tuple[int, int, int]:
        """The first event from `start` to before `stop`; see `Plain.find`.

        With `growth` = (a, b, r, t, l, f), quiet grows as items go by: after n of them, c of them
        covered, it is ceil(f + ac + b(g sqrt(r + c) - sqrt(r))) - 1 more, where g, the growth of a
        logarithm, is (1 + 2 log(1 + n/t) / l)^{3/2}. With `began`, all that is counted from there
        on, of which there were `counted` before `start`. Where there is no more room in `noted`,
        the search ends.
        """
        cells = self.cells
        if quiet >= 0 and growth is not self._growth:
            self._growth, floats = growth, self._floats
            for cell, value in enumerate(growth or _NONE, SLOPE):
                floats[cell] = value
        if began is None:
            began = start
        item = self._find(self._address, start, stop, shown, quiet, wrong_only, began, counted)
        return item, cells[FIRED], cells[UNCOVERED]

    def say(self, items: int) -> None:
        """Write the code of every item into the planes."""
        self._kernel.say(self._address, items)
