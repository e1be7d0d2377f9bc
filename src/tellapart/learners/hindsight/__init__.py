"""Hindsight, which refits on the whole history, and its parts: history and tree growing."""

from tellapart.learners.hindsight.hindsight import Hindsight

__all__ = ["Hindsight"]
