"""Suspected slips: the rounds that the other rounds contradict, the most doubtful first.

A learner may have fitted a slip: its model then has a rule that agrees with it. So the model is not
asked. A label is judged by the other rounds (`held_out`): by trees that were grown without it, and
by the rounds that are alike. The trees also tell whether the named feature separates the item's
group from the example's.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tellapart.columns import Words as Packed
from tellapart.columns import unpack
from tellapart.errors import check
from tellapart.export.text import Words
from tellapart.features import Expression, Points, tree
from tellapart.features.resolve import resolve
from tellapart.model import DecisionList, describe, holds, truth
from tellapart.protocol import Feature, Item, Label, Learner
from tellapart.review.held_out import HeldOutTrees, PackedHistory, estimate_labels
from tellapart.review.progress import Transcript

_DOUBT = 0.6  # the doubt at which a feature is listed
_PATH, _HELD = 8, 6  # chosen among so many of the path in a tree, and of what holds on the item
_SPEAKS = 0.5  # more than such a share of others speaks against an answer
_LENGTH = 0.02  # what one more condition, or an opposite, must add to the share that agrees
_LINE, _LONGER = 45, 0.3  # characters that a condition may have, or it must add so much more
_WEIGHT = 0.7  # of such a doubt: the feature may separate finer groups than the trees know


@dataclass(frozen=True)
class Suspect:
    """A round to look at again."""

    round: int
    item: Item
    label: Label
    """What was said."""
    expected: Label
    """What the rounds like it say; the same label when only the feature is doubted."""
    score: float
    """How much the others contradict it, up to 1; 0 or less if they do not."""
    why: str
    """A sentence."""
    feature: Feature | None = None
    """The feature that was named, when that is what is doubted."""
    expected_feature: Feature | None = None
    """What was named between the same labels elsewhere and would do here."""
    who: Hashable = None
    against: tuple[Feature, ...] = ()
    """The features that `why` speaks of."""

    def __str__(self) -> str:
        return f"round {self.round}: {self.why}"


def suspects(
    history: Transcript,
    model: DecisionList | Learner | None = None,
    *,
    features: Iterable[Feature] = (),
    truth_of: Callable[[Feature], Packed] | None = None,
    words: Words | None = None,
    everything: bool = False,
    trees: int = 20,
    seed: int = 0,
) -> list[Suspect]:
    """The rounds whose label or feature the other rounds contradict, the most doubtful first.

    An exception of the world looks like a slip and is listed too: only a person can tell them
    apart. So is a wrong guess that the teacher let stand.

    Parameters
    ----------
    history : Transcript
        All rounds, as `Listening` or a session keeps them.
    model : DecisionList or learner, optional
        Its features are looked at besides those that teachers named. It does not judge.
    features : iterable of features
        More columns to look at. Where nobody named any and the model has none, labels cannot be
        doubted without them.
    truth_of : feature -> packed column, optional
        Where a feature holds on the items, in their order (`world.truth`); faster than asking.
    words : Words, optional
        The words for items, labels and features.
    everything : bool, default=False
        Whether the rounds that nothing contradicts come after the others, the least certain first.
        Their scores are 0 or less.
    trees : int, default=20
        How many trees are grown, rounded up to a multiple of five. A fifth of them judge each
        round, and the rounds that are alike judge beside them.
    seed : int
        Which rounds each tree is grown without. Same seed, same list.

    >>> from tellapart import CappedDFF, teach, worlds
    >>> from tellapart.review import Listening
    >>> from tellapart.teachers import Slipping
    >>> world = worlds.zoo(seed=1)
    >>> slipping = Slipping(world.teacher(), 0.05, labels=["bird", "fish", "insect"], seed=3)
    >>> teacher = Listening(slipping)
    >>> lesson = teach(CappedDFF(m=7), teacher, world.items)
    >>> [str(slip.item) for slip in slipping.made]
    ['herring', 'sparrow', 'chub']
    >>> odd = suspects(teacher.history)
    >>> [str(suspect.item) for suspect in odd]
    ['sparrow', 'herring', 'chub', 'seasnake']
    >>> print(odd[0])
    round 67: sparrow was called fish, but feathers, and 19 of 19 others like that were called bird
    """
    check("suspects", "trees", trees, "an integer >= 1", lambda v: v >= 1)
    if len(history) < (1 if everything else 2):
        return []
    if model is not None and not isinstance(model, DecisionList):
        model = model.model
    # points were fitted to every answer, slips among them: their terms judge, one by one
    more = {*features} if model is None else {*features, *chain(*map(_terms, model.features))}
    reading = holds if model is None else model.reading
    packed = PackedHistory.of(history, more, reading=reading, truth_of=truth_of)
    grown = HeldOutTrees(packed, trees, seed)
    search = _Search(history, model, packed, grown, _doubt(packed, grown), words or Words())
    found = {suspect.round: suspect for suspect in search.odd_labels(everything)}
    for suspect in search.odd_features():
        if suspect.round not in found or suspect.score > found[suspect.round].score:
            found[suspect.round] = suspect
    return sorted(found.values(), key=lambda suspect: (-suspect.score, suspect.round))


class _Doubt(NamedTuple):
    """For each round, the likeliest label other than the one given."""

    expected: npt.NDArray[np.intp]
    much: npt.NDArray[np.float64]
    """How much likelier it is; below zero where the given label is the likeliest."""


def _doubt(packed: PackedHistory, trees: HeldOutTrees) -> _Doubt:
    """What trees and neighbours say together.

    Neither has seen the label that it judges. So the mean of the two that misses these labels by
    the least squares says how far to believe each.
    """
    truths = np.array([unpack(column, packed.n) for column in packed.columns], dtype=np.bool_)
    alike = estimate_labels(
        truths.reshape(-1, packed.n).T, packed.codes, labels := len(packed.names)
    )
    apart = trees.opinions - alike
    missed = np.eye(labels)[packed.codes] - alike
    share = np.clip((missed * apart).sum() / max(1e-9, float((apart**2).sum())), 0.0, 1.0)
    opinions = alike + share * apart
    every = np.arange(packed.n)
    own = opinions[every, packed.codes]
    opinions[every, packed.codes] = -np.inf
    return _Doubt(opinions.argmax(axis=1), np.clip(opinions.max(axis=1) - own, -1.0, 1.0))


def _terms(feature: Feature) -> tuple[Feature, ...]:
    """What a feature that counts points is made of; any other is its own only part."""
    terms = feature.terms if isinstance(feature, Points | Expression) else ()
    return tuple(part for part, _ in terms) or (feature,)


def _negates(feature: Feature, wanted: bool) -> bool:
    """Whether a literal says what an item is not; the opposite of `<` is `>=`, which is none."""
    match resolve(feature, {}):
        case tree.Compare(op):
            return wanted == (op == "<>") if op in ("=", "<>") else False
        case node:
            return wanted == (isinstance(node, tree.Not) or getattr(node, "negated", False))


class _Reason(NamedTuple):
    """In a round, `feature` was said to tell the item, a `label`, from `example`, an `other`."""

    round: int
    item: Item
    label: Label
    feature: Feature
    example: Item
    other: Label


@dataclass(frozen=True)
class _Search:
    """Looks for suspects in a history."""

    history: Transcript
    model: DecisionList | None
    packed: PackedHistory
    trees: HeldOutTrees
    doubt: _Doubt
    words: Words

    # -- labels

    def odd_labels(self, everything: bool) -> list[Suspect]:
        """The rounds for which another label is more likely than the one given; or all."""
        much = self.doubt.much
        if not self.packed.features:
            much = np.minimum(much, 0.0)  # by how often a label was said, none is odd
        rounds = range(self.packed.n) if everything else np.flatnonzero(much > 0).tolist()
        return [self._judged(n, float(much[n])) for n in rounds]

    def _judged(self, number: int, doubt: float) -> Suspect:
        told, words = self.history.rounds[number], self.words
        given, other = int(self.packed.codes[number]), int(self.doubt.expected[number])
        expected = other if doubt > 0 else given
        label, features = self.packed.names[expected], self.packed.features
        called, link = words.label(label), ", but "
        literals, agree, others = self._similar(number, expected)
        counted = f"{agree} of {others} others" if others > 1 else "the only other one"
        if expected == given:
            link, called = ": ", f"{called} too"
        elif agree <= _SPEAKS * others:  # no other label is usual there, but the one given is not
            literals, agree, others = self._similar(number, expected, few=True)
            counted = f"{f'only {agree}' if agree else 'none'} of {others} others"
            called = words.label(told.label)
        said = " and ".join(words.feature(features[c], wanted) for c, wanted in literals)
        like_it = f"{words.subject} {said}, and ".lstrip() if said else ""
        why = (
            f"{words.item(told.item)} was called {words.label(told.label)}{link}{like_it}{counted}"
            f"{' like that' if said else ''} {'were' if others > 1 else 'was'} called {called}"
        )
        if not agree and expected == given:
            why = f"{words.item(told.item)} was called {words.label(told.label)}: no other was"
        against = tuple(features[column] for column, _ in literals)
        return Suspect(
            number, told.item, told.label, label, doubt, why, who=told.who, against=against
        )

    def _similar(
        self, number: int, expected: int, few: bool = False
    ) -> tuple[list[tuple[int, bool]], int, int]:
        """The one or two literals that explain the doubt best; how many others have the expected
        label, of how many; or, if `few`, have the one that was given. A negation says little: it
        comes only where nothing else speaks against the answer."""
        label = int(self.packed.codes[number]) if few else expected
        groups = list(self.trees.groups_of(number))
        agreeing = [group for group in groups if group.counts.argmax() == expected] or groups
        path = list(max(agreeing, key=lambda group: group.counts[expected]).literals)[:_PATH]
        pool = list(dict.fromkeys([*path, *self._held(number, expected)]))
        usual = int(np.bitwise_count(self.packed.labels[label]).sum())
        everywhere = usual - int(self.packed.codes[number] == label), self.packed.n - 1
        if not pool:
            return [], *everywhere
        negates = np.array([_negates(self.packed.features[c], wanted) for c, wanted in pool])
        length = np.array([self._length(c, wanted) for c, wanted in pool])
        held = np.array([self.packed.where([literal]) for literal in pool])
        one, two = np.triu_indices(len(pool))  # one literal twice is that literal
        order = np.argsort(one != two, kind="stable")
        one, two = one[order], two[order]
        insides = held[one] & held[two]
        others = np.bitwise_count(insides).sum(axis=1, dtype=np.intp) - 1
        agree = np.bitwise_count(insides & self.packed.labels[label]).sum(axis=1, dtype=np.intp)
        agree -= self.packed.codes[number] == label
        share = np.where(agree > 0, 1.0, float(few)) * (agree + 0.5) / (others + 1)
        share = 1 - share if few else share
        speaks = (share > _SPEAKS) & ~(negates[one] | negates[two])
        worth = share - length[one] - np.where(one == two, 0.0, length[two])
        best = int(np.where(speaks, worth, worth - 2).argmax())
        if others[best] and (agree[best] or few):
            chosen = sorted({int(one[best]), int(two[best])}, key=lambda n: (negates[n], n))
            return [pool[n] for n in chosen], int(agree[best]), int(others[best])
        return [], *everywhere

    def _length(self, column: int, wanted: bool) -> float:
        """What a literal costs: a sentence is one line where it can be."""
        long = len(self.words.feature(self.packed.features[column], wanted)) > _LINE
        return (_LENGTH if wanted else 2 * _LENGTH) + long * _LONGER

    def _held(self, number: int, expected: int) -> list[tuple[int, bool]]:
        """Of the features that hold on an item, those that speak most for a label."""
        columns = self.packed.columns
        here = np.flatnonzero(columns[:, number >> 6] >> np.uint64(number & 63) & np.uint64(1))
        held = columns[here]
        agree = np.bitwise_count(held & self.packed.labels[expected]).sum(axis=1)
        share = (agree + 0.5) / (np.bitwise_count(held).sum(axis=1) + 1)
        return [(int(here[n]), True) for n in np.argsort(-share, kind="stable")[:_HELD]]

    def _holds(self, feature: Feature, item: Item) -> bool:
        return truth(feature, item, holds if self.model is None else self.model.reading)

    # -- features

    def odd_features(self) -> list[Suspect]:
        """Features that do not hold where they should, or hold where they should not.

        A feature that does not separate the *groups* of the item and the example is not doubted
        where either label is (a teacher who calls a bear a bird, because another bear was called
        one, can name anything), nor where it was named between the same labels elsewhere.
        """
        doubt = self.doubt.much
        places = {n: (shown, column) for n, shown, column in self.packed.reasons.tolist()}
        sound = {n for n, (shown, _) in places.items() if max(doubt[n], doubt[shown]) <= 0}
        reasons = list(self._reasons())
        named: defaultdict[tuple[Label, Label], Counter[Feature]] = defaultdict(Counter)
        for reason in reasons:
            if reason.round in sound:
                named[reason.label, reason.other][reason.feature] += 1
        found = []
        for reason in reasons:
            usual = named[reason.label, reason.other]
            fault = self._fault(reason)
            if fault is not None:
                found.append(self._odd_feature(reason, usual, 1.0, fault))
            elif reason.round in sound and usual[reason.feature] == 1:
                split = self.trees.separation(reason.round, *places[reason.round])
                if split is not None and split.doubt > _DOUBT:
                    why = (
                        f"that holds on {split.here} of {split.of} others like it and on"
                        f" {split.there} of {split.among} like {self.words.item(reason.example)}"
                    )
                    found.append(self._odd_feature(reason, usual, _WEIGHT * split.doubt, why))
        return found

    def _reasons(self) -> Iterator[_Reason]:
        for number, (item, label, guess, correction, _) in enumerate(self.history.rounds):
            if guess is not None and correction is not None and correction.feature is not None:
                yield _Reason(number, item, label, correction.feature, guess.example, guess.label)

    def _fault(self, reason: _Reason) -> str | None:
        """Why the feature cannot tell the two apart, if it cannot."""
        if not self._holds(reason.feature, reason.item):
            return "that does not hold on it"
        if self._holds(reason.feature, reason.example):
            return f"that holds on {self.words.item(reason.example)} as well"
        return None

    def _odd_feature(
        self, reason: _Reason, usual: Counter[Feature], score: float, fault: str
    ) -> Suspect:
        words = self.words
        label = words.label(reason.label)
        because = f"{words.subject} {words.feature(reason.feature, True)}".lstrip()
        why = f"{words.item(reason.item)} was called {label} because {because}, but {fault}"
        better = self._better(reason, usual)
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
            who=self.history.rounds[reason.round].who,
            against=(reason.feature,),
        )

    def _better(self, reason: _Reason, usual: Counter[Feature]) -> Feature | None:
        """The feature named most often between the same labels that would do here."""
        for feature in sorted(usual, key=lambda f: (-usual[f], describe(f))):
            if feature != reason.feature and self._fault(reason._replace(feature=feature)) is None:
                return feature
        return None
