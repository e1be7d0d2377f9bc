"""Rounds whose reason cannot be right, or that the groups of the two items contradict."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from tellapart.model import describe, truth
from tellapart.protocol import Feature, Item, Label
from tellapart.review.case import Case, Suspect

_TELLS_LITTLE = 0.6  # the doubt at which a feature is listed
_WEIGHT = 0.7  # of such a doubt: the feature may part finer groups than the trees know of


class _Reason(NamedTuple):
    """In a round, `feature` was said to tell the item, a `label`, from `example`, an `other`."""

    round: int
    item: Item
    label: Label
    feature: Feature
    example: Item
    other: Label


def odd_features(case: Case) -> list[Suspect]:
    """Features that do not hold where they should, or hold where they should not.

    That the *groups* of the item and the example do not differ in it is not held against a feature
    where either is odd (who is told that a bear is a bird, because another bear is one, can name
    anything), nor where it was named between the same labels elsewhere.
    """
    doubt = case.jury.doubt
    places = {number: (shown, column) for number, shown, column in case.facts.reasons.tolist()}
    sound = {n for n, (shown, _) in places.items() if max(doubt[n], doubt[shown]) <= 0}
    reasons = list(_reasons(case))
    named: defaultdict[tuple[Label, Label], Counter[Feature]] = defaultdict(Counter)
    for reason in reasons:
        if reason.round in sound:
            named[reason.label, reason.other][reason.feature] += 1
    found = []
    for reason in reasons:
        usual = named[reason.label, reason.other]
        fault = _fault(case, reason)
        if fault is not None:
            found.append(_suspect(case, reason, usual, 1.0, fault))
        elif reason.round in sound and usual[reason.feature] == 1:
            telling = case.jury.telling(reason.round, *places[reason.round])
            if telling is not None and telling.doubt > _TELLS_LITTLE:
                why = (
                    f"that holds on {telling.here} of {telling.of} others like it and on"
                    f" {telling.there} of {telling.among} like {case.words.item(reason.example)}"
                )
                found.append(_suspect(case, reason, usual, _WEIGHT * telling.doubt, why))
    return found


def _reasons(case: Case) -> Iterator[_Reason]:
    for number, (item, label, guess, correction, _) in enumerate(case.history.rounds):
        if guess is not None and correction is not None and correction.feature is not None:
            yield _Reason(number, item, label, correction.feature, guess.example, guess.label)


def _fault(case: Case, reason: _Reason) -> str | None:
    """Why the feature cannot tell the two apart, if it cannot."""
    if not truth(reason.feature, reason.item, case.reading):
        return "that does not hold on it"
    if truth(reason.feature, reason.example, case.reading):
        return f"that holds on {case.words.item(reason.example)} as well"
    return None


def _suspect(
    case: Case, reason: _Reason, usual: Counter[Feature], score: float, fault: str
) -> Suspect:
    words = case.words
    label = words.label(reason.label)
    because = f"{words.subject} {words.feature(reason.feature, True)}".lstrip()
    why = f"{words.item(reason.item)} was called {label} because {because}, but {fault}"
    better = _better(case, reason, usual)
    if better is not None:
        said = words.feature(better, True)
        why += f"; elsewhere {said!r} told {label} from {words.label(reason.other)}"
    return Suspect(
        round=reason.round,
        item=reason.item,
        label=reason.label,
        expected=reason.label,
        score=score,
        why=why,
        feature=reason.feature,
        expected_feature=better,
        who=case.history.rounds[reason.round].who,
    )


def _better(case: Case, reason: _Reason, usual: Counter[Feature]) -> Feature | None:
    """What was named most between the same labels, and would do here."""
    for feature in sorted(usual, key=lambda f: (-usual[f], describe(f))):
        better = reason._replace(feature=feature)
        if feature != reason.feature and _fault(case, better) is None:
            return feature
    return None
