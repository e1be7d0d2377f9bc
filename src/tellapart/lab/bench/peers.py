"""Against a loop over rules, scikit-learn's tree and river's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tellapart.lab.bench.clock import turns
from tellapart.lab.bench.measured import SEED, Measurement
from tellapart.learners import BaseLearner, CappedDFF
from tellapart.learners.rule_list import Rule
from tellapart.model import DecisionList
from tellapart.protocol import Item, teach
from tellapart.simulation import predict, unpack
from tellapart.simulation import simulate as run_simulate
from tellapart.worlds import MadeWorld


def against_sklearn(model: DecisionList, world: MadeWorld) -> Measurement:
    """A decision list on columns, against a tree with as many leaves on the same rows."""
    from sklearn.tree import DecisionTreeClassifier

    used = list(model.features)
    rows = np.empty((len(world), len(used)), dtype=np.float32)
    for number, feature in enumerate(used):
        rows[:, number] = unpack(world.truth(feature), len(world))
    leaves = len(model.clauses) + 1
    classifier = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=SEED)
    classifier.fit(rows[:100_000], world.labels.codes.array()[:100_000])

    def codes() -> None:
        predict(model, world).codes.array()

    ratio, mine, theirs = turns(codes, lambda: classifier.predict(rows), repeats := 3)
    return Measurement(
        "predict on columns",
        "DecisionTreeClassifier.predict",
        ratio,
        10,
        mine,
        theirs,
        repeats,
        f"{len(world):,} rows, {len(used)} columns, {leaves} clauses and leaves",
    )


class Naive(CappedDFF):
    """CappedDFF that finds the first rule by looking at one after another."""

    def _match(self, item: Item) -> Rule | None:
        return next((rule for rule in self.rules if rule.clause.covers(item, self.holds)), None)


del BaseLearner.kinds[Naive.__name__]  # a yardstick, no learner to be saved


def teach_against_naive(world: MadeWorld) -> Measurement:
    ratio, mine, theirs = turns(
        lambda: teach(CappedDFF(world.m), world.teacher(), world.items),
        lambda: teach(Naive(world.m), world.teacher(), world.items),
        repeats := 3,
    )
    note = f"{len(world):,} rounds, 1 % exceptions"
    return Measurement(
        "teach, CappedDFF", "a loop over rules", ratio, None, mine, theirs, repeats, note
    )


def against_river(world: MadeWorld) -> Iterator[Measurement]:
    """Rounds, and updates alone, against river's Hoeffding tree on the same rows."""
    from river.tree import HoeffdingTreeClassifier

    hoeffding: Any = HoeffdingTreeClassifier
    names = list(world.features)
    rows = [{name: name in item for name in names} for item in world.items]
    labels = list(world.labels)

    def rounds() -> None:
        model = hoeffding(nominal_attributes=names)
        for row, label in zip(rows, labels, strict=True):
            model.predict_one(row)
            model.learn_one(row, label)

    def updates() -> None:
        model = hoeffding(nominal_attributes=names)
        for row, label in zip(rows, labels, strict=True):
            model.learn_one(row, label)

    for name, ours in (
        ("teach, CappedDFF", lambda: teach(CappedDFF(world.m), world.teacher(), world.items)),
        ("simulate, CappedDFF", lambda: run_simulate(CappedDFF(world.m), world)),
    ):
        note = f"{len(rows):,} rounds, {len(names)} features, 1 % exceptions"
        ratio, mine, theirs = turns(ours, rounds, repeats := 3)
        yield Measurement(
            name, "river's HoeffdingTreeClassifier", ratio, None, mine, theirs, repeats, note
        )
    lesson = teach(CappedDFF(world.m), world.teacher(), world.items)
    first = world.items[0]

    def learn() -> None:
        learner = CappedDFF(world.m)
        learner.overhear(first, world.labels[0])
        for corrected in lesson.corrections:
            learner.learn(corrected.item, learner.guess(corrected.item), corrected.correction)

    ratio, mine, theirs = turns(learn, updates, repeats := 3)
    each, theirs_each = mine / lesson.mistakes, theirs / len(rows)
    yield Measurement(
        "an update, CappedDFF",
        "learn_one of river's HoeffdingTreeClassifier",
        theirs_each / each,
        None,
        each,
        theirs_each,
        repeats,
        f"{lesson.mistakes:,} mistakes, each with the guess that it answers",
    )
