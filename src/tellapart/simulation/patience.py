"""Mistakes of a rule that change nothing but a count, taken many at a time.

A learner that wants several witnesses before it believes a reason (`RobustDFF`, `StRoDFF`) makes
most of its mistakes only to count them. What the teacher says of an ordinary item depends on its
component and on the example shown. So for each rule the kernel has a table: how many more mistakes
the rule can take, what it spent, when it was made, the number of its guess, for each component the
place of a counter in the table (0: none), and counters. A counter is: how many more mistakes that
reason can take, how many there were, the round of the first, and whether there is news of it. What
can be taken grows with time; when none is left the kernel sees whether more can be taken by now
(`columns.tolerance`). The mistakes so taken are put down in a log, the item and the guess of each.

Of an exception, or against one, a teacher says what comes to his mind. If the world tells how he
thinks (`MadeWorld.mind`), the kernel does the same (`columns.thinking`), and counts the reasons it
thought of, for each rule and for the teacher, who lets only so many exceptions name the same. Then
the default has a table, too: exceptions against it change nothing but what the teacher has said.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tellapart.protocol import Feature
from tellapart.simulation.log import Log
from tellapart.simulation.reasons import Reasons
from tellapart.simulation.said import Said
from tellapart.simulation.tape import (
    BORN,
    COUNT,
    COUNTER,
    FIRST,
    LEFT,
    LOG,
    LOG_CELLS,
    LOGGED,
    LOGS,
    NEWS,
    RESORT,
    SAID,
    SEPARATORS,
    SLACK,
    SPENT,
    TABLE,
    TOUCHABLE,
    TOUCHED,
    TOUCHES,
    Tape,
)

_DEFAULT = -1  # the number of its guess; those of rules begin with 0
_EVER = 1 << 62
_ROOM = 1 << 10  # cells for tables, laid out at a time


class Patience:
    """What the rules of one learner can take before they change.

    Parameters
    ----------
    rules : RuleLearner
        Whose rules they are; it says what it tolerates.
    world : World
        `said_against(example)` is what the teacher says to an item of each component.
    tape : Tape
        Where the kernel looks for the tables.
    taken : Log
        Where the mistakes go that were only counted.
    reasons : Reasons, optional
        How the teacher thinks, and what he said.
    """

    def __init__(
        self, rules: Any, world: Any, tape: Tape, taken: Log, reasons: Reasons | None = None
    ) -> None:
        self._rules, self._world, self._tape, self._taken = rules, world, tape, taken
        log = np.empty(LOGS * LOG_CELLS + 2 * TOUCHABLE, dtype=np.int64)
        self._log, self._touches = log[: LOGS * LOG_CELLS], log.data[LOGS * LOG_CELLS :]
        self._tables: dict[int, _Table] = {}  # by number of a rule
        self._made: list[_Table] = []  # by number of its guess
        self._heard = 0  # so much of the log
        self._cells: Any = ()
        self._address = self._used = 0
        address = tape.hold(log)
        tape.cells[LOG] = address
        tape.cells[TOUCHES] = address + 8 * LOGS * LOG_CELLS
        self._reasons = reasons
        if reasons is not None:
            self._lay_default(reasons)
        for rule in rules.rules:
            self._lay(rule)

    def said_against(self, rule: Any) -> Said:
        """What the teacher says against the example of a rule."""
        return self._tables[rule.number].said

    def look(self, rule: Any, feature: Feature | None, component: int | None = None) -> None:
        """A round was told in which `rule` was told `feature`, or none: see what can be taken.

        `component` is that of the item, if it was what decided.
        """
        rules = self._rules
        if rule is None:
            rule = rules.rule(-1)
            if rule is not None and rule.number not in self._tables:
                self._lay(rule)
        elif rules.rule(rule.slot) is rule:
            table = self._tables[rule.number]
            cells = table.cells
            cells[SLACK], cells[SPENT] = 0, rules.spent(rule)
            if component is not None:
                _write(cells, cells[SEPARATORS + component], rule.counts.get(feature))
            elif feature in table.said.reasons:
                _write(cells, table.place(feature), rule.counts.get(feature))
            elif self._reasons is not None and feature is not None:
                self._reasons.take(rule, feature)
        else:  # it was deleted, and the others may have moved up
            for other in rules.rules:
                self._tape.set(TABLE, self._tables[other.number].address, other.slot)

    def _lay_default(self, reasons: Reasons) -> None:
        """Make the table of the default, which counts nothing and can take anything."""
        table = np.zeros(SEPARATORS + self._world.m, dtype=np.int64)
        table[SLACK], table[SAID] = _EVER, _DEFAULT
        reasons.introduce(table.data, self._rules.default.example)
        self._tape.cells[RESORT] = self._tape.hold(table)

    def _lay(self, rule: Any) -> None:
        """Make the table of a rule."""
        said: Said = self._world.said_against(rule.example)
        size = len(said.table)
        if self._used + size > len(self._cells):
            room = np.empty(max(_ROOM, size), dtype=np.int64)
            self._cells, self._address, self._used = room.data, self._tape.hold(room), 0
        cells = self._cells[self._used : self._used + size]
        table = _Table(rule, self._address + 8 * self._used, cells, said)
        self._used += size
        cells[:] = said.table
        cells[SPENT], cells[BORN], cells[SAID] = (
            self._rules.spent(rule),
            rule.born,
            len(self._made),
        )
        for feature, counted in rule.counts.items():
            if feature in said.reasons:
                _write(cells, table.place(feature), counted)
        self._made.append(table)
        self._taken.shown.append(rule.guess)
        self._tables[rule.number] = table
        self._tape.set(TABLE, table.address, rule.slot)
        if self._reasons is not None:
            self._reasons.introduce(cells, rule.example, rule)
            counters = {f: table.address + 8 * table.place(f) for f in said.reasons}
            self._reasons.adopt(rule, counters)

    def settle(self) -> None:
        """Tell the learner what the kernel counted."""
        tape, touches = self._tape, self._touches
        touched = tape.cells[TOUCHED]
        if not touched and self._reasons is None:
            return
        for number in range(0, 2 * touched, 2):
            table = self._made[touches[number]]
            feature, cells, place = self._counter(table, touches[number + 1])
            table.rule.count(feature, cells[place + COUNT], cells[place + FIRST])
            cells[place + NEWS] = 0
        tape.cells[TOUCHED] = 0
        logged = tape.cells[LOGGED]
        if self._reasons is not None:
            self._reasons.said(self._log[2 * self._heard : 2 * logged].reshape(-1, 2))
            self._heard = logged
        if logged > LOGS // 2:
            self._empty()

    def _counter(self, table: _Table, place: int) -> tuple[Feature, Any, int]:
        """What is counted at a place seen from a table, and where that is."""
        if 0 < place < len(table.cells):
            said = table.said
            return said.reasons[(place - said.first) // COUNTER], table.cells, place
        assert self._reasons is not None
        return self._reasons.counter(table.address + 8 * place)

    def end(self) -> None:
        """No more will be counted."""
        self.settle()
        self._empty()

    def _empty(self) -> None:
        """Take out what is in the log."""
        self._taken.add(self._log[: 2 * self._tape.cells[LOGGED] : 2])
        self._heard = 0
        self._tape.cells[LOGGED] = 0


def _write(cells: Any, place: int, counted: tuple[int, int] | None) -> None:
    """Set a counter to what a rule counted, and when that began."""
    cells[place + LEFT] = 0
    cells[place + COUNT], cells[place + FIRST] = counted or (0, 0)


class _Table:
    """The table of a rule."""

    __slots__ = ("address", "cells", "rule", "said")

    def __init__(self, rule: Any, address: int, cells: Any, said: Said) -> None:
        self.rule, self.address, self.cells, self.said = rule, address, cells, said

    def place(self, feature: Feature) -> int:
        """Where the counter of a reason is."""
        return self.said.first + COUNTER * self.said.reasons.index(feature)
