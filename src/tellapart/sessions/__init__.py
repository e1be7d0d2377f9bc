"""Sessions: people teach a learner about a table, and no answer is lost.

`Store` is a database with sessions in it; `Session` is one of them. docs/sessions.md has the log,
line by line.
"""

from tellapart.sessions.events import Event
from tellapart.sessions.log import export_log, import_log
from tellapart.sessions.replies import (
    Agreement,
    Answered,
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

__all__ = [
    "Agreement",
    "Answered",
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
    "export_log",
    "import_log",
]
