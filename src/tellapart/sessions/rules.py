"""Rules that a session begins with, and what changed since about rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tellapart import codec
from tellapart.columns import clause_numbers, fired
from tellapart.errors import ParameterError
from tellapart.export import feature_trees
from tellapart.export.text import brief_words, reachable
from tellapart.features import Expression, tree
from tellapart.features.expression import types
from tellapart.model import Clause, DecisionList, Literal
from tellapart.protocol import Feature
from tellapart.tables import Row, Table
from tellapart.tables.packed_columns import evaluate

if TYPE_CHECKING:
    from tellapart.sessions.replies import Answered


def write_rules(rules: DecisionList, table: Table) -> list[dict[str, Any]]:
    """The rules of a model as the log writes them, each with an example: its own, if that is a row
    it labels, or the first row that it labels. A rule that labels no row is left out.
    """
    kinds = types(table.schema)
    clauses = [_expressed(clause, kinds, table) for clause in reachable(rules)]
    always = next((n for n, clause in enumerate(clauses) if not clause.literals), len(clauses))
    model = DecisionList(tuple(clauses[:always]), clauses[-1])
    places: dict[int, list[int]] = {}
    for place, number in enumerate(fired(model, table).tolist()):
        places.setdefault(number, []).append(place)
    written = []
    for number, clause in enumerate(clauses):
        if clause.label is not None and number in places:
            own = str(clause.example)
            rows = [table.items[place] for place in places[number]]
            example = next((row for row in rows if own in (str(row), str(row.identity))), rows[0])
            literals = [[str(feature), wanted] for feature, wanted in clause.literals]
            written.append(
                {"example": codec.encode(example.identity), "if": literals, "label": clause.label}
            )
    if not written:
        raise ParameterError(f"none of the rules labels a row of {table.name}")
    return written


def _expressed(clause: Clause, kinds: feature_trees.Types, table: Table) -> Clause:
    """A clause whose features are conditions on the columns of the table."""
    if clause.label is not None and not isinstance(clause.label, str):
        clause = Clause(clause.literals, str(clause.label), clause.example)
    literals = []
    for feature, wanted in clause.literals:
        made = feature_trees.tree_of(feature, kinds)
        literals.append(Literal(table.parse(tree.text(made)), wanted))
    return Clause(tuple(literals), clause.label, clause.example)


def clause_of_items(table: Table, model: DecisionList) -> npt.NDArray[np.uint32]:
    """Which clause labels each item of the table, from 0; features tried are not kept."""
    tried: dict[Feature, Any] = {}

    def truth(feature: Feature) -> Any:
        if table.knows(feature):
            return table.truth(feature)
        if feature not in tried:
            tried[feature] = evaluate(table, feature)
        return tried[feature]

    return clause_numbers(list(model), truth, len(table))


def rule_changes(
    old: DecisionList, new: DecisionList, answers: Sequence[Answered] = ()
) -> list[str]:
    """What changed from one model to another, a line a rule; and whose answer about which row was
    the reason, where the answers tell. Rules are the same if they have the same example, or else
    the same label and all conditions of the old one.

    >>> bear = Clause((Literal("milk"),), "mammal", "bear")
    >>> bat = Clause((Literal("milk"), Literal("wings", False)), "mammal", "bear")
    >>> for line in rule_changes(DecisionList((bear,)), DecisionList((bat,))):
    ...     print(line)
    Rule 1 (mammal, like bear): now unless wings.
    >>> duck = Clause((Literal("wings"),), "bird", "duck")
    >>> for line in rule_changes(DecisionList((bear, duck)), DecisionList((duck, bear))):
    ...     print(line)
    Rule 2 (mammal, like bear): now comes after rule 1.
    """
    reasons: dict[str, Answered] = {}
    taught: dict[str, Answered] = {}
    for one in answers:
        if not one.undone and one.answer == "wrong":
            taught[_key(one.item)] = one
            if one.feature is not None:
                reasons[one.feature] = one
    before: dict[str, list[Clause]] = {}
    earlier = reachable(old)
    for clause in earlier:
        before.setdefault(_key(clause.example), []).append(clause)
    lines = []
    places = {id(clause): place for place, clause in enumerate(earlier)}
    last = (-1, 0)  # the place before, and the number now, of the rule that came last
    for number, clause in enumerate(reachable(new), 1):
        known = before.get(_key(clause.example), [])
        same = next((one for one in known if one.label == clause.label), None)
        same = same or next(iter(known), None)
        if same is None:
            known = before.get("None", [])
            same = next((one for one in known if _grew(one, clause)), None)
        if same is None:
            why = _because(taught.get(_key(clause.example)))
            lines.append(f"Rule {number} ({_called(clause)}) is new: {_condition(clause)}{why}.")
            continue
        known.remove(same)
        place = places[id(same)]
        if place < last[0]:
            lines.append(f"Rule {number} ({_called(clause)}): now comes after rule {last[1]}.")
        last = max(last, (place, number))
        lines += [f"Rule {number} ({_called(clause)}): {said}." for said in
                  _differences(same, clause, reasons, taught)]  # fmt: skip
    gone = [clause for clauses in before.values() for clause in clauses]
    lines += [f"Gone: {_called(clause)}, {_condition(clause)}." for clause in gone]
    return lines or ["No rule changed."]


def _key(example: object) -> str:
    return str(example.identity if isinstance(example, Row) else example)


def _grew(old: Clause, new: Clause) -> bool:
    return old.label == new.label and set(old.literals) <= set(new.literals)


def _differences(
    old: Clause, new: Clause, reasons: Mapping[str, Answered], taught: Mapping[str, Answered]
) -> list[str]:
    said = []
    if old.label != new.label:
        said.append(f"was {old.label}{_because(taught.get(_key(new.example)))}")
    for literal in new.literals:
        if literal not in old.literals:
            said.append(
                f"now {_literal(literal, new)}{_because(reasons.get(str(literal.feature)))}"
            )
    lost = [literal for literal in old.literals if literal not in new.literals]
    return said + [f"no longer {_literal(literal, old)}" for literal in lost]


def _called(clause: Clause) -> str:
    return str(clause).rpartition(": ")[2]


def _condition(clause: Clause) -> str:
    words = brief_words(clause)
    wanted = [feature for feature, wanted in clause.literals if wanted]
    forbidden = [feature for feature, wanted in clause.literals if not wanted]
    parts = [f"if {words.when(wanted, 'and')}"] if wanted else []
    parts += [f"unless {words.when(forbidden, 'or')}"] if forbidden else []
    return ", ".join(parts) or "otherwise"


def _literal(literal: Literal, clause: Clause) -> str:
    said = brief_words(clause).when([literal.feature], "and")
    return f"{'if' if literal.wanted else 'unless'} {said}"


def _because(answer: Answered | None) -> str:
    if answer is None:
        return ""
    label = answer.label or answer.guess
    return f", because of {answer.item}: {answer.teacher} said {label} on {answer.at[:10]}"


def read_literals(written: Sequence[Any], table: Table) -> list[Literal]:
    parsed: list[tuple[Expression, bool]] = [(table.parse(text), bool(w)) for text, w in written]
    return [Literal(feature, wanted) for feature, wanted in parsed]
