"""Every learner of the public API passes every check."""

import inspect

import numpy as np
import pytest

import tellapart as ta
from tellapart.checks import BASE_CHECKS, CHECKS
from tellapart.errors import ParameterError
from tellapart.learners.base import BaseLearner

MAKERS = {
    "DFF": ta.DFF,
    "RobustDFF": lambda **kw: ta.RobustDFF(7, 3, 1, **kw),
    "RobustDFF-patience": lambda **kw: ta.RobustDFF(7, 3, 1, patience=0, **kw),
    "RobustDFF-s0": lambda **kw: ta.RobustDFF(7, 3, 0, **kw),
    "StRoDFF": lambda **kw: ta.StRoDFF(7, 0.1, 0.02, 0.1, scale=0.01, **kw),
    "StRoDFF-printed": lambda **kw: ta.StRoDFF(7, 0.1, 0.02, 0.1, 0.01, as_printed=True, **kw),
    "CappedDFF": lambda **kw: ta.CappedDFF(7, **kw),
    "OptimalDFF": ta.OptimalDFF,
    "UniqueLabelDFF": lambda **kw: ta.UniqueLabelDFF(7, **kw),
    "UniqueLabelDFF-guessing": ta.UniqueLabelDFF,
    "AdaptiveDFF": ta.AdaptiveDFF,
    "AdaptiveDFF-ruler": lambda **kw: ta.AdaptiveDFF("ruler", **kw),
    "ShortList": ta.ShortList,
    "AutoDFF": ta.AutoDFF,
    "Guarded": lambda **kw: ta.Guarded(ta.DFF(), ta.CappedDFF(7), **kw),
}


def public_learners():
    for name in ta.__all__:
        thing = getattr(ta, name)
        if inspect.isclass(thing) and issubclass(thing, BaseLearner):
            yield thing.__name__


def test_every_public_learner_is_checked():
    assert set(public_learners()) == {name.split("-")[0] for name in MAKERS}


def checks():
    long = (
        "check_clone_is_fresh",
        "check_contradictions",
        "check_copy_is_independent",
        "check_json",
        "check_order_of_columns",
        "check_same_log_same_state",
    )
    for name, make in MAKERS.items():
        for check, run in (CHECKS | BASE_CHECKS).items():
            slow = check in long and name in ("ShortList", "AutoDFF")
            if name == "ShortList" and check == "check_out_of_turn":
                continue  # it takes what is said of anybody's guess
            marks = [pytest.mark.slow] if slow else []
            yield pytest.param(make, run, id=f"{name}-{check}", marks=marks)


@pytest.mark.parametrize("remember", [False, True], ids=["", "remember"])
@pytest.mark.parametrize(("make", "check"), list(checks()))
def test_check(make, check, remember):
    check(lambda: make(remember=remember))


BAD = [
    (ta.CappedDFF, {"m": 0}),
    (ta.CappedDFF, {"m": 2.0}),
    (ta.CappedDFF, {"m": True}),
    (ta.CappedDFF, {"m": "7"}),
    (ta.CappedDFF, {"m": float("nan")}),
    (ta.RobustDFF, {"m": 0, "k": 0, "s": 0}),
    (ta.RobustDFF, {"m": 3, "k": -1, "s": 0}),
    (ta.RobustDFF, {"m": 3, "k": 1, "s": 2}),
    (ta.RobustDFF, {"m": 3, "k": 1, "s": -1}),
    (ta.RobustDFF, {"m": 3, "k": 1, "s": 1, "patience": -1}),
    (ta.StRoDFF, {"m": 0, "epsilon": 0.1, "sigma": 0.1, "delta": 0.1}),
    (ta.StRoDFF, {"m": 2, "epsilon": 0.25, "sigma": 0.1, "delta": 0.1}),
    (ta.StRoDFF, {"m": 2, "epsilon": 0.1, "sigma": 0.2, "delta": 0.1}),
    (ta.StRoDFF, {"m": 2, "epsilon": 0.1, "sigma": 0.1, "delta": 0.14}),
    (ta.StRoDFF, {"m": 2, "epsilon": 0.1, "sigma": 0.1, "delta": 0.0}),
    (ta.StRoDFF, {"m": 2, "epsilon": float("nan"), "sigma": 0.1, "delta": 0.1}),
    (ta.StRoDFF, {"m": 2, "epsilon": "0.1", "sigma": 0.1, "delta": 0.1}),
    (ta.StRoDFF, {"m": 2, "epsilon": 0.1, "sigma": 0.1, "delta": 0.1, "scale": -1}),
    (ta.StRoDFF, {"m": 2, "epsilon": 0.1, "sigma": 0.1, "delta": 0.1, "as_printed": 1}),
    (ta.AdaptiveDFF, {"schedule": "ruled"}),
    (ta.UniqueLabelDFF, {"m": 0}),
    (ta.UniqueLabelDFF, {"m": 3, "p": 0}),
    (ta.UniqueLabelDFF, {"m": 3, "p": 1.1}),
    (ta.UniqueLabelDFF, {"m": 3, "l": 0}),
    (ta.UniqueLabelDFF, {"m": 3, "seed": -1}),
    (ta.UniqueLabelDFF, {"l": 3}),
    (ta.Guarded, {"practical": "DFF", "guaranteed": ta.DFF()}),
]


@pytest.mark.parametrize(("kind", "arguments"), BAD, ids=lambda value: str(value)[:60])
def test_bad_parameters_say_what_was_given_and_allowed(kind, arguments):
    with pytest.raises(ParameterError) as error:
        kind(**arguments)
    message = str(error.value)
    assert message.startswith(kind.__name__)
    assert "must be" in message
    assert "got" in message


def test_numbers_of_numpy_are_numbers():
    learner = ta.RobustDFF(np.int64(3), np.int32(1), np.uint8(1), patience=np.int64(0))
    assert ta.load_learner(learner.to_json()).to_json() == learner.to_json()
    learner = ta.StRoDFF(np.int64(3), np.float32(0.1), np.float64(0.01), np.float64(0.1))
    assert ta.load_learner(learner.to_json()).to_json() == learner.to_json()
    assert ta.worlds.tree(np.int64(50), 9, 3, 2, np.int64(4)).k == 4


def test_a_guarded_learner_needs_fresh_and_different_parts():
    one = ta.DFF()
    with pytest.raises(ParameterError, match="two learners"):
        ta.Guarded(one, one)
    one.learn({"milk"}, one.guess({"milk"}), ta.Correction("mammal"))
    with pytest.raises(ParameterError, match="taught already"):
        ta.Guarded(one, ta.DFF())


def test_a_guard_judges_answers_by_its_own_reading():
    """A practical learner that finds every answer odd is charged for its mistakes all the same."""
    world = ta.worlds.tree(400, 20, 2, 2, seed=1)
    for holds in (lambda feature, item: False, lambda feature, item: True):
        guarded = ta.Guarded(ta.DFF(holds=holds), ta.CappedDFF(m=2))
        lesson = ta.teach(guarded, world.teacher(), world.items)
        assert lesson.mistakes <= lesson.bound == 5


def test_a_guard_does_not_charge_what_contradicts_itself_by_its_own_reading():
    guarded = ta.Guarded(ta.DFF(holds=lambda feature, item: feature == "odd"), ta.CappedDFF(m=2))
    guarded.learn({"a"}, guarded.guess({"a"}), ta.Correction("one"))
    for number in range(4):  # "odd" holds on nothing: the practical learner reads it otherwise
        item = {"b", str(number)}
        guarded.learn(item, guarded.guess(item), ta.Correction(f"label {number}", "odd"))
        assert guarded.shown is guarded.practical
    assert all("does not hold on" in odd.reason for odd in guarded.inconsistencies)
    assert len(guarded.inconsistencies) == 4


def test_where_nothing_is_proven_there_is_no_bound():
    rates = {"m": 3, "epsilon": 0.02, "sigma": 0.002, "delta": 0.1}
    assert ta.StRoDFF(**rates).bound(n=1000) > 1000  # proven, and of no use yet
    for unproven in (
        ta.StRoDFF(**rates, as_printed=True),
        ta.StRoDFF(**rates, scale=0.5),
        ta.StRoDFF(**rates, remember=True),
        ta.Guarded(ta.DFF(), ta.StRoDFF(**rates)),
        ta.Guarded(ta.DFF(), ta.Guarded(ta.DFF(), ta.StRoDFF(**rates))),
    ):
        assert unproven.bound(m=3, k=0, s=0, n=1000) is None


def test_robust_gives_the_smallest_bound_that_is_proven():
    assert ta.theory.robust_bound(7, 4, 1) == 198
    assert ta.RobustDFF(7, 4, 1).bound() == ta.theory.patient_bound(7, 4, 1, patience=4) == 120
    assert ta.RobustDFF(7, 4, 1).bound(k=2) == ta.theory.patient_bound(7, 2, 1, patience=4)
    assert ta.RobustDFF(7, 4, 1).bound(k=5) is None
