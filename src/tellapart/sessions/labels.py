"""Labels by key: what a label is called may change, what it is does not.

A learner is told keys, so that a new name costs nothing. The key of a label is its first name (with
a number, if another label was called that before). An old name still means its label until another
takes it: a page that was open during the change sends the old one.
"""

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


class Labels:
    """The labels of a session.

    >>> labels = Labels()
    >>> bird = labels.key("brid")
    >>> labels.rename(bird, "bird")
    >>> labels.name(bird), labels.key("brid") == labels.key("bird") == bird
    ('bird', True)
    """

    def __init__(self) -> None:
        self._name: dict[str, str] = {}
        self._key: dict[str, str] = {}
        self._into: dict[str, str] = {}

    def find(self, name: str) -> str | None:
        """The key of the label that `name` means, if there is one."""
        key = self._key.get(name)
        return None if key is None else self.same(key)

    def key(self, name: str) -> str:
        """The key of the label that `name` means; a new label if there is none."""
        return self.find(name) or self.add(name)

    def add(self, name: str) -> str:
        """A new label; it takes the name even if another label had it once."""
        key, number = name, 1
        while key in self._name:
            number += 1
            key = f"{name} ({number})"
        self._name[key] = name
        self._key[name] = key
        return key

    def name(self, key: str) -> str:
        """What a label is called now."""
        return self._name[self.same(key)]

    def same(self, key: str) -> str:
        """The label that this one was merged into, or itself."""
        while key in self._into:
            key = self._into[key]
        return key

    def rename(self, key: str, name: str) -> None:
        """Call a label something else."""
        self._name[key] = name
        self._key[name] = key

    def merge(self, key: str, into: str) -> None:
        """From now on, and in the past, the one label is the other."""
        self._into[key] = into

    def part(self, key: str) -> None:
        """Take a merger back."""
        del self._into[key]

    def current(self) -> list[str]:
        """The keys of all labels there are, in order of their coming."""
        return [key for key in self._name if key not in self._into]

    def check_free(self, name: str, but: str | None = None) -> None:
        """Raise `ParameterError` if some label other than `but` is called `name` now."""
        key = self._key.get(name)
        if key is None or key == but or key in self._into or self._name[key] != name:
            return
        raise ParameterError(
            f"there is a label {name!r} already; choose another name, or merge the two"
        )

    def must_find(self, name: str) -> str:
        """The key of a label that must be there."""
        key = self.find(name)
        if key is None:
            known = ", ".join(repr(self._name[key]) for key in self.current()) or "none yet"
            raise ParameterError(f"there is no label {name!r}; labels are: {known}")
        return key
