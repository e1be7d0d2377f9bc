"""The tokens of the feature language: the first of three checks of a text (see `grammar`).

Only known words, operators, numbers and texts are allowed, no comments, and brackets not too deep.
This already rules out statements, subqueries, casts and foreign functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn

from tellapart.errors import FeatureError

if TYPE_CHECKING:
    from sqlglot import Token

LONGEST = 8_000
"""The most characters of a feature."""
DEEPEST = 24
"""The most levels of nested brackets, NOTs and minus signs."""
MOST = 1_000
"""The most tokens of a feature."""

ALLOWED = (
    "Allowed: columns, numbers, 'texts', DATE '2024-12-31', TIMESTAMP '2024-12-31 23:59:59',"
    " TRUE, FALSE; = <> < <= > >=, BETWEEN, IN (...), LIKE, ILIKE, IS [NOT] NULL/TRUE/FALSE,"
    " AND, OR, NOT, + - * /, brackets, and the functions lower, upper, trim, length, contains,"
    " starts_with, ends_with, abs, coalesce, year, month, day, weekday, at_least."
)

FUNCTIONS = {
    **dict.fromkeys(("abs", "length", "lower", "trim", "upper"), 1),
    **dict.fromkeys(("year", "month", "day", "weekday"), 1),
    **dict.fromkeys(("contains", "ends_with", "starts_with"), 2),
    **dict.fromkeys(("at_least", "coalesce"), None),
}
"""The functions, and the number of arguments of each; None: two or more."""

_ROUGH_TOKEN = re.compile(r"""'[^']*'|"[^"]*"|\w+|[^\w\s]""")

_ALLOWED_KINDS = frozenset(
    (
        "L_PAREN", "R_PAREN", "COMMA", "EQ", "NEQ", "LT", "GT", "LTE", "GTE", "PLUS", "DASH",
        "STAR", "SLASH", "NUMBER", "STRING", "AND", "OR", "NOT", "LIKE", "ILIKE", "ESCAPE", "IN",
        "BETWEEN", "IS", "NULL", "TRUE", "FALSE",
    )
)  # fmt: skip


class Names:
    """Finds the column a word means: spelled the same, or the only one that differs in case."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(names)
        self._lowered: dict[str, list[str]] = {}
        for name in self.names:
            self._lowered.setdefault(name.lower(), []).append(name)

    def find(self, word: str, *, quoted: bool = False) -> str | None:
        if word in self.names:
            return word
        alike = self._lowered.get(word.lower(), [])
        return alike[0] if len(alike) == 1 and not quoted else None


def tokenize(text: str, names: Names, *, slack: int = 1) -> list[Token]:
    """The tokens of `text`; raises a `FeatureError` if one is not allowed in a feature.

    A keyword that is the name of a column becomes a quoted name. `slack` multiplies all limits.
    """
    from sqlglot import Dialect
    from sqlglot.errors import SqlglotError

    longest, most = LONGEST * slack, MOST * slack
    if len(text) > longest:
        said = f"the feature has {len(text):,} characters"
        refuse(text, said, longest, longest + 1, f"At most {longest:,} are allowed.")
    for spot, letter in enumerate(text):
        if letter == "\0" or "\ud800" <= letter <= "\udfff":
            refuse(text, "a character no engine can hold", spot, spot + 1)
    for count, piece in enumerate(_ROUGH_TOKEN.finditer(text)):  # the tokenizer is slow
        if count == 2 * most:
            refuse(text, f"more than {most:,} words and signs", piece.start(), piece.end())
    try:
        tokens = Dialect.get_or_raise("duckdb").tokenize(text)
    except SqlglotError:
        spot = _unclosed(text)
        refuse(text, "a quote is opened and not closed", spot, spot + 1)
    _refuse_comments(text, tokens)
    if not tokens:
        raise FeatureError(f"the feature is empty. {ALLOWED}")
    _check_size(text, tokens, most, DEEPEST * slack)
    tokens = _join_decimals(tokens)
    for here, following in zip(tokens, [*tokens[1:], None], strict=True):
        _check(text, here, following.token_type.name if following else "", names)
    return tokens


def _check(text: str, here: Token, following: str, names: Names) -> None:
    from sqlglot import TokenType

    kind, word = here.token_type.name, here.text
    shown = repr(short(word))
    called = following == "L_PAREN"
    if kind in _ALLOWED_KINDS or (kind == "IDENTIFIER" and not called):
        return
    what = f"{shown} cannot be used in a feature"
    if kind == "SEMICOLON":
        what = "a semicolon: a feature is one condition"
    elif following == "STRING":
        if word.upper() in ("DATE", "TIMESTAMP"):
            return
        what = f"{shown} before a text"
    elif called:
        if word.lower() in FUNCTIONS and kind != "IDENTIFIER":
            return
        what = f"{shown} is no function of features"
    elif kind == "VAR":
        return
    else:
        name = names.find(word)
        if name is not None:
            here.token_type, here.text = TokenType.IDENTIFIER, name
            return
    refuse(text, what, here.start, here.end + 1, ALLOWED)


def _refuse_comments(text: str, tokens: list[Token]) -> None:
    """The tokenizer skips comments, so anything but space between two tokens is one."""
    end = -1
    for start, next_end in [*((t.start, t.end) for t in tokens), (len(text), len(text))]:
        gap = text[end + 1 : start]
        if gap.strip():
            first = start - len(gap.lstrip())
            refuse(text, "a comment", first, first + len(gap.strip()), "Leave it out.")
        end = next_end


def _check_size(text: str, tokens: list[Token], most: int, deepest: int) -> None:
    depth = prefixes = 0
    for count, here in enumerate(tokens):
        kind = here.token_type.name
        depth += (kind == "L_PAREN") - (kind == "R_PAREN")
        prefixes = prefixes + 1 if kind in ("NOT", "DASH", "PLUS") else 0
        if depth + prefixes > deepest:
            said = f"more than {deepest} levels of brackets, NOT and minus"
            refuse(text, said, here.start, here.end + 1)
        if count == most:
            refuse(text, f"more than {most:,} words and signs", here.start, here.end + 1)


def _join_decimals(tokens: list[Token]) -> list[Token]:
    """The tokenizer splits `.5` into a dot and a number; join them."""
    kept: list[Token] = []
    for here in tokens:
        dotted = kept and kept[-1].token_type.name == "DOT" and kept[-1].end + 1 == here.start
        if here.token_type.name == "NUMBER" and dotted:
            here.text, here.start = f".{here.text}", kept.pop().start
        kept.append(here)
    return kept


def _unclosed(text: str) -> int:
    """The position of the quote that is never closed."""
    opened, start = "", len(text) - 1
    for spot, letter in enumerate(text):
        if not opened and letter in "'\"":
            opened, start = letter, spot
        elif letter == opened:
            opened = ""
    return start


def short(text: str) -> str:
    """A text cut to 60 characters, for messages."""
    return text if len(text) <= 60 else f"{text[:57]}..."


def refuse(text: str, what: str, start: int, end: int, advice: str = "") -> NoReturn:
    """Raise a `FeatureError` that points at a part of the text."""
    message = f"{what}. {advice}".rstrip()
    raise FeatureError(f"{message}\n{_underlined(text, start, end)}", spot=(start, end))


def _underlined(text: str, start: int, end: int) -> str:
    """The text around a position, and a line of carets below it."""
    first = max(0, start - 40)
    last = min(len(text), max(start + 60, min(end, start + 60)))
    line = "".join(c if c.isprintable() else " " for c in text[first:last])
    before, after = "..." if first else "", "..." if last < len(text) else ""
    pointer = " " * (len(before) + start - first) + "^" * max(1, min(end, last) - start)
    return f"  {before}{line}{after}\n  {pointer}"
