"""Suspected slips: the rounds that the other rounds contradict, the oddest first.

A learner may have fitted a slip: a rule made by it then stands in the model and agrees with it. So
the model has no vote. A round is judged by trees that were grown without it (`jury`): what labels
do the rounds like it have, and does the feature that was named tell its group from the example's?
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tellapart.errors import check
from tellapart.export.text import Words
from tellapart.model import DecisionList, holds
from tellapart.protocol import Feature, Learner
from tellapart.review.case import Case, Suspect
from tellapart.review.groups import read
from tellapart.review.jury import Jury
from tellapart.review.odd_features import odd_features
from tellapart.review.odd_labels import odd_labels
from tellapart.review.transcript import Transcript
from tellapart.simulation import Words as Packed


def suspects(
    history: Transcript,
    model: DecisionList | Learner | None = None,
    *,
    features: Iterable[Feature] = (),
    truth_of: Callable[[Feature], Packed] | None = None,
    words: Words | None = None,
    trees: int = 20,
    seed: int = 0,
) -> list[Suspect]:
    """The rounds whose label or feature the other rounds contradict, the oddest first.

    An exception of the world is as odd as a slip and is listed too: only a person can tell them
    apart. So is a wrong guess that the teacher let stand.

    Parameters
    ----------
    history : Transcript
        All rounds, as `Listening` or a session keeps them.
    model : DecisionList or learner, optional
        Its features are looked at besides those that teachers named, and a rule of it that rests on
        the suspect alone is mentioned. It has no vote.
    features : iterable of features
        More columns to look at. Where nobody named any and the model has none, labels cannot be
        doubted without them.
    truth_of : feature -> packed column, optional
        Where a feature holds on the items, in their order (`world.truth`); quicker than asking.
    words : Words, optional
        How to speak of items, labels and features.
    trees : int, default=20
        How many trees judge, rounded up to a multiple of five. A fifth of them judge each round.
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
    >>> [str(suspect.item) for suspect in odd[:6]]
    ['sparrow', 'chub', 'herring', 'seasnake', 'platypus', 'scorpion']
    >>> print(odd[0])
    round 67: sparrow was called fish, but feathers, and 19 of 19 others like that were called bird
    """
    check("suspects", "trees", trees, "an integer >= 1", lambda v: v >= 1)
    if len(history) < 2:
        return []
    if model is not None and not isinstance(model, DecisionList):
        model = model.model
    more = features if model is None else (*features, *model.features)
    reading = holds if model is None else model.reading
    facts = read(history, more, reading=reading, truth_of=truth_of)
    case = Case(history, facts, Jury(facts, trees, seed), model, words or Words())
    found = {suspect.round: suspect for suspect in odd_labels(case)}
    for suspect in odd_features(case):
        if suspect.round not in found or suspect.score > found[suspect.round].score:
            found[suspect.round] = suspect
    return sorted(found.values(), key=lambda suspect: (-suspect.score, suspect.round))
