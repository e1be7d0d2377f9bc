"""What a feature is: anything hashable that can be true or false of an item.

A string is the name of a column or the member of a set; a callable is asked; the combinations of
this room (`Not`, `And`, `Or`, `Points`, `Column`, `Above`, `AtMost`, `Named`, `Is`) are compared by
what they say; and `parse_feature` makes features out of SQL conditions.
"""

from tellapart.combinations import Above, And, AtMost, Column, Is, Named, Or, Points
from tellapart.features.expression import Expression, parse_feature
from tellapart.model import Not

__all__ = [
    "Above", "And", "AtMost", "Column", "Expression", "Is", "Named", "Not", "Or", "Points",
    "parse_feature",
]  # fmt: skip
