"""Teachers: who answers, and how well."""

from tellapart.teachers.adversary.adversary import Adversary, WorstCase, worst_case
from tellapart.teachers.checked import Checked
from tellapart.teachers.from_representation import FromRepresentation
from tellapart.teachers.hostile import Hostile
from tellapart.teachers.informed import Informed, LabelOf
from tellapart.teachers.lazy import Lazy
from tellapart.teachers.ledger import Ledger
from tellapart.teachers.model import Model
from tellapart.teachers.recorded import Recorded
from tellapart.teachers.silent import Silent
from tellapart.teachers.slipping import Slip, Slipping

__all__ = [
    "Adversary",
    "Checked",
    "FromRepresentation",
    "Hostile",
    "Informed",
    "LabelOf",
    "Lazy",
    "Ledger",
    "Model",
    "Recorded",
    "Silent",
    "Slip",
    "Slipping",
    "WorstCase",
    "worst_case",
]
