"""`tellapart distil`: a language model teaches, and a report says what the rules are worth."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from json import dumps, loads
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from tellapart.cli.open_session import open_or_begin, reading_notice
from tellapart.cli.options import Again, TableOptions, TomlSettings, Whole, table_and_reading
from tellapart.columns import fired
from tellapart.distil import Distillation, KeptLedger, Ledger, Model
from tellapart.distil.distillation import LEARNER, WORDS
from tellapart.distil.endpoint import most_tokens
from tellapart.distil.model_teacher import LONGEST_TEXT, OFFERED
from tellapart.errors import EndpointError, ExportError, ParameterError
from tellapart.export import to_sql
from tellapart.export.model_files import write_whole
from tellapart.export.text import Words, sentences
from tellapart.features.phrasing import counted, spoken
from tellapart.model import Clause
from tellapart.sessions import Session, Store
from tellapart.sessions.phrasing import split_names
from tellapart.tables import Table, read_table

SURE = 0.1
"""A rule is sure if its error is below this, with 95 % confidence."""
_UNTIL = 0.05
_LONGEST_NAME = 25  # characters
_AGAIN = 2  # a question is sent so often, at most
_COMPLAINT = 200  # characters that say why it is asked again, at most


@Parameter(name="*", show=False)
@dataclass(frozen=True)
class Settings:
    """What is in [distil] of tellapart.toml only."""

    meaning: dict[str, str] = field(default_factory=dict)
    """What labels mean, for the model and for people."""
    price_in: float | None = None
    """The price of a million tokens that are sent."""
    price_out: float | None = None
    """The price of a million tokens of replies."""
    batch: Whole = 10
    """So many rows in one call."""
    parallel: Whole = 2
    """So many calls for labels at the same time."""
    labels_only: bool = False
    """Ask for labels, and for no reasons: fewer calls."""
    teacher: str | None = None
    """The name of the model as a teacher; the model's name if not given."""
    id: str | None = None
    """The column that names a row; it is sent only if it is among the columns."""
    learner: str | None = None
    """Who learns, for a new session; ShortList if not given."""
    cell: Whole = 500
    """Cells are shortened to so many characters."""
    reply_tokens: Whole | None = None
    """The most tokens of a reply; if not given, what the longest valid reply needs."""
    reasoning: bool = False
    """The model reasons before it answers, as newer hosted models do."""
    timeout: float = 60.0
    """Seconds to wait for a reply."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Options:
    """What is asked, of whom, and how much."""

    labels: str
    """The labels, with commas between them; one with a comma in it in double quotes."""
    task: str
    """What the labels are about, in a sentence or some."""
    endpoint: str
    """The address of an OpenAI-compatible server, up to /chat/completions."""
    model: str
    """The name that the server knows the model by."""
    columns: str | None = None
    """The only columns that are sent, and that rules may use, with commas; all if not given."""
    rows: Whole = 500
    """Ask about so many rows at most."""
    calls: Whole | None = None
    """Send so many requests at most, in all runs of the session together."""
    spend: float | None = None
    """Spend so much at most, in all runs together. Needs both prices."""
    until: float | None = None
    """Stop when rules and model differ on less than this share of the rows left; 0.05 at first."""
    db: str | None = None
    """The database: a file, or postgresql://host/name; TABLE.sessions.db if not given."""
    session: str | None = None
    """The name of the session; the table's name if not given."""
    dry_run: bool = False
    """Show what would be sent, and how many calls and tokens there may be; send nothing."""
    output: Annotated[Path | None, Parameter(alias="-o")] = None
    """Write the rules to this file: SQL if it ends in .sql, else a model."""
    json: bool = False
    """Print the report as JSON."""
    read: Again = None
    """KEY=VALUE: how the table is read, such as separator=tab (docs/tables.md). Again for more."""
    more: Settings = field(default_factory=Settings)

    @property
    def limits(self) -> dict[str, Any]:
        prices = {"price_in": self.more.price_in, "price_out": self.more.price_out}
        return {"calls": self.calls, "spend": self.spend, **prices}

    @property
    def meanings(self) -> dict[str, str]:
        """The labels, and what they mean."""
        names, meanings = split_names(self.labels), self.more.meaning
        if unknown := meanings.keys() - set(names):
            raise ParameterError(
                f"meaning in [distil] is of one of the labels {', '.join(names)}, got"
                f" {min(unknown)!r}"
            )
        return {name: meanings.get(name, "") for name in names}

    @property
    def sent(self) -> list[str] | None:
        return None if self.columns is None else split_names(self.columns)

    def make(self, ledger: Ledger, columns: Sequence[str] | None = None) -> Model:
        more = self.more
        return Model(
            self.endpoint,
            self.model,
            self.task,
            self.meanings,
            columns=columns,
            ledger=ledger,
            cell=more.cell,
            reply_tokens=more.reply_tokens,
            reasoning=more.reasoning,
            timeout=more.timeout,
        )


def distil(
    table: Annotated[str, Parameter(help="A file, as for 'tellapart teach'.")],
    /,
    *,
    asked: Options,
    settings: TomlSettings = None,
) -> None:
    """Let a language model teach: its judgement becomes rules and SQL.

    The model labels some rows, least sure first and some at random, and chooses its
    reason among true differences. It is a teacher in a session like others: stop it at
    any moment, and the same command goes on without paying twice. `tellapart teach
    TABLE` on the same session lets you settle what looks odd; your word outranks the
    model's. The key comes from TELLAPART_API_KEY, else OPENAI_API_KEY. Prices and more
    are in [distil] of tellapart.toml (docs/distil.md).

    For example:

        tellapart distil mails.csv --labels spam,ham --task "Is this mail spam?"
            --endpoint http://127.0.0.1:8080/v1 --model smollm2 --dry-run
    """
    path, how_read = _checked(table, asked, settings)
    place = asked.db or str(path.with_name(path.name + ".sessions.db"))
    with TemporaryDirectory() as folder:
        if asked.dry_run and "://" not in place and not Path(place).exists():
            place = str(Path(folder, "dry.db"))  # nothing is left of it
        with Store(place) as store:
            with reading_notice(f"Reading {path.name}"):
                opened = _open(store, path, how_read, asked)
            with opened:
                work = _work(store, opened, asked)
                if asked.dry_run:
                    print(_dry(work))
                else:
                    _run(work, asked.output, as_json=asked.json)


# -- before


def _checked(
    table: str, asked: Options, settings: Mapping[str, Any] | None
) -> tuple[Path, dict[str, Any]]:
    """The file and how it is read; bad options are named before any work."""
    place, how_read = table_and_reading(table, asked.read, settings, sampling=False)
    if asked.until is not None and not 0 < asked.until < 1:
        raise ParameterError(f"--until is a share between 0 and 1, got {asked.until}")
    output = asked.output
    if output is not None and (output.is_dir() or not output.parent.is_dir()):
        raise ParameterError(f"{output} cannot be written: name a file in a folder that exists")
    path = Path(str(place))
    if path.is_dir():
        raise ParameterError(f"{path} is a folder; name a table in it")
    asked.make(Ledger(**asked.limits))
    return path, how_read


def _open(store: Store, table: Path, how_read: Mapping[str, Any], asked: Options) -> Session:
    """The session, with the columns that may be sent and no others."""
    name, columns, more = asked.session or table.stem, asked.sent, asked.more
    begun = TableOptions(id=more.id, learner=more.learner)
    if name in {listed.name for listed in store.sessions()}:
        opened = open_or_begin(store, table, name, how_read, begun, for_teach=True)
    else:
        read = read_table(table, **how_read)
        if not len(read):
            raise ParameterError(f"{table} has columns, and no rows to ask about")
        for column in columns or ():
            read.check(column)
        names = more.id or _names(read)
        hidden = [one for one in read.types if one not in (columns or read.types) and one != names]
        reading = {**how_read, "id": names, "without": hidden or None}
        opened = Session.new(
            store,
            name,
            table,
            learner=more.learner or LEARNER,
            order="mixed",
            until={"error below": _UNTIL},
            words=WORDS,
            reading={key: value for key, value in reading.items() if value is not None},
        )
    for column in columns or ():
        if column not in opened.table.types:
            opened.close()
            raise ParameterError(
                f"--columns {column}: the session {name!r} was begun without that column. Begin"
                " another one with --session NAME"
            )
    return opened


def _names(table: Table) -> str | None:
    """The column that names a row; what is longer than names are, rules should read."""
    found = table.names([])
    if found is None:
        return None
    lengths = sorted(len(str(value)) for value in table.values(found)[:1000])
    return found if lengths[len(lengths) // 2] <= _LONGEST_NAME else None


def _work(store: Store, session: Session, asked: Options) -> Distillation:
    """The model and its session; labels, meanings and settings are in the log, for people."""
    table, teacher = session.table, asked.more.teacher or asked.model
    source = session.opened.data.get("source") or {}
    hidden = {*table.tags, *([table.id] if source.get("without") else [])}
    sent = asked.sent or [name for name in table.types if name not in hidden]
    if not asked.dry_run:
        session.join(teacher, model=asked.model)
        for name, text in asked.meanings.items():
            if session.label_named(name) is None:
                session.add_label(teacher, name)
            if text and session.meanings.get(name) != text and name in session.labels:
                session.describe_label(teacher, name, text)
        until = {"error below": asked.until}
        if asked.until is not None and session.settings["until"] != until:
            session.set(teacher, until=until)
    return Distillation(
        session,
        asked.make(KeptLedger(store, session.name, **asked.limits), sent),
        teacher,
        rows=asked.rows,
        batch=asked.more.batch,
        parallel=asked.more.parallel,
        reasons=not asked.more.labels_only,
        say=lambda text: print(text, file=sys.stderr) if sys.stderr.isatty() else None,
    )


def _budget(work: Distillation) -> str:
    """What may still be asked and spent."""
    ledger = work.model.ledger
    budget = [f"{counted(_rows_left(work), 'row')} more"]
    if ledger.most_calls is not None:
        budget.append(f"{counted(max(0, ledger.most_calls - ledger.calls), 'call')} more")
    if ledger.most_spend is not None:
        budget.append(f"{max(0.0, ledger.most_spend - ledger.spend):.4g} to spend")
    return f"The budget: {', '.join(budget)}."


def _rows_left(work: Distillation) -> int:
    return max(0, min(work.rows, len(work.session.table)) - len(work.told))


def _dry(work: Distillation) -> str:
    """What would be sent first, and how much at most."""
    model, ledger, items = work.model, work.model.ledger, work.coming()
    if not items:
        return "Nothing would be sent: no rows are left."
    first = (work.batches(items) or [items])[0]
    body = model.labels_request([(item.place, item) for item in first])
    labels, reasons, tokens_in, tokens_out = _at_most(work)
    calls = _AGAIN * (labels + reasons)
    if ledger.most_calls is not None:
        calls = min(calls, max(0, ledger.most_calls - ledger.calls))
    spend = ledger.price(tokens_in, tokens_out)
    if ledger.most_spend is not None:
        spend = max(0.0, min(spend, ledger.most_spend - ledger.spend))
    document = loads(loads(body)["messages"][-1]["content"])
    return f"""POST {model.endpoint.url}/chat/completions
{body}

That is the first request, byte for byte. The document in its last message:
{dumps(document, ensure_ascii=False, indent=2)}

Columns that are sent: {", ".join(model.columns or ())}. Cells have at most {model.cell} characters.
{_budget(work)}
Calls, at most: {calls:,} ({labels:,} for labels, up to {reasons:,} for differences, each asked
again at most once); one more for every one that the server refuses (429, 5xx) or does not answer.
Tokens, at most: {tokens_in:,} sent, {tokens_out:,} in replies. Spend, at most: {spend:.6g}.
Nothing was sent."""


def _at_most(work: Distillation) -> tuple[int, int, int, int]:
    """Calls for labels and for reasons, and tokens that are sent and come back, at most."""

    def size(text: str) -> int:  # the bytes that a text takes in JSON
        return len(dumps(text, ensure_ascii=False).encode())

    model, table = work.model, work.session.table
    left = _rows_left(work)
    labels, reasons = -(-left // work.batch), left if work.reasons else 0
    largest = sorted(table.items, key=lambda item: size(dumps(model.cells(item))), reverse=True)
    again = "\\" * _COMPLAINT  # takes the most bytes
    pairs = [(len(table) - 1, item) for item in largest[: work.batch]]  # no id is longer
    name = max(model.labels, key=size)
    sent, replied = most_tokens(model.labels_request(pairs, again))
    texts = ["x" * (LONGEST_TEXT - 6)] * OFFERED
    why, because = most_tokens(
        model.difference_request(pairs[0], name, pairs[0], name, texts, again)
    )
    tokens_in, tokens_out = labels * sent + reasons * why, labels * replied + reasons * because
    return labels, reasons, _AGAIN * tokens_in, _AGAIN * tokens_out


# -- the work, and after


def _run(work: Distillation, output: Path | None, *, as_json: bool) -> None:
    """Teach; write the rules and the report, also where the server could not be used."""
    print(_budget(work), file=sys.stderr)
    trouble = None
    try:
        ended = work.run()
    except EndpointError as error:
        trouble, ended = error, "the server could not be used"
    made = _report(work, ended)
    if output is not None:
        sql = output.suffix.lower() == ".sql"
        text = made["sql"] if sql else work.session.judged_model().to_json()
        write_whole(output, f"{text}\n".encode())
    print(dumps(made, ensure_ascii=False) if as_json else _text(made))
    if trouble is not None:
        raise trouble


def _report(work: Distillation, ended: str) -> dict[str, Any]:
    """Everything that is known of a session now, under the keys that docs/distil.md documents."""
    session, ledger = work.session, work.model.ledger
    summary, model = session.summary(), session.judged_model()
    known = summary.error
    mine = [one for one in session.history(teacher=work.teacher) if not one.undone]
    misfits = [*work.model.misfits()]
    rows = np.bincount(fired(model, session.table), minlength=len(list(model))).tolist()
    try:
        sql = to_sql(model)
    except ExportError as error:
        sql = f"-- {error}"
    return {
        "tellapart": "distillation",
        "format": 2,
        "session": session.name,
        "teacher": work.teacher,
        "ended": ended,
        "rows": len(session.table),
        "asked": sum(one.answer != "skipped" for one in mine),
        "unsure_answers": sum(one.answer == "unsure" for one in mine),
        "calls": ledger.calls,
        "no_reply": sum(one.own and one.state == "sent" for one in ledger.requests.values()),
        "outside_schema": len(misfits),
        "last_misfit": misfits[-1] if misfits else None,
        "tokens_sent": ledger.tokens[0],
        "tokens_replied": ledger.tokens[1],
        "spend": ledger.spend,
        "corrections": summary.mistakes,
        "agreement": [1 - share for share in (known.high, known.likely, known.low)],
        "estimate": known.sentence,
        "slips": [
            {"model": name} | rate._asdict()
            for name, rates in session.slip_rates().items()
            for rate in rates
        ],
        "sure_rows": sum(n for clause, n in zip(model, rows, strict=False) if _is_sure(clause)),
        "rules": sentences(model, Words(feature=spoken)),
        "sql": sql,
    }


def _text(made: Mapping[str, Any]) -> str:
    """The report for a terminal."""
    low, likely, high = (f"{100 * share:.1f} %" for share in made["agreement"])
    agree = f"{likely}, between {low} and {high} with 95 % confidence ({made['estimate']})"
    lines = [
        f"Ended: {made['ended']}.",
        f"Rows: {made['asked']:,} of {made['rows']:,} asked about, {made['unsure_answers']:,}"
        f" unsure; {counted(made['corrections'], 'correction')}.",
        f"Calls: {made['calls']:,}, {made['no_reply']:,} without a reply;"
        f" {made['tokens_sent']:,} tokens sent, {made['tokens_replied']:,} in replies; spend"
        f" {made['spend']:.6g}.",
    ]
    if made["outside_schema"]:
        lines.append(
            f"Replies outside the schema: {made['outside_schema']:,} of"
            f" {counted(made['calls'], 'call')}; the last: {made['last_misfit']}."
        )
    lines += [
        f"Rules and model agree on rows left: {agree if made['asked'] else 'nothing was asked'}.",
        f"Sure rules: label {made['sure_rows']:,} of {made['rows']:,} rows with an error below"
        f" {100 * SURE:g} %; the model would still be needed for the others.",
        *map(_slips, made["slips"]),
        "",
        "Rules; the first that matches wins:",
        *(f"{n:3}. {rule}" for n, rule in enumerate(made["rules"], 1)),
        "",
        "Look at them, and settle what looks odd, on the pages of 'tellapart teach TABLE'.",
    ]
    return "\n".join(lines)


def _is_sure(clause: Clause) -> bool:
    return clause.label is not None and clause.record is not None and clause.record.high <= SURE


def _slips(rate: Mapping[str, Any]) -> str:
    """How often people say otherwise than a model."""
    if not rate["settled"]:
        return f"Slips: {rate['model']}: unknown until a person settles some answers."
    when = "" if rate["label"] is None else f" when it says {rate['label']}"
    bounds = f"between {100 * rate['low']:.1f} % and {100 * rate['high']:.1f} %"
    return (
        f"Slips: {rate['model']}{when}: {rate['slips']:,} of {rate['settled']:,} settled answers,"
        f" {bounds}."
    )
