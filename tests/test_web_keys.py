"""Keys of one's own, in `[keys]` of `tellapart.toml` or in a file of earlier versions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tellapart.errors import ParameterError
from tellapart.web.keys import read_keys

OLD = "tellapart-keys.toml"


def test_remapped_keys(tmp_path: Path) -> None:
    own = {"undo": "Z", "right": "space", "none": "-", "back": "tab"}
    assert read_keys(own, tmp_path) == {**own, "undo": "z"}
    (tmp_path / OLD).write_text('undo = "s"\nlabel = "k"\n')
    assert read_keys(None, tmp_path) == {"undo": "s", "label": "k"}
    assert read_keys({"undo": "j"}, tmp_path) == {"undo": "j"}  # goes before the old file


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('undo = "s"\nskip = "S"', "'undo' and 'skip' have the same key 'S'"),
        ('fly = "q"', "unknown action 'fly'; known are right"),
        ('undo = "5"', "undo = '5' is no key"),
        ('undo = "ctrl-z"', "undo = 'ctrl-z' is no key"),
        ("undo = 7", "undo = 7 is no key"),
        ('undo = ""', "is no key"),
        ("undo = z", "not a list of keys"),
        ("\udcff", "not a list of keys"),
    ],
)
def test_bad_keys_are_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / OLD).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ParameterError, match=re.escape(message)):
        read_keys(None, tmp_path)
