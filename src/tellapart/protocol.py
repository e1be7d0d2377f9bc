"""The conversation: a learner guesses, a teacher corrects, the learner learns.

Everything else in tellapart plugs into the three contracts of this file. A round is

    guess = learner.guess(item)                  # changes nothing
    correction = teacher.answer(item, guess)     # None: the guess stands
    learner.learn(item, guess, correction)       # the only place where a learner changes

A fresh learner's first guess is `Guess(None, None)`: it asks. The answer is a `Correction` with
a label and no feature, and it is no mistake.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from tellapart.errors import ParameterError

if TYPE_CHECKING:
    import polars as pl

    from tellapart.model import DecisionList
    from tellapart.review import Watch

Item: TypeAlias = Any
"""Anything a feature can be asked about: a mapping, a set of names, your own object."""

Feature: TypeAlias = Hashable
"""Anything hashable: a name, a callable, a combination (`tellapart.Not`, `And`, `Or`)."""

Label: TypeAlias = Hashable

Count: TypeAlias = int | None
"""A number, or None if it is not known."""


class Guess(NamedTuple):
    """A label, and the earlier item shown as the reason: "a bird, because it is like this duck".

    >>> Guess("bird", {"feathers"})
    Guess(label='bird', example={'feathers'})
    """

    label: Label
    example: Item

    def _repr_html_(self) -> str:
        from tellapart.html_views import table

        label = "none yet: it asks" if self.label is None else self.label
        return table(("guess", "like"), [(label, self.example)])


class Correction(NamedTuple):
    """The right label, and a feature that holds on the item and not on the shown example.

    `feature` is None when the label was asked (there is no example yet), or when the teacher
    cannot say why.

    >>> Correction("bird", "feathers")
    Correction(label='bird', feature='feathers')
    """

    label: Label
    feature: Feature | None = None


class Inconsistency(NamedTuple):
    """An answer that contradicts itself: recorded, and not learnt from."""

    round: int
    reason: str


class Round(NamedTuple):
    """One corrected round of a lesson: which item, what was guessed, what the teacher said."""

    number: int
    item: Item
    guess: Guess
    correction: Correction

    def texts(self) -> tuple[str, str, str, str, str | None]:
        """Item, guess, example, right label and feature, as they are printed."""
        (guessed, example), (label, feature) = self.guess, self.correction
        reason = None if feature is None else str(getattr(feature, "__name__", feature))
        return show(self.item), str(guessed), show(example), str(label), reason


def show(item: Item) -> str:
    """An item's `repr`, of a set in sorted order: the same text in every run.

    >>> show(frozenset({"milk", "eggs"})), show({"legs": 4})
    ("{'eggs', 'milk'}", "{'legs': 4}")
    """
    if isinstance(item, set | frozenset) and item:
        return f"{{{', '.join(sorted(map(show, item)))}}}"
    if type(item) is list:
        return f"[{', '.join(map(show, item))}]"
    if type(item) is dict:
        return f"{{{', '.join(f'{key!r}: {show(part)}' for key, part in item.items())}}}"
    return repr(item)


@runtime_checkable
class Learner(Protocol):
    """All that a learner must have. `tellapart.learners.base` has a base to build on.

    It may have more: `bound(m=, k=, s=, n=)`, the most mistakes possible in such a world; `idle`,
    which tells `simulate` what rounds change nothing (`learners.BaseLearner.idle`); and counters
    that a `Lesson` reports: `rules_created`, `rules_deleted`, `inconsistencies`.
    """

    def guess(self, item: Item) -> Guess:
        """The label of `item` and the example shown for it. Changes nothing."""
        ...

    def learn(self, item: Item, guess: Guess, correction: Correction | None) -> None:
        """Take the answer to `guess` on `item`; None when the guess stands."""
        ...

    @property
    def model(self) -> DecisionList:
        """What has been learnt so far; at all times a decision list."""
        ...


@runtime_checkable
class Teacher(Protocol):
    """What `teach` asks of a teacher.

    A teacher that knows its world may carry `m`, `k` and `s`: the lesson then has a bound.
    """

    def answer(self, item: Item, guess: Guess) -> Correction | None:
        """A correction of `guess` on `item`, or None when the guess is right."""
        ...


class Stopper(Protocol):
    """What `teach` asks of a condition to stop; `tellapart.review` has some."""

    def watch(self, learner: Learner) -> Watch:
        """A fresh watch over one lesson: it takes every round and knows when to stop."""
        ...


@dataclass(frozen=True, repr=False)
class Lesson:
    """The record of a run.

    Rounds are numbered from 0, as items come; round 0 of a fresh learner asks for a label and
    is no mistake.
    """

    rounds: int
    corrections: tuple[Round, ...]
    """The mistakes, each with its item, guess and correction."""
    rules_created: int
    rules_deleted: int
    inconsistencies: tuple[Inconsistency, ...]
    bound: float | None
    """The most mistakes the learner's guarantee allowed here; None where it says nothing."""

    @property
    def mistakes(self) -> int:
        """How many guesses the teacher corrected."""
        return len(self.corrections)

    @property
    def mistake_rounds(self) -> tuple[int, ...]:
        """In which rounds the mistakes fell."""
        return tuple(corrected.number for corrected in self.corrections)

    def to_frame(self) -> pl.DataFrame:
        """The mistakes as a data frame, one row each; items, labels and features are texts."""
        import polars as pl

        columns = ("item", "guess", "example", "label", "feature")
        table = [(corrected.number, *corrected.texts()) for corrected in self.corrections]
        schema = {"round": pl.Int64, **dict.fromkeys(columns, pl.String)}
        return pl.DataFrame(table, schema=schema, orient="row")

    def transcript(self) -> str:
        """The mistakes as sentences, one a line."""
        lines = []
        for corrected in self.corrections:
            item, guess, example, label, feature = corrected.texts()
            because = "" if feature is None else f", because {feature}"
            lines.append(
                f"{corrected.number}. {item}: {guess}, like {example}? No, {label}{because}."
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The curve of mistakes, and the last of them."""
        from tellapart.html_views import LISTED, steps, table

        bound = "" if self.bound is None else f"; at most {self.bound:g} were possible"
        caption = f"{self.mistakes:,} mistakes in {self.rounds:,} rounds{bound}"
        head = ("round", "item", "guess", "like", "it is", "because")
        last = self.corrections[-LISTED:]
        lines = [(corrected.number, *corrected.texts()) for corrected in last]
        return steps(self.mistake_rounds, self.rounds) + table(head, lines, caption)

    def __repr__(self) -> str:
        shown = ("rounds", "mistakes", "bound", "rules_created", "rules_deleted")
        values = [f"{name}={getattr(self, name)!r}" for name in shown]
        if self.inconsistencies:
            values.append(f"inconsistencies={len(self.inconsistencies)}")
        return f"Lesson({', '.join(values)})"


def teach(
    learner: Learner, teacher: Teacher, items: Iterable[Item], *, until: Stopper | None = None
) -> Lesson:
    """Run the protocol over `items`, in their order, and return what happened.

    `until` may end it sooner: `NoMistakeIn(40)`.

    >>> from tellapart import CappedDFF
    >>> from tellapart.teachers import Recorded
    >>> duck, bear = frozenset({"feathers", "eggs"}), frozenset({"milk", "hair"})
    >>> teacher = Recorded(
    ...     [(duck, Correction("bird", "feathers")), (bear, Correction("mammal", "milk"))])
    >>> lesson = teach(CappedDFF(m=2), teacher, [duck, bear, duck, bear, duck])
    >>> lesson.rounds, lesson.mistakes, lesson.mistake_rounds
    (5, 2, (1, 2))
    >>> lesson
    Lesson(rounds=5, mistakes=2, bound=None, rules_created=1, rules_deleted=0)
    >>> print(lesson.transcript())
    1. {'hair', 'milk'}: bird, like {'eggs', 'feathers'}? No, mammal, because milk.
    2. {'eggs', 'feathers'}: mammal, like {'hair', 'milk'}? No, bird, because feathers.
    """
    conversation = Conversation(learner, teacher, until)
    rounds = 0
    for number, item in enumerate(items):
        conversation.round(number, item)
        rounds = number + 1
        if conversation.over:
            break
    return conversation.lesson(rounds)


class Conversation:
    """A learner and a teacher, and the record of their rounds; `teach` is made of it."""

    def __init__(self, learner: Learner, teacher: Teacher, until: Stopper | None = None) -> None:
        for name, made in (("learner", learner), ("teacher", teacher)):
            if isinstance(made, type):
                raise ParameterError(
                    f"the {name} is the class {made.__name__}, not an object: write"
                    f" {made.__name__}(...)"
                )
        self.learner, self.teacher = learner, teacher
        self._watch = None if until is None else until.watch(learner)
        self.corrections: list[Round] = []
        self._before = self._counters()

    def round(self, number: int, item: Item, guess: Guess | None = None) -> Correction | None:
        """One round of the protocol; returns what the teacher said.

        `guess` may be given where it is known what the learner guesses.
        """
        if guess is None:
            guess = self.learner.guess(item)
        correction = self.teacher.answer(item, guess)
        self.learner.learn(item, guess, correction)
        if correction is not None and guess.label is not None:
            self.corrections.append(Round(number, item, guess, correction))
        if self._watch is not None:
            self._watch(guess, correction)
        return correction

    @property
    def over(self) -> bool:
        """Whether the stopper says so."""
        return self._watch is not None and self._watch.met()

    def lesson(self, rounds: int) -> Lesson:
        """What happened in `rounds` rounds."""
        created, deleted, odd = self._counters()
        bound = getattr(self.learner, "bound", None)
        world = {name: getattr(self.teacher, name, None) for name in "mks"}  # if it says
        return Lesson(
            rounds=rounds,
            corrections=tuple(self.corrections),
            rules_created=created - self._before[0],
            rules_deleted=deleted - self._before[1],
            inconsistencies=tuple(odd[len(self._before[2]) :]),
            bound=None if bound is None else bound(**world, n=rounds),
        )

    def _counters(self) -> tuple[int, int, list[Inconsistency]]:
        one = self.learner
        created, deleted = (getattr(one, f"rules_{what}", 0) for what in ("created", "deleted"))
        return created, deleted, list(getattr(one, "inconsistencies", ()))
