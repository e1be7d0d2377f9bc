"""Sessions: people teach a learner about a table, and no answer is lost.

`Store` is a database with sessions in it; `Session` is one of them. docs/sessions.md has the log,
line by line.
"""

from tellapart.sessions.config import learner_for
from tellapart.sessions.events import Event
from tellapart.sessions.log import export_log, import_log
from tellapart.sessions.replies import (
    Agreement,
    Answered,
    AskedAgain,
    Check,
    Disagreement,
    Ending,
    Given,
    OddOne,
    Saved,
    Summary,
)
from tellapart.sessions.session import Session
from tellapart.sessions.store import Listed, Store
from tellapart.sessions.sweeps import Sweep, Swept

__all__ = [
    "Agreement",
    "Answered",
    "AskedAgain",
    "Check",
    "Disagreement",
    "Ending",
    "Event",
    "Given",
    "Listed",
    "OddOne",
    "Saved",
    "Session",
    "Store",
    "Summary",
    "Sweep",
    "Swept",
    "export_log",
    "import_log",
    "learner_for",
]
