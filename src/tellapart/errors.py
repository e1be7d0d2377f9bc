"""Everything tellapart raises on purpose.

```
TellapartError
├── ParameterError    a learner, world or bound was given a value it cannot use
├── ProtocolError     a round was told out of turn (a stale guess, a missing label, ...)
├── FeatureError      a feature cannot be read on an item, or a text is no feature
├── FormatError       a file or text could not be read back
├── ExportError       a model cannot be said in the language asked for
├── LabError          the lab cannot go on; what was finished is kept
├── EndpointError     a model's server cannot be used; what it answered before is kept
├── BudgetUsed        one more request to a model would exceed the budget; it was not sent
├── SessionError      a session cannot be opened or go on; nothing acknowledged is lost
│   ├── TableChanged  its table is another one than before, or is gone
│   └── StoreError    its database cannot be reached, read or written
└── MissingExtra      an optional dependency is not installed
```

A message says what was wrong, what was given, and what to do.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any


class TellapartError(Exception):
    """The root: catch this to catch everything tellapart raises on purpose."""


class ParameterError(TellapartError, ValueError):
    """A parameter has a value its owner cannot use."""


class ProtocolError(TellapartError):
    """A round was told out of turn; the learner has not changed."""


class FeatureError(TellapartError):
    """A feature cannot be read on an item, or a text is no feature."""

    def __init__(
        self, message: str, *, spot: tuple[int, int] | None = None, meant: str | None = None
    ) -> None:
        super().__init__(message)
        self.spot = spot
        """The first and one past the last character of the text at fault."""
        self.meant = meant
        """The nearest condition to the text, if there is one."""


class FormatError(TellapartError, ValueError):
    """A text or file is not what it should be."""

    def __init__(self, message: str, **advice: Any) -> None:
        self._message, self.advice = message, advice
        """Arguments that may help; `{name}` in the message stands for such an argument."""
        super().__init__(self.said(lambda name, value: f"{name}={value!r}"))

    def said(self, word: Callable[[str, Any], str]) -> str:
        """The message, with other words for its advice: a command has options, not arguments.

        >>> error = FormatError("odd cell; fix it, or pass {nulls}", nulls=["NA"])
        >>> str(error)
        "odd cell; fix it, or pass nulls=['NA']"
        >>> error.said(lambda name, value: f"--{name} {value[0]}")
        'odd cell; fix it, or pass --nulls NA'
        """
        said = self._message
        for name, value in self.advice.items():
            said = said.replace(f"{{{name}}}", word(name, value))
        return said


def as_options(name: str, value: Any) -> str:
    """An argument of `read_table` as it is given to a command.

    >>> as_options("types", {"post code": "text"}), as_options("nulls", ["-", "n/a"])
    ("--read 'types=post code=text'", '--read nulls=- --read nulls=n/a')
    """
    if isinstance(value, Mapping):
        value = [f"{column}={kind}" for column, kind in value.items()]
    elif isinstance(value, str | int):
        value = ["tab" if value == "\t" else str(value)]
    return " ".join(f"--read {shlex.quote(f'{name}={one}')}" for one in value)


class ExportError(TellapartError):
    """A model, or a feature in it, cannot be said in the language asked for."""


class LabError(TellapartError):
    """The lab cannot go on; what was finished is kept."""


class EndpointError(TellapartError):
    """The server of a model cannot be used; what it answered before is kept."""


class BudgetUsed(TellapartError):
    """One more request to a model would exceed the budget; it was not sent."""


class SessionError(TellapartError):
    """A session cannot be opened or go on; what was acknowledged is kept."""


class TableChanged(SessionError):
    """The table of a session is another one than before, or is gone; its log and model are kept."""


class StoreError(SessionError):
    """The database of a session cannot be reached, read or written."""


class MissingExtra(TellapartError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the '{extra}' extra: pip install 'tellapart[{extra}]'")


def check(
    owner: str, name: str, value: Any, allowed: str, test: Callable[[Any], bool], kind: type = int
) -> None:
    """Raise the one-shape parameter error unless `value` is a `kind` that passes `test`.

    >>> check("RobustDFF", "m", 0, "an integer >= 1", lambda m: m >= 1)
    Traceback (most recent call last):
    ...
    tellapart.errors.ParameterError: RobustDFF: m must be an integer >= 1, got 0 (int)
    """
    right_kind = type(value) is kind or isinstance(value, Integral if kind is int else Real)
    if right_kind and not isinstance(value, bool) and value == value and test(value):
        return
    raise ParameterError(
        f"{owner}: {name} must be {allowed}, got {value!r} ({type(value).__name__})"
    )
