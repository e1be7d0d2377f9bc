"""`simulate` against `teach`: the same lesson, round for round, and the same learner after it."""

from __future__ import annotations

import copy
import itertools
import pickle
import random
import subprocess
import sys
from collections.abc import Callable

import pytest

import tellapart as ta
from tellapart.learners import BaseLearner
from tellapart.learners.rule_list import Rule, RuleLearner
from tellapart.model import Literal
from tellapart.simulation import simulator
from tellapart.simulation.corrections import Corrections
from tellapart.teachers import Recorded
from tellapart.theory.representation import Component, Representation
from tellapart.worlds import Listed, World

LEARNERS: dict[str, Callable[[World], BaseLearner]] = {
    "DFF": lambda w: ta.DFF(),
    "RobustDFF": lambda w: ta.RobustDFF(w.m, w.k, w.s),
    "RobustDFF, patient": lambda w: ta.RobustDFF(w.m, 2, 1, patience=0),
    "CappedDFF": lambda w: ta.CappedDFF(w.m),
    "CappedDFF, too small": lambda w: ta.CappedDFF(max(1, w.m - 2)),
    "AdaptiveDFF, growing": lambda w: ta.AdaptiveDFF(),
    "AdaptiveDFF, ruler": lambda w: ta.AdaptiveDFF("ruler"),
    "StRoDFF": lambda w: ta.StRoDFF(w.m, 0.05, 0.02, 0.1),
    "StRoDFF, scaled": lambda w: ta.StRoDFF(w.m, 0.05, 0.02, 0.1, scale=0.01),
    "StRoDFF, scale 0": lambda w: ta.StRoDFF(w.m, 0.0, 0.0, 0.1, scale=0),
    "StRoDFF, printed": lambda w: ta.StRoDFF(w.m, 0.05, 0.02, 0.1, 0.02, as_printed=True),
    "Guarded": lambda w: ta.Guarded(ta.DFF(), ta.CappedDFF(w.m)),
    "Guarded, with a clock": lambda w: ta.Guarded(
        ta.StRoDFF(w.m, 0.05, 0.05, 0.1, scale=0.01), ta.RobustDFF(w.m, w.k, w.s)
    ),
    "Guarded, nested": lambda w: ta.Guarded(
        ta.Guarded(ta.AdaptiveDFF(), ta.StRoDFF(w.m, 0.1, 0.1, 0.1, scale=0.005)),
        ta.CappedDFF(w.m),
    ),
    "AutoDFF": lambda w: ta.AutoDFF(),
    "CappedDFF, remembering": lambda w: ta.CappedDFF(w.m, remember=True),
    "StRoDFF, remembering": lambda w: ta.StRoDFF(w.m, 0.05, 0.05, 0.1, 0.01, remember=True),
    "Guarded, remembering": lambda w: ta.Guarded(
        ta.DFF(remember=True), ta.CappedDFF(w.m), remember=True
    ),
}


def random_world(seed: int) -> World:
    """A small world: made, or listed one by one."""
    generator = random.Random(f"{seed}/world")
    n = generator.choice([1, 2, 63, 64, 65, *[generator.randrange(3, 60) for _ in range(5)]])
    kind = generator.randrange(20)
    if kind == 0:
        return ta.worlds.zoo(seed)
    if kind == 1:
        return ta.worlds.lower_bound(generator.randrange(2, 8), seed)
    if kind == 2:
        explained = generator.random() < 0.5
        return ta.worlds.single_exception(
            generator.randrange(2, 40), explained=explained, seed=seed
        )
    if kind == 3:
        return ta.worlds.returning_exception(generator.randrange(1, 20))
    if kind < 6:
        return ta.worlds.quiet_majority(n, 0.2, 4, seed)
    m = generator.randrange(1, 9)
    make = ta.worlds.tree if kind < 18 else ta.worlds.dnf
    features = generator.choice([10, 100]) if kind < 18 else 200
    return make(
        n,
        features,
        m,
        generator.randrange(1, m + 1),
        generator.choice([0, 0, 0.05, 0.3]),
        seed,
        placement=generator.choice(["random", "burst", "early"]),
        similar=generator.choice([None, 1]),
    )


def assert_same(make: Callable[[World], BaseLearner], world: World) -> None:
    taught, simulated = make(world), make(world)
    expected = ta.teach(taught, world.teacher(), world.items)
    assert ta.simulate(simulated, world) == expected, (world, simulated)
    assert simulated.to_json() == taught.to_json()
    assert simulated.model == taught.model


SHORT = (1, 1, 1, 2, 3, 5)
"""Windows so short that small worlds, too, are passed over with arrays."""


@pytest.fixture(params=[False, True], ids=["integers", "arrays"])
def both_engines(request, monkeypatch):
    """Columns as Python integers, and as arrays."""
    if request.param:
        monkeypatch.setattr("tellapart.simulation.simulator._SIZES", SHORT)


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 20))]
)
def test_every_learner_on_a_thousand_random_worlds(part, monkeypatch):
    """Half of the worlds go through arrays. AutoDFF, which is slow, sees a fifth of them."""
    sizes = simulator._SIZES
    for seed in range(part, 1000, 20):
        used = (sizes, SHORT)[seed // 20 % 2]
        monkeypatch.setattr(simulator, "_SIZES", used)
        world = random_world(seed)
        for name, make in LEARNERS.items():
            if name != "AutoDFF" or seed // 20 % 10 in (0, 5):
                assert_same(make, world)


@pytest.mark.slow
@pytest.mark.usefixtures("both_engines")
@pytest.mark.parametrize(
    "world",
    [
        ta.worlds.tree(7000, 50, 5, 3, exceptions=4, seed=2),
        ta.worlds.tree(7001, 200, 6, 6, exceptions=0, seed=5),
        ta.worlds.dnf(6999, 200, 4, 2, exceptions=0.001, seed=3),
        ta.worlds.quiet_majority(6000, 0.002, 5),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["CappedDFF", "StRoDFF, scaled", "StRoDFF, printed", "Guarded"])
def test_long_stretches_without_a_mistake(world, name):
    """Long enough for windows of all sizes."""
    assert_same(LEARNERS[name], world)


@pytest.mark.usefixtures("both_engines")
def test_a_learner_goes_on_where_it_was():
    """Taught before, and with a label that this world knows nothing of as its default."""
    world, other = ta.worlds.zoo(1), ta.worlds.zoo(2)
    learners = [ta.CappedDFF(7), ta.CappedDFF(7)]
    for learner in learners:
        learner.learn(other.items[0], ta.Guess(None, None), ta.Correction("stone"))
        ta.teach(learner, other.teacher(), other.items[:20])
    expected = ta.teach(learners[0], world.teacher(), world.items)
    assert ta.simulate(learners[1], world) == expected
    assert learners[1].to_json() == learners[0].to_json()
    again = ta.teach(learners[0], other.teacher(), other.items)
    assert ta.teach(learners[1], other.teacher(), other.items) == again


@pytest.mark.usefixtures("both_engines")
def test_a_feature_that_cannot_be_read_everywhere_ends_the_jumps():
    """It is teach's business then, and so are its errors."""

    def heavy(item: dict[str, int]) -> bool:
        return item["weight"] > 3  # an error on the first items

    items = [{"n": n} | ({"weight": n} if n > 2 else {}) for n in range(40)]
    labels = ["heavy" if n > 3 else "light" for n in range(40)]
    light = Component("light", (Literal(lambda item: item["n"] > 3, False),))
    thick = Component("heavy", (Literal(lambda item: item["n"] > 3),))
    world = Listed("weights", items, labels, Representation((light, thick)), features=[])
    world.representation.separators[1, 0] = heavy
    world.representation.separators[0, 1] = ta.features.Named("light", lambda item: item["n"] <= 3)
    make = {"CappedDFF": lambda w: ta.CappedDFF(2), "DFF": lambda w: ta.DFF()}
    for learner in make.values():
        taught, simulated = learner(world), learner(world)
        outcomes = []
        for run in (
            lambda taught=taught: ta.teach(taught, world.teacher(), world.items),
            lambda simulated=simulated: ta.simulate(simulated, world),
        ):
            try:
                outcomes.append(run())
            except KeyError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]
        assert simulated.rounds == taught.rounds


@pytest.mark.parametrize("seed", range(0, 60, 2))
def test_learners_without_a_list_of_rules_are_given_every_round(seed):
    """Whose model may be another after every mistake, and to whom right rounds matter too."""
    world = random_world(seed)
    assert_same(lambda w: ta.Hindsight(), world)
    assert_same(lambda w: ta.Guarded(ta.Hindsight(), ta.CappedDFF(w.m)), world)


def test_a_learner_with_its_own_reading_is_given_every_round():
    world = ta.worlds.zoo()
    seen: list[object] = []

    def reading(feature, item):
        seen.append(item)
        return ta.model.holds(feature, item)

    assert_same(lambda w: ta.CappedDFF(7, holds=ta.model.holds), world)
    lesson = ta.simulate(ta.CappedDFF(7, holds=reading), world)
    assert lesson == ta.teach(ta.CappedDFF(7), world.teacher(), world.items)
    assert any(item is world.items[-1] for item in seen)


class Counting(RuleLearner):
    """A learner of one's own that looks at every round, and says so."""

    needs_every_round = True

    def __init__(self, **keywords) -> None:
        super().__init__(**keywords)
        self.looked = 0

    def _learn(self, item, guess, correction) -> None:
        self.looked += 1
        super()._learn(item, guess, correction)

    def _wrong(self, rule: Rule, feature) -> None:
        self._extend(rule, feature)


def test_a_learner_that_must_see_every_round_does():
    world = ta.worlds.tree(500, 20, 4, 2, seed=1)
    learner = Counting()
    ta.simulate(learner, world)
    assert learner.looked == learner.rounds == 499


@pytest.mark.usefixtures("both_engines")
def test_mistakes_that_only_count_are_told_when_asked_for():
    """Most mistakes of StRoDFF come before its rules; they are not told one by one."""
    world = ta.worlds.tree(3000, 50, 4, 4, exceptions=0.02, seed=1)
    learner = ta.StRoDFF(4, 0.02, 0.02, 0.1)
    lesson = ta.simulate(learner, world)
    expected = ta.teach(ta.StRoDFF(4, 0.02, 0.02, 0.1), world.teacher(), world.items)
    assert isinstance(lesson.corrections, Corrections)
    assert len(lesson.corrections._told) < lesson.mistakes / 4
    assert lesson == expected
    assert expected == lesson
    assert hash(lesson.corrections) == hash(expected.corrections)
    assert lesson.mistake_rounds == expected.mistake_rounds
    assert lesson.corrections[7] == expected.corrections[7]
    assert lesson.corrections[-3:] == expected.corrections[-3:]
    assert lesson.corrections != expected.corrections[:-1]
    corrected = expected.corrections[5]
    assert Recorded.of(lesson).answer(corrected.item, corrected.guess) == corrected.correction


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["RobustDFF", "StRoDFF", "StRoDFF, scaled", "StRoDFF, printed", "a patient RobustDFF"]
)
@pytest.mark.parametrize("exceptions", [0, 0.002])
def test_mistakes_of_rules_that_only_count_are_taken_together(name, exceptions):
    """Most of them: a learner that wants witnesses is told of few, and ends as if told of all."""
    makers = {**LEARNERS, "a patient RobustDFF": lambda w: ta.RobustDFF(w.m, 4000, 40)}
    world = ta.worlds.tree(30_000, 50, 6, 3, exceptions, seed=3)
    assert_same(makers[name], world)
    if name == "a patient RobustDFF" and not exceptions:
        lesson = ta.simulate(makers[name](world), world)
        assert len(lesson.corrections._told) < lesson.mistakes / 5


def test_rules_from_another_world_are_told_of_everything():
    """What a teacher says against an example of another world is not known beforehand."""
    first, then = (ta.worlds.tree(3000, 50, 6, 3, 0.01, seed=seed) for seed in (3, 4))
    learners = [ta.RobustDFF(6, 400, 20) for _ in range(2)]
    for learner in learners:
        ta.teach(learner, first.teacher(), first.items)
    expected = ta.teach(learners[0], then.teacher(), then.items)
    assert ta.simulate(learners[1], then) == expected
    assert learners[1].to_json() == learners[0].to_json()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "world"),
    [
        ("CappedDFF(4)", "tree(n, 50, 4, 2, seed=1)"),
        ("CappedDFF(4)", "dnf(n, 50, 4, 2, seed=1)"),
        ("StRoDFF(4, 0.001, 0.001, 0.1)", "tree(n, 50, 4, 2, seed=1)"),
        ("StRoDFF(4, 0.001, 0.001, 0.1)", "dnf(n, 50, 4, 2, seed=1)"),
        ("StRoDFF(12, 0.1, 0.1, 0.1)", "tree(n, 200, 12, 4, seed=1)"),  # rules err 200,000 times
    ],
)
def test_memory_stays_with_the_columns(learner, world):
    """No object per item, per mistake, no copy per rule: the columns, few or not, and a little."""
    program = f"""
import tracemalloc
import tellapart as ta
n = 4_000_000
ta.simulate(ta.{learner}, ta.worlds.tree(3_000_000, 100, 4, 2, seed=1))  # loads all of the kernel
tracemalloc.start()
world = ta.worlds.{world}
lesson = ta.simulate(ta.{learner}, world)
assert lesson.mistakes > 0
peak = tracemalloc.get_traced_memory()[1]
columns = len(world.bits) + len(world.labels.codes.planes) + len(world.components.planes)
print(8 * peak / (columns * n))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 1.2


class Doubting(ta.RobustDFF):
    """Believes a reason only after three witnesses more; says nothing of it to `simulate`."""

    def _witnesses(self, first: int) -> float:
        return super()._witnesses(first) + 3


def test_a_learner_with_a_patience_of_its_own_is_asked():
    world = ta.worlds.tree(3000, 30, 6, 3, 0.05, seed=2)
    one, other = Doubting(6, 9, 3), Doubting(6, 9, 3)
    lesson = ta.teach(one, world.teacher(), world.items)
    assert ta.simulate(other, world) == lesson
    assert other.model == one.model
    assert lesson.mistakes != ta.simulate(ta.RobustDFF(6, 9, 3), world).mistakes


@pytest.mark.slow
def test_rules_that_moved_up_still_count() -> None:
    """At scale 0 rules come and go, so slots are swept; every mistake must find its own rule."""
    world = ta.worlds.tree(200_000, 64, 4, 4, 0.01, seed=1)
    taught, met = (ta.StRoDFF(4, 0.01, 0.01 / 64, 0.1, scale=0.0) for _ in range(2))
    lesson = ta.simulate(met, world)
    assert lesson == ta.teach(taught, world.teacher(), world.items)
    assert met.rules_deleted > 64
    assert len(lesson.corrections._told) < lesson.mistakes / 2, "most are only counted"


@pytest.mark.usefixtures("both_engines")
@pytest.mark.parametrize("delta", [1e-300, 5e-324])
def test_a_delta_too_small_to_divide_by(delta: float) -> None:
    """8 t^3 / delta is no float then; the bound was no number, and two lessons were never equal."""
    world = ta.worlds.tree(2000, 4, 6, 3, 0.01, seed=108)
    for scale in (1.0, 0.0005):
        assert_same(lambda w, scale=scale: ta.StRoDFF(7, 0.01, 0.0, delta, scale), world)
    assert ta.theory.stochastic_bound(7, 0.01, 0.0, delta, 1000).total > 0


@pytest.mark.usefixtures("both_engines")
@pytest.mark.parametrize("make", [ta.worlds.tree, ta.worlds.dnf])
def test_worlds_lessons_and_learners_travel(make: Callable[..., World]) -> None:
    """To another process and back, as in a sweep of one's own; a world as what made it."""
    world = make(2000, 200, 5, 3, 0.02, seed=4, placement="burst", similar=2)
    learner = ta.StRoDFF(5, 0.02, 0.02, 0.1, scale=0.05)
    lesson = ta.simulate(learner, world)
    there = pickle.loads(pickle.dumps(world))
    assert len(pickle.dumps(world)) < 300
    assert list(there.labels) == list(world.labels)
    assert there.exceptions == world.exceptions
    assert pickle.loads(pickle.dumps(lesson)) == copy.deepcopy(lesson) == lesson
    for other in (pickle.loads(pickle.dumps(learner)), copy.deepcopy(learner)):
        assert other.to_json() == learner.to_json()
        assert ta.simulate(other, world) == ta.simulate(copy.deepcopy(learner), world)
    assert copy.deepcopy(learner).default.example.world is world


def test_corrections_are_indexed_as_a_tuple_is() -> None:
    world = ta.worlds.tree(60_000, 50, 4, 4, exceptions=0.01, seed=1)
    corrections = ta.simulate(ta.CappedDFF(4), world).corrections
    laid_out = tuple(corrections)
    for index in (0, -1, len(laid_out) - 1, -len(laid_out), True):
        assert corrections[index] == laid_out[index]
    for slice_ in (slice(None, None, -1), slice(10, 3, -2), slice(5, 2), slice(-4, None)):
        assert corrections[slice_] == laid_out[slice_]
    for beyond in (len(laid_out), -len(laid_out) - 1):
        with pytest.raises(IndexError):
            corrections[beyond]
    for none in ("1", 1.0, None, [1, 2]):
        with pytest.raises(TypeError):
            corrections[none]


def test_rules_that_cannot_err_are_right_on_every_item() -> None:
    """Against all items over four features."""
    generator, proven = random.Random(1), 0
    items = [{f"f{n}" for n in range(4) if number >> n & 1} for number in range(16)]

    def literals(most: int) -> tuple[Literal, ...]:
        features = generator.sample(range(4), generator.randrange(most + 1))
        return tuple(Literal(f"f{n}", generator.random() < 0.5) for n in features)

    for _ in range(4000):
        parts = [Component(f"y{generator.randrange(2)}", literals(4)) for _ in range(2)]
        clauses = [ta.Clause(literals(2), f"y{generator.randrange(2)}") for _ in range(3)]
        model = ta.DecisionList(tuple(clauses[:2]), ta.Clause((), clauses[2].label))
        if simulator.never_wrong(model, Representation(tuple(parts))):
            proven += 1
            for item, part in itertools.product(items, parts):
                assert not part.contains(item) or model.predict([item]) == [part.label]
    assert proven > 200


@pytest.mark.parametrize("make", [ta.worlds.tree, ta.worlds.dnf])
def test_rules_that_cannot_err_are_not_looked_at(
    make: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long stream costs no more than its mistakes and exceptions."""
    looked: list[int] = []
    whole = simulator.Jumps._look_at

    def look_at(self: simulator.Jumps, number: int, words: int) -> tuple[int, int]:
        looked.append(words)
        return whole(self, number, words)

    monkeypatch.setattr(simulator.Jumps, "_look_at", look_at)
    monkeypatch.setattr(simulator.PackedRules, "pass_over", None)
    world = make(2_000_000, 100, 6, 3, 2, seed=3)
    lesson = ta.simulate(ta.CappedDFF(6), world)
    assert lesson.rounds == 2_000_000
    assert sum(looked) < 1000
