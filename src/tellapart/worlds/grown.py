"""A world made from labelled items: the teacher has a decision tree in mind that fits them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log2

import numpy as np
import numpy.typing as npt

from tellapart.columns import Words, unpack
from tellapart.errors import ParameterError, check
from tellapart.model import Holds, Literal, holds, truth
from tellapart.protocol import Feature, Item, Label
from tellapart.representations.representation import Component, Representation
from tellapart.worlds.base import Listed

_Floats = npt.NDArray[np.float32]


def grown(
    items: Sequence[Item],
    labels: Sequence[Label],
    features: Sequence[Feature],
    components: int | None = None,
    *,
    name: str = "grown",
    reading: Holds = holds,
    truths: Callable[[Feature], Words] | None = None,
) -> Listed:
    """Items in their order, and a tree over `features` whose leaves are the components.

    The tree is grown leaf by leaf, at each step by the split that saves most bits in telling the
    labels. The items that are not of their leaf's label are the exceptions.

    Parameters
    ----------
    items, labels : sequences
        The items, all different, and the truth about them. Give items that may be alike and differ
        in label an identity of their own.
    features : sequence of features
        What the tree may split on.
    components : int, optional
        The most leaves. By default the tree stops when no split saves more bits than it takes to
        write it down: which feature, and one more label.
    name : str, default="grown"
        What the world is called.
    reading : (feature, item) -> bool, optional
        Whether a feature holds on an item.
    truths : feature -> packed column over `items`, optional
        Where a feature holds, such as `table.truth`; by default every item is asked.

    >>> from tellapart.worlds import zoo
    >>> animals = zoo()
    >>> grown(animals.items, animals.labels, animals.features, components=7)
    <grown: 101 items, m=7, k=4, s=1>
    """
    if components is not None:
        check("grown", "components", components, "an integer >= 1", lambda v: v >= 1)
    if not items:
        raise ParameterError("grown: there are no items to grow a tree on")
    names = list(dict.fromkeys(labels))
    codes = {label: code for code, label in enumerate(names)}
    is_label = np.eye(len(names), dtype=np.float32)[[codes[label] for label in labels]]
    has = np.empty((len(items), len(features)), dtype=np.float32)
    for number, feature in enumerate(features):
        if truths is None:
            has[:, number] = [truth(feature, item, reading) for item in items]
        else:
            has[:, number] = unpack(truths(feature), len(items))
    price = log2(max(1, len(features))) + log2(len(names)) if components is None else 0.0
    leaves: list[tuple[tuple[Literal, ...], npt.NDArray[np.intp]]] = [((), np.arange(len(items)))]
    splits = [_best_split(has, is_label)]
    while components is None or len(leaves) < components:
        number = max(range(len(leaves)), key=lambda n: splits[n][0])
        saved, column = splits[number]
        if saved <= price + 1e-3:
            break
        path, members = leaves[number]
        inside = has[members, column] > 0
        halves = [
            ((*path, Literal(features[column], wanted)), members[inside == wanted])
            for wanted in (True, False)
        ]
        leaves[number : number + 1] = halves
        splits[number : number + 1] = [_best_split(has[m], is_label[m]) for _, m in halves]
    parts = tuple(
        Component(names[int(is_label[members].sum(axis=0).argmax())], path)
        for path, members in leaves
    )
    tree = Representation(parts, reading=reading)
    k = sum(len(members) - int(is_label[members].sum(axis=0).max()) for _, members in leaves)
    similar = max(1, -(-k // max(1, len(features))))
    return Listed(
        name, items, labels, tree, features=features, s=similar, reading=reading, truths=truths
    )


def _best_split(has: _Floats, is_label: _Floats) -> tuple[float, int]:
    """How many bits the best column saves in telling the labels, and which column it is."""
    if not has.shape[1]:
        return 0.0, 0
    whole = is_label.sum(axis=0)
    with_it = has.T @ is_label  # by column and label
    saved = _bits(whole) - _bits(with_it) - _bits(whole - with_it)
    inside = with_it.sum(axis=1)
    saved[(inside == 0) | (inside == len(has))] = 0.0  # no split at all, whatever rounding says
    column = int(saved.argmax())
    return float(saved[column]), column


def _bits(counts: _Floats) -> npt.NDArray[np.float64]:
    """The bits to encode the labels, given how many there are of each: n times their entropy."""
    exact = counts.astype(np.float64)
    share = exact / np.maximum(exact.sum(axis=-1, keepdims=True), 1)
    bits: npt.NDArray[np.float64] = -(exact * np.log2(np.where(share > 0, share, 1))).sum(axis=-1)
    return bits
