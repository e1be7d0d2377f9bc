"""Mistakes of a rule that change nothing but a count, taken many at a time.

A learner that wants several witnesses before it believes a reason (`RobustDFF`, `StRoDFF`) makes
most of its mistakes only to count them. What the teacher says of an ordinary item depends on its
component and on the example shown. So for each rule the kernel has a table: how many more mistakes
the rule can take, the number of its guess, for each component the address of a counter (0: none),
and counters: how many more mistakes that reason can take, how many it took, and the first of them.
The mistakes so taken are put down in a log, the item and the guess of each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tellapart.columns.tape import (
    COMPONENT_DIGITS,
    COMPONENTS,
    LOG,
    LOGGED,
    MOST,
    TABLE,
    TOUCHED,
    TOUCHES,
    Tape,
)
from tellapart.protocol import Correction, Feature, Guess


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
        touches = np.empty(MOST, dtype=np.int64)
        self._touches = touches.data
        self._tables: dict[int, tuple[int, Any, dict[Feature, int]]] = {}  # by number of a rule
        self._counters: dict[int, tuple[Any, Feature, Any, int]] = {}  # by address
        self._guesses: list[Guess] = []
        self._taken: list[Any] = []  # parts of the log
        tape.set(LOG, tape.hold(log))
        tape.set(TOUCHES, tape.hold(touches))
        tape.set(COMPONENT_DIGITS, len(world.components.planes))
        for digit, plane in enumerate(world.components.planes):
            tape.set(COMPONENTS + digit, tape.hold(plane))
        for rule in rules.rules:
            self._lay(rule)

    def look(self, rule: Any, correction: Correction | None) -> None:
        """A round was told in which `rule` guessed, or none: see what can be taken now."""
        rules = self._rules
        if rule is None:
            rule = rules.rule(-1)
            if rule is not None and rule.number not in self._tables:
                self._lay(rule)
        elif correction is not None and rules.rule(rule.slot) is rule:
            address, cells, places = self._tables[rule.number]
            self._tape.set(TABLE, address, rule.slot)  # slots may have been swept
            cells[0] = rules.slack(rule)
            if correction.feature in places:
                place = places[correction.feature]
                cells[place] = rules.tolerates(rule, correction.feature)

    def _lay(self, rule: Any) -> None:
        """Make the table of a rule."""
        said = self._world.said_against(rule.example)
        places: dict[Feature, int] = {}
        for feature in said:
            if feature is not None:
                places.setdefault(feature, 2 + len(said) + 3 * len(places))
        table = np.zeros(2 + len(said) + 3 * len(places), dtype=np.int64)
        address, cells = self._tape.hold(table), table.data
        cells[0], cells[1] = self._rules.slack(rule), len(self._guesses)
        self._guesses.append(rule.guess)
        for component, feature in enumerate(said):
            if feature is not None:
                cells[2 + component] = address + 8 * places[feature]
        unnamed = self._rules.tolerates(rule, None)  # the same for all that were not named yet
        for feature, place in places.items():
            named = feature in rule.counts
            cells[place] = self._rules.tolerates(rule, feature) if named else unnamed
            self._counters[address + 8 * place] = (rule, feature, cells, place)
        self._tables[rule.number] = (address, cells, places)
        self._tape.set(TABLE, address, rule.slot)

    def settle(self, start: int) -> None:
        """Tell the learner, whose next round is `start`, what the kernel counted."""
        touched = self._tape.get(TOUCHED)
        if not touched:
            return
        before = self._rules.rounds - start + 1
        for number in range(touched):
            rule, feature, cells, place = self._counters[self._touches[number]]
            self._rules.tally(rule, feature, cells[place + 1], before + cells[place + 2])
            cells[place + 1] = 0
        self._taken.append(self._log[: self._tape.get(LOGGED)].copy())
        self._tape.set(TOUCHED, 0)
        self._tape.set(LOGGED, 0)

    def guesses(self) -> dict[int, Guess]:
        """The rounds that were only counted, and the guess in each."""
        if not self._taken:
            return {}
        pairs = np.concatenate(self._taken).tolist()
        return {number: self._guesses[guess] for number, guess in pairs}
