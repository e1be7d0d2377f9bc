"""Members that are made when they are asked for: a snapshot holds too many to make all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableSequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from tellapart.sessions.events import Event
    from tellapart.sessions.state import Question

T = TypeVar("T")


class Lazy(MutableSequence[T]):
    """A list whose first members are made when they are asked for.

    >>> squares = Lazy(3, lambda n: n * n)
    >>> squares.append(9)
    >>> squares[2], list(squares), len(squares)
    (4, [0, 1, 4, 9], 4)
    >>> del squares[2:]
    >>> list(squares)
    [0, 1]
    """

    def __init__(self, count: int, make: Callable[[int], T]) -> None:
        self._count, self._make = count, make
        self._made: dict[int, T] = {}
        self._more: list[T] = []

    def __len__(self) -> int:
        return self._count + len(self._more)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> list[T]: ...
    def __getitem__(self, at: int | slice) -> T | list[T]:
        if isinstance(at, slice):
            return [self[n] for n in range(*at.indices(len(self)))]
        if at < 0:
            at += len(self)
        if at >= self._count:
            return self._more[at - self._count]
        if at < 0:
            raise IndexError(at)
        found = self._made.get(at)
        if found is None:
            found = self._made[at] = self._make(at)
        return found

    def append(self, value: T) -> None:
        self._more.append(value)

    def insert(self, at: int, value: T) -> None:
        if at != len(self):
            raise IndexError("members are added at the end")
        self._more.append(value)

    def __setitem__(self, at: Any, value: Any) -> None:
        raise TypeError("members are not replaced")

    def __delitem__(self, at: int | slice) -> None:
        if not isinstance(at, slice) or at.stop is not None or at.step is not None:
            raise TypeError("members are removed at the end")
        start = range(len(self))[at].start
        del self._more[max(0, start - self._count) :]
        if start < self._count:
            self._count = start
            self._made = {n: one for n, one in self._made.items() if n < start}


class LazyQuestions:
    """Questions by their ids; those of a snapshot are made when they are asked for."""

    def __init__(
        self,
        index: dict[str, int] | None = None,
        make: Callable[[int], Question] | None = None,
    ) -> None:
        self._index, self._make = index or {}, make
        self._made: dict[str, Question] = {}

    def get(self, id: str) -> Question | None:
        found = self._made.get(id)
        if found is None and self._make is not None and id in self._index:
            found = self._made[id] = self._make(self._index[id])
        return found

    def __getitem__(self, id: str) -> Question:
        found = self.get(id)
        if found is None:
            raise KeyError(id)
        return found

    def __setitem__(self, id: str, question: Question) -> None:
        self._made[id] = question

    def values(self) -> Iterator[Question]:
        for known in [*self._index, *(one for one in self._made if one not in self._index)]:
            yield self[known]


class LazyEvents:
    """Events by their ids; those before a snapshot are read from the log."""

    def __init__(
        self,
        index: dict[str, int] | None = None,
        read: Callable[[int], Event] | None = None,
    ) -> None:
        self.index, self._read = {} if index is None else index, read
        """The numbers of all events by their ids."""
        self._known: dict[str, Event] = {}

    def get(self, id: str) -> Event | None:
        found = self._known.get(id)
        if found is None and self._read is not None and id in self.index:
            found = self._known[id] = self._read(self.index[id])
        return found

    def __getitem__(self, id: str) -> Event:
        found = self.get(id)
        if found is None:
            raise KeyError(id)
        return found

    def __contains__(self, id: object) -> bool:
        return id in self.index

    def __setitem__(self, id: str, event: Event) -> None:
        self._known[id] = event
        self.index[id] = event.number
