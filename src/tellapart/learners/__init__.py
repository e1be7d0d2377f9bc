"""Learners, one a file. Names are loaded when first used: a rule list needs no numpy."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tellapart.learners.adaptive import AdaptiveDFF
    from tellapart.learners.auto import AutoDFF
    from tellapart.learners.base import BaseLearner
    from tellapart.learners.capped import SRDFF, CappedDFF
    from tellapart.learners.dff import DFF
    from tellapart.learners.files import load_learner
    from tellapart.learners.guarded import Guarded
    from tellapart.learners.optimal import OptimalDFF
    from tellapart.learners.robust import RobustDFF
    from tellapart.learners.rule_list import RuleList
    from tellapart.learners.short_list import ShortList
    from tellapart.learners.short_list import ShortList as Hindsight
    from tellapart.learners.strodff import StRoDFF
    from tellapart.learners.unique_label import UniqueLabelDFF

_HOME = {
    "AdaptiveDFF": "adaptive",
    "AutoDFF": "auto",
    "BaseLearner": "base",
    "CappedDFF": "capped",
    "DFF": "dff",
    "Guarded": "guarded",
    "Hindsight": "short_list",
    "OptimalDFF": "optimal",
    "RobustDFF": "robust",
    "RuleList": "rule_list",
    "SRDFF": "capped",
    "ShortList": "short_list",
    "StRoDFF": "strodff",
    "UniqueLabelDFF": "unique_label",
    "load_learner": "files",
}

__all__ = [
    "DFF", "SRDFF", "AdaptiveDFF", "AutoDFF", "BaseLearner", "CappedDFF", "Guarded", "Hindsight",
    "OptimalDFF", "RobustDFF", "RuleList", "ShortList", "StRoDFF", "UniqueLabelDFF", "load_learner",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"tellapart.learners.{_HOME[name]}"), name)
    globals()[name] = value
    return value
