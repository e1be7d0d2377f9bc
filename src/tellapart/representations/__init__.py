"""What a teacher has in mind: components and what separates them; conversions and reductions."""

from tellapart.representations.conversions import Split, from_dnf, from_sklearn, from_tree, to_dnf
from tellapart.representations.reduction import absorb, apart, smallest
from tellapart.representations.representation import (
    Component,
    Failure,
    Legality,
    Representation,
)

__all__ = [
    "Component", "Failure", "Legality", "Representation", "Split", "absorb", "apart",
    "from_dnf", "from_sklearn", "from_tree", "smallest", "to_dnf",
]  # fmt: skip
