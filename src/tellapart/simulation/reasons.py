"""The counters of reasons that `thinking` thought of, as seen from Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from tellapart.protocol import Feature, Item
from tellapart.simulation.mind import Mind, reason
from tellapart.simulation.tape import (
    AGAINST,
    COUNTERS,
    ENTRIES,
    ENTRY,
    EXAMPLE,
    KIND,
    MIND,
    NUMBER,
    OWNER,
    OWNERS,
    USED,
    Tape,
)

_ROOM = 1024  # entries, to begin with; a power of two


class Reasons:
    """What each rule can take of each reason, and how often the teacher may still name it.

    Parameters
    ----------
    mind : Mind
        How the teacher thinks.
    rules, world, tape, teacher
        Those of `Solo` and `Patience`.
    """

    def __init__(self, mind: Mind, rules: Any, world: Any, tape: Tape, teacher: Any) -> None:
        self._mind, self._rules, self._world = mind, rules, world
        self._tape, self._teacher = tape, teacher
        self._owners: dict[int, Any] = {}
        self._elsewhere: dict[int, dict[Feature, int]] = {}  # counters in the tables of rules
        tape.cells[MIND] = tape.hold(mind.cells())
        self._lay_out(_ROOM)

    def introduce(self, table: Any, example: Item, rule: Any = None) -> None:
        """Let the kernel think when `example` is shown: of a rule, or of the default."""
        home = self._world.home(example)
        if home is None:
            table[EXAMPLE] = -1
            return
        table[EXAMPLE], table[KIND], odd = home
        table[AGAINST] = 0 if odd else 1 + table[KIND]
        if rule is not None:
            table[OWNER] = self._owner(rule)

    def adopt(self, rule: Any, counters: dict[Feature, int]) -> None:
        """Take in the counters of a rule: addresses of those in its table, and any others."""
        owner = self._owner(rule)
        self._owners[owner], self._elsewhere[owner] = rule, counters
        for feature, address in counters.items():
            self._keep(owner, feature, address, 0, 0, 0)
        for feature in rule.counts:
            self.take(rule, feature)

    def take(self, rule: Any, feature: Feature) -> None:
        """Take in how often `rule` was told a reason."""
        count, first = rule.counts.get(feature, (0, 0))
        self._keep(self._owner(rule), feature, 0, 0, count, first)

    def hear(self, example: Item, feature: Feature | None) -> None:
        """The teacher himself was asked, and named `feature` against `example`."""
        home = self._world.home(example)
        if home is not None and feature is not None:
            self._limit(home[1], feature)
        self._make_room()

    def think(self, number: int, component: int, example: Item, ordinary: bool) -> Feature | None:
        """What the teacher says of item `number`; None if he must be asked himself.

        If it is an exception, what he said is taken down.
        """
        home = self._world.home(example)
        if home is None:
            return None
        against = 0 if ordinary or home[2] else 1 + home[1]
        code = self._tape.think(number, component, home[0], home[1], against)
        if code < 0:
            return None
        feature = reason(code)
        if against:
            self._tape.name(against, code)
            self._teacher.said(self._world.items[number], feature, home[1])
        return feature

    def counter(self, address: int) -> tuple[Feature, Any, int]:
        """Of a counter: its reason, and where it is, as cells and a place in them."""
        place = (address - self._address) >> 3
        return reason(self._cells[place - 2] & (1 << OWNERS) - 1), self._cells, place

    def said(self, log: Any) -> None:
        """Tell the teacher what was said of exceptions, in the words of the log."""
        items, teacher = self._world.items, self._teacher
        below = (1 << NUMBER) - 1
        for item, said in log[log[:, 1] > below].tolist():
            teacher.said(items[item & below], reason(said & below), (said >> NUMBER) - 1)

    def _make_room(self) -> None:
        """If half of the entries are in use, begin anew, with what is still of use."""
        if 2 * self._cells[USED] > self._cells[0]:
            self._lay_out(4 * (self._cells[0] + 1))

    def _owner(self, rule: Any) -> int:
        owner: int = self._world.m + rule.number
        return owner

    def _limit(self, component: int, feature: Feature) -> None:
        self._keep(1 + component, feature, 0, self._teacher.left(component, feature), 0, 0)

    def _keep(self, owner: int, feature: Feature, address: int, *counter: int) -> None:
        """Keep a counter: elsewhere, or here, with LEFT, COUNT and FIRST."""
        code = self._mind.code(feature)
        if code >= 0:
            # (without room the kernel will not ask until there is)
            self._tape.keep(self._address, owner, code, address, *counter)

    def _lay_out(self, room: int) -> None:
        cells = np.zeros(ENTRIES + ENTRY * room, dtype=np.int64)
        self._cells, self._address = cells.data, self._tape.hold(cells)
        self._cells[0] = room - 1
        self._tape.cells[COUNTERS] = self._address
        for component, feature in self._teacher.names():
            self._limit(component, feature)
        before, self._owners = self._owners, {}
        for owner, rule in before.items():
            if self._rules.rule(rule.slot) is rule:
                self.adopt(rule, self._elsewhere[owner])
