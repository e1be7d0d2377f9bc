"""Learners by name, as they are written on the command line."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from typing import Any

from tellapart import learners
from tellapart.errors import ParameterError
from tellapart.learners import BaseLearner


def known() -> dict[str, type[BaseLearner]]:
    """Every learner of the package by its name.

    >>> "RobustDFF" in known()
    True
    """
    found = {name: getattr(learners, name) for name in learners.__all__}
    return {
        name: kind
        for name, kind in sorted(found.items())
        if inspect.isclass(kind) and issubclass(kind, BaseLearner) and not inspect.isabstract(kind)
    }


def facts(m: int, k: int | None = None, s: int | None = None, n: int = 1) -> dict[str, Any]:
    """What learners may be told of a world of m components and n items, k of them exceptions."""
    told: dict[str, Any] = {
        "m": m,
        "delta": 0.1,
        "practical": learners.DFF(),
        "guaranteed": learners.AdaptiveDFF(),
    }
    if k is not None and s is not None:
        epsilon = min(k / n, 0.249)
        told |= {"k": k, "s": s, "epsilon": epsilon, "sigma": min(s / n, epsilon)}
    return told


def learner(text: str, told: Mapping[str, Any]) -> BaseLearner:
    """A fresh learner from "Name" or "Name:parameter=value,..."; the rest is what it is told.

    Upper and lower case are alike, and the ending "DFF" may be left out.

    >>> learner("robust:patience=0", facts(m=7, k=4, s=1))
    RobustDFF(m=7, k=4, s=1, patience=0)
    """
    name, _, rest = text.partition(":")
    kinds = known()
    short = {key.lower(): kind for key, kind in kinds.items()}
    short |= {key.removesuffix("dff"): kind for key, kind in short.items() if key != "dff"}
    kind = short.get(name.strip().lower())
    if kind is None:
        raise ParameterError(f"unknown learner {name!r}; known are {', '.join(kinds)}")
    parameters = {
        parameter.name: parameter.default
        for parameter in inspect.signature(kind).parameters.values()
        if parameter.name != "holds"
    }
    given = _read(kind.__name__, rest, parameters)
    for parameter, default in parameters.items():
        if default is inspect.Parameter.empty and parameter not in given:
            if parameter not in told:
                raise ParameterError(
                    f"{kind.__name__} must be told {parameter}, which is not known here: write"
                    f" {kind.__name__}:{parameter}=NUMBER, or choose another learner"
                )
            value = told[parameter]
            given[parameter] = value.clone() if isinstance(value, BaseLearner) else value
    return kind(**given)


def _read(owner: str, text: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key not in parameters:
            raise ParameterError(
                f"{owner}: cannot use {part!r}; write parameter=value, with one of"
                f" {', '.join(parameters)}"
            )
        try:
            given[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            given[key] = value
    return given
