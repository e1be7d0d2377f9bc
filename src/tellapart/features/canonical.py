"""The canonical form: features that say the same have the same tree.

The functions here make the nodes of `tree`; every rewrite is exact in three-valued logic. In a tree
made by them:

- NOT stands only before a boolean column or call; everything else has an opposite of its own;
- And and Or are flat, sorted and free of repetition; equalities with one thing are one `In`;
- a literal stands on the right of a comparison and has the type of what it is compared with;
- BETWEEN is two comparisons, `x IS FALSE` is `(NOT x) IS TRUE`;
- Points have at least one term, and no minus signs where there need not be any;
- contains, starts_with and ends_with are `Like`; lower(x) LIKE 'a%' is x ILIKE 'a%'.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, time
from typing import Any

from tellapart.features import letter_case, tree
from tellapart.features.tree import Node, Pattern, Type, Value, Wild

OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
MIRROR = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_RANK = {op: rank for rank, op in enumerate(("=", "<>", ">", ">=", "<", "<="))}
_CONDITIONS = (tree.Compare, tree.Like, tree.In, tree.IsNull, tree.IsTrue, tree.Not)
_RESULT = {
    **dict.fromkeys(("lower", "upper", "trim"), Type.TEXT),
    **dict.fromkeys(("length", "year", "month", "day", "weekday"), Type.INTEGER),
    **dict.fromkeys(("abs", "negative"), Type.NUMBER),
}
_BIG = 2**63


def number(value: float) -> Value:
    """A finite number as a literal; whole ones within 64 bits are integers.

    >>> number(3.0), number(0.5)
    (Value(value=3, type=<Type.INTEGER: 'integer'>), Value(value=0.5, type=<Type.NUMBER: 'number'>))
    """
    if value == int(value) and -_BIG <= value < _BIG:
        return Value(int(value), Type.INTEGER)
    return Value(float(value), Type.NUMBER)


def literal(value: Any, kind: Type) -> Value:
    """A value of a column of type `kind` as a literal."""
    return number(value) if kind.numeric else Value(value, kind)


def fit(literal: Value, wanted: Type) -> Value:
    """`literal` as it compares with something of type `wanted`."""
    if wanted is Type.NUMBER and literal.type is Type.INTEGER:
        return number(float(literal.value))
    if wanted is Type.DATETIME and literal.type is Type.DATE:
        return Value(datetime.combine(literal.value, time()), Type.DATETIME)
    if wanted is Type.DATE and literal.type is Type.DATETIME and literal.value.time() == time():
        return Value(literal.value.date(), Type.DATE)
    return literal


def arithmetic(op: str, left: Node, right: Node) -> Node:
    """Addition and multiplication do not depend on the order of two operands; nothing else is
    rearranged, because doubles are not associative."""
    left, right = (fit(x, Type.NUMBER) if isinstance(x, Value) else x for x in (left, right))
    if op in "+*" and _term(right, op) < _term(left, op):
        left, right = right, left
    return tree.Arithmetic(op, left, right)


def _term(node: Node, op: str) -> tuple[bool, str]:
    """The sort key of two operands: first those that need no brackets, so that sums stay flat."""
    alike = isinstance(node, tree.Arithmetic) and (node.op in "+-") == (op in "+-")
    return not alike, tree.text(node)


def compare(op: str, left: Node, right: Node) -> Node:
    """A comparison with the literal, or else the greater text, on the right."""
    if _side(right) < _side(left):
        op, left, right = MIRROR[op], right, left
    if isinstance(right, Value):
        if right.type is Type.BOOL:
            return left if (op == "=") == right.value else negate(left)
        right = fit(right, left.type)
        if op in ("=", "<>"):
            left, right = _lowered(left, right)
    return tree.Compare(op, left, right)


def like(operand: Node, pattern: Pattern, *, fold: bool) -> Node:
    """A pattern match in its simplest form: `=` when there is no wildcard."""
    if fold:
        pattern = tuple(p if isinstance(p, Wild) else letter_case.lower(p) for p in pattern)
    pattern = _tidy(pattern)
    if isinstance(operand, tree.Call) and operand.name in ("lower", "upper"):
        change = letter_case.lower if operand.name == "lower" else letter_case.upper
        if fold or all(isinstance(p, Wild) or change(p) == p for p in pattern):
            return like(operand.args[0], pattern, fold=True)
    if fold and all(isinstance(p, Wild) or letter_case.upper(p) == p for p in pattern):
        fold = False
    if not pattern or (len(pattern) == 1 and isinstance(pattern[0], str)):
        text = Value("".join(map(str, pattern)), Type.TEXT)
        return compare("=", call("lower", operand) if fold else operand, text)
    return tree.Like(operand, pattern, fold)


def call(name: str, operand: Node) -> Node:
    """A function of one thing; of several changes of case only the last one counts."""
    kind = _RESULT[name]
    if name in ("lower", "upper"):
        while isinstance(operand, tree.Call) and operand.name in ("lower", "upper"):
            operand = operand.args[0]
    return tree.Call(name, (operand,), kind)


def is_in(operand: Node, values: Iterable[Value]) -> Node:
    """Membership in a list of literals; one literal makes an equality."""
    distinct = {fit(value, operand.type) for value in values}
    if operand.type in (Type.INTEGER, Type.DATE):  # which equal no fraction, no time of day
        distinct = {v for v in distinct if v.type is operand.type} or distinct
    ordered = sorted(distinct, key=lambda v: v.value)
    if len(ordered) == 1:
        return compare("=", operand, ordered[0])
    lowered = [_lowered(operand, value) for value in ordered]
    if all(left is not operand for left, _ in lowered):
        return is_in(lowered[0][0], [value for _, value in lowered])
    return tree.In(operand, tuple(ordered))


def is_null(operand: Node) -> Node:
    """Unknown; of a condition and its opposite, which are unknown together, the shorter text."""
    if operand.type is Type.BOOL:
        said = {tree.text(node): node for node in (operand, negate(operand))}
        operand = said[min(said, key=lambda words: (len(words), words))]
    return tree.IsNull(operand)


def is_true(operand: Node) -> Node:
    """Neither false nor unknown; what is never unknown stays as it is."""
    return operand if _certain(operand) else tree.IsTrue(operand)


def coalesce(args: tuple[Node, ...], kind: Type) -> Node:
    """The first known of `args`; with TRUE or FALSE at the end of two it is an IS."""
    if kind is Type.BOOL and len(args) == 2 and isinstance(args[1], Value):
        return negate(is_true(negate(args[0]))) if args[1].value else is_true(args[0])
    return tree.Call("coalesce", args, kind)


def both(parts: Iterable[Node]) -> Node:
    """All of `parts`."""
    return _join(tree.And, parts)


def either(parts: Iterable[Node]) -> Node:
    """Any of `parts`."""
    return _join(tree.Or, parts)


def points(terms: Iterable[tuple[Node, int]], at_least: int) -> Node:
    """The weights of the true `terms` add up to at least `at_least`; TRUE or FALSE if nothing is
    left to count.

    The opposite of a condition that is never unknown counts as that condition, less its weight.
    """
    weights: dict[Node, int] = {}
    for condition, points in terms:
        node, weight = feature(condition), points
        if isinstance(node, tree.IsTrue | tree.IsNull | tree.Points) and node.negated:
            node, weight, at_least = feature(negate(node)), -points, at_least - points
        if isinstance(node, Value):
            at_least -= weight if node.value else 0
        else:
            weights[node] = weights.get(node, 0) + weight
    weights = {node: weight for node, weight in weights.items() if weight}
    if not weights:
        return Value(at_least <= 0, Type.BOOL)
    made = _points(weights, at_least)
    if any(weight < 0 for _, weight in made.terms):
        # at least t points of minus the weights are not at least 1 - t points of the weights
        mirrored = _points({node: -weight for node, weight in weights.items()}, 1 - at_least)
        if all(weight > 0 for _, weight in mirrored.terms):
            return negate(mirrored)
    return made


def _points(weights: dict[Node, int], at_least: int) -> tree.Points:
    """With `x IS NOT NULL` of a positive weight for `x IS NULL` of a negative one."""
    terms = []
    for node, weight in weights.items():
        if isinstance(node, tree.IsNull) and weight < 0:
            terms.append((negate(node), -weight))
            at_least -= weight
        else:
            terms.append((node, weight))
    terms.sort(key=lambda term: (term[1] < 0, -abs(term[1]), tree.text(term[0])))
    return tree.Points(tuple(terms), at_least)


def negate(node: Node) -> Node:
    """The opposite, pushed down as far as it goes."""
    match node:
        case tree.Not():
            return node.operand
        case tree.And():
            return either(map(negate, node.parts))
        case tree.Or():
            return both(map(negate, node.parts))
        case tree.Compare():
            return tree.Compare(OPPOSITE[node.op], node.left, node.right)
        case tree.Like() | tree.In() | tree.IsNull() | tree.IsTrue() | tree.Points():
            return replace(node, negated=not node.negated)
        case _:
            return tree.Not(node)


def feature(node: Node) -> Node:
    """`node` as a whole feature, which asks only whether it is true: `x IS TRUE` is then `x`."""
    match node:
        case tree.And():
            return both(map(feature, node.parts))
        case tree.Or():
            return either(map(feature, node.parts))
        case tree.IsTrue(negated=False):
            return feature(node.operand)
        case _:
            return node


def _join(kind: type[tree.And] | type[tree.Or], parts: Iterable[Node]) -> Node:
    flat: dict[Node, None] = {}
    for part in parts:
        flat.update(dict.fromkeys(part.parts if isinstance(part, kind) else (part,)))
    merged = _merge(flat, negated=kind is tree.And)
    if len(merged) == 1:
        return merged[0]
    return kind(tuple(sorted(merged, key=_place)))


def _merge(parts: Iterable[Node], *, negated: bool) -> list[Node]:
    """a = 1 OR a = 2 is a IN (1, 2); a <> 1 AND a <> 2 is a NOT IN (1, 2)."""
    op = "<>" if negated else "="
    rest: list[Node] = []
    lists: dict[Node, list[Value]] = {}
    for part in parts:
        if isinstance(part, tree.In) and part.negated == negated:
            lists.setdefault(part.operand, []).extend(part.values)
        elif isinstance(part, tree.Compare) and part.op == op and isinstance(part.right, Value):
            lists.setdefault(part.left, []).append(part.right)
        else:
            rest.append(part)
    members = (is_in(operand, values) for operand, values in lists.items())
    return list(dict.fromkeys([*rest, *(negate(m) if negated else m for m in members)]))


def _place(node: Node) -> tuple[str, int, str]:
    """The sort key of a part of AND or OR: by its subject, from low to high."""
    subject = node
    while not isinstance(subject, tree.And | tree.Or) and isinstance(subject, _CONDITIONS):
        subject = subject.left if isinstance(subject, tree.Compare) else subject.operand
    rank = _RANK[node.op] if isinstance(node, tree.Compare) else 0
    return tree.text(subject), rank, tree.text(node)


def _side(node: Node) -> tuple[bool, bool, str]:
    """The sort key of the sides of a comparison: columns, then constants, then literals."""
    return isinstance(node, Value), not any(tree.columns(node)), tree.text(node)


def _lowered(left: Node, right: Value) -> tuple[Node, Value]:
    """upper(x) = 'A' says what lower(x) = 'a' says."""
    if isinstance(left, tree.Call) and left.name == "upper":
        wanted: str = right.value
        if letter_case.upper(wanted) == wanted:
            return call("lower", left), Value(letter_case.lower(wanted), Type.TEXT)
    return left, right


def _tidy(pattern: Pattern) -> Pattern:
    """Runs of text joined; in a run of wildcards the single ones first, then one %."""
    tidy: list[str | Wild] = []
    for part in pattern:
        last = tidy[-1] if tidy else None
        if isinstance(part, str):
            if not part:
                continue
            if isinstance(last, str):
                tidy[-1] = last + part
                continue
        elif last is Wild.ANY:
            if part is Wild.ONE:
                tidy.insert(-1, part)
            continue
        tidy.append(part)
    return tuple(tidy)


def _certain(node: Node) -> bool:
    """Never unknown."""
    if isinstance(node, tree.And | tree.Or):
        return all(map(_certain, node.parts))
    return isinstance(node, tree.IsNull | tree.IsTrue | tree.Points)
