"""The exact adversary: the most mistakes that any teacher can make a given learner make."""

from tellapart.adversary.adversary import Adversary, WorstCase, worst_case

__all__ = ["Adversary", "WorstCase", "worst_case"]
