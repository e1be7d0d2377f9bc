"""A world: items in their order, the truth about them, and how a teacher answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from tellapart.columns import Words, pack
from tellapart.model import Holds, Not, holds, truth
from tellapart.protocol import Feature, Item, Label
from tellapart.teachers import FromRepresentation, LabelOf
from tellapart.theory.representation import Representation


class World(ABC):
    """Items, labels, and what the teacher has in mind."""

    name: str
    """What it is, with every parameter that made it."""
    items: Sequence[Item]
    labels: Sequence[Label]
    """The truth, exceptions included."""
    representation: Representation
    """The components in the teacher's mind."""
    features: Sequence[Feature]
    """What a teacher might look at. Learners never enumerate features."""
    exceptions: Sequence[int]
    """M: the positions of the exceptions."""
    m: int
    """How many components the teacher has in mind."""
    k: int
    """How many exceptions there are."""
    s: int
    """How many exceptions, at most, name the same feature against the same component."""

    @abstractmethod
    def teacher(self) -> FromRepresentation:
        """A fresh teacher who has this world's representation in mind."""

    @abstractmethod
    def truth(self, feature: Feature) -> Words:
        """Where `feature` holds, as a packed column."""

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self)} items, m={self.m}, k={self.k}, s={self.s}>"


class Listed(World):
    """A world whose items are given one by one.

    Parameters
    ----------
    s : int, default=1
        At most this many exceptions name the same feature against the same component.

    >>> from tellapart.theory.representation import Component
    >>> birds = Representation((Component("bird"),))
    >>> Listed("birds", [{"wings"}, {"milk"}], ["bird", "mammal"], birds, features=["wings"])
    <birds: 2 items, m=1, k=1, s=1>
    """

    def __init__(
        self,
        name: str,
        items: Sequence[Item],
        labels: Sequence[Label],
        representation: Representation,
        *,
        features: Sequence[Feature],
        s: int = 1,
        reading: Holds = holds,
    ) -> None:
        self.name, self.items, self.labels = name, items, labels
        self.representation, self.features, self.reading = representation, features, reading
        self.exceptions = representation.exceptions(items, labels)
        self.m, self.k = representation.m, len(self.exceptions)
        self.s = min(s, self.k)
        self._columns: dict[Feature, Words] = {}

    def teacher(self) -> FromRepresentation:
        """A fresh teacher; of an exception it says the first thing that differs."""
        return FromRepresentation(
            self.representation,
            LabelOf(self.items, self.labels),
            reasons=self._what_differs,
            m=self.m,
            k=self.k,
            s=self.s,
        )

    def truth(self, feature: Feature) -> Words:
        """Where `feature` holds, as a packed column; worked out once and kept."""
        if feature not in self._columns:
            self._columns[feature] = pack(truth(feature, x, self.reading) for x in self.items)
        return self._columns[feature]

    def _what_differs(self, item: Item, example: Item) -> Iterable[Feature]:
        for feature in self.features:
            yield feature if truth(feature, item, self.reading) else Not(feature)
