"""Checks that every learner must pass. Run them on your own with `check_learner`:

    from tellapart.checks import check_learner
    check_learner(lambda: MyLearner(m=7))

Each check takes a function that makes a fresh learner, teaches it a small seeded world by the
public contract, and raises an `AssertionError` that says what is wrong. Those in `CHECKS` hold for
any learner; those in `BASE_CHECKS` for learners built on `tellapart.learners.BaseLearner`, which
promises more: memory, JSON, and that answers out of turn are refused.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from tellapart import codec, worlds
from tellapart.codec import identity
from tellapart.errors import FormatError, ProtocolError
from tellapart.learners import BaseLearner, load_learner
from tellapart.model import DecisionList, Not
from tellapart.protocol import Correction, Guess, Item, teach
from tellapart.teachers import Slipping

__all__ = ["BASE_CHECKS", "CHECKS", "check_learner"]

Make: TypeAlias = Callable[[], Any]
Answer: TypeAlias = tuple[Item, Correction | None]


def check_learner(make: Make, *, known_failures: Mapping[str, str] | None = None) -> list[str]:
    """Run every check on the learners that `make` makes; returns the names of those passed.

    `known_failures` maps a check to the reason why it cannot pass; one that passes nevertheless is
    an error, so that the list stays true.

    >>> from tellapart import CappedDFF
    >>> len(check_learner(lambda: CappedDFF(m=7))) == len(CHECKS) + len(BASE_CHECKS)
    True
    """
    expected = dict(known_failures or {})
    passed = []
    learner = _make_first(make)
    for name, check in (CHECKS | (BASE_CHECKS if isinstance(learner, BaseLearner) else {})).items():
        try:
            check(make)
        except Exception as error:
            if name in expected:
                continue
            said = str(error)
            if not isinstance(error, AssertionError):
                said = f"the learner raised {type(error).__name__}: {error}"
            raise AssertionError(f"{name} ({_first_line(check)}): {said}") from error
        assert name not in expected, f"{name} was expected to fail ({expected[name]})"
        passed.append(name)
    return passed


_NOT_SAVED = (
    "a loaded learner went another way: what it keeps under a name that begins with an underscore"
    " is not saved"
)


def _make_first(make: Make) -> Any:
    """A learner, if what was made can be one."""
    hint = "give a function that makes a fresh learner: check_learner(lambda: MyLearner(m=7))"
    assert callable(make), f"{make!r} cannot be called; {hint}"
    try:
        learner = make()
    except TypeError as error:
        raise AssertionError(f"{error}; {hint}") from error
    for name in ("guess", "learn", "model"):
        found = name in vars(learner) or hasattr(type(learner), name)
        assert found, f"a learner has guess, learn and model; this has no {name}"
    if isinstance(learner, BaseLearner):
        _check_constructor(learner)
    model, guess = learner.model, learner.guess(_world().items[0])
    assert not callable(model), "model must be a property: write @property above it"
    assert isinstance(model, DecisionList), f"model must be a DecisionList, got {model!r}"
    assert isinstance(guess, Guess), f"guess must return a Guess(label, example), got {guess!r}"
    return learner


def _check_constructor(learner: BaseLearner) -> None:
    owner = type(learner).__name__
    assert "rounds" in vars(learner), f"__init__ of {owner} must call super().__init__(**common)"
    try:
        learner.clone()
    except AttributeError as error:
        raise AssertionError(
            f"{error}. Keep each argument of __init__ under its own name: self.m = m"
        ) from error
    except TypeError as error:
        raise AssertionError(
            f"{error}. Take what every learner takes, and pass it on:"
            " def __init__(self, m, **common): super().__init__(**common)"
        ) from error


def _first_line(check: Callable[[Make], None]) -> str:
    return (check.__doc__ or "").strip().splitlines()[0].rstrip(".")


def _world() -> worlds.Listed:
    return worlds.zoo(seed=5)


def _run(learner: Any, rate: float = 0.0, rounds: int = 101) -> list[Answer]:
    """Teach `learner`; the transcript can be told to another one."""
    world = _world()
    teacher = Slipping(
        world.teacher(), rate, labels=set(world.labels), features=world.features, seed=3
    )
    transcript = []
    for item in (list(world.items) * 3)[:rounds]:
        guess = learner.guess(item)
        correction = teacher.answer(item, guess)
        learner.learn(item, guess, correction)
        transcript.append((item, correction))
    return transcript


def _tell(learner: Any, transcript: Iterable[Answer]) -> None:
    for item, correction in transcript:
        learner.learn(item, learner.guess(item), correction)


def _state(learner: Any) -> str:
    """Everything a learner keeps, as text."""
    for name, value in vars(learner).items():
        assert type(value).__module__.split(".")[0:2] not in (["random"], ["numpy", "random"]), (
            f"the attribute {name!r} is a random generator, and is not saved: a learner that is"
            " loaded would draw otherwise. Keep its seed, and how often it was used, as numbers"
        )
    if isinstance(learner, BaseLearner):
        return learner.to_json()
    kept = {}
    for name, value in vars(learner).items():
        try:
            kept[name] = codec.encode(value)
        except FormatError:
            raise AssertionError(
                f"the attribute {name!r} ({type(value).__name__}) cannot be saved. What a learner"
                " keeps must be names, numbers, lists, tuples, sets or mappings; in place of a"
                " random generator keep its seed and how often it was used"
            ) from None
    return codec.dump(kept)


def check_asks_first(make: Make) -> None:
    """A fresh learner asks, and the answer is no rule."""
    learner, item = make(), dict(_world().items[0])
    assert learner.guess(item) == Guess(None, None), "the first guess must be Guess(None, None)"
    kept = copy.deepcopy(item)
    learner.learn(item, Guess(None, None), Correction("mammal"))
    assert item == kept, "learn changed the item"
    assert learner.guess(item) == Guess("mammal", item), "the first label must be learnt"
    made = getattr(learner, "rules_created", 0)
    assert made == 0, "the first label must not make a rule"


def check_example_has_label(make: Make) -> None:
    """The shown example was seen before, with the guessed label."""
    learner, world = make(), _world()
    seen: dict[Any, Any] = {}
    teacher = world.teacher()
    for item, label in zip(world.items, world.labels, strict=True):
        guess = learner.guess(item)
        if guess.label is not None:
            assert seen.get(identity(guess.example)) == guess.label, (
                f"guessed {guess.label!r} because of {guess.example!r}, which was"
                f" {seen.get(identity(guess.example))!r}"
            )
        learner.learn(item, guess, teacher.answer(item, guess))
        seen[identity(item)] = label


def check_guess_is_first_match(make: Make) -> None:
    """The guess is the model's first match, and the matching clause covers the item."""
    learner = make()
    for item, correction in _run(make(), rounds=60):
        guess, model = learner.guess(item), learner.model
        if not getattr(learner, "remember", False):
            said = model.first_match(item)
            assert guess == said, f"on {item!r} it guesses {guess}, and its model says {said}"
        clause = model.match(item)
        assert clause.covers(item, model.reading), f"{clause} does not cover {item!r}"
        learner.learn(item, guess, correction)


def check_guess_changes_nothing(make: Make) -> None:
    """Guessing, looking at the model and writing JSON leave the learner as it was."""
    learner = make()
    _run(learner, rounds=40)
    before = _state(learner)
    for item in _world().items:
        learner.guess(item)
        assert learner.model is not None
    assert _state(learner) == before, "guessing changed the learner"


def check_same_log_same_state(make: Make) -> None:
    """The same transcript gives the same learner."""
    first, second = make(), make()
    transcript = _run(first, rate=0.1)
    _tell(second, transcript)
    assert _state(first) == _state(second), "the same answers led to another state"


def check_order_of_columns(make: Make) -> None:
    """The order of an item's columns changes nothing."""
    straight, turned = make(), make()
    for item, correction in _run(make(), rounds=80):
        plain = dict(item)
        reverse = dict(reversed(plain.items()))
        guesses = straight.guess(plain), turned.guess(reverse)
        assert guesses[0] == guesses[1], f"{guesses[0]} became {guesses[1]} in another order"
        straight.learn(plain, guesses[0], correction)
        turned.learn(reverse, guesses[1], correction)


def check_inputs_untouched(make: Make) -> None:
    """Items are neither changed nor kept by reference."""
    learner, told = make(), make()
    for item, correction in _run(make(), rounds=30):
        mine = dict(item)
        kept = copy.deepcopy(mine)
        learner.learn(mine, learner.guess(mine), correction)
        assert mine == kept, "learn changed the item"
        told.learn(kept, told.guess(kept), correction)
        mine.clear()
    probe = dict(_world().items[90])
    assert learner.guess(probe) == told.guess(probe), (
        "it guesses otherwise once an item it was told of has changed: keep a copy, as"
        " tellapart.codec.keep makes it"
    )


def check_copy_is_independent(make: Make) -> None:
    """A deep copy goes on as the original would, and neither changes the other."""
    told = _run(make(), rate=0.2, rounds=90)
    learner, whole = make(), make()
    _tell(learner, told[:50])
    before = _state(learner)
    twin = copy.deepcopy(learner)
    _tell(twin, told[50:])
    assert _state(learner) == before, "teaching a copy changed the original"
    _tell(whole, told)
    assert _state(twin) == _state(whole), "a copy did not learn as the original would"


def check_contradictions(make: Make) -> None:
    """A teacher who says anything at all never breaks the learner."""
    _run(make(), rate=0.9, rounds=303)


def check_label_only(make: Make) -> None:
    """Corrections without a feature are taken, and the learner goes on."""
    learner, world = make(), _world()
    for item, label in zip(world.items, world.labels, strict=True):
        guess = learner.guess(item)
        learner.learn(item, guess, None if guess.label == label else Correction(label))
    assert not getattr(learner, "inconsistencies", ())


def check_idle(make: Make) -> None:
    """`simulate` gives the lesson of `teach`: rounds it calls idle change nothing."""
    if getattr(make(), "idle", None) is None:
        return  # every round is given to it
    streams = (
        worlds.zoo(seed=8),
        worlds.tree(600, 30, 4, 3, exceptions=0.03, seed=6),
        worlds.quiet_majority(400, 0.05, 4, seed=2),
    )
    for world in streams:
        taught, simulated = make(), make()
        lesson = teach(taught, world.teacher(), world.items)
        said = f"`idle` is {taught.idle!r}, but such rounds change this learner"
        same = worlds.simulate(simulated, world) == lesson
        assert same, f"in {world} simulate gives another lesson than teach: {said}"
        same = _state(simulated) == _state(taught)
        assert same, f"in {world} simulate leaves another state than teach: {said}"


def check_clone_is_fresh(make: Make) -> None:
    """A clone has the parameters and nothing else."""
    learner = make()
    _run(learner, rounds=40)
    before = _state(learner)
    clone = learner.clone()
    assert clone.to_json() == make().to_json(), "a clone must be as the constructor made it"
    _run(clone, rounds=20)
    assert _state(learner) == before, "teaching a clone changed the original"


def check_feature_both_have(make: Make) -> None:
    """A feature that does not tell the two apart is recorded, and its rule is not changed."""
    learner = make()
    _run(learner, rounds=30)
    for item in _world().items[30:]:
        guess = learner.guess(item)
        clause = learner.model.match(item)
        if not clause.literals or identity(item) == identity(guess.example):
            continue
        both = [f for f in item if f != "name" and item[f] and guess.example[f]]
        for feature in (both[0], Not(both[0])):
            known, model = len(learner.inconsistencies), learner.model
            learner.learn(item, guess, Correction("unheard of", feature))
            assert len(learner.inconsistencies) == known + 1, f"{feature!r} was not recorded"
            assert learner.model == model, f"{feature!r} was learnt from"
            if learner.remember:
                return
        return


def check_out_of_turn(make: Make) -> None:
    """Answers to guesses that were not made are refused and change nothing."""
    learner = make()
    _run(learner, rounds=40)
    world = _world()
    before = _state(learner)
    for item in (world.items[50], world.items[10]):  # one that is new, one met before
        guess = learner.guess(item)
        wrong = (
            (Guess("unheard of", world.items[60]), Correction("mammal", "milk")),
            (Guess(None, None), Correction("mammal")),
            (guess, Correction(guess.label)),
            (guess, Correction(None)),
        )
        for told, correction in wrong:
            try:
                learner.learn(item, told, correction)
            except ProtocolError:
                pass
            else:
                raise AssertionError(f"{correction} to {told} was accepted")
            assert _state(learner) == before, f"{correction} to {told} changed the learner"


def check_json(make: Make) -> None:
    """Writing and reading gives the same text, and the same guesses ever after."""
    learner = make()
    transcript = _run(learner, rate=0.1)
    for cut in (24, 50):
        half = make()
        _tell(half, transcript[:cut])
        loaded = load_learner(half.to_json())
        assert loaded.to_json() == half.to_json(), "reading and writing changed the text"
        for item, correction in transcript[cut:]:
            assert loaded.guess(item) == half.guess(item), _NOT_SAVED
            for one in (loaded, half):
                one.learn(item, one.guess(item), correction)
        assert loaded.to_json() == _state(learner), _NOT_SAVED


CHECKS: dict[str, Callable[[Make], None]] = {
    check.__name__: check
    for check in (
        check_asks_first,
        check_example_has_label,
        check_guess_is_first_match,
        check_guess_changes_nothing,
        check_same_log_same_state,
        check_order_of_columns,
        check_inputs_untouched,
        check_copy_is_independent,
        check_contradictions,
        check_label_only,
        check_idle,
    )
}
BASE_CHECKS: dict[str, Callable[[Make], None]] = {
    check.__name__: check
    for check in (
        check_clone_is_fresh,
        check_feature_both_have,
        check_out_of_turn,
        check_json,
    )
}
