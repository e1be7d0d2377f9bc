"""A teacher who makes exceptions where they cost the learner most."""

from __future__ import annotations

from collections.abc import Hashable

from tellapart import codec
from tellapart.errors import check
from tellapart.protocol import Correction, Guess, Item, Label
from tellapart.teachers.from_representation import FromRepresentation


class Hostile(FromRepresentation):
    """Another teacher's answers, but up to k items become exceptions, at the worst moments.

    An item becomes an exception, with a label of its own, when the learner falls back on its
    default: the rule it then makes is wrong about everything it covers. This is a quick and greedy
    adversary for long streams; `worst_case` finds the true worst case of small worlds. An item
    called odd once is odd whenever it comes back.

    Parameters
    ----------
    teacher : FromRepresentation
        Who answers; should have no exceptions of its own, or the bounds miss them.
    k : int
        How many lies there are at most.
    s : int, default=k
        How many of them, at most, name the same feature against the same component.

    >>> from tellapart import CappedDFF, teach, worlds
    >>> world = worlds.tree(2000, 100, 4, 4, seed=1)
    >>> teacher = Hostile(world.teacher(), k=10)
    >>> lesson = teach(CappedDFF(m=4), teacher, world.items)
    >>> teacher.lies, lesson.mistakes, lesson.bound
    (10, 58, 59)
    """

    def __init__(self, teacher: FromRepresentation, k: int, s: int | None = None) -> None:
        check("Hostile", "k", k, "an integer >= 0", lambda v: v >= 0)
        self._lies: dict[Hashable, Label] = {}
        self._first: Item = None
        super().__init__(
            teacher.representation,
            lambda item: self._lies.get(codec.identity(item)) or teacher.label_of(item),
            component_of=teacher.component_of,
            reasons=teacher.reasons,
            k=k,
            s=k if s is None else s,
        )

    @property
    def lies(self) -> int:
        """How many lies were told so far."""
        return len(self._lies)

    def answer(self, item: Item, guess: Guess) -> Correction | None:
        """The truth, or a lie where the learner is about to make a rule."""
        if guess.label is None:
            self._first = item
        elif guess.example == self._first and self.lies < (self.k or 0):
            key = codec.identity(item)
            if key not in self._lies and key != codec.identity(self._first):
                self._lies[key] = f"exception {self.lies + 1}"
        return super().answer(item, guess)
