"""Learners, settings and stoppers as a log writes them."""

from __future__ import annotations

import getpass
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from tellapart.errors import ParameterError
from tellapart.learners import BaseLearner, by_name
from tellapart.review.stoppers import read_stopper, write_stopper
from tellapart.sessions.history import LEAST_SURE, Settings
from tellapart.tables import Table

DEFAULT = "AutoDFF"
FOR_PEOPLE: dict[str, Any] = {"order": "mixed", "until": {"no mistake in": 40}}
"""How a session for people is begun, unless they say otherwise: most items where the rules are
least sure, some at random for the estimate of the error; and they want to know when to stop."""

ORDERS = ("file", "random", "mixed")
MOST = 1000
"""So many columns a learner is shown, at most."""


SETTINGS = tuple(one.name for one in fields(Settings))


def login() -> str:
    """The login name, as the name of a teacher."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # no such user, as in some containers
        return "teacher"


def with_columns(
    name: str, parameters: Mapping[str, Any], table: Table, words: int = 0
) -> dict[str, Any]:
    """The parameters of a learner, and what it may look at: what the table shows at first sight.

    They stand in the log as texts, so that a later version teaches the same.

    >>> pets = Table({"name": ["rex", "tom"], "legs": [4, 2], "barks": [True, False]}, id="name")
    >>> with_columns("AutoDFF", {}, pets), with_columns("DFF", {}, pets)
    ({'columns': ['legs = 4', 'barks']}, {})
    """
    if "columns" in parameters or not by_name.takes(name, "columns"):
        return dict(parameters)
    found = table.features(words=words)
    if len(found) > MOST:  # the rarest, and those true nearly everywhere, tell least
        counts = {feature: table.count(feature) for feature in found}
        spread = sorted(found, key=lambda f: -min(counts[f], len(table) - counts[f]))
        kept = set(spread[:MOST])
        found = table.columns_of(feature for feature in found if feature in kept)
        table.forget()
    return {**parameters, "columns": [str(feature) for feature in found]}


def make_learner(
    name: str, parameters: Mapping[str, Any], table: Table | None = None
) -> BaseLearner:
    """A fresh learner by its name; its columns are texts, features of a table.

    >>> make_learner("CappedDFF", {"m": 7})
    CappedDFF(m=7)
    """
    texts = parameters.get("columns")
    if table is not None and isinstance(texts, list | tuple):
        found = table.columns_of([table.parse(text) for text in texts])
        parameters = {**parameters, "columns": found}
    return by_name.make_learner(name, parameters)


def learner_for(table: Table, name: str = DEFAULT) -> BaseLearner:
    """A fresh learner as a session makes it: one that may look at columns is shown the table's.

    >>> pets = Table({"name": ["rex", "tom"], "legs": [4, 2]}, id="name")
    >>> learner_for(pets, "capped:m=7")
    CappedDFF(m=7)
    """
    kind, parameters = by_name.parse_learner(name)
    return make_learner(kind, with_columns(kind, parameters, table), table)


def check_settings(given: dict[str, Any]) -> dict[str, Any]:
    """Settings, checked, as the log writes them.

    >>> check_settings({"overlap": 2})
    Traceback (most recent call last):
    ...
    tellapart.errors.ParameterError: overlap is a number from 0 to 1, got 2
    """
    unknown = given.keys() - set(SETTINGS)
    if unknown:
        raise ParameterError(
            f"there is no setting {', '.join(sorted(unknown))}; there are {', '.join(SETTINGS)}"
        )
    if given.get("order") == LEAST_SURE:
        given["order"] = "mixed"
    if "order" in given and given["order"] not in ORDERS:
        raise ParameterError(f"an order is one of {', '.join(ORDERS)}, got {given['order']!r}")
    for name in ("overlap", "lease", "error"):
        value = given.get(name, 0.5)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not (0 < value < 1e9 if name == "lease" else 0 <= value <= 1):
            allowed = "of seconds, more than 0" if name == "lease" else "from 0 to 1"
            raise ParameterError(f"{name} is a number {allowed}, got {value!r}")
    if given.get("unsure", "label") not in ("label", "null"):
        raise ParameterError(f"unsure is 'label' or 'null', got {given['unsure']!r}")
    if "assignments" in given:
        given["assignments"] = _check_assignments(given["assignments"])
    if not isinstance(given.get("title", ""), str):
        raise ParameterError(f"title is the name of a column, got {given['title']!r}")
    articles = given.get("articles", {})
    if not isinstance(articles, Mapping) or not set(articles.values()) <= {"a", "an"}:
        raise ParameterError(f'articles are {{label: "a" or "an"}}, got {articles!r}')
    if "until" in given:
        if isinstance(given["until"], Mapping) and given["until"].keys() & {"and", "or"}:
            raise ParameterError(f"choose one stopper, not joined ones: {given['until']}")
        given["until"] = write_stopper(read_stopper(given["until"]))
    return given


def _check_assignments(given: Any) -> dict[str, Any]:
    """Assignments without those that are empty.

    >>> _check_assignments({"Ann": {"where": "legs = 4"}, "Bob": {}})
    {'Ann': {'where': 'legs = 4'}}
    """
    if not isinstance(given, Mapping):
        raise ParameterError(f"assignments are {{teacher: {{...}}}}, got {given!r}")
    for teacher, what in given.items():
        good = isinstance(what, Mapping) and what.keys() <= {"where"}
        if not good or not isinstance(what.get("where", ""), str):
            raise ParameterError(
                f"the assignment of {teacher!r} is {{'where': a condition}}, got {what!r}"
            )
    return {str(teacher): dict(what) for teacher, what in given.items() if what.get("where")}
