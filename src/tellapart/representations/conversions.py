"""Representations to and from separable DNFs, and from decision trees.

A separable DNF has terms (conjunctions) for every label; any two terms of different labels clash:
some feature is wanted by one and forbidden by the other. A legal representation of size m exists if
and only if there is a separable DNF of m terms (paper, Section 2); both directions are here.

A tree is a representation with a component for each leaf. Two leaves are separated by the split at
their lowest common ancestor.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tellapart.combinations import Above
from tellapart.errors import ParameterError
from tellapart.model import Holds, Literal, Not, holds
from tellapart.protocol import Feature, Label
from tellapart.representations.representation import Component, Representation

Term: TypeAlias = tuple[Literal, ...]


def to_dnf(representation: Representation) -> dict[Label, tuple[Term, ...]]:
    """The separable DNF of a legal representation: one term a component, under its label.

    Term i wants what separates G_i from every component of another label. It contains all of G_i
    (and whatever else cannot be told from it), so components may be any sets: only their separators
    are used.

    >>> from tellapart.combinations import Is
    >>> odd = Component("odd", (Literal(Is("platypus")),))
    >>> usual = Component("usual", (Literal(Is("platypus"), False),))
    >>> to_dnf(Representation((usual, odd), {(1, 0): "bill"}))
    {'usual': ((Literal(feature='bill', wanted=False),),),
     'odd': ((Literal(feature='bill', wanted=True),),)}
    """
    parts = representation.components
    terms: list[dict[Literal, None]] = [{} for _ in parts]
    for i, j, feature in representation.pairs():
        if feature is None:
            raise ParameterError(
                f"to_dnf: no feature separates component {i} ({parts[i]}) from component {j}"
                f" ({parts[j]}); give one in separators={{({i}, {j}): feature}}"
            )
        # one feature for both, so that the two terms clash in it
        terms[i][Literal.forbid(Not(feature))] = None
        terms[j][Literal.forbid(feature)] = None
    dnf: dict[Label, tuple[Term, ...]] = {}
    for part, term in zip(parts, terms, strict=True):
        dnf[part.label] = (*dnf.get(part.label, ()), tuple(term))
    return dnf


def from_dnf(
    dnf: Mapping[Label, Iterable[Iterable[Literal | Feature]]], *, reading: Holds = holds
) -> Representation:
    """The representation whose components are the terms of a separable DNF.

    A term is a collection of literals; a bare feature in it is wanted, `Not(feature)` forbidden.

    >>> animals = from_dnf({"bird": [["feathers"]], "mammal": [[Not("feathers"), "milk"]]})
    >>> animals.separator(0, 1), animals.label({"milk"})
    ('feathers', 'mammal')
    >>> from_dnf({"bird": [["feathers"]], "mammal": [["milk"]]})
    Traceback (most recent call last):
    ...
    tellapart.errors.ParameterError: from_dnf: not separable: the terms 'bird: feathers' and
    'mammal: milk' do not clash in any feature; add one that the first wants and the second forbids,
    or the other way round
    """
    components = tuple(
        Component(label, _term(label, term)) for label, terms in dnf.items() for term in terms
    )
    made = Representation(components, reading=reading)
    for failure in made.check().failures:
        one, other = (components[number] for number in failure.components)
        raise ParameterError(
            f"from_dnf: not separable: the terms '{one}' and '{other}' do not clash in any feature;"
            " add one that the first wants and the second forbids, or the other way round"
        )
    return made


def _term(label: Label, term: Iterable[Literal | Feature]) -> Term:
    if isinstance(term, str | bytes | Literal) or not isinstance(term, Iterable):
        raise ParameterError(
            f"from_dnf: a term of {label!r} must be a collection of literals, got {term!r};"
            f" for a term of one feature write [{term!r}]"
        )
    parts = (p if isinstance(p, Literal) else Literal.forbid(Not(p)) for p in term)
    return tuple(dict.fromkeys(parts))


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
