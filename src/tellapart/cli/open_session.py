"""What `teach` and `serve` share when they open the session of a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tellapart.cli.options import in_options
from tellapart.errors import ParameterError


@contextmanager
def reading_notice(what: str) -> Iterator[None]:
    """Say what is going on, with something that moves, until it is over; on a terminal only."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(what)):
        yield


def check_begun(
    begun: Mapping[str, Any],
    another: str,
    *,
    id: str | None = None,
    learner: str | None = None,
    label: str | None = None,
    reading: Mapping[str, Any],
) -> None:
    """Raise for what can only be chosen when a session begins, if it was chosen otherwise.

    `begun` is the first event of its log; `another`, how to begin another one.
    """
    for said in _differences(begun, id, learner, label, reading):
        raise ParameterError(f"{said}. Leave it out to go on; or begin another one with {another}")


def _differences(
    begun: Mapping[str, Any],
    id: str | None,
    learner: str | None,
    label: str | None,
    reading: Mapping[str, Any],
) -> Iterator[str]:
    source = begun.get("source") or {}
    if label is not None and label not in (source.get("without") or []):
        yield f"--label {label}: the session was begun with that column in sight"
    if id is not None and id != source.get("id"):
        yield f"--id {id}: the session was begun with {source.get('id') or 'row numbers'}"
    if learner is not None:
        from tellapart.learners.by_name import format_learner, parse_learner, write_value

        name, parameters = parse_learner(learner)
        # as texts: an old log may have "true" where it is True now
        given = {key: write_value(value) for key, value in parameters.items()}
        before = {key: write_value(value) for key, value in begun["parameters"].items()}
        if name != begun["learner"] or not given.items() <= before.items():
            before.pop("columns", None)
            other = format_learner(begun["learner"], before)
            yield f"--learner {learner}: the session has another learner, {other}"
    for name, value in reading.items():
        now = source.get(name, "utf-8" if name == "encoding" else None)
        if value != now:
            how = "without it" if now is None else f"with {in_options(name, now)}"
            yield f"{in_options(name, value)}: the session was begun {how}"
