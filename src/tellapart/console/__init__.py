"""Teaching in a terminal: the same session, keys and words as on the page."""

from tellapart.console.conversation import talk

__all__ = ["talk"]
