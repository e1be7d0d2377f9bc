"""What may be said, checked before it is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tellapart.errors import FeatureError, ParameterError, ProtocolError
from tellapart.sessions.acts import Shown
from tellapart.sessions.config import read_stopper, write_stopper
from tellapart.sessions.events import ANSWERS
from tellapart.sessions.order import ORDERS
from tellapart.sessions.state import State
from tellapart.tables import Row


def check_text(what: str, value: Any, longest: int = 200) -> None:
    """Raise unless a value is a text that can be written anywhere."""
    fine = isinstance(value, str) and value.strip() and len(value) <= longest
    if fine:
        try:
            value.encode()
            fine = longest > 200 or value.isprintable()
        except UnicodeEncodeError:
            fine = False
    if not fine:
        raise ParameterError(
            f"{what} is a text of 1 to {longest} printable characters, got {value!r}"
        )


def check_settings(given: dict[str, Any]) -> dict[str, Any]:
    """Settings, checked, as the log writes them.

    >>> check_settings({"overlap": 2})
    Traceback (most recent call last):
    ...
    tellapart.errors.ParameterError: overlap is a number from 0 to 1, got 2
    """
    unknown = given.keys() - {"order", "overlap", "lease", "until"}
    if unknown:
        raise ParameterError(
            f"there is no setting {', '.join(sorted(unknown))}; there are order, overlap, lease"
            " and until"
        )
    if "order" in given and given["order"] not in ORDERS:
        raise ParameterError(f"an order is one of {', '.join(ORDERS)}, got {given['order']!r}")
    for name, allowed in (("overlap", "from 0 to 1"), ("lease", "of seconds, more than 0")):
        value = given.get(name, 0.5)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not (0 <= value <= 1 if name == "overlap" else 0 < value < 1e9):
            raise ParameterError(f"{name} is a number {allowed}, got {value!r}")
    if "until" in given:
        given["until"] = write_stopper(read_stopper(given["until"]))
    return given


def write_answer(
    state: State, shown: Shown, answer: str, label: str | None, feature: str | None
) -> dict[str, Any]:
    """An answer as the log writes it."""
    if answer not in ANSWERS:
        raise ParameterError(f"an answer is {', '.join(ANSWERS)}, got {answer!r}")
    if answer != "wrong" and (label is not None or feature is not None):
        raise ParameterError(f"{answer!r} goes without label and feature")
    said: dict[str, Any] = {"answer": answer}
    if answer == "wrong":
        if label is None and shown.kept is not None:
            label = state.labels.name(shown.kept)
        check_text("a label", label)
        said["label"] = label
        if feature is not None:
            said["feature"] = str(state.items.feature(feature))
    return said


def check_answer(state: State, shown: Shown, said: Mapping[str, Any]) -> None:
    """Raise unless an answer fits what was shown."""
    if said["answer"] == "right" and shown.label is None:
        raise ProtocolError("the label was asked, and nothing guessed: answer with a label")
    if said["answer"] != "wrong":
        return
    guessed = None if shown.label is None else state.labels.same(shown.label)
    if guessed is not None and state.labels.find(said["label"]) == guessed:
        raise ProtocolError(
            f"the guess was {said['label']!r} already; answer 'right', or give another label"
        )
    if "feature" in said:
        _check_feature(state, shown, said["feature"])


def _check_feature(state: State, shown: Shown, text: str) -> None:
    if shown.example is None:
        raise ProtocolError("there was no example to tell the item from: leave the feature out")
    feature = state.items.feature(text)
    item, example = state.items.row(shown.place), state.items.row(shown.example)
    if not feature(item):
        raise FeatureError(
            f"the feature {feature} does not hold on the item {item}; name one that does, and does"
            f" not hold on {example}"
        )
    if feature(example):
        raise FeatureError(
            f"the feature {feature} does not tell {item} from the example {example}: it holds on"
            " both. Name one that holds on the item only"
        )


def check_rule(state: State, row: Row) -> None:
    """Raise unless there is a rule with this example."""
    rules = state.course.now.learner.model.clauses
    if all(clause.example.place != row.place for clause in rules):
        known = ", ".join(str(clause.example) for clause in rules[:20]) or "none"
        raise ParameterError(f"there is no rule with the example {row}; examples: {known}")


def check_tag(state: State, tag: str) -> None:
    """Raise unless a tag may have this name."""
    table = state.items.table
    if tag in table.schema and tag not in table.tags:
        raise ParameterError(f"{table.name} has a column {tag!r}; give the tag another name")
