"""When to stop: the interval covers, whenever one looks, and the stoppers do as they say."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tellapart import (
    DFF,
    AdaptiveDFF,
    CappedDFF,
    Guarded,
    RobustDFF,
    StRoDFF,
    estimate,
    simulate,
    teach,
    worlds,
)
from tellapart.errors import ParameterError
from tellapart.learners import BaseLearner
from tellapart.review import (
    ErrorBelow,
    NoMistakeIn,
    Progress,
    Rounds,
    Stopper,
    error_bound,
)
from tellapart.review.error_bound import ABOVE, ENDLESS, Draws, interval

LESSONS, LENGTH, RISK = 150, 250, 0.05

# How the error goes on when the model changes: for ever the same, better and better, up and down,
# and always just above what a run of right guesses is about to refute.
Drift = Callable[[random.Random, float, int], float]
DRIFTS: dict[str, Drift] = {
    "the same": lambda chance, error, models: 0.06,
    "better": lambda chance, error, models: max(0.01, 0.9 * error),
    "up and down": lambda chance, error, models: chance.choice([0.01, 0.05, 0.1, 0.4]),
    "slowly worse": lambda chance, error, models: min(0.5, 0.02 + 0.003 * models),
}


def refuted(draws: Draws, error: float) -> bool:
    """Whether an error of items without end is outside the interval."""
    wrong = error * ENDLESS
    return draws.refute(wrong, ABOVE * RISK) or draws.refute(wrong, (1 - ABOVE) * RISK, more=True)


def lesson(drift: Drift, seed: int) -> list[tuple[bool, float, float]]:
    """Rounds of a made-up lesson: mistake or not, the error it had, and the error from then on."""
    chance = random.Random(seed)
    error, models, rounds = 0.3, 1, []
    for _ in range(LENGTH):
        before, mistake = error, chance.random() < error
        if mistake:
            models += 1
            error = drift(chance, error, models)
        rounds.append((mistake, before, error))
    return rounds


@pytest.mark.parametrize("drift", DRIFTS.values(), ids=DRIFTS)
def test_the_present_error_is_covered_in_all_rounds_at_once(drift: Drift) -> None:
    """The share of lessons that are wrong in any round at all is at most the risk."""
    wrong = naive = 0
    for seed in range(LESSONS):
        progress = Progress()
        missed = fooled = False
        for mistake, error, _ in lesson(drift, seed):
            if mistake:  # a false statement is not taken back before
                missed = missed or refuted(progress.draws(None), error)
                # right guesses of the present model, as if it had been chosen beforehand
                fooled |= (1 - error) ** progress.model.rounds < RISK
            progress.add(mistake)
        wrong += missed
        naive += fooled
    assert wrong <= RISK * LESSONS
    assert naive > 0.3 * LESSONS  # without the shares of the risk


@pytest.mark.parametrize("drift", ["the same", "better"])
def test_where_no_model_is_worse_than_the_one_before_all_draws_count(drift: str) -> None:
    wrong = 0
    for seed in range(LESSONS):
        progress = Progress()
        missed = False
        for mistake, error, _ in lesson(DRIFTS[drift], seed):
            if mistake:
                every = progress.draws(None, lately=True)
                missed = missed or every.refute(error * ENDLESS, ABOVE * RISK)
            progress.add(mistake)
        wrong += missed
    assert wrong <= RISK * LESSONS
    now, lately = estimate(progress), estimate(progress, lately=True)
    assert lately.high < now.high


@pytest.mark.slow
@pytest.mark.parametrize("drift", DRIFTS.values(), ids=DRIFTS)
def test_stopping_by_the_bound_is_as_safe_as_it_says(drift: Drift) -> None:
    """Whoever stops as soon as the error is "below 20 %" has a worse model in 5 % of lessons."""
    stopper = ErrorBelow(0.2)
    stopped = wrong = 0
    for seed in range(LESSONS):
        progress = Progress()
        for mistake, _, error in lesson(drift, seed):
            progress.add(mistake)
            if stopper.met(progress):
                stopped += 1
                wrong += error > 0.2
                break
    assert wrong <= RISK * LESSONS
    assert stopped > LESSONS // 3


@pytest.mark.parametrize("seed", range(2))
def test_a_real_learner_is_covered(seed: int) -> None:
    """The error on fresh items lies between the bounds after every round."""
    world = worlds.tree(3000, 50, 6, 3, exceptions=0.02, seed=seed)
    items, fresh = world.items[:200], list(world.items[200:1500])
    truth = list(world.labels[200:1500])
    learner, teacher, progress = CappedDFF(m=6), world.teacher(), Progress()
    error = 1.0
    for number, item in enumerate(items):
        guess = learner.guess(item)
        correction = teacher.answer(item, guess)
        learner.learn(item, guess, correction)
        if not number:
            progress.ask()
        else:
            progress.add(correction is not None)
        if correction is not None:
            said = learner.model.predict(fresh)
            error = sum(map(str.__ne__, said, truth)) / len(truth)
        now = estimate(progress)
        assert now.low <= error <= now.high
        assert now.low <= now.error <= now.high


mistakes = st.lists(st.booleans() | st.just(False), max_size=200)


@given(mistakes, st.floats(0.5, 0.999), st.booleans())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_an_estimate_is_in_order(record: list[bool], confidence: float, lately: bool) -> None:
    now = estimate(record, confidence, lately=lately)
    assert 0 <= now.low <= now.error <= now.high <= 1
    surer = estimate(record, (1 + confidence) / 2, lately=lately)
    assert surer.high >= now.high
    better = estimate([*record, False], confidence, lately=lately)
    assert better.high <= now.high
    assert now.rounds_used <= len(record)


@given(st.lists(st.booleans(), min_size=1, max_size=100))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_bounds_are_where_refutation_begins(record: list[bool]) -> None:
    progress = Progress()
    for mistake in record:
        progress.add(mistake, changed=False)
    now, draws = estimate(progress), progress.draws(None)
    assert now.low <= sum(record) / len(record) <= now.high
    assert not refuted(draws, now.high - 1e-8)
    assert not refuted(draws, now.low + 1e-8)
    assert now.high == 1 or refuted(draws, now.high + 1e-8)
    assert now.low == 0 or refuted(draws, now.low - 1e-8)


def test_an_estimate_never_beats_the_exact_binomial_bound() -> None:
    """Clopper and Pearson's bound, for one model and one look, is the best there is."""
    for rounds in (1, 10, 40, 1000):
        assert interval([False] * rounds)[1] > 1 - RISK ** (1 / rounds)
    # and the price: 40 right guesses of the first model say 9.2 % instead of 7.2 %
    assert estimate([False] * 40).high == pytest.approx(0.0924, abs=1e-4)


def test_an_empty_record_says_nothing() -> None:
    now = estimate([])
    assert (now.low, now.high, now.rounds_used) == (0, 1, 0)
    assert str(now) == "nothing is known about the error yet"


stoppers = st.builds(NoMistakeIn, st.integers(1, 40)) | st.builds(Rounds, st.integers(1, 60))


@given(stoppers, mistakes)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_left_is_how_many_right_guesses_are_left(stopper: Stopper, record: list[bool]) -> None:
    progress = Progress.of(record)
    left = stopper.left(progress)
    assert left is not None
    assert stopper.met(progress) == (left == 0)
    assert stopper.say(progress).endswith("you may stop")
    if left:
        progress.skip(left - 1)
        assert not stopper.met(progress)
        progress.add(mistake=False)
    assert stopper.met(progress)


@given(mistakes)
@settings(max_examples=50, deadline=None, derandomize=True)
def test_many_rounds_at_once_are_as_one_by_one(record: list[bool]) -> None:
    one, all_at_once, run = Progress.of(record), Progress(), 0
    for mistake in record:
        if mistake:
            all_at_once.skip(run)
            all_at_once.add(mistake=True)
        run = 0 if mistake else run + 1
    all_at_once.skip(run)
    assert vars(one) == vars(all_at_once)


STOPPERS = [
    NoMistakeIn(25),
    Rounds(90),
    ErrorBelow(0.2),
    ErrorBelow(0.3, 0.9, lately=True),
]


@pytest.mark.parametrize("stopper", STOPPERS, ids=repr)
def test_a_lesson_ends_where_the_stopper_says(stopper: Stopper) -> None:
    world = worlds.tree(1000, 100, 6, 3, exceptions=0.01, seed=2)
    whole = teach(CappedDFF(m=6), world.teacher(), world.items)
    short = teach(CappedDFF(m=6), world.teacher(), world.items, until=stopper)
    progress, mistakes = Progress(), {*whole.mistake_rounds}
    while not stopper.met(progress):
        number = progress.rounds
        progress.add(number in mistakes) if number else progress.ask()
    assert short.rounds == progress.rounds < whole.rounds
    assert short.corrections == whole.corrections[: short.mistakes]
    progress = Progress.of(short)
    assert stopper.met(progress)
    assert (progress.rounds, progress.mistakes) == (short.rounds, short.mistakes)
    again = teach(CappedDFF(m=6), world.teacher(), world.items, until=stopper)
    assert again == short  # a stopper keeps nothing


@pytest.mark.parametrize("stopper", STOPPERS, ids=repr)
@pytest.mark.parametrize(
    "make",
    [
        lambda: CappedDFF(m=6),
        lambda: RobustDFF(6, 10, 1),
        lambda: StRoDFF(6, 0.1, 0.05, 0.1, scale=0.05),
        lambda: Guarded(DFF(), CappedDFF(m=6)),
        lambda: CappedDFF(m=6, remember=True),  # given every round
    ],
)
def test_simulate_ends_there_too(make: Callable[[], BaseLearner], stopper: Stopper) -> None:
    world = worlds.tree(400, 100, 6, 3, exceptions=0.01, seed=2)
    one, other = make(), make()
    taught = teach(one, world.teacher(), world.items, until=stopper)
    assert simulate(other, world, until=stopper) == taught
    assert other.to_json() == one.to_json()


def test_a_stopper_that_is_never_met() -> None:
    world = worlds.zoo()
    lesson = teach(CappedDFF(m=7), world.teacher(), world.items, until=NoMistakeIn(90))
    assert lesson.rounds == 101


def test_mistakes_that_change_nothing_do_not_begin_a_new_model() -> None:
    """RobustDFF waits for a second witness: after the first the model is the same."""
    world = worlds.tree(300, 100, 4, 2, exceptions=0.05, seed=1)
    for learner, every in ((RobustDFF(4, 15, 1), False), (CappedDFF(4), True)):
        watch = Rounds(1000).watch(learner)
        teacher = world.teacher()
        for item in world.items:
            guess = learner.guess(item)
            correction = teacher.answer(item, guess)
            learner.learn(item, guess, correction)
            watch(guess, correction)
        progress = watch.progress
        assert (progress.models == progress.mistakes + 1) == every
        assert progress.rounds == 300
        assert progress.guesses == 299


def test_sentences() -> None:
    progress = Progress.of([True] * 3 + [False] * 39)
    assert NoMistakeIn(40).say(progress) == (
        "no mistake in 39 items; the error is below 14 % with 95 % confidence; with one more, you"
        " may stop"
    )
    progress.add(mistake=False)
    assert ErrorBelow(0.2).say(progress) == (
        "the error is below 14 % with 95 % confidence; you may stop"
    )
    assert Rounds(43).say(progress) == "43 items done; you may stop"
    progress.add(mistake=True)
    assert NoMistakeIn(2).say(progress) == (
        "a mistake just now; nothing is known about the error yet; if the next 2 guesses are right,"
        " you may stop"
    )
    lately = ErrorBelow(0.5, 0.9, lately=True)
    assert lately.say(progress) == (
        "the error is below 22 %, if the rules got no worse in the last 44 rounds, with 90 %"
        " confidence; you may stop"
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NoMistakeIn(0), "NoMistakeIn: n must be an integer >= 1, got 0"),
        (lambda: Rounds(-1), "Rounds: n must be an integer >= 1, got -1"),
        (lambda: ErrorBelow(0.0), "ErrorBelow: error must be between 0 and 1, got 0.0"),
        (lambda: ErrorBelow(0.1, 1.0), "ErrorBelow: confidence must be between 0 and 1, got 1.0"),
        (lambda: estimate([], 95), "estimate: confidence must be between 0 and 1, got 95"),
    ],
)
def test_parameters(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()


def test_adaptive_learners_too() -> None:
    world = worlds.tree(500, 100, 4, 2, seed=1)
    lesson = teach(AdaptiveDFF(), world.teacher(), world.items, until=NoMistakeIn(40))
    assert lesson.rounds == lesson.mistake_rounds[-1] + 41


# -- a finite table, read once


def read_once(
    rows: int, wrong: int, change: Callable[[random.Random, int, int], int] | None, seed: int
) -> Iterator[tuple[Progress, int]]:
    """A lesson over a table: how it stands, and how many of the rows left are wrong, each time."""
    chance = random.Random(seed)
    progress = Progress(rows)
    for left in range(rows, 0, -1):
        yield progress, wrong
        mistake = chance.random() * left < wrong
        progress.add(mistake, changed=mistake and change is not None)
        if mistake:
            wrong = wrong - 1 if change is None else change(chance, wrong - 1, left - 1)


CHANGES: dict[str, Callable[[random.Random, int, int], int] | None] = {
    "never": None,
    "better": lambda chance, wrong, left: wrong // 2,
    "up and down": lambda chance, wrong, left: int(left * chance.choice([0.0, 0.05, 0.3])),
}


@pytest.mark.parametrize(
    ("rows", "wrong"), [(40, 2), pytest.param(100, 10, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_rows_left_are_covered_in_all_rounds_at_once(rows, wrong, change) -> None:
    """Independent draws would say that too few are wrong in a fifth of these lessons and more."""
    false, lately, naive = set(), set(), set()
    for seed in range(LESSONS):
        for progress, true in read_once(rows, wrong, change, seed):
            draws, every = (progress.draws(rows, lately) for lately in (False, True))
            if draws.refute(true, ABOVE * RISK) or draws.refute(true, (1 - ABOVE) * RISK, True):
                false.add(seed)
            if every.refute(true, ABOVE * RISK):
                lately.add(seed)
            independent = true / (rows - progress.rounds) * ENDLESS
            if progress.draws(None).refute(independent, ABOVE * RISK):
                naive.add(seed)
    allowed = RISK * LESSONS + 2 * (RISK * LESSONS) ** 0.5
    assert len(false) <= allowed
    if change is not CHANGES["up and down"]:  # there, models get worse
        assert len(lately) <= allowed
    if change is None:
        assert len(naive) > 2 * allowed


@pytest.mark.parametrize("lately", [False, True])
def test_an_estimate_of_a_table_is_what_its_draws_do_not_refute(lately: bool) -> None:
    for progress, _ in read_once(60, 12, lambda chance, wrong, left: wrong // 2, 1):
        now, draws = estimate(progress, lately=lately), progress.draws(60, lately)
        most = max(v for v in range(now.rows_left + 1) if not draws.refute(v, ABOVE * RISK))
        assert now.wrong_left == most
        assert now.low <= now.error <= now.high == most / now.rows_left


def test_all_rows_seen_leaves_none_to_be_wrong() -> None:
    for mistakes in ([False] * 30, [True] * 30):
        for lately in (False, True):
            now = estimate(mistakes, rows=30, lately=lately)
            assert (now.low, now.error, now.high, now.wrong_left) == (0, 0, 0, 0)
    assert str(now) == "all rows were seen: none is left to be wrong"
    assert ErrorBelow(0.01).met(Progress(0))


def test_a_finite_table_in_words() -> None:
    progress = Progress(rows=1527)
    for number in range(100):
        progress.add(mistake=number % 50 == 10, changed=False)
    now = estimate(progress)
    assert now.rows_left == 1427
    assert str(now) == (
        f"at most {now.wrong_left} of the 1,427 rows left are wrong, with 95 % confidence"
    )
    lately = estimate([False] * 20 + [True] + [False] * 20, 0.9, rows=50, lately=True)
    assert str(lately) == (
        f"at most {lately.wrong_left} of the 9 rows left are wrong, if the rules got no worse in"
        f" the last {lately.rounds_used} rounds, with 90 % confidence"
    )
    assert str(estimate([False] * 99, rows=100)) == (
        "none of the one row left is wrong, with 95 % confidence"
    )
    assert str(estimate([True] * 5, rows=100)) == "nothing is known about the error yet"


def test_a_finite_table_is_never_looser_than_the_rest_of_it() -> None:
    """More rows left cannot mean fewer wrong; right draws only help, mistakes only hurt."""
    one_table = [estimate([False] * n, rows=200).wrong_left for n in range(201)]
    assert one_table == sorted(one_table, reverse=True)
    assert one_table[0] == 200
    assert one_table[-1] == 0
    larger = [estimate([False] * 60, rows=rows).wrong_left for rows in (61, 100, 1000)]
    assert larger == sorted(larger)
    late, early = Progress(200), Progress(200)
    for number in range(100):
        late.add(number == 99, changed=False)
        early.add(number == 0, changed=False)
    none = one_table[100]
    assert none <= estimate(early).wrong_left <= estimate(late).wrong_left


def test_rows_not_drawn_at_random_are_no_evidence() -> None:
    progress = Progress(200)
    for _ in range(40):
        progress.add(False)
    before = estimate(progress)
    for _ in range(100):
        progress.pick(False)
    after = estimate(progress)
    assert (after.wrong_left, after.rows_left) == (before.wrong_left, 60)
    progress.aside = 20
    assert estimate(progress).rows_left == 40
    assert estimate(progress).wrong_left <= after.wrong_left


def test_right_guesses_that_were_not_drawn_are_no_mistake_just_now() -> None:
    progress = Progress(200)
    progress.pick(True)
    assert NoMistakeIn(5).facts(progress)[0] == "a mistake just now"
    progress.pick(False)
    assert NoMistakeIn(5).facts(progress)[0] == "no item drawn at random since the last mistake"


def test_new_rows_are_not_vouched_for() -> None:
    progress = Progress(100)
    for _ in range(90):
        progress.add(False)
    assert estimate(progress).wrong_left < 3
    progress.grow(200)
    for lately in (False, True):
        assert estimate(progress, lately=lately).wrong_left == 110


@pytest.mark.parametrize("lately", [False, True])
def test_error_below_stops_a_finite_table_where_it_says(lately: bool) -> None:
    stopper = ErrorBelow(0.05, lately=lately)
    progress = Progress(500)
    for number in range(60):
        progress.add(number in (3, 17, 31))
    more = 0
    while not stopper.met(progress):
        progress.add(False)
        more += 1
    assert 30 < more < 250
    assert estimate(progress, lately=lately).high < 0.05
    assert "rows left" in stopper.say(progress)


def test_more_rows_seen_than_there_are() -> None:
    with pytest.raises(ParameterError, match="rows must be at least the 40 rows seen, got 30"):
        estimate([False] * 40, rows=30)


def test_long_lessons_lose_little_by_their_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lesson of many draws is summed in blocks: the bound is a little larger, and never less."""
    chance = random.Random(1)
    progress = Progress(20_000)
    for _ in range(9_000):
        progress.add(chance.random() < 0.03, changed=False)
    blocks = progress.draws(20_000)
    most, least = blocks.most_wrong(0.05), blocks.least_wrong(0.05)
    monkeypatch.setattr(error_bound, "_BLOCKS", 10**9)
    exact = progress.draws(20_000)
    assert exact.most_wrong(0.05) < most <= 1.03 * exact.most_wrong(0.05)
    assert 0.93 * exact.least_wrong(0.05) <= least < exact.least_wrong(0.05)


def test_wrong_rows_that_were_picked_were_there_to_be_drawn() -> None:
    """Half of 400 rows are wrong. Who picks finds 120 of them, and 30 of 180 are left."""
    progress = Progress(rows=400)
    for number in range(100):
        progress.add(number % 2 == 0, changed=False)
    for _ in range(120):
        progress.pick(True, changed=False)
    now = estimate(progress)
    assert now.low * 180 <= 30 <= now.wrong_left
    progress = Progress(rows=400)
    for number in range(100):
        progress.add(number % 2 == 0, changed=False)
    for _ in range(120):
        progress.pick(False, changed=False)
    assert estimate(progress).low * 180 > 30  # right ones were picked: most of the wrong are left
