"""A teacher who makes exceptions where they cost the learner most."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from tellapart import codec
from tellapart.errors import check
from tellapart.protocol import Correction, Feature, Guess, Item, Label
from tellapart.representations.representation import Representation
from tellapart.teachers.from_representation import FromRepresentation


class Hostile(FromRepresentation):
    """Answer from a representation, but turn up to k items into exceptions, at the worst moments.

    An item becomes an exception, with a label of its own, when the learner falls back on its
    default: the rule it then makes is wrong about everything it covers. This is a quick and greedy
    adversary for long streams; `worst_case` finds the true worst case of small worlds.

    The lies stay: an item called odd once is odd whenever it comes back. Parameters are those of
    `FromRepresentation`; `k` is the number of lies, at most `s` of which name the same feature
    against the same component (k if not given), and `label_of` should have no exceptions of its
    own, or the bounds miss them.

    >>> from tellapart import CappedDFF, teach, worlds
    >>> world = worlds.tree(2000, 100, 4, 4, seed=1)
    >>> teacher = Hostile.of(world.teacher(), k=10)
    >>> lesson = teach(CappedDFF(m=4), teacher, world.items)
    >>> teacher.lies, lesson.mistakes, lesson.bound
    (10, 58, 59)
    """

    def __init__(
        self,
        representation: Representation,
        label_of: Callable[[Item], Label],
        k: int,
        s: int | None = None,
        *,
        component_of: Callable[[Item], int | None] | None = None,
        reasons: Callable[[Item, Item], Iterable[Feature]] | None = None,
    ) -> None:
        check("Hostile", "k", k, "an integer >= 0", lambda v: v >= 0)
        self._lies: dict[Hashable, Label] = {}
        self._first: Item = None
        super().__init__(
            representation,
            lambda item: self._lies.get(codec.identity(item)) or label_of(item),
            component_of=component_of,
            reasons=reasons,
            k=k,
            s=k if s is None else s,
        )

    @classmethod
    def of(cls, teacher: FromRepresentation, k: int, s: int | None = None) -> Hostile:
        """The hostile twin of a truthful teacher."""
        return cls(
            teacher.representation,
            teacher.label_of,
            k,
            s,
            component_of=teacher.component_of,
            reasons=teacher.reasons,
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
