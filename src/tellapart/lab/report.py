"""Run experiments and report them: one HTML file, with figures and numbers beside it."""

from __future__ import annotations

import base64
import csv
import html
import io
import json
import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import tellapart
from tellapart.lab.cell_store import CellStore, write_atomic
from tellapart.lab.experiment import (
    EXPERIMENTS,
    Cell,
    Experiment,
    Finding,
    Picture,
    Row,
    Rows,
    Table,
    Value,
    load,
)
from tellapart.lab.figures import render
from tellapart.lab.measurement import versions
from tellapart.lab.sweep import sweep

_STAMP = ".report"  # records what the report was made of
_SHORT = 12  # tables with more lines are folded


class Result(NamedTuple):
    """An experiment, its rows, and what they show."""

    experiment: Experiment
    rows: Rows
    finding: Finding

    def summary(self) -> dict[str, Any]:
        """Claim and finding, as JSON values."""
        experiment, _, finding = self
        return {
            "experiment": experiment.name,
            "title": experiment.title,
            "claim": experiment.claim,
            "seen": finding.seen,
            "verdict": finding.verdict,
            "holds": finding.holds,
        }


def plan(only: Sequence[str] = (), *, quick: bool = False) -> list[Cell]:
    """Every cell of the experiments named in `only`, or of all.

    >>> len(plan(["theorem2"], quick=True)) < len(plan(["theorem2"]))
    True
    """
    return [cell for name in _names(only) for cell in load(name).cells(quick)]


def run(
    folder: Path | str,
    only: Sequence[str] = (),
    *,
    quick: bool = False,
    workers: int | None = None,
    dask: str | None = None,
    on_cell: Callable[[Cell, bool], None] = lambda cell, ran: None,
) -> list[Result]:
    """Run experiments into `folder`: report.html, figures/, numbers/, and cells/ to resume from.

    Parameters
    ----------
    only : names of experiments, default all
        See `EXPERIMENTS`.
    quick : bool, default=False
        Fewer and shorter cells: under two minutes on two cores.
    workers, dask, on_cell
        As for `sweep`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [result] = run(folder, ["erratum_return"], quick=True, workers=1)
    ...     result.finding.holds, sorted(path.name for path in Path(folder).glob("[a-z]*"))
    (True, ['cells', 'figures', 'numbers', 'report.html'])
    """
    folder = Path(folder)
    cells = plan(only, quick=quick)
    with CellStore(folder) as store:
        rows = sweep(cells, store, workers=workers, dask=dask, on_cell=on_cell)
        results = []
        for name in _names(only):
            experiment = load(name)
            own = Rows(row for cell in cells if cell.experiment == name for row in rows[cell.name])
            results.append(Result(experiment, own, experiment.read(own)))
        write_report(results, folder, quick=quick, cells=len(cells))
    return results


def _names(only: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(only or EXPERIMENTS))


def write_report(results: Sequence[Result], folder: Path, *, quick: bool, cells: int) -> None:
    """Write figures, numbers and the report into `folder`.

    Same cells, same bytes: nothing in them depends on when or where the cells were run. Drawing
    takes a while, so a report that is complete and up to date is not written again.
    """
    source = _source(results, quick=quick, cells=cells)
    if _up_to_date(folder, source):
        return
    files: dict[str, str] = {}

    def put(name: str, content: bytes) -> None:
        write_atomic(folder / name, content)
        files[name] = sha256(content).hexdigest()

    sections = []
    for result in results:
        name = result.experiment.name
        put(f"numbers/{name}.csv", as_csv(result.rows))
        put(f"numbers/{name}.json", _as_json(result))
        drawn = []
        for picture in result.finding.pictures:
            images = render(picture)
            for kind, content in images.items():
                put(f"figures/{picture.name}.{kind}", content)
            drawn.append(_figure(images["svg"], picture))
        sections.append(_section(result, drawn))
    put("report.html", _page(results, sections, quick=quick, cells=cells).encode())
    stamp = json.dumps({"made_of": source, "files": files}, indent=1)
    write_atomic(folder / _STAMP, stamp.encode())


def _source(results: Sequence[Result], *, quick: bool, cells: int) -> str | None:
    """A fingerprint of everything the report depends on; None if foreign code draws it."""
    ours = "tellapart.lab.experiments."
    if not all(result.experiment.read.__module__.startswith(ours) for result in results):
        return None
    package = Path(tellapart.__file__).parent
    made_with = f"{quick} {cells} {tellapart.__version__} {versions('matplotlib')}"
    digest = sha256(made_with.encode())
    for path in sorted(package.rglob("*.py")):
        digest.update(path.read_bytes())
    for result in results:
        digest.update(_as_json(result))
    return digest.hexdigest()


def _up_to_date(folder: Path, source: str | None) -> bool:
    """Whether all files of the last report are there, unchanged, and made of `source`."""
    try:
        stamp = json.loads((folder / _STAMP).read_bytes())
        return stamp["made_of"] == source is not None and all(
            sha256((folder / name).read_bytes()).hexdigest() == known
            for name, known in stamp["files"].items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def as_csv(rows: Sequence[Row]) -> bytes:
    """Rows as comma-separated values, one line of names first; None is empty.

    >>> as_csv([{"m": 2, "mistakes": 5}, {"m": 3, "bound": None}]).decode().split()
    ['m,mistakes,bound', '2,5,', '3,,']
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _as_json(result: Result) -> bytes:
    _, rows, finding = result
    content = {
        "tellapart": "experiment",
        "format": 1,
        **result.summary(),
        "tables": [
            {"caption": table.caption, "columns": table.columns, "lines": table.lines}
            for table in finding.tables
        ],
        "rows": rows,
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False).encode()


def _page(results: Sequence[Result], sections: Sequence[str], *, quick: bool, cells: int) -> str:
    lines = "".join(
        f"<tr><td><a href='#{result.experiment.name}'>{_escape(result.experiment.title)}</a></td>"
        f"<td>{_badge(result.finding)}</td><td>{_prose(result.finding.verdict)}</td></tr>"
        for result in results
    )
    command = f"tellapart lab{' --quick' if quick else ''}"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>tellapart lab</title><style>{_STYLE}</style></head><body><main>
<h1>What the theorems say, and what was seen</h1>
<p class="lead">Claims of <cite>Robust Learning from Discriminative Feature Feedback</cite>
(Dasgupta and Sabato, AISTATS 2020) and of tellapart's own learners, each tested by running it.
Every sentence under <b>Seen</b> and <b>Verdict</b> was worked out from the numbers of this run. The
numbers are in <code>numbers/</code>, the figures in <code>figures/</code>.</p>
<p class="lead">m components, k exceptions, of which at most s name the same feature against the
same component; n rounds, d features.</p>
<div class="wide"><table
class="summary"><thead><tr><th>experiment</th><th></th><th>verdict</th></tr>
</thead><tbody>{lines}</tbody></table></div> {"".join(sections)}
<footer>Made by <code>{command}</code>, tellapart {tellapart.__version__}, from {cells:,} cells.
Each cell is seeded by its own name: the same command gives the same report.</footer>
</main></body></html>
"""


def _section(result: Result, figures: Sequence[str]) -> str:
    experiment, rows, finding = result
    tables = "".join(map(_table, finding.tables))
    return f"""<section id="{experiment.name}"><h2>{_escape(experiment.title)}</h2>
<dl><dt>Claimed</dt><dd>{_prose(experiment.claim)}</dd>
<dt>Seen</dt><dd>{_prose(finding.seen)}</dd>
<dt>Verdict</dt><dd>{_badge(finding)} {_prose(finding.verdict)}</dd></dl>
{"".join(figures)}{tables}
<p class="files">All {len(rows):,} rows: <a href="numbers/{experiment.name}.csv">CSV</a>,
<a href="numbers/{experiment.name}.json">JSON</a></p></section>
"""


def _badge(finding: Finding) -> str:
    kind, word = ("yes", "seen") if finding.holds else ("no", "not seen")
    return f"<span class='badge {kind}'>{word}</span>"


def _figure(svg: bytes, picture: Picture) -> str:
    data = base64.b64encode(svg).decode()
    width = 5 * picture.size[0]  # in rem: letters have the same size in all figures
    return (
        f"<figure><img style='max-width:{width:g}rem' alt='{_escape(picture.caption)}'"
        f" src='data:image/svg+xml;base64,{data}'>"
        f"<figcaption>{_prose(picture.caption)}</figcaption></figure>"
    )


def _table(table: Table) -> str:
    head = "".join(f"<th>{_escape(name)}</th>" for name in table.columns)
    body = "".join(
        "<tr>" + "".join(_cell(value) for value in line) + "</tr>" for line in table.lines
    )
    whole = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    whole = f"<div class='wide'>{whole}</div>"
    caption = _prose(table.caption)
    if len(table.lines) > _SHORT:
        return f"<details><summary>{caption} ({len(table.lines)} lines)</summary>{whole}</details>"
    return f"<p class='caption'>{caption}</p>{whole}"


def _escape(text: object) -> str:
    return html.escape(str(text), quote=True)


def _cell(value: Value) -> str:
    if value is None or isinstance(value, bool):
        return f"<td>{'–' if value is None else 'yes' if value else 'no'}</td>"
    if isinstance(value, int | float):
        large = isinstance(value, int) or abs(value) >= 1000
        return f"<td class='number'>{f'{value:,.0f}' if large else f'{value:.3g}'}</td>"
    return f"<td>{_escape(value)}</td>"


def _prose(text: str) -> str:
    """HTML with powers raised and equations kept on one line.

    >>> _prose("m = 4: like k^1.9")
    'm&nbsp;=&nbsp;4: like k<sup>1.9</sup>'
    """
    raised = re.sub(r"\^(-?[0-9.]*[0-9])", r"<sup>\1</sup>", _escape(text))
    return re.sub(r" ([=+]) ", r"&nbsp;\1&nbsp;", raised)


_STYLE = """
:root { color: #1c1c1c; background: #fff; font: 17px/1.55 system-ui, sans-serif }
main { max-width: 58rem; margin: 2.5rem auto; padding: 0 1.2rem }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 1rem }
h2 { font-size: 1.4rem; line-height: 1.25; margin: 0 0 .8rem }
section { border-top: 2px solid #1c1c1c; margin-top: 3rem; padding-top: 1.2rem }
dl { display: grid; grid-template-columns: 5.5rem 1fr; gap: .45rem 1rem; margin: 0 0 1.2rem }
dt { color: #666 } dd { margin: 0 }
figure { margin: 1.4rem 0 } img { width: 100%; height: auto }
figcaption, .caption, .files, footer, summary { color: #555; font-size: .9rem }
.caption, summary { margin: 1.2rem 0 .3rem } summary { cursor: pointer }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: .88rem; min-width: 50% }
th { text-align: left; color: #555; font-weight: 600; border-bottom: 1.5px solid #1c1c1c }
th, td { padding: .28rem 1.2rem .28rem 0; vertical-align: top }
td { border-bottom: 1px solid #e6e6e6 } td.number { font-variant-numeric: tabular-nums }
.badge { border-radius: .25rem; color: #fff; font-size: .8rem; padding: .1rem .45rem;
  white-space: nowrap }
.yes { background: #00664a } .no { background: #a33f00 }
a { color: #004f7c } footer { margin: 3rem 0 }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr } dt { margin-top: .4rem } }
"""
