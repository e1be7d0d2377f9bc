"""Labels as people type them."""

from __future__ import annotations

import csv
from collections.abc import Iterable

from tellapart.errors import ParameterError

NEW = "new:"
"""Typed before a label to make a new one, where a known label would match."""


def match_label(text: str, labels: Iterable[str]) -> str | None:
    """The label that a typed text means, the same on the page and in the console.

    The first label that equals it, else the first that begins with it, else the first that contains
    it, in any case. Otherwise, and always after `new:`, it is a new label. None for an empty text.

    >>> [match_label(text, ["mandrill", "big cat"]) for text in ("Man", "cat", "new: man", "duck")]
    ['mandrill', 'big cat', 'man', 'duck']
    """
    wanted, known = text.strip(), list(labels)
    low = wanted.lower()
    for fits in (str.__eq__, str.startswith, str.__contains__):
        found = next((label for label in known if low and fits(label.lower(), low)), None)
        if found is not None:
            return found
        if low.startswith(NEW):
            return wanted[len(NEW) :].strip() or None
    return wanted or None


def split_article(text: str) -> tuple[str, str]:
    """The article that a label was typed with, if it was, and the label.

    >>> split_article("a mammal"), split_article("an Adelie"), split_article("anaconda")
    (('a', 'mammal'), ('an', 'Adelie'), ('', 'anaconda'))
    """
    article, _, label = text.strip().partition(" ")
    if article.lower() in ("a", "an") and label.strip():
        return article.lower(), label.strip()
    return "", text.strip()


def split_names(text: str) -> list[str]:
    """Names with commas between them; one that has a comma itself is in double quotes.

    >>> split_names('red, "salt, pepper"')
    ['red', 'salt, pepper']
    """
    try:
        names = [part.strip() for part in next(csv.reader([text], skipinitialspace=True), [])]
    except csv.Error:
        names = []
    if not names or not all(names) or len(set(names)) != len(names):
        raise ParameterError(f"give different names with commas between them, got {text!r}")
    return names


def join_names(names: Iterable[str]) -> str:
    """Names as `split_names` reads them.

    >>> join_names(["red", "salt, pepper"])
    'red, "salt, pepper"'
    """
    quoted = (one.replace('"', '""') for one in names)
    return ", ".join(f'"{one}"' if "," in one or '"' in one else one for one in quoted)
