"""Report experiments: one HTML file, with figures and numbers beside it."""

from __future__ import annotations

import base64
import csv
import html
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import tellapart
from tellapart.lab.experiment import Experiment, Figure, Rows, Verdict
from tellapart.lab.figures import panels, render, size
from tellapart.lab.runner import run_cells

WORDS = {True: "seen", False: "not seen", None: "not tested"}
"""What is said of a claim."""


class Result(NamedTuple):
    """An experiment, its rows, and what they say about its claims."""

    experiment: Experiment
    rows: Rows
    verdicts: list[Verdict]

    @property
    def holds(self) -> bool:
        """Whether no claim fails."""
        return all(verdict.holds is not False for verdict in self.verdicts)

    @property
    def figures(self) -> list[Figure]:
        """The figures that these rows have something for."""
        return [figure for figure in self.experiment.figures if panels(figure, self.rows)]

    def _repr_html_(self) -> str:
        """The claims, and what was seen, with the figures."""
        drawn = [_figure(one, self.rows, *render(one, self.rows, ["svg"])) for one in self.figures]
        return _section(self, drawn)


def run(experiments: Sequence[Experiment], folder: Path | str, **how: Any) -> list[Result]:
    """Run experiments and write report.html, figures/ and numbers/ into `folder`.

    `how` is as for `run_cells`: quick, only, workers, dask, on_cell. Same rows, same bytes.

    >>> import tempfile
    >>> from tellapart.lab import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [result] = run(load("erratum_return"), folder, workers=1)
    ...     result.holds, sorted(path.name for path in Path(folder).iterdir())
    (True, ['cells', 'figures', 'numbers', 'report.html'])
    """
    rows = run_cells(experiments, Path(folder), **how)
    results = [
        Result(one, rows[one.name], one.verdicts(rows[one.name], some=bool(how.get("only"))))
        for one in experiments
    ]
    _write(results, Path(folder))
    return results


def _write(results: Sequence[Result], folder: Path) -> None:
    for name in ("figures", "numbers"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    sections = []
    for result in results:
        name, rows = result.experiment.name, result.rows
        columns = list(dict.fromkeys(key for row in rows for key in row))
        with (folder / "numbers" / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        parts = []
        for number, figure in enumerate(result.figures, start=1):
            svg, pdf = render(figure, rows, ["svg", "pdf"])
            path = folder / "figures" / (name if number == 1 else f"{name}_{number}")
            path.with_suffix(".svg").write_bytes(svg)
            path.with_suffix(".pdf").write_bytes(pdf)
            parts.append(_figure(figure, rows, svg) + _table(figure, rows))
        parts.append(f'<p><a href="numbers/{name}.csv">All {len(rows):,} rows</a></p>\n')
        sections.append(_section(result, parts))
    (folder / "report.html").write_text(_page(results, sections), encoding="utf-8")


def pivot(figure: Figure, rows: Rows) -> tuple[list[str], list[list[Any]]]:
    """The means of a figure as a table: names of columns, and lines."""
    shown = rows.where(**figure.where)
    lines = [str(name) for name in shown.values(figure.line)] if figure.line else [figure.y]
    keys = [key for key in (figure.panel, figure.x) if key and key != figure.line]
    body = []
    for place, group in shown.by(*keys).items():
        named = group.by(figure.line) if figure.line else {figure.y: group}
        found = {str(name): _mean(own, figure.y) for name, own in named.items()}
        places = list(place) if len(keys) > 1 else [place]
        if any(found.values()):
            body.append([*places, *(found.get(name, "") for name in lines)])
    return [*keys, *lines], body


def _mean(rows: Rows, key: str) -> str:
    if not any(row.get(key) is not None for row in rows):
        return ""
    error = rows.error(key)
    return _number(rows.mean(key)) + (f" ± {_number(error)}" if error else "")


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _page(results: Sequence[Result], sections: Sequence[str]) -> str:
    lines = "".join(
        f"<tr><td><a href='#{result.experiment.name}'>{html.escape(result.experiment.title)}</a>"
        f"</td><td>{' '.join(_badge(verdict) for verdict in result.verdicts)}</td></tr>"
        for result in results
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>tellapart lab</title><style>{_STYLE}</style></head><body><main>
<h1>What is claimed, and what was seen</h1>
<p>m components, k exceptions, of which at most s name the same feature against the same component;
n rounds, d features. What was seen is worked out from the numbers of this run. Bars in figures, and
± in tables, are standard errors of the mean.</p>
<table>{lines}</table>{"".join(sections)}
<footer>Made by tellapart {tellapart.__version__}. Each cell is seeded by its own name: the same
command gives the same report.</footer></main></body></html>
"""


def _section(result: Result, parts: Sequence[str]) -> str:
    experiment, _, verdicts = result
    claims = "".join(
        f"<tr><td>{_prose(verdict.claim)}</td><td>{_badge(verdict)}</td>"
        f"<td>{_prose(verdict.seen)}</td></tr>"
        for verdict in verdicts
    )
    return f"""<section id="{experiment.name}"><h2>{html.escape(experiment.title)}</h2>
<p>{_prose(experiment.about)}</p>
<table><tr><th>claim</th><th></th><th>what was seen</th></tr>{claims}</table>
{"".join(parts)}</section>
"""


def _badge(verdict: Verdict) -> str:
    word = WORDS[verdict.holds]
    return f"<span class='badge {word.replace(' ', '-')}'>{word}</span>"


def _figure(figure: Figure, rows: Rows, svg: bytes) -> str:
    data = base64.b64encode(svg).decode()
    width = 5 * size(figure, rows)[0]  # in rem: letters have the same size in all figures
    return (
        f"<figure><img style='max-width:{width:g}rem' alt='{html.escape(figure.caption)}'"
        f" src='data:image/svg+xml;base64,{data}'>"
        f"<figcaption>{_prose(figure.caption)}</figcaption></figure>"
    )


def _table(figure: Figure, rows: Rows) -> str:
    columns, lines = pivot(figure, rows)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(value))}</td>" for value in line) + "</tr>"
        for line in lines
    )
    what = f"{html.escape(figure.y)}, {len(lines)} lines"
    return f"<details><summary>{what}</summary><table><tr>{head}</tr>{body}</table></details>"


def _prose(text: str) -> str:
    """HTML with powers raised.

    >>> _prose("m & k^1.9")
    'm &amp; k<sup>1.9</sup>'
    """
    return re.sub(r"\^(-?[0-9.]*[0-9])", r"<sup>\1</sup>", html.escape(text))


_STYLE = """
:root { color: #1c1c1c; background: #fff; font: 17px/1.55 system-ui, sans-serif }
main { max-width: 62rem; margin: 2.5rem auto; padding: 0 1.2rem }
section { border-top: 2px solid #1c1c1c; margin-top: 3rem; padding-top: 1.2rem }
figure { margin: 1.4rem 0; overflow-x: auto } img { width: 100%; height: auto }
figcaption, summary, footer, th { color: #555; font-size: .9rem } summary { cursor: pointer }
table { border-collapse: collapse; font-size: .9rem } th { text-align: left; font-weight: 600 }
th, td { padding: .28rem 1.2rem .28rem 0; vertical-align: top; border-bottom: 1px solid #e6e6e6 }
.badge { border-radius: .25rem; color: #fff; font-size: .8rem; padding: .1rem .45rem;
  white-space: nowrap }
.seen { background: #00664a } .not-seen { background: #a33f00 } .not-tested { background: #666 }
a { color: #004f7c } footer { margin: 3rem 0 }
"""
