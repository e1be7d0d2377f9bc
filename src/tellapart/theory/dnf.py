"""Representations as separable DNFs, and back.

A separable DNF has terms (conjunctions) for every label; any two terms of different labels clash:
some feature is wanted by one and forbidden by the other. A legal representation of size m exists if
and only if there is a separable DNF of m terms (paper, Section 2); here are both directions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from tellapart.errors import ParameterError
from tellapart.model import Holds, Literal, Not, holds
from tellapart.protocol import Feature, Label
from tellapart.theory.representation import Component, Representation

Term: TypeAlias = tuple[Literal, ...]


def to_dnf(representation: Representation) -> dict[Label, tuple[Term, ...]]:
    """The separable DNF of a legal representation: one term a component, under its label.

    Term i wants what separates G_i from every component of another label. It contains all of G_i
    (and whatever else cannot be told from it), so components may be any sets: only their separators
    are used.

    >>> from tellapart.features import Is
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
