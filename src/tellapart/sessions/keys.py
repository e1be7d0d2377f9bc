"""The keys of teaching, the same on the page and in the console.

To change some, write a file such as

    right = "space"
    undo = "z"

and name it in `tellapart teach --keys FILE`, or keep it as `tellapart-keys.toml` beside the table.
The digits 1 to 9 choose from the list at hand, and are not for change.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from tellapart.errors import ParameterError

FILE = "tellapart-keys.toml"

KEYS: dict[str, tuple[str, str]] = {
    "right": ("enter", "right, next"),
    "label": ("l", "type a label"),
    "feature": ("f", "find a feature"),
    "write": ("x", "write a feature"),
    "tag": ("t", "tag: a feature no column shows"),
    "none": ("0", "no single feature does"),
    "unsure": ("d", "don't know"),
    "skip": ("s", "skip, show later"),
    "note": ("n", "note"),
    "meaning": ("m", "meaning of a label"),
    "search": ("/", "look for items"),
    "undo": ("u", "undo"),
    "redo": ("r", "redo"),
    "back": ("escape", "back"),
    "help": ("h", "help"),
}
"""What can be done: its key, and the words on its button."""

_NAMED = ("enter", "escape", "space", "backspace", "delete", "tab")


def read_keys(path: Path | None = None) -> dict[str, str]:
    """What each action's key is: the usual ones, and those in a file.

    >>> read_keys()["right"], read_keys()["undo"]
    ('enter', 'u')
    """
    keys = {action: key for action, (key, _) in KEYS.items()}
    if path is None:
        return keys
    try:
        with path.open("rb") as file:
            changes = tomllib.load(file)
    except OSError as error:
        raise ParameterError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError(f'{path}: not a list of keys such as undo = "z": {error}') from None
    keys.update(_checked(path, changes))
    taken: dict[str, str] = {}
    for action, key in keys.items():
        if key in taken:
            raise ParameterError(f"{path}: {taken[key]!r} and {action!r} have the same key {key!r}")
        taken[key] = action
    return keys


def _checked(path: Path, changes: Mapping[str, object]) -> dict[str, str]:
    found = {}
    for action, key in changes.items():
        if action not in KEYS:
            raise ParameterError(f"{path}: unknown action {action!r}; known are {', '.join(KEYS)}")
        name = key.lower() if isinstance(key, str) else ""
        if name not in _NAMED and (len(name) != 1 or not name.isprintable() or name in "123456789"):
            raise ParameterError(
                f"{path}: {action} = {key!r} is no key; use one letter, 0, a sign, or one of"
                f" {', '.join(_NAMED)}"
            )
        found[action] = name
    return found
