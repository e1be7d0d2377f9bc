"""Teach a rule-based classifier by saying what tells two things apart.

    import tellapart as ta

    world = ta.worlds.zoo()
    lesson = ta.teach(ta.CappedDFF(m=7), world.teacher(), world.items)

Names are loaded when first used, so that `import tellapart` stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_NAMES = {
    "errors": ("FeatureError", "TellapartError"),
    "export": ("from_sql", "load_model", "save_model", "to_select", "to_sql", "to_view"),
    "combinations": ("And", "Or"),
    "features": ("parse_feature",),
    "learners": (
        "AdaptiveDFF", "AutoDFF", "CappedDFF", "DFF", "Guarded", "Hindsight", "OptimalDFF",
        "RobustDFF", "SRDFF", "ShortList", "StRoDFF", "UniqueLabelDFF", "load_learner",
    ),
    "model": ("Clause", "DecisionList", "Literal", "Not"),
    "notebook": ("widget",),
    "protocol": ("Correction", "Guess", "Lesson", "teach"),
    "review": ("estimate",),
    "sessions": ("Session", "Store"),
    "simplification": ("simplify",),
    "tables": ("Table", "read_table"),
    "worlds": ("simulate",),
}  # fmt: skip
_HOME = {name: room for room, names in _NAMES.items() for name in names}
_ROOMS = (
    "adapters", "adversary", "bounds", "checks", "columns", "combinations", "distil", "engines",
    "errors", "export", "features", "lab", "learners", "model", "protocol", "representations",
    "review", "samples", "sessions", "simplification", "tables", "teachers", "theory", "worlds",
)  # fmt: skip

if TYPE_CHECKING:
    from tellapart import adapters as adapters
    from tellapart import adversary as adversary
    from tellapart import bounds as bounds
    from tellapart import checks as checks
    from tellapart import columns as columns
    from tellapart import combinations as combinations
    from tellapart import distil as distil
    from tellapart import engines as engines
    from tellapart import errors as errors
    from tellapart import export as export
    from tellapart import features as features
    from tellapart import lab as lab
    from tellapart import learners as learners
    from tellapart import model as model
    from tellapart import protocol as protocol
    from tellapart import representations as representations
    from tellapart import review as review
    from tellapart import samples as samples
    from tellapart import sessions as sessions
    from tellapart import simplification as simplification
    from tellapart import tables as tables
    from tellapart import teachers as teachers
    from tellapart import theory as theory
    from tellapart import worlds as worlds
    from tellapart.combinations import And as And
    from tellapart.combinations import Or as Or
    from tellapart.errors import FeatureError as FeatureError
    from tellapart.errors import TellapartError as TellapartError
    from tellapart.export import from_sql as from_sql
    from tellapart.export import load_model as load_model
    from tellapart.export import save_model as save_model
    from tellapart.export import to_select as to_select
    from tellapart.export import to_sql as to_sql
    from tellapart.export import to_view as to_view
    from tellapart.features import parse_feature as parse_feature
    from tellapart.learners import DFF as DFF
    from tellapart.learners import SRDFF as SRDFF
    from tellapart.learners import AdaptiveDFF as AdaptiveDFF
    from tellapart.learners import AutoDFF as AutoDFF
    from tellapart.learners import CappedDFF as CappedDFF
    from tellapart.learners import Guarded as Guarded
    from tellapart.learners import Hindsight as Hindsight
    from tellapart.learners import OptimalDFF as OptimalDFF
    from tellapart.learners import RobustDFF as RobustDFF
    from tellapart.learners import ShortList as ShortList
    from tellapart.learners import StRoDFF as StRoDFF
    from tellapart.learners import UniqueLabelDFF as UniqueLabelDFF
    from tellapart.learners import load_learner as load_learner
    from tellapart.model import Clause as Clause
    from tellapart.model import DecisionList as DecisionList
    from tellapart.model import Literal as Literal
    from tellapart.model import Not as Not
    from tellapart.notebook import widget as widget
    from tellapart.protocol import Correction as Correction
    from tellapart.protocol import Guess as Guess
    from tellapart.protocol import Lesson as Lesson
    from tellapart.protocol import teach as teach
    from tellapart.review import estimate as estimate
    from tellapart.sessions import Session as Session
    from tellapart.sessions import Store as Store
    from tellapart.simplification import simplify as simplify
    from tellapart.tables import Table as Table
    from tellapart.tables import read_table as read_table
    from tellapart.worlds import simulate as simulate

__all__ = sorted([*_HOME, *_ROOMS])  # noqa: PLE0605  (one list, used twice)


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"tellapart.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(f"tellapart.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'tellapart' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
