"""What a state comes to, in names instead of keys and places."""

from __future__ import annotations

from collections.abc import Callable

from tellapart.features import Expression
from tellapart.features.canonical import negate
from tellapart.features.phrasing import spoken
from tellapart.features.tree import Compare, In, IsNull, Like, Node, Not
from tellapart.model import Clause, DecisionList, Literal
from tellapart.protocol import Feature, Guess, Label
from tellapart.review import ErrorEstimate, Progress, estimate
from tellapart.sessions.acts import Shown
from tellapart.sessions.replies import AT_RANDOM, Answered, Given, Summary
from tellapart.sessions.state import State

RECENT = 20
"""So many of the last guesses are looked at."""


def name_of(state: State, key: Label) -> str | None:
    """What a label is called now."""
    return None if key is None else state.labels.name(str(key))


def given(state: State, shown: Shown) -> Given:
    """What a teacher was shown."""
    example = None if shown.example is None else state.items.row(shown.example)
    return Given(
        shown.id,
        shown.teacher,
        state.items.row(shown.place),
        Guess(name_of(state, shown.label), example),
        shown.asks,
        name_of(state, shown.kept),
        shown.until,
    )


def answered(state: State, number: int) -> Answered:
    """An answer, as it stands after all changes."""
    act = state.acts[number]
    assert act.shown is not None
    assert act.by is not None
    said = state.course.said(number)
    return Answered(
        act.id,
        act.number,
        act.at,
        act.by,
        state.items.row(act.place),
        given(state, act.shown).guess,
        said.answer,
        name_of(state, said.label),
        None if said.feature is None else str(said.feature),
        act.outcome if act.alive else None,
        not act.alive,
        tuple(state.acts[n].id for n in act.changes if state.acts[n].alive),
    )


def named(state: State, model: DecisionList) -> DecisionList:
    """A model in the names that labels have now, without needless negations."""

    def with_name(clause: Clause) -> Clause:
        label = name_of(state, clause.label)
        literals = tuple(dict.fromkeys(_upright(state, one) for one in clause.literals))
        return Clause(literals, label, clause.example, clause.origin)

    clauses = tuple(map(with_name, model.clauses))
    return DecisionList(clauses, with_name(model.default), model.reading)


def _upright(state: State, literal: Literal) -> Literal:
    """Not `NOT milk` as `milk`, where the table knows of every item whether it has milk."""
    feature = literal.feature
    if (
        not literal.wanted
        and isinstance(feature, Expression)
        and _denies(feature.tree)
        and (isinstance(feature.tree, IsNull) or all(map(state.items.knows_all, feature.schema)))
    ):
        return Literal(Expression(negate(feature.tree)))
    return literal


def _denies(tree: Node) -> bool:
    """Whether a condition says what is not so: two of these, one in the other, are hard to read."""
    if isinstance(tree, Compare):
        return tree.op == "<>"
    return isinstance(tree, Not) or (isinstance(tree, Like | In | IsNull) and tree.negated)


def speaker(state: State) -> Callable[[Feature, bool], str]:
    """How to speak of features of this table, also of those that do not hold."""

    def say(feature: Feature, wanted: bool) -> str:
        if (
            not wanted
            and isinstance(feature, Expression)
            and all(map(state.items.knows_all, feature.schema))
        ):
            return spoken(Expression(negate(feature.tree)))
        return spoken(feature, wanted)

    return say


def error_now(progress: Progress) -> ErrorEstimate:
    """What is known of the error: of the present model, or over the last items if that says more.

    Each interval takes half of the risk, so that the better one may be chosen.
    """
    both = (estimate(progress, 0.975, lately=lately) for lately in (False, True))
    return min(both, key=lambda one: one.high)


def summary(state: State) -> Summary:
    """How far a session is."""
    now = state.course.now
    about = error_now(now.progress)
    stopper = state.settings.stopper
    known = str(about)
    stop = None if stopper is None else stopper.say(now.progress)
    if state.settings.order != "random":
        known += AT_RANDOM if about.high <= 0.99 else ""
        stop = f"{stop}{AT_RANDOM}" if stop and ("mistake" in stop or "error" in stop) else stop
    recent = state.course.mistakes[-RECENT:]
    total, labelled, waiting = len(state.items), len(now.taught), len(now.waiting)
    return Summary(
        items=total,
        labelled=labelled,
        waiting=waiting,
        unsure=len(state.unsure),
        skipped=len(state.skipped),
        left=total - labelled - waiting - len(state.unsure),
        mistakes=now.progress.mistakes + now.progress.picked_mistakes,
        guesses=now.progress.guesses + now.progress.picked,
        recent=(sum(recent), len(recent)),
        rules=len(now.learner.model.clauses),
        teachers=len(state.teachers),
        estimate=known,
        error=(about.low, about.error, about.high),
        may_stop=stopper is not None and stopper.met(now.progress),
        stop=stop,
    )
