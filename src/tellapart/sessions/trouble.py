"""What a database says when it cannot, in words that say what to do."""

from __future__ import annotations

from tellapart.errors import MissingExtra, StoreError, TellapartError

_SAID = (
    ("disk is full", "the disk is full. Make room, then try again"),
    ("no space left", "the disk of the server is full. Make room, then try again"),
    ("readonly database", "it may not be written. Allow writing to the file and its folder"),
    ("read-only", "it may not be written. Allow writing to it"),
    ("database is locked", "another program has it locked. Close that one, then try again"),
    ("unable to open", "it cannot be opened. Is the folder there, and may it be written to?"),
    ("not a database", "it is no SQLite file. Choose another file"),
    ("malformed", "the file is damaged. Keep a copy, and restore a backup"),
    ("disk i/o error", "the disk could not be read or written. Look whether it is full or failing"),
    ("permission denied", "access is not allowed. Ask whoever runs the database"),
    ("authentication failed", "the name or password is wrong. Check the address"),
    ("does not exist", "there is no such database. Make it, or check the address"),
    ("connection refused", "nobody listens there. Is the server running?"),
    ("timeout expired", "it does not answer. Is the server running?"),
    ("server closed the connection", "the server went away. Try again when it is back"),
    ("terminating connection", "the server went away. Try again when it is back"),
)
_UNREADABLE = ("not a database", "malformed", "unable to open", "does not exist")


def explain(error: Exception, where: str, doing: str) -> TellapartError:
    """The error to raise instead of a driver's."""
    if isinstance(error, ImportError):
        return MissingExtra("PostgreSQL", "app")
    said = str(getattr(error, "orig", None) or error).strip()
    low = said.lower()
    known = (meaning for words, meaning in _SAID if words in low)
    meaning = next(known, said.splitlines()[0] if said else type(error).__name__)
    end = "" if meaning.endswith("?") else "."
    kept = " Whatever was acknowledged before is kept; what was not is not"
    if any(words in low for words in _UNREADABLE):  # nothing is known of what is in it
        kept, end = "", end.removesuffix(".")
    return StoreError(f"{where} cannot be {doing}: {meaning}{end}{kept}")
