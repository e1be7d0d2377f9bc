"""tellapart as a classifier of other libraries."""

from tellapart.export.text import Answer

Explanation = Answer
"""An older name: why an item has its label."""

__all__ = ["Answer", "Explanation"]
