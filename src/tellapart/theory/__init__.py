"""Bounds, representations and reductions: what can be proven, in code."""

from tellapart.theory.bounds import (
    StochasticBound,
    Tolerance,
    adaptive_bound,
    capped_bound,
    capped_rules,
    dff_bound,
    gamma,
    guarded_bound,
    lower_bound,
    patient_bound,
    q,
    reduction_size,
    robust_bound,
    robust_mistakes_per_rule,
    robust_rules,
    ruler_rules,
    stochastic_bound,
    stochastic_rules,
)
from tellapart.theory.dnf import from_dnf, to_dnf
from tellapart.theory.facts import Facts, facts
from tellapart.theory.legality import Failure, Legality
from tellapart.theory.reduction import absorb, apart, smallest
from tellapart.theory.representation import Component, Representation
from tellapart.theory.trees import Split, from_sklearn, from_tree

__all__ = [
    "Component",
    "Facts",
    "Failure",
    "Legality",
    "Representation",
    "Split",
    "StochasticBound",
    "Tolerance",
    "absorb",
    "adaptive_bound",
    "apart",
    "capped_bound",
    "capped_rules",
    "dff_bound",
    "facts",
    "from_dnf",
    "from_sklearn",
    "from_tree",
    "gamma",
    "guarded_bound",
    "lower_bound",
    "patient_bound",
    "q",
    "reduction_size",
    "robust_bound",
    "robust_mistakes_per_rule",
    "robust_rules",
    "ruler_rules",
    "smallest",
    "stochastic_bound",
    "stochastic_rules",
    "to_dnf",
]
