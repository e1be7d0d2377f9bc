"""What was odd about a table, how it was read, and what reads it otherwise.

A finding has a code and the facts; its sentence is made of them, here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

_SAID: dict[str, str] = {
    # numbers
    "decimal comma": "numbers with a decimal comma, such as {shown!r} | {read}",
    "mark or thousands":
        "numbers such as {shown!r}, whose sign may stand before decimals or between thousands |"
        " {read}",
    "number style": "numbers such as {shown!r} | {read}",
    "perhaps numbers":
        "texts such as {shown!r}, which may be numbers | texts, without a size | write them as"
        " numbers to compare them",
    "perhaps codes": "numbers such as {shown!r}, which may be codes | {read}",
    "numbers among words": "numbers such as {shown!r} among {words} | texts, without a size",
    "not finite": "NaN or infinity among numbers | unknown",
    "placeholder":
        "{shown} in {cells}, and {low} to {high} in the others, so it may mean unknown | a"
        " {kind}",
    # true and false, unknown
    "yes and no": "only {shown} | {read}",
    "word beside yes and no": "{words} among the words for true and false | texts",
    "unknown among values": "{words} among {among} | unknown",
    "unknown among texts": "{words} in {cells}, which may mean unknown | texts",
    # dates and times
    "perhaps dates":
        "cells such as {shown!r}, which may be dates | {read} | write them like 2024-12-31 to"
        " compare them",
    "day or month first": "dates such as {shown!r}{but} | dates with the {read} first",
    "short years": "years of two digits, as in {shown!r} | years from 1969 to 2068{read}",
    "zones": "times with a zone | times in UTC, also where there is none",
    "some times": "dates of which only some have a time | times at midnight where there is none",
    "clocks":
        "times of day such as {shown!r} | texts like '09:30', which can be compared with each"
        " other",
    # rows and names
    "perhaps comments": "cells that begin with '#', as comment lines do | texts",
    "totals":
        "{shown!r} in {cells}, so the row may be a sum of others | a row like the others |"
        " remove it if it is none",
    "no header": "{shown}, so the first line may be a row | the names of the columns",
    "one column": "a single column, with {shown!r} as often in every line | one column",
    # spreadsheets
    "sheets": "{count} sheets: {shown} | the sheet {read!r}",
    # columns that have a type
    "converted": "{shown} | {read}",
    "unreadable":
        "values of the type {shown} | nothing: features cannot read them | convert them if they"
        " matter",
    "mixed": "values of several types, such as {words} | texts",
    "look like": "texts that look like {kind}{but} | texts | mend them to have {kind}",
    "no order":
        "a query without ORDER BY, whose rows may come in another order the next time | they"
        " came | end the query with ORDER BY",
}  # fmt: skip
"""What was found | what it was read as | what to do about it if no option does."""


@dataclass(frozen=True)
class Finding:
    """Something about a table that could be read in more than one way.

    >>> found = Finding("wet", "yes and no", {"shown": "'yes'", "read": "texts"}, {"true": ["yes"]})
    >>> print(found)
    wet: only 'yes'; read as texts. To change that: true=['yes']
    """

    column: str | None
    """None: it is about the whole table."""
    code: str
    """Which kind of finding it is."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What its sentence is made of."""
    option: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of `read_table` that read it otherwise; empty if there are none."""

    @property
    def what(self) -> str:
        """What was found."""
        return self._part(0)

    @property
    def assumed(self) -> str:
        """What it was read as."""
        return self._part(1)

    @property
    def advice(self) -> str:
        """What to do about it where no option helps."""
        return "" if self.option else self._part(2)

    @property
    def is_warning(self) -> bool:
        """Whether there is something to do about it; all others only tell how it was read."""
        return bool(self.option or self.advice)

    def _part(self, number: int) -> str:
        parts = [*_SAID[self.code].split(" | "), ""]
        return parts[number].format(**self.facts)

    def said(self, word: Callable[[str, Any], str]) -> str:
        """In a sentence, with other words for the option: a command has options, not arguments."""
        text = f"{self.what}; read as {self.assumed}"
        if self.column is not None:
            text = f"{self.column}: {text}"
        if self.advice:
            text += f"; {self.advice}"
        if self.option:
            joint = " " if word is not as_argument else ", "
            text += f". To change that: {joint.join(word(n, v) for n, v in self.option.items())}"
        return text

    def __str__(self) -> str:
        return self.said(as_argument)


def as_argument(name: str, value: Any) -> str:
    """An option as an argument of `read_table`."""
    return f"{name}={value!r}"


def quoted(words: Any, most: int = 3) -> str:
    """Some words as a sentence lists them: 'a' and 'b'."""
    return " and ".join(map(repr, list(words)[:most]))
