"""Who has which item: leases, and the queues of items that come back.

An item is leased to one teacher at a time. A lease ends with the answer, or when its time is up;
the clock is asked only when somebody wants an item, so that the same log gives the same desk.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Mapping
from itertools import islice

from tellapart.sessions.acts import Shown
from tellapart.sessions.order import Line

LATER = 20
"""A skipped item comes back after so many acts, then after twice as many, and so on."""
_GLANCE = 50  # so many of a queue are looked at while there are fresh items


class Desk:
    """Leases and queues of a session.

    `opinions` tells who has said what of an item: teacher -> answer. `shared` tells whether an
    item should have two opinions.
    """

    def __init__(
        self, opinions: Callable[[int], Mapping[str, str]], shared: Callable[[int], bool]
    ) -> None:
        self._opinions, self._shared = opinions, shared
        self.leases: dict[int, Shown] = {}
        self.held: dict[str, Shown] = {}
        """What each teacher has before them."""
        self.seen: set[int] = set()
        self.returning: dict[int, int] = {}
        """Items that come back, and after how many acts."""
        self._skips: dict[int, int] = {}
        self._back: dict[str, list[int]] = {}
        self._second: dict[str, deque[int]] = {}
        self._ends: list[tuple[float, int, str, int]] = []
        self._given = 0

    # -- what happens

    def give(self, shown: Shown) -> None:
        """A teacher gets an item."""
        self.leave(shown.teacher)
        before = self.leases.get(shown.place)
        if before is not None:  # its time was up
            self.leave(before.teacher)
        self.seen.add(shown.place)
        self.returning.pop(shown.place, None)
        self.leases[shown.place] = self.held[shown.teacher] = shown
        self._given += 1  # leases that end together end in the order they began
        heapq.heappush(self._ends, (shown.until, self._given, shown.id, shown.place))

    def leave(self, teacher: str) -> None:
        """A teacher no longer has an item."""
        shown = self.held.pop(teacher, None)
        if shown is not None and self.leases.get(shown.place) is shown:
            del self.leases[shown.place]
            self.file(shown.place)

    def expire(self, now: float) -> None:
        """End the leases whose time is up."""
        while self._ends and self._ends[0][0] <= now:
            _, _, given, place = heapq.heappop(self._ends)
            shown = self.leases.get(place)
            if shown is not None and shown.id == given:
                self.leave(shown.teacher)

    def skip(self, place: int, acts: int) -> None:
        """An item is to come back later."""
        for stack in self._back.values():  # also one whose answer was taken back
            if place in stack:
                stack.remove(place)
        times = self._skips[place] = self._skips.get(place, 0) + 1
        self.returning[place] = acts + (LATER << min(times - 1, 20))

    def undo(self, teacher: str, place: int, acts: int) -> None:
        """A teacher took an answer back: to them the item comes first, to others a little later."""
        self._back.setdefault(teacher, []).append(place)
        self.returning.setdefault(place, acts + LATER)

    def file(self, place: int) -> None:
        """Put an item into the queue where it belongs now."""
        opinions = self._opinions(place)
        if not opinions:
            self.returning.setdefault(place, 0)
            return
        self.returning.pop(place, None)
        if len(opinions) == 1 and self._wanted(place, opinions):
            self._second.setdefault(next(iter(opinions)), deque()).append(place)

    # -- who may have what

    def _wanted(self, place: int, opinions: Mapping[str, str]) -> bool:
        """Whether another opinion is wanted of an item."""
        if len(opinions) >= 2:
            return False
        return self._shared(place) or all(said == "unsure" for said in opinions.values())

    def free(self, place: int, teacher: str) -> bool:
        """Whether an item may be given to a teacher as one to be answered."""
        if place in self.leases:
            return False
        opinions = self._opinions(place)
        return not opinions or (teacher not in opinions and self._wanted(place, opinions))

    def own(self, teacher: str) -> int | None:
        """An item the teacher has taken an answer back on."""
        stack = self._back.get(teacher, [])
        while stack:
            place = stack[-1]
            if self.free(place, teacher):
                return place
            stack.pop()
        return None

    def due(self, place: int, acts: int) -> bool:
        """Whether an item that was put off may come again."""
        return self.returning.get(place, 0) <= acts

    def back(self, teacher: str, acts: int | None) -> int | None:
        """An item that came back; with `acts` None, whether it is time or not."""
        glance = None if acts is None else _GLANCE
        for place in islice(self.returning, glance):
            if (acts is None or self.returning[place] <= acts) and self.free(place, teacher):
                return place
        return None

    def second(self, teacher: str, acts: int) -> int | None:
        """An item that wants a second opinion."""
        for first, queue in self._second.items():
            if first == teacher:
                continue
            while queue:
                if self.free(queue[0], teacher) and self.due(queue[0], acts):
                    return queue[0]
                queue.popleft()  # if it is leased or put off, it comes back by other ways
        return None

    def fresh(
        self, line: Line, doubt: Callable[[list[int]], list[float]] | None = None
    ) -> int | None:
        """An item nobody has seen."""
        return line.next(self.seen, doubt)
