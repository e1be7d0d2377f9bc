"""Decision trees as representations: a component for each leaf.

Two leaves are separated by the split at their lowest common ancestor.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tellapart.errors import ParameterError
from tellapart.features import Above
from tellapart.model import Holds, Literal, Not, holds
from tellapart.protocol import Feature, Label
from tellapart.theory.representation import Component, Representation


@dataclass(frozen=True)
class Split:
    """An inner node of a tree: ask `feature`, go on in `yes` or `no`. Anything else is a leaf."""

    feature: Feature
    yes: Split | Label
    no: Split | Label


def from_tree(tree: Split | Label, *, reading: Holds = holds) -> Representation:
    """The representation of a decision tree, its leaves from "yes" to "no".

    A feature asked again further down is not asked again here: the branch that cannot be reached is
    left out.

    >>> animals = from_tree(Split("feathers", "bird", Split("milk", "mammal", "fish")))
    >>> print(animals)
    bird: feathers
    mammal: not feathers and milk
    fish: not feathers and not milk
    >>> animals.separator(2, 0), animals.separator(1, 2)
    (Not('feathers'), 'milk')
    """

    def ask(node: Split | Label) -> tuple[Feature, Split | Label, Split | Label] | None:
        return (node.feature, node.yes, node.no) if isinstance(node, Split) else None

    leaves = _leaves(tree, ask)
    return Representation(
        tuple(Component(label, literals) for label, literals in leaves), reading=reading
    )


def from_sklearn(
    model: Any, names: Sequence[str] | None = None, *, booleans: Collection[str] = ()
) -> Representation:
    """The representation of a fitted scikit-learn `DecisionTreeClassifier`.

    Items are mappings from column names to numbers; `representation.label(item)` is what `predict`
    says, for every float without missing values. (scikit-learn rounds values to 32 bits before it
    compares; the thresholds here are moved to where that rounding changes sides.)

    Parameters
    ----------
    names : column names, default=model.feature_names_in_
        In the order of the columns the tree was fitted on.
    booleans : column names
        Columns that are true or false (0 or 1): their splits become the plain name, all others
        `Above(name, threshold)`.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> rows = [[1, 2], [1, 0], [1, 4], [0, 4], [0, 0]]
    >>> labels = ["bird", "bird", "bird", "mammal", "fish"]
    >>> tree = DecisionTreeClassifier(random_state=0).fit(rows, labels)
    >>> print(from_sklearn(tree, ["feathers", "legs"], booleans=["feathers"]))
    bird: feathers
    mammal: not feathers and legs > 2
    fish: not feathers and not (legs > 2)
    """
    if not hasattr(model, "tree_") or not hasattr(model, "classes_"):
        raise ParameterError(
            f"from_sklearn: expected a fitted DecisionTreeClassifier, got {model!r};"
            " call its fit first, or use from_tree"
        )
    inner = model.tree_
    if inner.n_outputs != 1:
        raise ParameterError(f"from_sklearn: the tree has {inner.n_outputs} outputs, expected one")
    columns = getattr(model, "feature_names_in_", None) if names is None else names
    if columns is None:
        raise ParameterError("from_sklearn: the tree was fitted without column names; give names=")
    if len(columns) != inner.n_features:
        raise ParameterError(
            f"from_sklearn: the tree has {inner.n_features} columns, got {len(columns)} names"
        )
    labels = model.classes_.tolist()

    def ask(node: int) -> tuple[Feature, int, int] | None:
        left, right = int(inner.children_left[node]), int(inner.children_right[node])
        if left == right:
            return None
        name, threshold = str(columns[inner.feature[node]]), float(inner.threshold[node])
        if name not in booleans:
            return Above(name, _before_rounding(threshold)), right, left
        if not 0 <= threshold < 1:
            raise ParameterError(
                f"from_sklearn: {name!r} is in booleans, but the tree splits it at {threshold}"
            )
        return name, right, left

    return Representation(
        tuple(
            Component(labels[int(inner.value[leaf, 0].argmax())], literals)
            for leaf, literals in _leaves(0, ask)
        )
    )


def _leaves(
    root: Any, ask: Callable[[Any], tuple[Feature, Any, Any] | None]
) -> Iterator[tuple[Any, tuple[Literal, ...]]]:
    """Every leaf that can be reached, with the literals on the way to it; "yes" comes first."""
    waiting: list[tuple[Any, dict[Feature, bool]]] = [(root, {})]
    while waiting:
        node, path = waiting.pop()
        split = ask(node)
        if split is None:
            yield node, tuple(Literal(feature, wanted) for feature, wanted in path.items())
            continue
        feature, yes, no = split
        if isinstance(feature, Not):
            feature, yes, no = feature.feature, no, yes
        if feature in path:
            waiting.append((yes if path[feature] else no, path))
        else:
            waiting.append((no, {**path, feature: False}))
            waiting.append((yes, {**path, feature: True}))


def _before_rounding(threshold: float) -> float:
    """The t with: a 64-bit float is > t if and only if, rounded to 32 bits, it is > `threshold`."""
    import numpy as np

    low = np.float32(threshold)
    if float(low) > threshold:
        low = np.nextafter(low, np.float32("-inf"))
    high = np.nextafter(low, np.float32("inf"))
    middle = (float(low) + float(high)) / 2  # rounds to the even one of the two
    return middle if np.float32(middle) == low else float(np.nextafter(middle, -np.inf))
