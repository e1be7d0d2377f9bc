"""`tellapart compare`: learners by the corrections they need."""

from __future__ import annotations

import io
import json as json_format
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tellapart.cli.options import Whole

if TYPE_CHECKING:
    from tellapart.lab.standings import Standings

_WIDTH = 250  # more than the table of all learners takes


def compare(
    *,
    rows: list[str] | None = None,
    learners: list[str] | None = None,
    seeds: Whole | None = None,
    quick: bool = False,
    out: Path = Path("tellapart-compare"),
    workers: Whole | None = None,
    dask: str | None = None,
    list: bool = False,
    json: bool = False,
) -> int:
    """Compare learners by the corrections they need, on real tables and made worlds.

    Ours hear the reasons of six kinds of teachers; trees, naive Bayes, forests and others
    hear labels only, on the same streams. Rows that we tuned on and rows kept apart are
    shown side by side. Needs the extras 'lab' and 'compare'. Finished parts are kept in
    the folder: the same command goes on where an earlier one was stopped.

    Examples:

        tellapart compare --quick
        tellapart compare --rows 'heart*' --rows zoo --learners AutoDFF --learners 'tree*'
        tellapart compare --rows 'tuned*' --learners AutoDFF

    Parameters
    ----------
    rows
        Only rows of this name; '*' stands for anything (again for more). Also kinds of
        rows: tuned, kept, made-tuned, made-kept, with a teacher (kept-mute) or without.
    learners
        Only learners of this name; '*' stands for anything (again for more). Also others
        of ours, such as CappedDFF:m=7.
    seeds
        How many streams of each row; 3 if not given.
    quick
        Few rows, short streams, two seeds: under a minute. The bars are set for all.
    out
        The folder for the figure, compare.txt, compare.csv, compare.json and finished
        cells.
    workers
        How many local processes to use; one for each core if not given.
    dask
        The address of a Dask scheduler, to run on its workers instead.
    list
        Say which rows and learners there are, and stop.
    json
        Print everything as one JSON object instead (docs/compare.md has its keys).
    """
    from tellapart.cli.lab import INTERRUPTED, Bars, run_with_bars
    from tellapart.errors import check
    from tellapart.lab import compare as comparison
    from tellapart.lab.cell_store import write_atomic
    from tellapart.lab.standings import GROUPS
    from tellapart.lab.streams import ROWS

    if list:
        for group in GROUPS:
            own = (name for name, row in ROWS.items() if row.group == group)
            print(f"rows {group}:", *own, sep="\n  ")
        print("learners:", *comparison.LEARNERS, sep="\n  ")
        return 0
    if workers is not None:
        check("compare", "workers", workers, "an integer >= 1", lambda v: v >= 1)
    chosen: dict[str, Any] = {"rows": rows or (), "learners": learners or (), "seeds": seeds}
    cells = comparison.plan(**chosen, quick=quick)
    for row, command in comparison.skipped(chosen["rows"], quick=quick).items():
        print(f"tellapart: going on without {row}: {command}", file=sys.stderr)
    bars = Bars(cells)
    found = run_with_bars(
        bars,
        out,
        lambda: comparison.compare(
            out, **chosen, quick=quick, workers=workers, dask=dask, on_cell=bars.advance
        ),
    )
    if found is None:
        return INTERRUPTED
    text = io.StringIO()
    _show(found, text)
    write_atomic(out / "compare.txt", text.getvalue().encode())
    if json:
        print(json_format.dumps(found.as_json(), ensure_ascii=False))
    else:
        _show(found)
        print(f"Figure and numbers: {out}")
    return 0


def _show(found: Standings, file: io.StringIO | None = None) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, file=file)
    console.width = max(console.width, _WIDTH)
    for table in found.tables():
        shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for number, name in enumerate(table.columns):
            shown.add_column(Text(name), justify="right" if number else "left", no_wrap=True)
        for line in table.lines:
            shown.add_row(*map(_cell, line))
        console.print(table.caption, style="bold", markup=False)
        console.print(shown)
        console.print()


def _cell(value: Any) -> Any:
    from rich.text import Text

    if value is None:
        return "–"
    if isinstance(value, bool):
        return Text("yes", "green") if value else Text("no", "bold red")
    return Text(str(value))
