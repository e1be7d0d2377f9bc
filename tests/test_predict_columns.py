"""A decision list over columns against the same list over items, one by one."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import tellapart as ta
from tellapart.columns import fired, pack, predict
from tellapart.errors import FeatureError
from tellapart.features import Points


def random_model(generator: random.Random, features: list[object], labels: int) -> ta.DecisionList:
    def feature() -> object:
        one, two = generator.sample(features, 2)
        points = Points({one: 2, ta.Not(two): 1, generator.choice(features): -1}, 1)
        return generator.choice([one, one, one, ta.And(one, ta.Not(two)), ta.Or(one, two), points])

    def clause() -> ta.Clause:
        literals = [
            ta.Literal(feature(), generator.random() < 0.5) for _ in range(generator.randrange(5))
        ]
        return ta.Clause(tuple(literals), f"y{generator.randrange(labels)}")

    clauses = tuple(clause() for _ in range(generator.randrange(12)))
    return ta.DecisionList(clauses, ta.Clause((), "rest"))


@pytest.mark.parametrize("seed", range(25))
def test_worlds(seed):
    generator = random.Random(seed)
    n = generator.choice([1, 64, 500, 1100])
    world = generator.choice(
        [ta.worlds.tree(n, 12, 3, 2, seed=seed), ta.worlds.zoo(seed), ta.worlds.lower_bound(6)]
    )
    model = random_model(generator, list(world.features), generator.choice([1, 2, 20]))
    labels = predict(model, world)
    assert list(labels) == model.predict(world.items)
    assert [labels.names[code] for code in labels.codes] == list(labels)
    clauses = list(model)
    numbers = fired(model, world)
    assert [clauses[number] for number in numbers] == [model.match(item) for item in world.items]


def test_no_items():
    class Nothing:
        def truth(self, feature):
            return ta.columns.pack([])

        def __len__(self):
            return 0

    model = ta.DecisionList((ta.Clause((ta.Literal("milk"),), "mammal"),), ta.Clause((), "bird"))
    assert list(predict(model, Nothing())) == []


def test_a_reading_of_ones_own_is_refused():
    model = ta.DecisionList((), ta.Clause((), "bird"), reading=lambda feature, item: True)
    with pytest.raises(FeatureError, match="by a `holds` of its own"):
        predict(model, ta.worlds.zoo())


class Given:
    """A source of one's own, whose columns are all the same."""

    def __init__(self, items: int, column: Any) -> None:
        self.items, self.column = items, column

    def __len__(self) -> int:
        return self.items

    def truth(self, feature: object) -> Any:
        return self.column


MILK = ta.DecisionList((ta.Clause((ta.Literal("milk"),), "mammal"),), ta.Clause((), "bird"))


@pytest.mark.parametrize(
    "bend",
    [
        lambda held: held,
        lambda held: held.tolist(),
        lambda held: pack(held)[:-1],
        lambda held: pack(held).view(np.int64),
        lambda held: pack(held).view(np.uint8),
        lambda held: pack(held).astype(">u8"),
    ],
    ids=["not packed", "list", "short", "signed", "bytes", "big-endian"],
)
def test_a_column_that_is_none_is_refused(bend):
    held = np.arange(1000) % 3 == 0
    with pytest.raises(FeatureError, match="16 words of uint64 for 1000 items"):
        predict(MILK, Given(1000, bend(held)))


def test_a_column_with_gaps_in_memory():
    held = np.random.default_rng(1).random(1000) < 0.3
    gaps = np.repeat(pack(held), 2)[::2]
    assert (predict(MILK, Given(1000, gaps)).codes == 0).tolist() == held.tolist()
