"""What a session says to those who use it: in names of labels, not in keys and places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

from tellapart import codec
from tellapart.features import Expression
from tellapart.features.canonical import negate
from tellapart.features.phrasing import counted, joined, spoken
from tellapart.features.tree import Compare, In, IsNull, Like, Node, Not, Points
from tellapart.model import Clause, DecisionList, Literal
from tellapart.protocol import Feature, Guess
from tellapart.review import ErrorEstimate, Progress, estimate
from tellapart.review.progress import is_lower_lately
from tellapart.review.stoppers import read_stopper
from tellapart.sessions.events import AnswerWord
from tellapart.tables import Row
from tellapart.tables.packed_columns import reads

if TYPE_CHECKING:
    from tellapart.sessions.history import Question
    from tellapart.sessions.log import State

AT_RANDOM = " (for items in random order)"
"""What estimates and stoppers assume, said where it is not so."""
RANDOM = ("random", "mixed")
"""The orders in which it is so: in mixed order only the items drawn at random count."""
UNKNOWN = "the error is not known"
WORTH = 0.75
"""A statement with a condition must bound the error so much lower than one without."""
RECENT = 20
"""So many of the last guesses are looked at."""


# -- items


@dataclass
class Named:
    """An item as JSON has it: `id` is what to send back, `name` what to show."""

    id: Any
    name: str


@dataclass
class Item(Named):
    """An item with its cells; dates are texts."""

    cells: dict[str, Any]


def plain(value: Any) -> Any:
    """A cell as JSON: dates as text."""
    return value.isoformat() if isinstance(value, datetime | date) else value


def _named(row: Row) -> Named:
    return Named(codec.encode(row.identity), str(row))


def _item(row: Row) -> Item:
    cells = {name: plain(value) for name, value in row.items()}
    return Item(codec.encode(row.identity), str(row), cells)


@dataclass(frozen=True)
class _WrittenAs:
    """Tells pydantic how the server writes a row; in Python it is a `Row`."""

    shape: type[Named]
    write: Callable[[Row], Named]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        shape = handler.generate_schema(self.shape)
        written = core_schema.plain_serializer_function_ser_schema(self.write, return_schema=shape)
        return core_schema.is_instance_schema(Row, serialization=written)


NamedRow = Annotated[Row, _WrittenAs(Named, _named)]
WholeRow = Annotated[Row, _WrittenAs(Item, _item)]


# -- what is answered


class Given(NamedTuple):
    """An item to be answered about."""

    id: str
    """What to answer to."""
    teacher: str
    item: Row
    guess: Guess
    """The guess, with the name of its label and the example; (None, None) when the label is asked.
    """
    asks: str
    """"answer": is the guess right, and if not, why? "label": what is it? "feature": the label is
    known (`kept`), but what tells the item from the example?"""
    kept: str | None
    until: float
    """When the lease ends, in seconds since 1970."""
    tags: tuple[str, ...] = ()
    """Tags on which the guess depends, and of which nothing is known for this item."""
    marked: bool = False
    """Whether its guess was marked as wrong in a sweep."""


@dataclass(frozen=True)
class Saved:
    """An event that is safely in the log."""

    number: int
    id: str
    outcome: str | None
    """Of an answer: "label", "right", "mistake", "again" (the rules changed meanwhile: the label is
    kept, and the next item asks for the feature), "opinion", "unsure" or "skipped"."""
    event: str | None
    """Of an undo or redo: what was undone or redone."""
    acts: int = 1
    """Of an undo or redo: how many acts; those of a sweep go together."""


@dataclass(frozen=True)
class Recent:
    """Mistakes among some guesses."""

    mistakes: int
    guesses: int


@dataclass(frozen=True)
class Error:
    """What is known about the error on the rows left."""

    low: float
    likely: float
    high: float
    sentence: str
    wrong_left: int
    """At most so many of the rows left are wrong."""
    rows_left: int
    """The items that nobody has met."""


@dataclass(frozen=True)
class Summary:
    """How far a session is. Counts are of items."""

    items: int
    labelled: int
    """Learnt from."""
    waiting: int
    """The label is known, a feature is still asked."""
    unsure: int
    skipped: int
    left: int
    """Not labelled, and nobody was unsure of them."""
    mistakes: int
    guesses: int
    recent: Recent
    """The last 20 guesses."""
    rules: int
    teachers: int
    error: Error
    drawn: int | None
    """In mixed order, how many guesses were on items drawn at random: the error is estimated from
    them. None where no item was picked."""
    draws_used: int
    """How many of these guesses the bound rests on: those since the rules last changed, unless it
    assumes that the rules got no worse."""
    recent_draws: Recent
    """The later half of these guesses: the likely error."""
    may_stop: bool
    stop: str | None
    """What the stopper says."""

    def __str__(self) -> str:
        return (
            f"{self.labelled:,} of {self.items:,} items labelled, {self.unsure:,} unsure,"
            f" {self.left:,} left; {counted(self.mistakes, 'mistake')} in"
            f" {counted(self.guesses, 'guess', 'guesses')}, {self.recent.mistakes} in the last"
            f" {self.recent.guesses}; {counted(self.rules, 'rule')}; {self.error.sentence}"
        )


class Ending(NamedTuple):
    """There is nothing to give to this teacher now."""

    summary: Summary
    busy: int
    """Items that others have before them: some may come back."""

    def __str__(self) -> str:
        more = f" ({self.busy} are with other teachers)" if self.busy else ""
        return f"no items left{more}: {self.summary}"


@dataclass(frozen=True)
class Answered:
    """One answer in the history."""

    event: str
    """The id of the event, to change the answer."""
    number: int
    at: str
    teacher: str
    item: NamedRow
    guess: str | None
    """The label that was guessed."""
    example: NamedRow | None
    answer: AnswerWord
    label: str | None
    feature: str | None
    outcome: str | None
    undone: bool
    changes: tuple[str, ...]
    """The events that changed it, the last in force last."""
    changed_by: str | None
    """Who changed it last."""
    confirmed: bool
    """Whether the last change said the same once more."""
    settles: bool
    """Whether the last change settles a disagreement about the item."""


def visible(one: Answered, viewer: str | None) -> bool:
    """Whether somebody may see an answer: a teacher their own, the owner (None) all."""
    return viewer is None or one.teacher == viewer


@dataclass(frozen=True)
class Disagreement:
    """An item that teachers called differently: each one's answer, with label and reason."""

    item: NamedRow
    answers: tuple[Answered, ...]


@dataclass(frozen=True)
class Agreement:
    """How far teachers agree on the items that several of them labelled."""

    items: int
    labels: float | None
    """The share of pairs of answers about one item with the same label; None without any."""
    alpha: float | None
    """The same, less what chance would do: Krippendorff's alpha, 1 at best, 0 by chance. It does
    not mind that teachers saw different items. None where only one label was used."""
    reasons: int
    """Pairs of answers about one item, to one guess, with the same label and a feature each."""
    features: float | None
    """The share of these pairs with the same feature."""


@dataclass(frozen=True)
class OddOne(Answered):
    """An answer that the others contradict, a slip or an exception; or one to look at later."""

    expected: str | None
    """The label that the others speak for; the same label when the feature is doubted."""
    expected_feature: str | None
    score: float
    """How much the others contradict it, up to 1; 0 or less if they do not."""
    why: str
    columns: tuple[str, ...] = ()
    """The columns that `why` speaks of."""


class AskedAgain(NamedTuple):
    """Why only the reason of an answer is asked: it is there, but not for the guess of now."""

    label: str
    """What the item was called."""
    example: Row | None
    """What it was told from."""
    changed: Row | None
    """The item whose answer was changed since; None if the rules changed in another way."""
    by: str | None
    """Who changed it."""
    like: Row | None = None
    """What it was like, if the guess was right."""
    itself: bool = False
    """Whether it was this very answer that was changed last."""


class Check(NamedTuple):
    """What an expression says of what is shown."""

    feature: str
    """The expression, in its one form."""
    on_item: bool | None
    """True, False, or None where it is unknown."""
    on_example: bool | None
    items: int
    """On how many items of the table it holds."""

    @property
    def tells(self) -> bool:
        """Whether it may be named as the reason."""
        return self.on_item is True and self.on_example is not True


def _example(state: State, question: Question) -> Row | None:
    return None if question.example is None else state.items.row(question.example)


def given(state: State, question: Question) -> Given:
    return Given(
        question.id,
        question.teacher,
        state.items.row(question.item),
        Guess(state.history.name(question.label), _example(state, question)),
        question.asks,
        state.history.name(question.kept),
        question.until,
        state.safely("tags to ask for", lambda: open_tags(state, question.item), ())
        if question.asks == "answer" and state.items.missing is None
        else (),
        question.asks == "answer" and question.item in state.queue.marked,
    )


def open_tags(state: State, place: int) -> tuple[str, ...]:
    """The tags that the rules ask of an item, up to the rule that covers it, and that nobody has
    said of it."""
    item, tags = state.items.row(place), state.items.table.tags
    unknown = [tag for tag in tags if item[tag] is None]
    found: dict[str, None] = {}
    if unknown:
        for clause in state.learning.model.clauses:
            asked = [feature for feature, _ in clause.literals]
            found |= dict.fromkeys(t for t in unknown if any(reads(f, t) for f in asked))
            if clause.covers(item):
                break
    return tuple(found)


def asked_again(state: State, question: Question) -> AskedAgain | None:
    number = state.learning.waiting.get(question.item)
    if question.asks != "feature" or number is None:
        return None
    act, said = state.history.acts[number], state.history.answer(number)
    place = None if act.question is None else act.question.example
    before = None if place is None else state.items.row(place)
    own = [
        n
        for n in act.changes
        if state.history.acts[n].alive and not state.history.is_confirmation(n)
    ]
    since = max([number, *own])
    changes = (state.history.acts[n] for n in range(len(state.history.acts) - 1, since, -1))
    change = next(
        (
            act
            for act in changes
            if act.kind == "changed" and act.alive and act.target < number
            if not state.history.is_confirmation(act.number)
        ),
        None,
    )
    return AskedAgain(
        state.history.name(said.label) or "",
        None if said.answer == "right" else before,
        None if change is None else state.items.row(change.item),
        None if change is None else change.by,
        before if said.answer == "right" else None,
        itself=bool(own) and change is None,
    )


def guess_now(state: State, number: int) -> Guess | None:
    """The guess that an answer is about by now; None if it is the one that its teacher was shown.

    Earlier answers may have been changed since. If such an answer gets another label, its reason is
    asked afterwards, against what the item is guessed to be like then.
    """
    act, learning = state.history.acts[number], state.learning
    assert act.question is not None
    if learning.waiting.get(act.item) == number:
        guess = learning.guess(act.item)
    elif number in learning.learnt_by:
        rounds = learning.learnt_by
        at = len(rounds) - 1 - rounds[::-1].index(number)
        guess = cast(Guess, learning.rounds[at].guess)
        if guess.label is None or learning.is_shown(guess, act.question):
            return None
    else:
        return None
    return Guess(state.history.name(guess.label), guess.example)


def answered(state: State, number: int) -> Answered:
    act = state.history.acts[number]
    assert act.question is not None
    assert act.by is not None
    answer = state.history.answer(number)
    changes = state.history.changes_of(number)
    return Answered(
        event=act.id,
        number=act.event.number,
        at=act.event.at,
        teacher=act.by,
        item=state.items.row(act.item),
        guess=state.history.name(act.question.label),
        example=_example(state, act.question),
        answer=answer.answer,
        label=state.history.name(answer.label),
        feature=answer.feature,
        outcome=state.learning.outcome(number),
        undone=not act.alive,
        changes=tuple(change.id for change in changes),
        changed_by=changes[-1].by if changes else None,
        confirmed=state.history.is_confirmed(number),
        settles=state.history.has_settled(number),
    )


def named_model(state: State, model: DecisionList) -> DecisionList:
    """A model in the names that labels have now, without needless negations."""

    def with_name(clause: Clause) -> Clause:
        label = state.history.name(clause.label)
        literals = tuple(dict.fromkeys(_simplified(state, one) for one in clause.literals))
        return Clause(literals, label, clause.example, clause.origin, clause.record)

    clauses = tuple(map(with_name, model.clauses))
    return DecisionList(clauses, with_name(model.default), model.reading)


def _simplified(state: State, literal: Literal) -> Literal:
    """Write not `NOT milk` as `milk`, where no item's `milk` is unknown."""
    feature = literal.feature
    certain = isinstance(feature, Expression) and isinstance(feature.tree, IsNull | Points)
    if (
        not literal.wanted
        and isinstance(feature, Expression)
        and _denies(feature.tree)
        and (certain or all(map(state.items.knows_all, feature.schema)))
    ):
        return Literal(Expression(negate(feature.tree)))
    return literal


def _denies(tree: Node) -> bool:
    """Whether a condition says what is not so: two of these, one in the other, are hard to read."""
    if isinstance(tree, Compare):
        return tree.op == "<>"
    return isinstance(tree, Not) or (isinstance(tree, Like | In | IsNull | Points) and tree.negated)


def feature_words(state: State) -> Callable[[Feature, bool], str]:
    """How to write features of this table in words, also those that do not hold."""

    def say(feature: Feature, wanted: bool) -> str:
        if wanted or not isinstance(feature, Expression):
            return spoken(feature, wanted)
        opposite = spoken(Expression(negate(feature.tree)))
        if all(map(state.items.knows_all, feature.schema)):
            return opposite
        simple = isinstance(feature.tree, Compare | Like | In)
        return f"{opposite} (or unknown)" if simple else spoken(feature, wanted)

    return say


def error_now(
    progress: Progress, now: ErrorEstimate | None = None, *, refits: bool = True
) -> ErrorEstimate:
    """What is known of the rows left: for the present model, or more if models got no worse.

    Both statements are right at once, so that one may be chosen. The second one makes a condition:
    it must be worth it, and the learner one that `refits` to all it has seen. The rules of others
    get worse with every exception (docs/measurements.md). `now` is the first, if it is known.
    """
    now = now or estimate(progress)
    if refits and now.wrong_left and is_lower_lately(progress, WORTH * now.wrong_left):
        return estimate(progress, lately=True)
    return now


def summary(state: State) -> Summary:
    learning, total = state.learning, len(state.items)
    progress, mistakes = learning.mind.progress, learning.mistakes
    recent = mistakes[-RECENT:]
    labelled, waiting = len(learning.taught), len(learning.waiting)
    left = total - labelled - waiting - len(state.history.unsure)
    drawn = progress.guesses if state.queue.picked else None
    known = state.safely("the error", lambda: _statement(state, drawn), None)
    about, said, stop, may_stop = known or (_unknown(left), UNKNOWN, None, False)
    recent_draws = state.safely("mistakes", lambda: progress.recent[:2], (0, 0))
    return Summary(
        items=total,
        labelled=labelled,
        waiting=waiting,
        unsure=len(state.history.unsure),
        skipped=len(state.history.skipped),
        left=left,
        mistakes=sum(mistakes),
        guesses=len(mistakes),
        recent=Recent(sum(recent), len(recent)),
        rules=len(learning.model.clauses),
        teachers=len(state.history.teachers),
        error=Error(
            about.low, about.error, about.high, said, about.wrong_left or 0, about.rows_left or 0
        ),
        drawn=drawn,
        draws_used=about.rounds_used,
        recent_draws=Recent(*recent_draws),
        may_stop=may_stop,
        stop=stop,
    )


def _unknown(left: int) -> ErrorEstimate:
    """What is said of the error where it could not be worked out."""
    return ErrorEstimate(0.5, 0.0, 1.0, 0.95, 0, wrong_left=left, rows_left=left)


def _statement(state: State, drawn: int | None) -> tuple[ErrorEstimate, str, str | None, bool]:
    """What is known of the error, as numbers and as a sentence; and what the stopper says."""
    progress = state.learning.mind.progress
    stopper = read_stopper(state.history.settings.until)
    of_model = estimate(progress)
    about = error_now(progress, of_model, refits=state.learning.refits)
    known = str(about)
    stop = None if stopper is None else stopper.say(progress, of_model)
    if drawn is not None and about.high <= 0.99 and about.rows_left:
        known += f", estimated from {_draws(about, drawn)}"
    if state.history.settings.order not in RANDOM:
        known += AT_RANDOM if about.high <= 0.99 else ""
        stop = f"{stop}{AT_RANDOM}" if stop and ("mistake" in stop or "error" in stop) else stop
    return about, known, stop, stopper is not None and stopper.met(progress)


def _draws(about: ErrorEstimate, drawn: int) -> str:
    used = f"{counted(about.rounds_used, 'item')} drawn at random"
    if about.lately:
        return f"the last {used}"
    return f"the {used}" + (" since the rules last changed" if about.rounds_used < drawn else "")


def about(name: str, answers: Sequence[Answered], summary: Summary) -> list[str]:
    """What a reader of the rules should know of how they came about."""
    if not answers:
        return [f"Session {name}: nothing was taught yet."]
    counts = Counter(one.teacher for one in answers)
    shares = counts.most_common()
    who = (
        [f"{teacher} ({counted(n, 'answer')})" for teacher, n in shares]
        if shares[1:]
        else [*counts]
    )
    days = sorted({one.at[:10] for one in (answers[0], answers[-1])})
    when = f"on {days[0]}" if len(days) == 1 else f"from {days[0]} to {days[-1]}"
    said = f"{counted(len(answers), 'answer')}, {counted(summary.mistakes, 'correction')}"
    return [
        f"Session {name}: taught by {joined(who)} {when}; {said}.",
        f"Error: {summary.error.sentence}.",
    ]
