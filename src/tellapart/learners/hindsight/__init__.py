"""Hindsight, which refits on the whole history, and its parts: history, tree growing, readings."""

from tellapart.learners.hindsight.hindsight import Hindsight

__all__ = ["Hindsight"]
