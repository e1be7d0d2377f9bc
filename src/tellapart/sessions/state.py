"""An open session in memory: what its log says, what was learnt from it, and who is asked next."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TypeVar

from tellapart.review import Stopper
from tellapart.sessions.config import read_stopper
from tellapart.sessions.events import Event
from tellapart.sessions.history import History
from tellapart.sessions.items import Items
from tellapart.sessions.kept_learner import unpack
from tellapart.sessions.learning import Learning, describe
from tellapart.sessions.queue import Queue
from tellapart.sessions.store import Kept

T = TypeVar("T")


class State:
    """What a log comes to. The learner follows when somebody asks for it."""

    def __init__(self, items: Items, events: Iterable[Event], kept: Kept | None = None) -> None:
        self.items = items
        self._trouble: dict[str, str] = {}
        self._clear_tags()
        self._read(events, 0 if kept is None else kept.number)
        self._learning = Learning(self.history, items)
        if kept is not None and items.missing is None:
            self._resume(kept)
        self._learning.follow()

    def _read(self, events: Iterable[Event], kept: int = 0) -> None:
        self.history = History(self.items.place)
        self.queue = Queue(self)
        self._acts_then = -1
        for event in events:
            self.take(event)
            if event.number == kept:  # the learner is known up to here: what changes after it?
                self._acts_then = self.history.changed_from = len(self.history.acts)

    def _resume(self, kept: Kept) -> None:
        """Go on from what the learner came to; if that cannot be read, from the beginning."""
        try:
            unpack(self._learning, kept.data, self._acts_then)
        except Exception as error:  # whatever is wrong with it: the log says it all
            logging.getLogger("tellapart").warning("the kept learner: %s", describe(error))
            self.history.changed_from = 0
            self._clear_tags()
            self._learning = Learning(self.history, self.items)

    def _clear_tags(self) -> None:
        """Tags are set as the log says."""
        if self.items.missing is not None:
            return
        for tag in self.items.table.tags.values():
            for place, _ in list(tag):
                tag.set(self.items.row(place), None)

    def take(self, event: Event) -> None:
        """Take an event in."""
        changed = self.history.take(event)
        self.queue.take(event, changed)

    def read_again(self, events: Iterable[Event]) -> None:
        """Forget what was not written: these are all events there are."""
        self._read(events)
        self._learning.move_to(self.history)
        self._learning.follow()

    @property
    def learning(self) -> Learning:
        """The learner, where the history is."""
        self._learning.follow()
        return self._learning

    def safely(self, what: str, work: Callable[[], T], default: T) -> T:
        """Do what nobody must wait for; if it fails, that is said, and the default is returned."""
        try:
            return work()
        except Exception as error:  # whatever it is: it must not be in the way of an answer
            found = describe(error)
            logging.getLogger("tellapart").warning("%s: %s", what, found)
            self._trouble[what] = found
            return default

    @property
    def trouble(self) -> list[str]:
        """What went wrong without stopping anybody, a line each; nothing of the table is in it."""
        more = [f"{what} are not known: {found}" for what, found in self._trouble.items()]
        return self.learning.trouble + more

    @property
    def stopper(self) -> Stopper | None:
        """When one may stop."""
        return read_stopper(self.history.settings.until)
