"""Files and frames as items and columns."""

from tellapart.tables.read import read_table
from tellapart.tables.read_apart import read_apart
from tellapart.tables.rows import Row, Tag
from tellapart.tables.table import Table

__all__ = ["Row", "Table", "Tag", "read_apart", "read_table"]
