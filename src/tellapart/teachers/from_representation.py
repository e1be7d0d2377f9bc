"""A teacher who answers from a representation."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from tellapart import codec
from tellapart.combinations import Is
from tellapart.errors import ParameterError
from tellapart.protocol import Correction, Feature, Guess, Item, Label
from tellapart.representations.representation import Representation


class FromRepresentation:
    """Answer from a representation: the same feature for the same pair of components, always.

    When neither the item nor the shown example is an exception, the feature is the separator of
    their components. When the item is an exception, it is the first of `reasons` that fewer than
    `s` other exceptions have named against the example's component; when there is none, "it is this
    very item" (`Is`). When only the example is an exception, the separator if the components'
    labels differ, else as before without the limit.

    Parameters
    ----------
    representation : Representation
        What the teacher has in mind.
    label_of : item -> label
        The truth, exceptions included.
    component_of : item -> number, default=representation.component
        G(x), where the teacher knows a faster way, or chooses otherwise among several components.
    reasons : (item, example) -> features, default none
        What the teacher may say when the components do not help: true of the item and not of the
        example.
    k, s : int, optional
        The facts of the world, for bounds. `s` is also the limit above: no more than `s` exceptions
        ever name the same feature against the same component.

    >>> from tellapart.model import Literal
    >>> from tellapart.representations.representation import Component
    >>> animals = Representation((Component("bird", (Literal("feathers"),)),
    ...                           Component("mammal", (Literal("feathers", False),))))
    >>> teacher = FromRepresentation(animals, animals.label)
    >>> teacher.answer({"feathers"}, Guess("mammal", {"milk"}))
    Correction(label='bird', feature='feathers')
    """

    def __init__(
        self,
        representation: Representation,
        label_of: Callable[[Item], Label],
        *,
        component_of: Callable[[Item], int | None] | None = None,
        reasons: Callable[[Item, Item], Iterable[Feature]] | None = None,
        k: int | None = None,
        s: int | None = None,
    ) -> None:
        self.representation, self.label_of, self.reasons = representation, label_of, reasons
        self.m, self.k, self.s = representation.m, k, s
        self.component_of = component_of or representation.component
        self._named: dict[tuple[int, Feature], set[Hashable]] = {}

    def answer(self, item: Item, guess: Guess) -> Correction | None:
        """The truth about `item`, with a feature against the shown example."""
        label = self.label_of(item)
        if guess.label == label:
            return None
        if guess.label is None:
            return Correction(label)
        return Correction(label, self._feature(item, label, guess.example))

    def _feature(self, item: Item, label: Label, example: Item) -> Feature:
        i, j = self._component(item), self._component(example)
        components = self.representation.components
        odd_item = label != components[i].label
        if not odd_item and components[i].label != components[j].label:
            feature = self.representation.separator(i, j)
            if feature is None:
                raise ParameterError(
                    f"the representation is not legal: no feature separates component {i}"
                    f" ({components[i]}) from component {j} ({components[j]})"
                )
            return feature
        odd_example = self.label_of(example) != components[j].label
        return self._reason(item, example, j if odd_item and not odd_example else None)

    def _reason(self, item: Item, example: Item, against: int | None) -> Feature:
        """Something true of `item` and not of `example`, said by few others `against` it."""
        key = codec.identity(item)
        for feature in self.reasons(item, example) if self.reasons else ():
            if against is None:
                return feature
            named = self._named.setdefault((against, feature), set())
            if self.s is None or len(named) < self.s or key in named:
                named.add(key)
                return feature
        return Is(item)

    def _component(self, item: Item) -> int:
        number = self.component_of(item)
        if number is None:
            raise ParameterError(f"the representation is not legal: no component contains {item!r}")
        return number
