"""The learners, one a file."""

from tellapart.learners.adaptive import AdaptiveDFF
from tellapart.learners.auto import AutoDFF
from tellapart.learners.base import BaseLearner, load_learner
from tellapart.learners.capped import CappedDFF
from tellapart.learners.dff import DFF
from tellapart.learners.guarded import Guarded
from tellapart.learners.hindsight.hindsight import Hindsight
from tellapart.learners.robust import RobustDFF
from tellapart.learners.strodff import StRoDFF

__all__ = [
    "DFF",
    "AdaptiveDFF",
    "AutoDFF",
    "BaseLearner",
    "CappedDFF",
    "Guarded",
    "Hindsight",
    "RobustDFF",
    "StRoDFF",
    "load_learner",
]
