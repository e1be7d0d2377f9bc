"""Mistakes of a rule that change nothing but a count, taken many at a time.

A learner that wants several witnesses before it believes a reason (`RobustDFF`, `StRoDFF`) makes
most of its mistakes only to count them. What the teacher says of an ordinary item depends on its
component and on the example shown. So for each rule the kernel has a table: how many more mistakes
the rule can take, the number of its guess, for each component the place of a counter in the table
(0: none), and counters: how many more mistakes that reason can take, how many it took, and the
first of them. The mistakes so taken are put down in a log, the item and the guess of each.

Of an exception, or against one, a teacher says what comes to his mind. If the world tells how he
thinks (`MadeWorld.mind`), the kernel does the same (`columns.thinking`), and counts the reasons it
thought of, for each rule and for the teacher, who lets only so many exceptions name the same. Then
the default has a table, too: exceptions against it change nothing but what the teacher has said.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tellapart.columns.reasons import Reasons
from tellapart.columns.tape import (
    FRESH,
    LOG,
    LOG_CELLS,
    LOGGED,
    LOGS,
    RESORT,
    SAID,
    SEPARATORS,
    SLACK,
    TABLE,
    TOUCHED,
    TOUCHES,
    Tape,
)
from tellapart.protocol import Feature, Guess

_DEFAULT = -1  # the number of its guess
_EVER = 1 << 62


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
    reasons : Reasons, optional
        How the teacher thinks, and what he said.
    """

    def __init__(self, rules: Any, world: Any, tape: Tape, reasons: Reasons | None = None) -> None:
        self._rules, self._world, self._tape = rules, world, tape
        log = np.empty(LOGS * LOG_CELLS, dtype=np.int64)
        self._log = log.reshape(LOGS, LOG_CELLS)
        touches = np.empty(2 * LOGS, dtype=np.int64)
        self._touches = touches.data
        self._tables: dict[int, _Table] = {}  # by number of a rule
        self._made: list[_Table] = []  # by number of its guess
        self._blank: dict[int, tuple[Any, dict[Feature, int], Any]] = {}  # by identity of the last
        self._taken: list[Any] = []  # parts of the log
        tape.set(LOG, tape.hold(log))
        tape.set(TOUCHES, tape.hold(touches))
        self._reasons = reasons
        if reasons is not None:
            self._lay_default(reasons)
        for rule in rules.rules:
            self._lay(rule)

    def refill(self, rule: Any, feature: Feature) -> bool:
        """Whether `rule` can take a mistake for which `feature` is named: time has gone by."""
        table = self._tables[rule.number]
        cells, place = table.cells, table.places[feature]
        cells[place] = self._rules.tolerates(rule, feature)
        if not cells[place]:
            return False
        cells[SLACK] = self._rules.slack(rule)
        return cells[SLACK] > 0  # type: ignore[no-any-return]

    def look(self, rule: Any, feature: Feature | None) -> None:
        """A round was told in which `rule` was told `feature`, or none: see what can be taken."""
        rules = self._rules
        if rule is None:
            rule = rules.rule(-1)
            if rule is not None and rule.number not in self._tables:
                self._lay(rule)
        elif rules.rule(rule.slot) is rule:
            table = self._tables[rule.number]
            table.cells[SLACK] = rules.slack(rule)
            if feature in table.places:
                table.cells[table.places[feature]] = 0  # till it is asked for
            elif self._reasons is not None and feature is not None:
                table.cells[FRESH] = rules.tolerates(rule, None)
                self._reasons.refill(rule, feature)
        else:  # it was deleted, and the others may have moved up
            for other in rules.rules:
                self._tape.set(TABLE, self._tables[other.number].address, other.slot)

    def _lay_default(self, reasons: Reasons) -> None:
        """Make the table of the default, which counts nothing and can take anything."""
        table = np.zeros(SEPARATORS + self._world.m, dtype=np.int64)
        table[SLACK], table[SAID] = _EVER, _DEFAULT
        reasons.introduce(table.data, self._rules.default.example)
        self._tape.set(RESORT, self._tape.hold(table))

    def _lay(self, rule: Any) -> None:
        """Make the table of a rule."""
        said = self._world.said_against(rule.example)
        first = SEPARATORS + len(said)
        blank = self._blank.get(id(said))
        if blank is None:
            places: dict[Feature, int] = {}
            where = [
                0 if reason is None else places.setdefault(reason, first + 3 * len(places))
                for reason in said
            ]
            cells = np.zeros(first + 3 * len(places), dtype=np.int64)
            cells[SEPARATORS:first] = where
            blank = self._blank[id(said)] = cells, places, said
        table = blank[0].copy()
        table[first::3] = self._rules.tolerates(rule, None)  # of all not named yet
        made = _Table(rule, self._tape.hold(table), table.data, blank[1])
        made.cells[SLACK], made.cells[SAID] = self._rules.slack(rule), len(self._made)
        for feature in rule.counts:
            if feature in made.places:
                made.cells[made.places[feature]] = self._rules.tolerates(rule, feature)
        self._made.append(made)
        self._tables[rule.number] = made
        self._tape.set(TABLE, made.address, rule.slot)
        if self._reasons is not None:
            self._reasons.introduce(made.cells, rule.example, rule)
            counters = {f: made.address + 8 * place for f, place in made.places.items()}
            self._reasons.adopt(rule, counters)

    def settle(self, start: int) -> None:
        """Tell the learner, whose next round is `start`, what the kernel counted."""
        logged = self._tape.get(LOGGED)
        if not logged:
            return
        before, touches = self._rules.rounds - start + 1, self._touches
        for number in range(0, 2 * self._tape.get(TOUCHED), 2):
            table, place = self._made[touches[number]], touches[number + 1]
            feature, cells, place = self._counter(table, place)
            self._rules.tally(table.rule, feature, cells[place + 1], before + cells[place + 2])
            cells[place + 1] = 0
        log = self._log[:logged]
        self._taken.append(log[:, :2].copy())
        self._tape.set(TOUCHED, 0)
        self._tape.set(LOGGED, 0)
        if self._reasons is not None:
            self._reasons.said(log)

    def _counter(self, table: _Table, place: int) -> tuple[Feature, Any, int]:
        """What is counted at a place seen from a table, and where that is."""
        if 0 < place < len(table.cells):
            return table.reasons[(place - table.first) // 3], table.cells, place
        assert self._reasons is not None
        return self._reasons.counter(table.address + 8 * place)

    def guesses(self) -> dict[int, Guess]:
        """The rounds that were only counted, and the guess in each."""
        if not self._taken:
            return {}
        pairs = np.concatenate(self._taken).tolist()
        guesses = [*(table.rule.guess for table in self._made), self._rules.default]
        return {number: guesses[guess] for number, guess in pairs}


class _Table:
    """The table of a rule, and where its counters are."""

    __slots__ = ("address", "cells", "first", "places", "reasons", "rule")

    def __init__(self, rule: Any, address: int, cells: Any, places: dict[Feature, int]) -> None:
        self.rule, self.address, self.cells, self.places = rule, address, cells, places
        self.reasons = list(places)
        self.first = next(iter(places.values()), 0)
