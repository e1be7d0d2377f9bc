"""What may be said, checked before it is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tellapart.errors import FeatureError, ParameterError, ProtocolError
from tellapart.sessions.events import ANSWERS, check_text
from tellapart.sessions.state import Question, State


def write_answer(
    state: State, question: Question, answer: str, label: str | None, feature: str | None
) -> dict[str, Any]:
    """An answer as the log writes it."""
    if answer not in ANSWERS:
        raise ParameterError(f"an answer is {', '.join(ANSWERS)}, got {answer!r}")
    if answer != "wrong" and (label is not None or feature is not None):
        raise ParameterError(f"{answer!r} goes without label and feature")
    said: dict[str, Any] = {"answer": answer}
    if answer == "wrong":
        if label is None and question.kept is not None:
            label = state.labels.name(question.kept)
        check_text("a label", label)
        said["label"] = label
        if feature is not None:
            said["feature"] = str(state.items.feature(feature))
    return said


def check_answer(state: State, question: Question, said: Mapping[str, Any]) -> None:
    """Raise unless an answer fits what was shown."""
    if said["answer"] == "right" and question.label is None:
        raise ProtocolError("the label was asked, and nothing guessed: answer with a label")
    if said["answer"] != "wrong":
        return
    guessed = None if question.label is None else state.labels.same(question.label)
    if guessed is not None and state.labels.find(said["label"]) == guessed:
        raise ProtocolError(
            f"the guess was {said['label']!r} already; answer 'right', or give another label"
        )
    if "feature" in said:
        _check_feature(state, question, said["feature"])


def _check_feature(state: State, question: Question, text: str) -> None:
    if question.example is None:
        raise ProtocolError("there was no example to tell the item from: leave the feature out")
    feature = state.items.feature(text)
    item, example = state.items.row(question.place), state.items.row(question.example)
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


def check_rule(state: State, example: Any) -> None:
    """Raise unless there is a rule with this example, written as in the log."""
    row = state.items.row(state.items.place(example))
    rules = state.replay.now.learner.model.clauses
    if all(clause.example.place != row.place for clause in rules):
        known = ", ".join(str(clause.example) for clause in rules[:20]) or "none"
        raise ParameterError(f"there is no rule with the example {row}; examples: {known}")


def check_tag(state: State, tag: str) -> None:
    """Raise unless a tag may have this name."""
    table = state.items.table
    if tag in table.schema and tag not in table.tags:
        raise ParameterError(f"{table.name} has a column {tag!r}; give the tag another name")
