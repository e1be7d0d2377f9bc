"""tellapart as a classifier of other libraries."""

from tellapart.export.text import Answer

__all__ = ["Answer"]
