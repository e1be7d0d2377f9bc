"""Mistakes of a rule that change nothing but a count, taken many at a time.

A learner that wants several witnesses before it believes a reason (`RobustDFF`, `StRoDFF`) makes
most of its mistakes only to count them. What the teacher says of an ordinary item depends on its
component and on the example shown. So for each rule the kernel has a table: how many more mistakes
the rule can take, the number of its guess, for each component the place of a counter in the table
(0: none), and counters: how many more mistakes that reason can take, how many it took, and the
first of them. The mistakes so taken are put down in a log, the item and the guess of each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tellapart.columns.tape import LOG, LOGGED, MOST, TABLE, TOUCHED, TOUCHES, Tape
from tellapart.protocol import Feature, Guess


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
    """

    def __init__(self, rules: Any, world: Any, tape: Tape) -> None:
        self._rules, self._world, self._tape = rules, world, tape
        log = np.empty(2 * MOST, dtype=np.int64)
        self._log = log.reshape(MOST, 2)
        touches = np.empty(2 * MOST, dtype=np.int64)
        self._touches = touches.data
        self._tables: dict[int, _Table] = {}  # by number of a rule
        self._made: list[_Table] = []  # by number of its guess
        self._blank: dict[int, tuple[Any, dict[Feature, int], Any]] = {}  # by identity of the last
        self._taken: list[Any] = []  # parts of the log
        tape.set(LOG, tape.hold(log))
        tape.set(TOUCHES, tape.hold(touches))
        for rule in rules.rules:
            self._lay(rule)

    def refill(self, rule: Any, feature: Feature) -> bool:
        """Whether `rule` can take a mistake for which `feature` is named: time has gone by."""
        table = self._tables[rule.number]
        cells, place = table.cells, table.places[feature]
        cells[place] = self._rules.tolerates(rule, feature)
        if not cells[place]:
            return False
        cells[0] = self._rules.slack(rule)
        return cells[0] > 0  # type: ignore[no-any-return]

    def look(self, rule: Any, feature: Feature | None) -> None:
        """A round was told in which `rule` was told `feature`, or none: see what can be taken."""
        rules = self._rules
        if rule is None:
            rule = rules.rule(-1)
            if rule is not None and rule.number not in self._tables:
                self._lay(rule)
        elif rules.rule(rule.slot) is rule:
            table = self._tables[rule.number]
            self._tape.set(TABLE, table.address, rule.slot)  # slots may have been swept
            table.cells[0] = rules.slack(rule)
            if feature in table.places:
                table.cells[table.places[feature]] = 0  # till it is asked for

    def _lay(self, rule: Any) -> None:
        """Make the table of a rule."""
        said = self._world.said_against(rule.example)
        blank = self._blank.get(id(said))
        if blank is None:
            places: dict[Feature, int] = {}
            where = [
                0 if reason is None else places.setdefault(reason, 2 + len(said) + 3 * len(places))
                for reason in said
            ]
            cells = np.zeros(2 + len(said) + 3 * len(places), dtype=np.int64)
            cells[2 : 2 + len(said)] = where
            blank = self._blank[id(said)] = cells, places, said
        table = blank[0].copy()
        table[2 + len(said) :: 3] = self._rules.tolerates(rule, None)  # of all not named yet
        made = _Table(rule, self._tape.hold(table), table.data, blank[1])
        made.cells[0], made.cells[1] = self._rules.slack(rule), len(self._made)
        for feature in rule.counts:
            if feature in made.places:
                made.cells[made.places[feature]] = self._rules.tolerates(rule, feature)
        self._made.append(made)
        self._tables[rule.number] = made
        self._tape.set(TABLE, made.address, rule.slot)

    def settle(self, start: int) -> None:
        """Tell the learner, whose next round is `start`, what the kernel counted."""
        touched = self._tape.get(TOUCHED)
        if not touched:
            return
        before, touches = self._rules.rounds - start + 1, self._touches
        for number in range(0, 2 * touched, 2):
            table, place = self._made[touches[number]], touches[number + 1]
            cells = table.cells
            feature = table.reasons[(place - table.first) // 3]
            self._rules.tally(table.rule, feature, cells[place + 1], before + cells[place + 2])
            cells[place + 1] = 0
        self._taken.append(self._log[: self._tape.get(LOGGED)].copy())
        self._tape.set(TOUCHED, 0)
        self._tape.set(LOGGED, 0)

    def guesses(self) -> dict[int, Guess]:
        """The rounds that were only counted, and the guess in each."""
        if not self._taken:
            return {}
        pairs = np.concatenate(self._taken).tolist()
        return {number: self._made[guess].rule.guess for number, guess in pairs}


class _Table:
    """The table of a rule, and where its counters are."""

    __slots__ = ("address", "cells", "first", "places", "reasons", "rule")

    def __init__(self, rule: Any, address: int, cells: Any, places: dict[Feature, int]) -> None:
        self.rule, self.address, self.cells, self.places = rule, address, cells, places
        self.reasons = list(places)
        self.first = next(iter(places.values()), 0)
