"""Bounds, representations and reductions: what can be proven, in code."""

from tellapart.theory.bounds import (
    StochasticBound,
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
from tellapart.theory.conversions import Split, from_dnf, from_sklearn, from_tree, to_dnf
from tellapart.theory.legality import Failure, Legality
from tellapart.theory.reduction import absorb, apart, smallest
from tellapart.theory.representation import Component, Facts, Representation, facts

__all__ = [
    "Component",
    "Facts",
    "Failure",
    "Legality",
    "Representation",
    "Split",
    "StochasticBound",
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
