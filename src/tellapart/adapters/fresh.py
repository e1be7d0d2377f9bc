"""The learner inside an adapter."""

from __future__ import annotations

import copy

from tellapart import learners
from tellapart.protocol import Learner


def fresh(learner: Learner | None) -> Learner:
    """A copy of `learner`; for None, the best learner there is that needs no parameters."""
    if learner is not None:
        return copy.deepcopy(learner)
    kind: type[Learner] = getattr(learners, "AutoDFF", learners.AdaptiveDFF)
    return kind()
