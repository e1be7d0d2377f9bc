"""Teachers: who answers, and how well."""

from tellapart.teachers.checked import Checked
from tellapart.teachers.from_representation import FromRepresentation
from tellapart.teachers.hostile import Hostile
from tellapart.teachers.informed import Informed, LabelOf
from tellapart.teachers.lazy import Lazy
from tellapart.teachers.recorded import Recorded
from tellapart.teachers.silent import Silent
from tellapart.teachers.slipping import Slip, Slipping

__all__ = [
    "Checked",
    "FromRepresentation",
    "Hostile",
    "Informed",
    "LabelOf",
    "Lazy",
    "Recorded",
    "Silent",
    "Slip",
    "Slipping",
]
