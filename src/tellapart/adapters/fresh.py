"""The learner inside an adapter."""

from __future__ import annotations

import copy

from tellapart.learners import AutoDFF
from tellapart.protocol import Learner


def fresh(learner: Learner | None) -> Learner:
    """A copy of `learner`; for None, one that needs no parameters."""
    return AutoDFF() if learner is None else copy.deepcopy(learner)
