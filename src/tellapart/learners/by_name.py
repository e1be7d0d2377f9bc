"""Learners by name, as commands, requests and session logs write them.

    AutoDFF        capped:m=7        CappedDFF:m=7,remember=true        adaptive:schedule=ruler

Case does not matter, and the ending DFF may be left out. A value is a number, true, false, none, a
text, or the name of a learner (guarded:practical=dff,guaranteed=adaptive).
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from tellapart import learners
from tellapart.errors import ParameterError
from tellapart.learners.base import BaseLearner

_CONSTANTS = {"true": True, "false": False, "none": None}


def learner_classes() -> dict[str, type[BaseLearner]]:
    """Every learner of the package by its name."""
    found = {name: getattr(learners, name) for name in learners.__all__}
    return {
        name: kind
        for name, kind in sorted(found.items())
        if inspect.isclass(kind) and issubclass(kind, BaseLearner) and not inspect.isabstract(kind)
    }


def find_learner(name: str) -> type[BaseLearner]:
    """The class of a learner."""
    classes = learner_classes()
    wanted = name.strip().lower()
    for known, kind in classes.items():
        if wanted in (known.lower(), known.lower().removesuffix("dff") or "dff"):
            return kind
    forms = ", ".join(_form(kind) for kind in classes.values())
    raise ParameterError(f"unknown learner {name!r}; known are {forms}")


def takes(name: str, parameter: str) -> bool:
    """Whether a learner has a parameter."""
    return parameter in _parameters(find_learner(name))


def parse_learner(text: str) -> tuple[str, dict[str, Any]]:
    """The full name and the parameters of a learner.

    >>> parse_learner("stro:m=7,epsilon=0.1,as_printed=true")
    ('StRoDFF', {'m': 7, 'epsilon': 0.1, 'as_printed': True})
    """
    name, _, rest = text.partition(":")
    parameters: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in rest.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise ParameterError(f"parameters are written m=7,k=2; got {part!r}")
        parameters[key] = _read_value(value)
    kind = find_learner(name)
    _check_parameters(kind, parameters)
    return kind.__name__, parameters


def format_learner(name: str, parameters: Mapping[str, Any]) -> str:
    """The inverse of `parse_learner`."""
    written = ",".join(f"{key}={write_value(value)}" for key, value in parameters.items())
    return f"{name}:{written}".rstrip(":")


def make_learner(
    text: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    facts: Mapping[str, Any] | None = None,
) -> BaseLearner:
    """A fresh learner, from a text and perhaps more parameters.

    A parameter that it needs and that is not given is taken from `facts`.

    >>> make_learner("robust:patience=0", facts=world_facts(m=7, k=4, s=1))
    RobustDFF(m=7, k=4, s=1, patience=0)
    """
    name, given = parse_learner(text)
    given |= parameters or {}
    kind = find_learner(name)
    _check_parameters(kind, given)
    given = {key: facts[key] for key in _required(kind) if facts and key in facts} | given
    if missing := [key for key in _required(kind) if key not in given]:
        raise ParameterError(
            f"{kind.__name__} must be told {', '.join(missing)}, as in {_form(kind)}; AutoDFF and"
            " AdaptiveDFF need nothing"
        )
    for key, parameter in _parameters(kind).items():
        if isinstance(given.get(key), str) and parameter.annotation == "BaseLearner":
            given[key] = make_learner(given[key], facts=facts)
    try:
        return kind(**given)
    except TypeError as error:
        raise ParameterError(f"{kind.__name__}: {error}") from None


def world_facts(m: int, k: int | None = None, s: int | None = None, n: int = 1) -> dict[str, Any]:
    """What learners may be told of a world of m components and n items, k of them exceptions."""
    facts: dict[str, Any] = {"m": m, "delta": 0.1, "practical": "dff", "guaranteed": "adaptive"}
    if k is not None and s is not None:
        epsilon = min(k / n, 0.249)
        facts |= {"k": k, "s": s, "epsilon": epsilon, "sigma": min(s / n, epsilon)}
    return facts


def write_value(value: Any) -> str:
    """A value as `parse_learner` reads it."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _read_value(text: str) -> Any:
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return _CONSTANTS.get(text.lower(), text.strip("\"'"))


def _parameters(kind: type[BaseLearner]) -> dict[str, inspect.Parameter]:
    found = inspect.signature(kind).parameters.items()
    return {name: one for name, one in found if name != "holds"}  # no text can say it


def _required(kind: type[BaseLearner]) -> list[str]:
    every = _parameters(kind).items()
    return [key for key, one in every if one.default is inspect.Parameter.empty]


def _check_parameters(kind: type[BaseLearner], given: Mapping[str, Any]) -> None:
    known = _parameters(kind)
    if unknown := [key for key in given if key not in known]:
        raise ParameterError(
            f"{kind.__name__} has no parameter {unknown[0]!r}; it has {', '.join(known)}"
        )


def _form(kind: type[BaseLearner]) -> str:
    """How a learner is written, with what it must be told: "CappedDFF:m=..."."""
    return format_learner(kind.__name__, dict.fromkeys(_required(kind), "..."))
