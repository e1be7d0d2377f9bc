"""The report: one HTML file that needs nothing else, and figures and numbers beside it."""

from __future__ import annotations

import base64
import csv
import html
import io
import json
import re
from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import tellapart
from tellapart.lab.cell_store import write
from tellapart.lab.experiment import Experiment, Finding, Picture, Row, Table, Value
from tellapart.lab.figures import render

_SEAL = ".report"
_SHORT = 12  # tables with more lines are folded


class Result(NamedTuple):
    """An experiment, its rows, and what they say."""

    experiment: Experiment
    rows: list[Row]
    finding: Finding

    def summary(self) -> dict[str, Any]:
        """What was claimed and what was found, as JSON values."""
        experiment, _, finding = self
        return {
            "experiment": experiment.name,
            "title": experiment.title,
            "claim": experiment.claim,
            "seen": finding.seen,
            "verdict": finding.verdict,
            "holds": finding.holds,
        }


def write_report(results: Sequence[Result], folder: Path, *, quick: bool, cells: int) -> Path:
    """Write figures, numbers and the report into `folder`; returns where the report is.

    Nothing in them depends on when or where the cells were run: same cells, same bytes. So what is
    there already, made of the same by the same code, is left as it is: drawing takes a while.
    """
    report, seal = folder / "report.html", folder / _SEAL
    made_of = _made_of(results, quick=quick, cells=cells)
    if _stands(seal, made_of):
        return report
    files: dict[str, str] = {}

    def put(name: str, content: bytes) -> None:
        write(folder / name, content)
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
    write(seal, json.dumps({"made_of": made_of, "files": files}, indent=1).encode())
    return report


def _made_of(results: Sequence[Result], *, quick: bool, cells: int) -> str | None:
    """A fingerprint of all that decides what is written; None if there is code we do not know."""
    ours = "tellapart.lab.experiments."
    if not all(result.experiment.read.__module__.startswith(ours) for result in results):
        return None
    try:
        drawn_by = version("matplotlib")
    except PackageNotFoundError:
        return None
    package = Path(tellapart.__file__).parent
    digest = sha256(f"{quick} {cells} {tellapart.__version__} {drawn_by}".encode())
    for path in sorted(package.rglob("*.py")):
        digest.update(path.read_bytes())
    for result in results:
        digest.update(_as_json(result))
    return digest.hexdigest()


def _stands(seal: Path, made_of: str | None) -> bool:
    """Whether all files that were written last are there, whole, and made of this."""
    try:
        before = json.loads(seal.read_bytes())
        return before["made_of"] == made_of is not None and all(
            sha256((seal.parent / name).read_bytes()).hexdigest() == known
            for name, known in before["files"].items()
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
        f"<tr><td><a href='#{result.experiment.name}'>{_text(result.experiment.title)}</a></td>"
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
    return f"""<section id="{experiment.name}"><h2>{_text(experiment.title)}</h2>
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
        f"<figure><img style='max-width:{width:g}rem' alt='{_text(picture.caption)}'"
        f" src='data:image/svg+xml;base64,{data}'>"
        f"<figcaption>{_prose(picture.caption)}</figcaption></figure>"
    )


def _table(table: Table) -> str:
    head = "".join(f"<th>{_text(name)}</th>" for name in table.columns)
    body = "".join(
        "<tr>" + "".join(f"<td{_kind(value)}>{_say(value)}</td>" for value in line) + "</tr>"
        for line in table.lines
    )
    whole = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    whole = f"<div class='wide'>{whole}</div>"
    caption = _prose(table.caption)
    if len(table.lines) > _SHORT:
        return f"<details><summary>{caption} ({len(table.lines)} lines)</summary>{whole}</details>"
    return f"<p class='caption'>{caption}</p>{whole}"


def _kind(value: Value) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return " class='number'" if number else ""


def _say(value: Value) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return _text(value)


def _text(text: object) -> str:
    return html.escape(str(text), quote=True)


def _prose(text: str) -> str:
    """Text with its powers raised and its equations kept on one line.

    >>> _prose("m = 4: like k^1.9")
    'm&nbsp;=&nbsp;4: like k<sup>1.9</sup>'
    """
    raised = re.sub(r"\^(-?[0-9.]*[0-9])", r"<sup>\1</sup>", _text(text))
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
