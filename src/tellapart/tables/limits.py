"""How much a table may hold, and how long a query may take: what bounds what strangers send.

A small file can hold very much: a compressed one, a sheet with a single cell in its last row, a
query without an end. Whoever reads a table looks here before the memory or the disk is full.
`read_table(..., limits=10)` allows ten times as much. `STRANGERS` is for files that others send to
a server (`tellapart.tables.read_apart`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from tellapart.errors import FormatError


@dataclass(frozen=True)
class Limits:
    """The most of each.

    >>> Limits().check("a.csv", "columns", 20_000)
    Traceback (most recent call last):
    ...
    tellapart.errors.FormatError: a.csv has 20,000 columns, and at most 10,000 are read. Take fewer,
    or pass limits=2
    """

    bytes: int = 2 * 2**30
    """Of a file, after it was unpacked or fetched."""
    columns: int = 10_000
    """Each is looked at by itself."""
    cells: int = 100_000_000
    """Rows times columns of a sheet or of the rows of a query, which are read at once."""
    seconds: int = 600
    """Of a query, or of a process that reads for a server."""
    memory: int = 2**30
    """Bytes of such a process."""
    times: int = 1
    """How many times as much as usual; 0 if whoever gave the table cannot have more."""

    def check(self, name: str, what: str, found: int) -> None:
        """Raise if there is too much of `bytes`, `columns`, `cells` or `seconds` in a source."""
        most = getattr(self, what)
        if found > most:
            said = f"{name} has {found:,} {what}, and at most {most:,} are read. Take fewer"
            if not self.times:
                raise FormatError(said)
            raise FormatError(
                f"{said}, or pass {{limits}}", limits=self.times * math.ceil(found / most)
            )

    def more(self, times: int) -> Limits:
        """So many times as much of everything."""
        return Limits(*(getattr(self, one.name) * times for one in fields(self)))


STRANGERS = Limits(bytes=2**30, columns=2_000, cells=20_000_000, seconds=60, times=0)
"""For what others send to a server."""
