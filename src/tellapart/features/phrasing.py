"""Features, and numbers of things, in words for people to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from tellapart.combinations import And, Column, Or, Points, say_points, unsigned
from tellapart.features import letter_case, tree
from tellapart.features.expression import Expression
from tellapart.features.plain_words import LONGEST_SHOWN
from tellapart.features.resolve import resolve
from tellapart.features.tree import NAMES, Node, Type, Value, Wild
from tellapart.model import Literal, Not
from tellapart.protocol import Feature


def spoken(feature: Feature, wanted: bool = True, most: int | None = None) -> str:
    """A feature, or its opposite, in words: without SQL's quotes and functions.

    Of a feature that counts points, at most so many terms are said, if `most` is given.

    >>> from tellapart.features.expression import parse_feature
    >>> schema = {"note": "text", "legs": "integer", "milk": "bool"}
    >>> for text in ("note ILIKE '%free%'", "2 * (legs >= 4) + milk >= 2"):
    ...     print(spoken(parse_feature(text, schema)))
    note contains "free"
    at least 2 points (2 for legs >= 4, 1 for milk)
    >>> for text in ("NOT milk", "legs IS NULL", "legs < 4"):
    ...     print(spoken(parse_feature(text, schema), False))
    milk or unknown
    legs is known
    not (legs < 4)
    """
    if isinstance(feature, Not):
        return spoken(feature.feature, not wanted)
    if isinstance(feature, Points):
        return _say_points(feature.terms, feature.at_least, wanted, most)
    if isinstance(feature, And | Or):
        parts = sorted(spoken(part, wanted) for part in feature.parts)
        return _joined(parts, "and" if isinstance(feature, And) == wanted else "or")
    if isinstance(feature, Column):
        feature = Expression(resolve(feature, {}))
    if not isinstance(feature, Expression):
        return str(Literal(feature, wanted))
    node = feature.tree
    if isinstance(node, tree.Points):
        return _say_points(feature.terms, node.at_least, node.negated != wanted, most)
    if wanted:
        return _say(node)
    if isinstance(node, tree.Not):
        return f"{_part(node.operand)} or unknown"
    if isinstance(node, tree.IsNull):
        return _say(replace(node, negated=not node.negated))
    return f"not {_say(node)}" if isinstance(node, tree.Column) else f"not ({_say(node)})"


def _say_points(
    terms: Sequence[tuple[Feature, int]], at_least: int, wanted: bool, most: int | None
) -> str:
    parts, least = unsigned(terms, at_least, Not)
    return say_points([(spoken(part), w) for part, w in parts], least, wanted, most=most)


def _joined(parts: Sequence[str], joint: str) -> str:
    """Parts in one sentence; what is said of several values is said once.

    >>> _joined(['payee contains "aldi"', 'payee contains "lidl"', "cash"], "or")
    'cash or payee contains "aldi" or "lidl"'
    """
    values: dict[str, list[str]] = {}
    for part in parts:
        said, quote, value = part.partition(' "')
        plain = joint == "or" and quote and value.count('"') == 1 and value.endswith('"')
        values.setdefault(said if plain else part, []).append(f'"{value}' if plain else "")
    alone = [said for said, several in values.items() if several == [""]]
    grouped = [
        f"{said} " + " or ".join([", ".join(several[:-1]), several[-1]] if several[1:] else several)
        for said, several in values.items()
        if several != [""]
    ]
    return f" {joint} ".join([*alone, *grouped])


def counts_points(feature: Feature) -> bool:
    """Whether a feature counts points."""
    return isinstance(feature, Expression | Points) and bool(feature.terms)


def _say(node: Node) -> str:
    match node:
        case tree.Column():
            return node.name
        case tree.Not():
            return f"not {_part(node.operand)}"
        case tree.And():
            return " and ".join(map(_part, node.parts))
        case tree.Or():
            return " or ".join(map(_part, node.parts))
        case tree.Points():
            return spoken(Expression(node))
        case tree.IsNull() if operand := _operand(node.operand):
            return f"{operand} is {'known' if node.negated else 'unknown'}"
        case tree.In() if operand := _operand(node.operand):
            return _one_of(node, operand)
        case tree.Compare(op, left, Value() as value) if operand := _operand(left):
            return _compared(node, operand, op, value)
        case tree.Compare(op, left, right) if (one := _operand(left)) and (two := _operand(right)):
            return f"{one} {op} {two}"
        case tree.Like(operand=tree.Column(name)) if verb := _verb(node):
            return f"{name} {verb}"
    return tree.text(node)


def _one_of(node: tree.In, operand: str) -> str:
    call = node.operand.name if isinstance(node.operand, tree.Call) else ""
    named = NAMES.get(call)
    shown = [_named(v.value, named) if named else _value(v) for v in node.values]
    values = [one for one in shown if one is not None]
    if len(values) < len(shown):
        return tree.text(node)
    joint = "nor" if node.negated else "or"
    several = f" {joint} ".join([", ".join(values[:-1]), values[-1]])
    return f"{operand} is {'neither ' if node.negated else ''}{several}"


def _compared(node: tree.Compare, operand: str, op: str, value: Value) -> str:
    """A comparison with a value."""
    written: str | None
    if isinstance(node.left, tree.Call) and node.left.name in NAMES:
        written = _named(value.value, NAMES[node.left.name])
    elif value.type.numeric and isinstance(value.value, int):
        written = shown_number(value.value)
    else:
        written = _value(value)
    if not written or (value.type is Type.TEXT and op not in ("=", "<>")):
        return tree.text(node)  # what is in double quotes could be a column
    if op == "=" and (value.type is Type.TEXT or isinstance(node.left, tree.Call)):
        op = "is"
    return f"{operand} {'is not' if op == '<>' else op} {written}"


def _named(number: float, names: tuple[str, ...]) -> str:
    """July for 7; other numbers stay as they are."""
    known = isinstance(number, int) and 1 <= number <= len(names)
    return names[int(number) - 1] if known else f"{number}"


def _operand(node: Node) -> str | None:
    """A column, or a part of it."""
    match node:
        case tree.Column(name):
            return name
        case tree.Call(
            "year" | "month" | "day" | "weekday" | "length" as part, (tree.Column(name),)
        ):
            return f"{part} of {name}"
    return None


def _part(node: Node) -> str:
    return f"({_say(node)})" if isinstance(node, tree.And | tree.Or) else _say(node)


def _verb(node: tree.Like) -> str | None:
    """The verb for a simple pattern."""
    match node.pattern:
        case (Wild.ANY, str(wanted), Wild.ANY):
            verb = "contain"
        case (str(wanted), Wild.ANY):
            verb = "start with"
        case (Wild.ANY, str(wanted)):
            verb = "end with"
        case _:
            return None
    first, _, rest = verb.partition(" ")
    said = f"does not {verb}" if node.negated else f"{first}s{rest and ' ' + rest}"
    cased = letter_case.lower(wanted) != letter_case.upper(wanted)
    exact = " (case matters)" if cased and not node.fold else ""
    quoted = _quote(wanted)
    return quoted and f"{said} {quoted}{exact}"


def _value(node: Value) -> str | None:
    if node.type is Type.TEXT:
        return _quote(node.value)
    return str(node.value) if node.type.temporal else tree.text(node)


def _quote(value: str) -> str | None:
    """A text in quotes that do not occur in it, cut if it is long; None if all kinds occur."""
    shown = value if len(value) <= LONGEST_SHOWN else value[: LONGEST_SHOWN - 1] + "…"
    for first, last in ('""', "“”", "«»"):
        if last not in shown:
            return f"{first}{shown}{last}"
    return None


def shown_number(value: float, decimals: int | None = None) -> str:
    """A number as people read it: long ones with commas. Years and codes are not long. `decimals`:
    of a column in which all numbers are written with so many.

    >>> shown_number(1984), shown_number(2_500_000), shown_number(1234567.5), shown_number(0.25)
    ('1984', '2,500,000', '1,234,567.5', '0.25')
    >>> shown_number(-7.5, 2)
    '-7.50'
    """
    comma = "," if 100_000 <= abs(value) < 1e15 else ""
    if isinstance(value, int):
        return f"{value:{comma}}"
    return f"{value:{comma}.10g}" if decimals is None else f"{value:{comma}.{decimals}f}"


def shown_time(value: datetime) -> str:
    """A time as people read it: without seconds where there are none.

    >>> shown_time(datetime(2026, 5, 4, 9, 30)), shown_time(datetime(2026, 5, 4, 9, 30, 7))
    ('2026-05-04 09:30', '2026-05-04 09:30:07')
    """
    whole = not value.second and not value.microsecond
    return value.isoformat(sep=" ", timespec="minutes" if whole else "auto")


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "rule"), counted(0, "mistake"), counted(2_000, "guess", "guesses")
    ('1 rule', '0 mistakes', '2,000 guesses')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def joined(words: Sequence[str]) -> str:
    """Words joined by commas and "and".

    >>> joined(["Ann"]), joined(["Ann", "Bob", "Cid"])
    ('Ann', 'Ann, Bob and Cid')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)
