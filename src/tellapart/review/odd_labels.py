"""Rounds with another label than the rounds like them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tellapart.review.case import Case, Suspect
from tellapart.simulation import bit, unpack


def odd_labels(case: Case) -> list[Suspect]:
    """Every round whose label the jury holds for less likely than another."""
    if not case.facts.features:
        return []
    odd = np.flatnonzero(case.jury.doubt > 0).tolist()
    alone = _alone(case) if odd else set()
    return [_suspect(case, number, number in alone) for number in odd]


def _suspect(case: Case, number: int, alone: bool) -> Suspect:
    told, words = case.history.rounds[number], case.words
    expected = int(case.jury.expected[number])
    label = case.facts.names[expected]
    literals, agree, others = _alike(case, number, expected)
    said = " and ".join(words.feature(case.facts.features[c], wanted) for c, wanted in literals)
    like_it = f"{words.subject} {said}, and ".lstrip() if said else ""
    why = (
        f"{words.item(told.item)} was called {words.label(told.label)}, but {like_it}{agree} of"
        f" {others} others{' like that' if said else ''} were called {words.label(label)}"
    )
    if alone:
        why += "; the model's rule for it rests on it alone"
    doubt = float(case.jury.doubt[number])
    return Suspect(number, told.item, told.label, label, doubt, why, who=told.who)


def _alike(case: Case, number: int, expected: int) -> tuple[list[tuple[int, bool]], int, int]:
    """Literals that say why, as few as say it as well; how many others agree, of how many."""
    groups = list(case.jury.groups_of(number))
    speaking = [group for group in groups if group.counts.argmax() == expected] or groups
    literals = list(max(speaking, key=lambda group: group.counts[expected]).literals)
    agree, others = _count(case, literals, number, expected)
    for literal in tuple(literals):
        fewer = [kept for kept in literals if kept != literal]
        agree_too, of = _count(case, fewer, number, expected)
        if fewer and agree_too * others >= agree * of:
            literals, agree, others = fewer, agree_too, of
    return literals, agree, others


def _count(
    case: Case, literals: Iterable[tuple[int, bool]], number: int, expected: int
) -> tuple[int, int]:
    inside = case.facts.where(literals)
    agree = int(np.bitwise_count(inside & case.facts.labels[expected]).sum())
    return agree, int(np.bitwise_count(inside).sum()) - bit(inside, number)


def _alone(case: Case) -> set[int]:
    """The rounds that are all their clause of the model covers, and have its label."""
    alone, left = set[int](), case.facts.rounds
    for clause in () if case.model is None else case.model.clauses:
        inside = left
        for feature, wanted in clause.literals:
            held = case.column(feature)
            inside = inside & (held if wanted else ~held)
        left = left & ~inside
        if np.bitwise_count(inside).sum() == 1:
            number = int(unpack(inside, case.facts.n).argmax())
            if case.history.rounds[number].label == clause.label:
                alone.add(number)
    return alone
