"""Items, trees and separable DNFs to draw from."""

from __future__ import annotations

from itertools import product

from hypothesis import settings
from hypothesis import strategies as st

from tellapart.model import Literal
from tellapart.theory import (
    Component,
    Representation,
    Split,
)

quick = settings(derandomize=True, max_examples=60, deadline=None)
FEATURES = "abcd"


def corners(d: int) -> list[frozenset[str]]:
    """All items over the first d of FEATURES; the empty one comes first."""
    return [
        frozenset(name for name, bit in zip(FEATURES, bits, strict=False) if bit)
        for bits in product((0, 1), repeat=d)
    ]


def trees(d: int, labels: str = "xyz") -> st.SearchStrategy[object]:
    leaves = st.sampled_from(labels)
    names = st.sampled_from(FEATURES[:d])
    return st.recursive(leaves, lambda below: st.builds(Split, names, below, below), max_leaves=7)


@st.composite
def dnfs(draw: st.DrawFn, d: int) -> Representation:
    """A separable DNF, grown term by term; terms of one label may overlap."""
    literals = st.dictionaries(st.sampled_from(FEATURES[:d]), st.booleans(), max_size=d)
    kept: list[Component] = []
    for _ in range(draw(st.integers(1, 6))):
        term = Component(
            draw(st.sampled_from("xyz")),
            tuple(Literal(f, wanted) for f, wanted in draw(literals).items()),
        )
        if Representation((*kept, term)).check():
            kept.append(term)
    return Representation(tuple(kept))
