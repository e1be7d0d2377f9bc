"""What was odd about a column, how it was read, and which option reads it otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Finding:
    """Something about a table that could be read in more than one way.

    >>> print(Finding("wet", "only 'yes' and 'no'", "texts", {"true": ["yes"], "false": ["no"]}))
    wet: only 'yes' and 'no'; read as texts. To change that: true=['yes'], false=['no']
    """

    column: str | None
    """None: it is about the whole table."""
    what: str
    """What was found."""
    assumed: str
    """What it was read as."""
    option: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of `read_table` that read it otherwise; empty if there are none."""

    def said(self, word: Callable[[str, Any], str]) -> str:
        """In a sentence, with other words for the option: a command has options, not arguments."""
        text = f"{self.what}; read as {self.assumed}" if self.assumed else self.what
        if self.column is not None:
            text = f"{self.column}: {text}"
        if self.option:
            joint = " " if word is not as_argument else ", "
            text += f". To change that: {joint.join(word(n, v) for n, v in self.option.items())}"
        return text

    def __str__(self) -> str:
        return self.said(as_argument)


def as_argument(name: str, value: Any) -> str:
    """An option as an argument of `read_table`."""
    return f"{name}={value!r}"
