"""The nearest condition to a text with slips, for the error message."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from itertools import pairwise

from tellapart.features.plain_verbs import NUMBER, NotPlain, moment, number
from tellapart.features.plain_words import LONGEST, rewritten
from tellapart.features.tree import Type, Wild, identifier, pattern

_SPELLED = [
    "contains", "includes", "mentions", "starts", "begins", "ends", "with", "bigger",
    "larger", "greater", "higher", "smaller", "lower", "fewer", "less", "more", "than",
    "before", "after", "above", "below", "over", "under", "between", "known", "unknown",
    "empty", "missing", "given", "least", "most", "exactly", "equals", "neither", "either",
]  # fmt: skip
_JOINTS = ("and", "or", "but", "not")
_FILL = frozenset(
    re.findall(
        r"[a-z']+",
        """is are was the a an of in it its has have contains contain containing with word words
        text not no any some there like ilike than more less greater at least most equals equal
        to be""",
    )
)
_MOST_WORDS = 40  # are compared with the names of all columns


def nearest(text: str, schema: Mapping[str, Type]) -> str | None:
    """The nearest condition to a text that is none, if one is found.

    Names of columns and verbs are spelled right, a missing verb is added, and units and an
    unfinished end are left out.

    >>> schema = {"weight": Type.NUMBER, "name": Type.TEXT}
    >>> for said in ("wieght is biger then 5", "weight over 5 kg", "name contians cat and"):
    ...     print(nearest(said, schema))
    weight > 5
    weight > 5
    name ILIKE '%cat%'
    """
    if len(text) > LONGEST or not schema:
        return None
    words = re.findall(r"(?:[^\s:=<>]|:(?=[^\s=]))+|[=<>]+", text)[:_MOST_WORDS]
    while words and words[-1].lower() in _JOINTS:
        words.pop()
    for size in (3, 2, 1):
        names = {
            name.lower().replace("_", " "): name
            for name in schema
            if len(re.split(r"[\s_]", name)) == size or size == 1
        }
        for start in range(len(words) - size + 1):
            some = " ".join(words[start : start + size]).strip("\"'`").lower()
            close = difflib.get_close_matches(some, names, 1, 0.75) or [
                name for name in names if some in name.split()
            ]
            if close and len(some) > 2:
                name, before, after = names[close[0]], words[:start], words[start + size :]
                spelled = [*map(_spelled, before), f'"{name}"', *map(_spelled, after)]
                for way in ([*before, f'"{name}"', *after], spelled, _without_units(spelled)):
                    if (made := rewritten(" ".join(way), schema)) is not None:
                        return made
                return _about(name, schema[name], _value_among([*before, *after]))
    first = next((name for name, kind in schema.items() if kind is Type.TEXT), None)
    value = _value_among(words)
    return _about(first, Type.TEXT, value) if first and 0 < len(value) <= 100 else None


def _spelled(word: str) -> str:
    """A misspelled word of a verb, spelled right; other words as they are."""
    if word.lower() == "then":
        return "than"
    if not word.isalpha() or len(word) < 4 or word.lower() in _SPELLED:
        return word
    return next(iter(difflib.get_close_matches(word.lower(), _SPELLED, 1, 0.8)), word)


def _without_units(words: list[str]) -> list[str]:
    """The words without those that follow a number."""
    return [
        word
        for before, word in pairwise(["", *words])
        if not (word.isalpha() and NUMBER.fullmatch(before)) or word.lower() in _JOINTS
    ]


def _value_among(words: list[str]) -> str:
    """The value among some words: verbs and signs are left out."""
    return " ".join(word for word in words if word.lower() not in _FILL).strip("\"'%*=<>: ")


def _about(name: str, kind: Type, value: str) -> str:
    """The plainest condition on a column with a value."""
    column = identifier(name)
    if kind is Type.BOOL:
        return column
    if kind is Type.TEXT and value:
        return f"{column} ILIKE {pattern((Wild.ANY, value, Wild.ANY))}"
    words = value.split()
    first = next((word for word in words if any(map(str.isdigit, word))), value.lower())
    try:
        found = number(first) if kind.numeric else moment(first)[0]
    except NotPlain:
        return f"{column} IS NOT NULL"
    return f"{column} {'=' if kind is Type.INTEGER else '>='} {found}"
