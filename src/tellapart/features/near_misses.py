"""The nearest condition to a text that cannot be parsed, for the error message."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from itertools import pairwise

from tellapart.features import canonical
from tellapart.features.plain_values import WRITTEN, NotPlain, literal
from tellapart.features.plain_words import LONGEST, read
from tellapart.features.tree import Column, Node, Type, Wild

_VERBS = [
    "contains", "includes", "mentions", "starts", "begins", "ends", "with", "bigger",
    "larger", "greater", "higher", "smaller", "lower", "fewer", "less", "more", "than",
    "before", "after", "above", "below", "over", "under", "between", "known", "unknown",
    "empty", "missing", "given", "least", "most", "exactly", "equals", "neither", "either",
]  # fmt: skip
_JOINTS = ("and", "or", "but", "not")
_SHORTEST, _LONGEST_VALUE = 3, 100
_MOST_WORDS = 40  # are compared with the names of all columns
_FILL = frozenset(
    re.findall(
        r"[a-z']+",
        """is are was the a an of in it its has have contains contain containing with word words
        text not no any some there like ilike than more less greater at least most equals equal
        to be""",
    )
)


def nearest(text: str, schema: Mapping[str, Type]) -> Node | None:
    """The nearest condition to a text that is none, if one is found.

    Names of columns and verbs are spelled right, a missing verb is added, and units and an
    unfinished end are left out.

    >>> from tellapart.features import tree
    >>> schema = {"weight": Type.NUMBER, "name": Type.TEXT}
    >>> for said in ("wieght is biger then 5", "weight over 5 kg", "name contians cat and"):
    ...     print(tree.text(made) if (made := nearest(said, schema)) else None)
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
            if not close or len(some) < _SHORTEST:
                continue
            column = Column(names[close[0]], schema[names[close[0]]])
            before, after = words[:start], words[start + size :]
            name = f'"{column.name}"'
            spelled = [*map(_spelled, before), name, *map(_spelled, after)]
            some_ways = ([*before, name, *after], spelled, _without_units(spelled))
            made = (read(" ".join(way), schema) for way in some_ways)
            found = next((node for node in made if node is not None), None)
            return found or _about(column, _bare([*before, *after]))
    texts = [Column(name, kind) for name, kind in schema.items() if kind is Type.TEXT]
    value = _bare(words)
    return _about(texts[0], value) if texts and 0 < len(value) <= _LONGEST_VALUE else None


def _spelled(word: str) -> str:
    """A misspelled word of a verb, spelled right; other words as they are."""
    if word.lower() == "then":
        return "than"
    if not word.isalpha() or len(word) <= _SHORTEST or word.lower() in _VERBS:
        return word
    return next(iter(difflib.get_close_matches(word.lower(), _VERBS, 1, 0.8)), word)


def _without_units(words: list[str]) -> list[str]:
    """The words without those that follow a number."""
    return [
        word
        for before, word in pairwise(["", *words])
        if not (word.isalpha() and WRITTEN.fullmatch(before)) or word.lower() in _JOINTS
    ]


def _bare(words: list[str]) -> str:
    """The value among some words: verbs and signs are left out."""
    kept = [word for word in words if word.lower() not in _FILL]
    return " ".join(kept).strip("\"'%*=<>: ")


def _about(column: Column, value: str) -> Node | None:
    """The plainest condition on a column with a value."""
    if column.type is Type.BOOL:
        return column
    if not value:
        return canonical.negate(canonical.is_null(column))
    if column.type is Type.TEXT:
        return canonical.like(column, (Wild.ANY, value, Wild.ANY), fold=True)
    first = next((word for word in value.split() if any(map(str.isdigit, word))), value.lower())
    try:
        found = literal(first, column)
    except NotPlain:
        return canonical.negate(canonical.is_null(column))
    return canonical.compare("=" if column.type is Type.INTEGER else ">=", column, found)
