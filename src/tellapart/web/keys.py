"""Keys of one's own on the page.

They are in `[keys]` of `tellapart.toml`, such as `undo = "z"`; a letter is pressed with Alt. A file
`tellapart-keys.toml` of earlier versions, beside the table, is read as well. The digits 1 to 9
choose from the list at hand, and cannot be changed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from tellapart.errors import ParameterError
from tellapart.sessions.phrasing import COMMANDS

_FILE = "tellapart-keys.toml"
_ACTIONS = ("right", "yes", "no", "none", "back", "help", "search", "sweep", *COMMANDS)
_OLD = ("label", "feature", "write", "tag", "meaning")  # the page does these by typing
_NAMES = ("enter", "escape", "space", "backspace", "delete", "tab")


def read_keys(settings: Mapping[str, object] | None, folder: Path) -> dict[str, str]:
    """The key of each action in `[keys]` of `tellapart.toml`, or in the old file of a folder.

    >>> read_keys({"undo": "Z", "right": "space"}, Path())
    {'undo': 'z', 'right': 'space'}
    """
    where, old = "[keys] in tellapart.toml", folder / _FILE
    if settings is None and old.is_file():
        where = str(old)
        try:
            settings = tomllib.loads(old.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ParameterError(f'{old}: not a list of keys such as undo = "z": {error}') from None
    keys: dict[str, str] = {}
    for action, key in (settings or {}).items():
        if action not in (*_ACTIONS, *_OLD):
            known = ", ".join(_ACTIONS)
            raise ParameterError(f"{where}: unknown action {action!r}; known are {known}")
        name = key.lower() if isinstance(key, str) else ""
        single = len(name) == 1 and name.isprintable() and name not in "123456789"
        if not single and name not in _NAMES:
            raise ParameterError(
                f"{where}: {action} = {key!r} is no key; use one letter, 0, a sign, or one of"
                f" {', '.join(_NAMES)}"
            )
        same = next((other for other, taken in keys.items() if taken == name), None)
        if same is not None:
            raise ParameterError(f"{where}: {same!r} and {action!r} have the same key {key!r}")
        keys[action] = name
    return keys
