"""What `tellapart distil` came to: on the terminal, as JSON, and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from tellapart.errors import ExportError
from tellapart.export import to_sql
from tellapart.export.text import Words, sentences
from tellapart.features.phrasing import counted, spoken
from tellapart.sessions.phrasing import name
from tellapart.simulation import fired

if TYPE_CHECKING:
    from tellapart.model import DecisionList
    from tellapart.sessions import Session
    from tellapart.teachers import Ledger

FORMAT = 1
"""The version of the JSON object; its keys stand in docs/distil.md."""
SURE = 0.1
"""A rule is sure if its error is below this, with 95 % confidence."""
ODDEST = 20
"""So many odd answers are listed."""


@dataclass(frozen=True)
class Slips:
    """How often a person says otherwise than a model, in a random sample of its answers."""

    model: str
    label: str | None
    slips: int
    settled: int
    low: float
    high: float


@dataclass(frozen=True)
class Unsure:
    """A rule that is not sure: the model would still be needed for its rows."""

    rule: str
    rows: int
    error_at_most: float


@dataclass(frozen=True)
class Odd:
    """An answer that the others contradict."""

    item: str
    teacher: str
    label: str | None
    expected: str | None
    why: str


@dataclass(frozen=True)
class DistilReport:
    """The facts of a session that a model taught."""

    session: str
    teacher: str
    ended: str
    rows: int
    asked: int
    unsure_answers: int
    calls: int
    no_reply: int
    outside_schema: int
    tokens_sent: int
    tokens_replied: int
    spend: float
    corrections: int
    drawn: int
    agreement: tuple[float, float, float]
    """Low, likely, high: the share of the rows left on which the rules say what the model says."""
    estimate: str
    person: tuple[int, int]
    """On how many of the rows that people answered the rules say the same."""
    slips: list[Slips]
    sure_rows: int
    unsure_rules: list[Unsure]
    odd: list[Odd]
    rules: list[str]
    sql: str
    last_misfit: str | None
    """The last reply outside the schema, shortened."""

    @classmethod
    def of(
        cls, session: Session, ledger: Ledger, teacher: str, ended: str, misfits: Sequence[str]
    ) -> DistilReport:
        """Everything that is known of a session now; `misfits`: replies outside the schema."""
        summary, history = session.summary(), session.history()
        mine = [a for a in history if a.teacher == teacher and not a.undone]
        people = {
            a.item.place: a.label if a.answer == "wrong" else str(a.guess.label)
            for a in history
            if a.teacher not in session.models and not a.undone and a.answer in ("right", "wrong")
        }
        model = session.judged_model()
        said = model.predict([session.table.items[place] for place in people])
        agreed = sum(map(str.__eq__, map(str, said), map(str, people.values())))
        low, likely, high = summary.error
        counts = np.bincount(fired(model, session.table).array(), minlength=len(list(model)))
        rules = sentences(model, Words(feature=spoken))
        records = [  # clauses after the last rule label nothing
            (rule, int(n), 1.0 if clause.record is None else clause.record.high)
            for rule, clause, n in zip(rules, model, counts, strict=False)
            if clause.label is not None
        ]
        return cls(
            session=session.name,
            teacher=teacher,
            ended=ended,
            rows=len(session.table),
            asked=sum(a.answer != "skipped" for a in mine),
            unsure_answers=sum(a.answer == "unsure" for a in mine),
            calls=ledger.calls,
            no_reply=sum(one.own and one.state == "sent" for one in ledger.requests.values()),
            outside_schema=len(misfits),
            tokens_sent=ledger.tokens[0],
            tokens_replied=ledger.tokens[1],
            spend=ledger.spend,
            corrections=summary.mistakes,
            drawn=summary.drawn or 0,
            agreement=(1 - high, 1 - likely, 1 - low),
            estimate=summary.estimate,
            person=(agreed, len(people)),
            slips=[
                Slips(model_name, r.label, r.slips, r.settled, r.low, r.high)
                for model_name, rates in session.slip_rates().items()
                for r in rates
            ],
            sure_rows=sum(n for _, n, high in records if high <= SURE),
            unsure_rules=[
                Unsure(rule, n, high)
                for rule, n, high in sorted(records, key=lambda one: -one[1])
                if high > SURE and n
            ],
            odd=[
                Odd(
                    name(o.answer.item),
                    o.answer.teacher,
                    o.answer.label or str(o.answer.guess.label),
                    o.expected,
                    o.why,
                )
                for o in session.odd_ones()[:ODDEST]
            ],
            rules=rules,
            sql=_sql(model),
            last_misfit=misfits[-1] if misfits else None,
        )

    def to_json(self) -> dict[str, Any]:
        """Everything, under the keys that docs/distil.md documents."""
        return {"tellapart": "distillation", "format": FORMAT, **asdict(self)}

    # -- for people

    def _facts(self) -> list[tuple[str, str]]:
        low, likely, high = (f"{100 * share:.1f} %" for share in self.agreement)
        fresh = f"{likely}, between {low} and {high} with 95 % confidence ({self.estimate})"
        if self.drawn == 0 and self.asked == 0:
            fresh = "nothing was asked yet"
        agreed, settled = self.person
        facts = [
            ("Ended", self.ended),
            (
                "Rows",
                f"{self.asked:,} of {self.rows:,} asked about, {self.unsure_answers:,} unsure;"
                f" {counted(self.corrections, 'correction')}",
            ),
            (
                "Calls",
                f"{self.calls:,}, {self.no_reply:,} without a reply; {self.tokens_sent:,} tokens"
                f" sent, {self.tokens_replied:,} in replies; spend {self.spend:.6g}",
            ),
            *(
                [
                    (
                        "Replies outside the schema",
                        f"{self.outside_schema:,} of {counted(self.calls, 'call')}; the last:"
                        f" {self.last_misfit}",
                    )
                ]
                if self.outside_schema
                else []
            ),
            ("Rules and model agree on rows left", fresh),
            (
                "Rules and person agree",
                f"on {agreed:,} of {settled:,} rows that people answered"
                if settled
                else "nobody has looked yet: tellapart teach on this session",
            ),
            (
                "Sure rules",
                f"label {self.sure_rows:,} of {self.rows:,} rows with an error below"
                f" {100 * SURE:g} %; the model would still be needed for the others",
            ),
        ]
        for one in self.slips:
            which = one.model if one.label is None else f"{one.model} when it says {one.label}"
            about = f"{which}: {one.slips:,} of {one.settled:,} settled answers"
            facts.append(
                (
                    "Slips",
                    f"{about}, between {100 * one.low:.1f} % and {100 * one.high:.1f} %"
                    if one.settled
                    else f"{one.model}: unknown until a person settles some answers",
                )
            )
        return facts

    def text(self) -> str:
        """The report for a terminal."""
        lines = [f"{title}: {said}." for title, said in self._facts()]
        lines += ["", "Rules; the first that matches wins:"]
        lines += [f"{n:3}. {rule}" for n, rule in enumerate(self.rules, 1)]
        if self.unsure_rules:
            lines += ["", "Not sure, by the rows they label:"]
            lines += [
                f"  {counted(one.rows, 'row')}, error at most {100 * one.error_at_most:.0f} %:"
                f" {one.rule}"
                for one in self.unsure_rules[:10]
            ]
        if self.odd:
            lines += ["", "The oddest answers:"]
            lines += [f"  {one.why} ({one.teacher})" for one in self.odd]
        return "\n".join(lines)

    def html(self) -> str:
        """The report as one page that needs nothing else."""
        facts = "".join(
            f"<tr><th>{escape(title)}</th><td>{escape(said)}</td></tr>\n"
            for title, said in self._facts()
        )
        rules = "".join(f"<li>{escape(rule)}</li>\n" for rule in self.rules)
        unsure = "".join(
            f"<tr><td>{one.rows:,}</td><td>{100 * one.error_at_most:.0f} %</td>"
            f"<td>{escape(one.rule)}</td></tr>\n"
            for one in self.unsure_rules
        )
        odd = "".join(
            f"<tr><td>{escape(one.item)}</td><td>{escape(one.label or '')}</td>"
            f"<td>{escape(one.expected or '')}</td><td>{escape(one.why)}</td></tr>\n"
            for one in self.odd
        )
        title = escape(f"{self.session}: rules taught by {self.teacher}")
        return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width">
<style>body{{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}}
table{{border-collapse:collapse}}td,th{{border:1px solid #8888;padding:.3rem .6rem;
text-align:left;vertical-align:top}}pre{{overflow:auto}}</style></head><body>
<h1>{title}</h1>
<table>{facts}</table>
<h2>Rules</h2><p>The first that matches wins.</p><ol>{rules}</ol>
<h2>Rules that are not sure</h2><table><tr><th>rows</th><th>error at most</th><th>rule</th></tr>
{unsure}</table>
<h2>The oddest answers</h2>
<table><tr><th>row</th><th>said</th><th>expected</th><th>why</th></tr>
{odd}</table>
<h2>SQL</h2><pre>{escape(self.sql)}</pre>
</body></html>
"""


def _sql(model: DecisionList) -> str:
    try:
        return to_sql(model)
    except ExportError as error:
        return f"-- {error}"
