"""What an answer taught: which rule is new or changed, and which rows it moved."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tellapart.features.phrasing import spoken
from tellapart.model import Clause, DecisionList
from tellapart.sessions.replies import Saved
from tellapart.sessions.rules import clause_of_items
from tellapart.sessions.session import Session
from tellapart.tables import Row

AT_ONCE = 20_000
"""In a larger table, which rows moved is counted after the next question is there."""


class Before(NamedTuple):
    """The rules before an answer, and how often each was heard."""

    model: DecisionList
    item: Row
    label: str | None
    feature: str | None


class Learnt(NamedTuple):
    """What an answer taught."""

    kind: str
    """"new" (a rule), "changed" (a rule), "exception", "known" (the reason was said before),
    "without" (no reason was given) or "fault" (the learner could not learn from it)."""
    item: Row
    label: str
    rule: int | None
    """The number of the rule that decides the row now."""
    reason: str
    """What that rule asks, in words."""
    wanted: str
    """The label that this rule says: another one, if the row is an exception."""
    event: int


class Moved(NamedTuple):
    """Rows whose label an answer changed, without the row it was about."""

    counts: list[tuple[str, str, int]]
    """From which label to which, and how many rows; most first."""
    some: list[Row]
    """A few that have the label of the answer now."""


def learnt(session: Session, saved: Saved, before: Before) -> Learnt | None:
    """What an answer taught; None if nothing is to be said of it."""
    label = before.label
    if label is None or saved.outcome != "mistake":
        return None
    item, model = before.item, session.model
    clause = model.match(item)
    number = next((n for n, one in enumerate(model, 1) if one is clause), None)
    reason = condition(clause)
    own = None if before.feature is None else spoken(session.table.parse(before.feature))
    said = {(one.label, condition(one)) for one in before.model}
    if any(line.startswith(f"event {saved.number} ") for line in session.trouble):
        kind = "fault"
    elif before.feature is None:
        kind = "without"
    elif clause.label != label:
        kind = "exception"
    elif (label, reason) in said:
        kind = "known"
    elif any(one.label == label and _share(one, clause) for one in before.model):
        kind = "changed"
    else:
        kind = "new"
    if kind == "new" and own is not None and _is_part(own, reason):
        reason = own  # the learner put it beside others of the label
    return Learnt(kind, item, label, number, reason, str(clause.label), saved.number)


def _is_part(own: str, reason: str) -> bool:
    """Whether a reason is one of several that a rule joins by "or"."""
    column, quote, value = own.partition(' "')
    return " or " in reason and column in reason and f"{quote}{value}" in reason


def _share(one: Clause, other: Clause) -> bool:
    """Whether two clauses have a wanted literal in common."""
    wanted = {literal for literal in one.literals if literal.wanted}
    return any(literal in wanted for literal in other.literals)


def condition(clause: Clause, most: int | None = None) -> str:
    """What a clause asks, in words; empty if it asks nothing.

    >>> from tellapart.model import Literal
    >>> condition(Clause((Literal("milk"), Literal("wings", False)), "mammal"))
    'milk, but not if wings'
    >>> condition(Clause((Literal("eggs", False), Literal("wings", False)), "mammal"))
    'not eggs and not wings'
    """
    if not any(wanted for _, wanted in clause.literals):
        return " and ".join(spoken(one, False, most) for one, _ in clause.literals)
    wanted = [spoken(one, True, most) for one, wanted in clause.literals if wanted]
    unwanted = [spoken(one, True, most) for one, wanted in clause.literals if not wanted]
    said = " and ".join(wanted)
    return f"{said}, but not if {' or '.join(unwanted)}" if unwanted else said


def moved(session: Session, before: Before) -> Moved:
    """Which rows have another label now than they had before an answer."""
    names = ["", *session.labels]
    known = {name: n for n, name in enumerate(names)}

    def labels(model: DecisionList, rules: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
        return np.array([known.get(str(one.label), 0) for one in model], dtype=np.int64)[rules]

    old = labels(before.model, clause_of_items(session.table, before.model))
    now = labels(session.model, session.clause_numbers())
    changed = np.flatnonzero(old != now)
    changed = changed[changed != before.item.place]
    pairs = Counter(zip(old[changed].tolist(), now[changed].tolist(), strict=True))
    counts = [(names[a], names[b], rows) for (a, b), rows in pairs.most_common()]
    mine = [n for n in changed.tolist() if names[now[n]] == before.label]
    return Moved(counts, [session.table.items[n] for n in mine[:2]])
