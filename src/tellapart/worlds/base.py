"""A world: items in their order, the truth about them, and how a teacher answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from tellapart.columns import Labels, Words, pack, unpack
from tellapart.model import Holds, Not, holds, tells, truth
from tellapart.protocol import Feature, Item, Label
from tellapart.representations.representation import Representation
from tellapart.teachers import FromRepresentation, LabelOf


class View(Sequence[Any]):
    """A sequence that makes its members when asked for them."""

    def __init__(self, length: int, member: Callable[[int], Any]) -> None:
        self._length, self._member = length, member

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if type(index) is int and 0 <= index < self._length:
            return self._member(index)
        if isinstance(index, slice):
            return [self._member(i) for i in range(*index.indices(self._length))]
        if not -self._length <= index < self._length:
            raise IndexError(f"there are {self._length} items, asked for number {index}")
        return self._member(index % self._length)

    def __iter__(self) -> Iterator[Any]:
        return map(self._member, range(self._length))


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
    """How many rounds hold an exception (as many as exceptions, where items never return)."""
    s: int
    """How many exceptions, at most, name the same feature against the same component."""

    @abstractmethod
    def teacher(self) -> FromRepresentation:
        """A fresh teacher who has this world's representation in mind."""

    @abstractmethod
    def truth(self, feature: Feature) -> Words:
        """Where `feature` holds, as a packed column."""

    @cached_property
    def packed_labels(self) -> Labels:
        """What the teacher calls each item, packed."""
        return Labels.of(list(map(self.teacher().label_of, self.items)))

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self)} items, m={self.m}, k={self.k}, s={self.s}>"


class Listed(World):
    """A world whose items are given one by one, each met once, or as often as `order` says.

    Parameters
    ----------
    items, labels : sequences
        The items, all different, and the truth about them.
    order : array of int, optional
        The stream, as positions in `items`. By default each item once.
    s : int, default=1
        At most this many exceptions name the same feature against the same component.
    reasons : (item, example) -> features, optional
        What the teacher says of exceptions, if it tells the two apart; by default the first of
        `features` that does.
    component_of : item -> number, default=representation.component
        G(x), where there is a faster way.
    truths : feature -> packed column over `items`, optional
        Where a feature holds, where there is a faster way than asking every item.

    >>> from tellapart.representations.representation import Component
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
        order: npt.NDArray[np.integer[Any]] | None = None,
        s: int = 1,
        reasons: Callable[[Item, Item], Iterable[Feature]] | None = None,
        reading: Holds = holds,
        component_of: Callable[[Item], int | None] | None = None,
        truths: Callable[[Feature], Words] | None = None,
    ) -> None:
        self.name, self.representation, self.reading = name, representation, reading
        self.features = features
        self._distinct, self._truths, self._order = items, labels, order
        home = self._component_of = component_of or representation.component
        self._column = truths or self._ask
        usual = dict[int | None, Label](enumerate(part.label for part in representation.components))
        pairs = enumerate(zip(items, labels, strict=True))
        odd = [n for n, (item, label) in pairs if usual.get(home(item)) != label]
        if order is None:
            self.items, self.labels, self.exceptions = items, labels, odd
        else:
            self.items = View(len(order), lambda n: items[order[n]])
            self.labels = View(len(order), lambda n: labels[order[n]])
            self.exceptions = np.flatnonzero(np.isin(order, odd)).tolist()
        self.m, self.k = representation.m, len(self.exceptions)
        self.s = min(s, self.k)
        self._reasons = reasons
        self._columns: dict[Feature, Words] = {}

    def teacher(self) -> FromRepresentation:
        return FromRepresentation(
            self.representation,
            LabelOf(self._distinct, self._truths),
            component_of=self._component_of,
            reasons=self._telling,
            k=self.k,
            s=self.s,
        )

    def truth(self, feature: Feature) -> Words:
        if feature not in self._columns:
            column = self._column(feature)
            if self._order is not None:
                column = pack(unpack(column, len(self._distinct))[self._order])
            self._columns[feature] = column
        return self._columns[feature]

    def _ask(self, feature: Feature) -> Words:
        held = (truth(feature, item, self.reading) for item in self._distinct)
        return pack(np.fromiter(held, dtype=np.bool_))

    @cached_property
    def packed_labels(self) -> Labels:
        distinct = Labels.of(list(map(LabelOf(self._distinct, self._truths), self._distinct)))
        if self._order is None:
            return distinct
        return Labels(distinct.names, distinct.codes[self._order])

    def _telling(self, item: Item, example: Item) -> Iterable[Feature]:
        """Of `reasons`, or of all features and their negations, those that tell the two apart."""
        if self._reasons is None:
            said: Iterable[Feature] = (f for name in self.features for f in (name, Not(name)))
        else:
            said = self._reasons(item, example)
        return (feature for feature in said if tells(feature, item, example, self.reading))
