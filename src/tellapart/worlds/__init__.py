"""Worlds: items, the truth about them, and how a teacher answers. All seeded."""

from tellapart.worlds.base import Listed, World
from tellapart.worlds.dnf import dnf
from tellapart.worlds.grown import grown
from tellapart.worlds.made import MadeWorld
from tellapart.worlds.simulation import simulate
from tellapart.worlds.theorems import (
    fresh_reasons,
    islands,
    lower_bound,
    quiet_majority,
    returning_exception,
    single_exception,
)
from tellapart.worlds.tree import tree
from tellapart.worlds.zoo import zoo

__all__ = [
    "Listed",
    "MadeWorld",
    "World",
    "dnf",
    "fresh_reasons",
    "grown",
    "islands",
    "lower_bound",
    "quiet_majority",
    "returning_exception",
    "simulate",
    "single_exception",
    "tree",
    "zoo",
]
