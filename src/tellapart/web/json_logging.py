"""Logs as JSON lines: what was asked, by whom, how long it took. Never what is in an item.

Of an error nobody expected the log has its type and where it happened, not its words: they may
quote a cell.
"""

from __future__ import annotations

import json
import logging
import traceback
from typing import Any

from tellapart.sessions.events import stamp

LOG = logging.getLogger("tellapart.web")


class JsonFormatter(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        line: dict[str, Any] = {
            "at": stamp(record.created),
            "level": record.levelname.lower(),
            "event": getattr(record, "event", None) or record.name,
        }
        facts = getattr(record, "facts", None)
        if facts is not None:
            line.update(facts)
        else:
            line["message"] = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            line.update(describe_error(record.exc_info[1]))
        return json.dumps(line, ensure_ascii=False, default=str)


def describe_error(error: BaseException) -> dict[str, Any]:
    """The type of an error and the lines it came through, without its words."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    path = [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames]
    return {"error": type(error).__name__, "where": path}


def log_event(event: str, level: int = logging.INFO, **facts: Any) -> None:
    """A line in the log."""
    LOG.log(level, event, extra={"event": event, "facts": facts})


def configure(level: int) -> None:
    """Send our log, uvicorn's and asyncio's to stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    for name in ("tellapart.web", "uvicorn", "uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level if name == "tellapart.web" else max(level, logging.WARNING))
        logger.propagate = False
