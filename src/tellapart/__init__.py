"""Teach a rule-based classifier by saying what tells two things apart.

    import tellapart as ta

    world = ta.worlds.zoo()
    lesson = ta.teach(ta.CappedDFF(m=7), world.teacher(), world.items)

Names are loaded when first used, so that `import tellapart` stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "Above": "features",
    "AdaptiveDFF": "learners",
    "AutoDFF": "learners",
    "And": "features",
    "CappedDFF": "learners",
    "Clause": "model",
    "Column": "features",
    "Correction": "protocol",
    "DFF": "learners",
    "DecisionList": "model",
    "ErrorBelow": "review",
    "Expression": "features",
    "FeatureError": "errors",
    "FormatError": "errors",
    "Guarded": "learners",
    "Guess": "protocol",
    "Hindsight": "learners",
    "Is": "features",
    "Learner": "protocol",
    "Lesson": "protocol",
    "Listening": "review",
    "Literal": "model",
    "Named": "features",
    "NoMistakeIn": "review",
    "Not": "model",
    "Or": "features",
    "ParameterError": "errors",
    "ProtocolError": "errors",
    "Recorded": "teachers",
    "RobustDFF": "learners",
    "Rounds": "review",
    "Session": "sessions",
    "StRoDFF": "learners",
    "Store": "sessions",
    "Table": "tables",
    "Teacher": "protocol",
    "TellapartError": "errors",
    "estimate": "review",
    "holds": "model",
    "load_learner": "learners",
    "load_model": "export",
    "parse_feature": "features",
    "read_table": "tables",
    "save_model": "export",
    "simulate": "simulation",
    "suspects": "review",
    "teach": "protocol",
    "to_dot": "export",
    "to_python": "export",
    "to_sql": "export",
    "to_svg": "export",
    "to_text": "export",
}
_ROOMS = (
    "adapters",
    "checks",
    "simulation",
    "engines",
    "export",
    "features",
    "lab",
    "learners",
    "review",
    "sessions",
    "tables",
    "teachers",
    "theory",
    "worlds",
)

if TYPE_CHECKING:
    from tellapart import adapters as adapters
    from tellapart import checks as checks
    from tellapart import engines as engines
    from tellapart import export as export
    from tellapart import features as features
    from tellapart import lab as lab
    from tellapart import learners as learners
    from tellapart import review as review
    from tellapart import sessions as sessions
    from tellapart import simulation as simulation
    from tellapart import tables as tables
    from tellapart import teachers as teachers
    from tellapart import theory as theory
    from tellapart import worlds as worlds
    from tellapart.errors import FeatureError as FeatureError
    from tellapart.errors import FormatError as FormatError
    from tellapart.errors import ParameterError as ParameterError
    from tellapart.errors import ProtocolError as ProtocolError
    from tellapart.errors import TellapartError as TellapartError
    from tellapart.export import load_model as load_model
    from tellapart.export import save_model as save_model
    from tellapart.export import to_dot as to_dot
    from tellapart.export import to_python as to_python
    from tellapart.export import to_sql as to_sql
    from tellapart.export import to_svg as to_svg
    from tellapart.export import to_text as to_text
    from tellapart.features import Above as Above
    from tellapart.features import And as And
    from tellapart.features import Column as Column
    from tellapart.features import Expression as Expression
    from tellapart.features import Is as Is
    from tellapart.features import Named as Named
    from tellapart.features import Or as Or
    from tellapart.features import parse_feature as parse_feature
    from tellapart.learners import DFF as DFF
    from tellapart.learners import AdaptiveDFF as AdaptiveDFF
    from tellapart.learners import AutoDFF as AutoDFF
    from tellapart.learners import CappedDFF as CappedDFF
    from tellapart.learners import Guarded as Guarded
    from tellapart.learners import Hindsight as Hindsight
    from tellapart.learners import RobustDFF as RobustDFF
    from tellapart.learners import StRoDFF as StRoDFF
    from tellapart.learners import load_learner as load_learner
    from tellapart.model import Clause as Clause
    from tellapart.model import DecisionList as DecisionList
    from tellapart.model import Literal as Literal
    from tellapart.model import Not as Not
    from tellapart.model import holds as holds
    from tellapart.protocol import Correction as Correction
    from tellapart.protocol import Guess as Guess
    from tellapart.protocol import Learner as Learner
    from tellapart.protocol import Lesson as Lesson
    from tellapart.protocol import Teacher as Teacher
    from tellapart.protocol import teach as teach
    from tellapart.review import ErrorBelow as ErrorBelow
    from tellapart.review import Listening as Listening
    from tellapart.review import NoMistakeIn as NoMistakeIn
    from tellapart.review import Rounds as Rounds
    from tellapart.review import estimate as estimate
    from tellapart.review import suspects as suspects
    from tellapart.sessions import Session as Session
    from tellapart.sessions import Store as Store
    from tellapart.simulation import simulate as simulate
    from tellapart.tables import Table as Table
    from tellapart.tables import read_table as read_table
    from tellapart.teachers import Recorded as Recorded

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
