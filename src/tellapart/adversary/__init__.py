"""The exact adversary: the most mistakes that any teacher can make a given learner make.

`worst_case` is for a learner that is given, `optimal_case` for the best one there is.
"""

from tellapart.adversary.optimal import OptimalCase, optimal_case
from tellapart.adversary.worst_case import WorstCase, worst_case

__all__ = ["OptimalCase", "WorstCase", "optimal_case", "worst_case"]
