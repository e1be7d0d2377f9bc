"""Worlds: items, the truth about them, and how a teacher answers. All seeded."""

from tellapart.worlds.base import Listed, World
from tellapart.worlds.dnf import dnf
from tellapart.worlds.lower_bound import lower_bound
from tellapart.worlds.made import MadeWorld
from tellapart.worlds.single_exception import single_exception
from tellapart.worlds.tree import tree
from tellapart.worlds.zoo import zoo

__all__ = [
    "Listed",
    "MadeWorld",
    "World",
    "dnf",
    "lower_bound",
    "single_exception",
    "tree",
    "zoo",
]
