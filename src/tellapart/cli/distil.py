"""`tellapart distil`: a language model teaches, and a report says what the rules are worth."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from json import dumps, loads
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from tellapart.cli.open_session import open_or_begin, reading_notice
from tellapart.cli.options import Reading, Whole, table_arguments
from tellapart.errors import EndpointError, ParameterError

if TYPE_CHECKING:
    from tellapart.cli.distil_report import DistilReport
    from tellapart.sessions import Session, Store
    from tellapart.sessions.distil import Distillation
    from tellapart.tables import Row, Table
    from tellapart.teachers import Model

_UNTIL = 0.05
_LONGEST_NAME = 25  # characters
_AGAIN = 2  # a question is sent so often, at most
_COMPLAINT = 200  # characters that say why it is asked again, at most


def distil(
    table: Path,
    *,
    labels: str,
    task: str,
    endpoint: str,
    model: str,
    meaning: Annotated[list[str] | None, Parameter(consume_multiple=False)] = None,
    columns: str | None = None,
    rows: Whole = 500,
    calls: Whole | None = None,
    spend: float | None = None,
    price_in: float | None = None,
    price_out: float | None = None,
    batch: Whole = 10,
    parallel: Whole = 2,
    until: float | None = None,
    labels_only: bool = False,
    second: str | None = None,
    share: float = 0.1,
    teacher: str | None = None,
    db: str | None = None,
    session: str | None = None,
    id: str | None = None,
    learner: str | None = None,
    cell: Whole = 500,
    reply_tokens: Whole | None = None,
    reasoning: bool = False,
    timeout: float = 60.0,
    reading: Reading | None = None,
    dry_run: bool = False,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    report: Path | None = None,
    json: bool = False,
) -> int:
    """Let a language model teach: its judgement becomes rules and SQL.

    The model labels some rows, least sure first and some at random, and chooses its
    reason among true differences. It is a teacher in a session like others: stop it at
    any moment, and the same command goes on without paying twice. `tellapart teach
    TABLE` on the same session lets you settle what looks odd; your word outranks the
    model's. The key comes from TELLAPART_API_KEY, else OPENAI_API_KEY.

    Examples:

        tellapart distil mails.csv --labels spam,ham --task "Is this mail spam?"
            --endpoint http://127.0.0.1:8080/v1 --model smollm2 --dry-run
        tellapart distil mails.csv --labels spam,ham --task "Is this mail spam?"
            --endpoint https://api.example.com/v1 --model small --columns subject,body
            --spend 2 --price-in 0.15 --price-out 0.60 -o spam.sql --report spam.html

    Parameters
    ----------
    table
        CSV, JSON lines, Parquet or Arrow IPC, by its ending.
    labels
        The labels, with commas between them; one with a comma in it in double quotes.
    task
        What the labels are about, in a sentence or some.
    endpoint
        The address of an OpenAI-compatible server (llama.cpp, Ollama, vLLM, a hosted
        service), up to /chat/completions, such as http://127.0.0.1:8080/v1.
    model
        The name that the server knows the model by.
    meaning
        LABEL=WHAT IT MEANS, for the model and for people. Again for more.
    columns
        The only columns that are sent, and that rules may use, with commas between them;
        all columns if not given.
    rows
        Ask about so many rows at most.
    calls
        Send so many requests at most, in all runs of the session together.
    spend
        Spend so much at most, in all runs together. Needs both prices.
    price_in
        The price of a million tokens that are sent.
    price_out
        The price of a million tokens of replies.
    batch
        So many rows in one call.
    parallel
        So many calls for labels at the same time.
    until
        Stop when the rules differ from the model on less than this share of the rows left,
        with 95 % confidence, by the rows drawn at random; 0.05 for a new session.
    labels_only
        Ask for labels, and for no reasons: fewer calls.
    second
        Another model of the same server, which labels a share of the rows, too. Where the
        two differ, a person is asked first.
    share
        The share of rows that the second model labels.
    teacher
        The name of the model as a teacher; the model's name if not given.
    db
        The database: a file, or the address of a PostgreSQL database; if not given,
        TABLE.sessions.db beside the table.
    session
        The name of the session; the table's name if not given.
    id
        The column that names a row; if not given, the first whose texts all differ. It is
        sent only if it is among the columns.
    learner
        Who learns; there is no need to choose. For a new session.
    cell
        Cells are shortened to so many characters.
    reply_tokens
        The most tokens of a reply; if not given, what the longest valid reply needs.
    reasoning
        The model reasons before it answers: 4,000 tokens more, max_completion_tokens is sent
        instead of max_tokens, and no temperature. Newer hosted models want this.
    timeout
        Seconds to wait for a reply.
    dry_run
        Show what would be sent, and how many calls and tokens there may be; send nothing.
    output
        Write the rules to this file: SQL if it ends in .sql, else a model for the
        commands export and predict.
    report
        Write the report as a page to this file.
    json
        Print the report as JSON.
    """
    from tellapart.cli.distil_report import DistilReport
    from tellapart.sessions.distil import Distillation
    from tellapart.sessions.labels import split_names
    from tellapart.sessions.requests import KeptLedger
    from tellapart.teachers import Ledger, Model
    from tellapart.teachers.endpoint import Endpoint

    names = split_names(labels)
    meanings = dict(_meaning(one, names) for one in meaning or ())
    if until is not None and not 0 < until < 1:
        raise ParameterError(f"--until is a share between 0 and 1, got {until}")
    if not 0 < share <= 1:
        raise ParameterError(f"--share is a share above 0, up to 1, got {share}")
    if reading is not None and reading.source is not None:
        raise ParameterError("distil reads a file: write the rows of --from to one, and name it")
    for path in (output, report):
        if path is not None and (path.is_dir() or not path.parent.is_dir()):
            raise ParameterError(f"{path} cannot be written: name a file in a folder that exists")
    how_read = table_arguments(reading, table)
    limits = {"price_in": price_in, "price_out": price_out}
    told = {name: meanings.get(name, "") for name in names}
    Ledger(calls, spend, **limits)  # bad options are named before any work
    Model(endpoint, model, task, told, key="")
    Endpoint(endpoint, second or model, timeout=timeout)
    sent = None if columns is None else split_names(columns)
    place = db or str(table.with_name(table.name + ".sessions.db"))
    with _store(place, dry_run) as store:
        with reading_notice(f"Reading {table.name}"):
            opened = _open(store, table, session, how_read, id, sent, learner)
        with opened:
            _describe(opened, teacher or model, model, names, meanings, dry_run)
            ledger = KeptLedger(store, opened.name, calls, spend, **limits)
            sent = sent or _visible(opened)
            options: dict[str, Any] = {
                "columns": sent,
                "cell": cell,
                "reply_tokens": reply_tokens,
                "reasoning": reasoning,
                "timeout": timeout,
                "ledger": ledger,
            }
            asked = Model(endpoint, model, task, told, **options)
            other = None if second is None else Model(endpoint, second, task, told, **options)
            if not dry_run:
                _set(opened, teacher or model, until, None if other is None else share)
            work = Distillation(
                opened,
                asked,
                teacher,
                rows=rows,
                batch=batch,
                parallel=parallel,
                reasons=not labels_only,
                second=other,
                say=_say,
            )
            if dry_run:
                print("\n".join(_dry(work)))
                return 0
            for line in _beforehand(work):
                print(line, file=sys.stderr)
            trouble = None
            try:
                ended = work.run()
            except EndpointError as error:
                trouble, ended = error, "the server could not be used"
            misfits = [*asked.misfits(), *(() if other is None else other.misfits())]
            made = DistilReport.of(opened, ledger, work.teacher, ended, misfits)
            _give(opened, made, output, report, as_json=json)
            if trouble is not None:
                raise trouble
    return 0


# -- before


def _meaning(text: str, names: Sequence[str]) -> tuple[str, str]:
    fits = [name for name in names if text.strip().startswith((f"{name}=", f"{name} ="))]
    label = max(fits, key=len, default="")
    means = text.strip().removeprefix(label).lstrip().removeprefix("=")
    if not label or not means.strip():
        raise ParameterError(
            f"--meaning is LABEL=TEXT with one of the labels {', '.join(names)}; got {text!r}"
        )
    return label, means.strip()


@contextmanager
def _store(place: str, dry_run: bool) -> Iterator[Store]:
    """The database; for a dry run one that nothing is left of, unless there is one already."""
    from tellapart.sessions import Store

    if dry_run and "://" not in place and not Path(place).exists():
        with TemporaryDirectory() as folder, Store(Path(folder, "dry.db")) as store:
            yield store
        return
    with Store(place) as store:
        yield store


def _open(
    store: Store,
    table: Path,
    name: str | None,
    how_read: Mapping[str, Any],
    id: str | None,
    columns: Sequence[str] | None,
    learner: str | None,
) -> Session:
    """The session, with the columns that may be sent and no others."""
    from tellapart.sessions import Session
    from tellapart.sessions.config import DEFAULT
    from tellapart.sessions.distil import WORDS
    from tellapart.tables import read_table

    if table.is_dir():
        raise ParameterError(f"{table} is a folder; name a table in it")
    name = name or table.stem
    if name in {listed.name for listed in store.sessions()}:
        another = "--session NAME"
        opened = open_or_begin(
            store, table, name, how_read, id=id, learner=learner, another=another, for_teach=True
        )
    else:
        read = read_table(table, **how_read)
        if not len(read):
            raise ParameterError(f"{table} has columns, and no rows to ask about")
        for column in columns or ():
            read.check(column)
        names = id or _names(read)
        hidden = [one for one in read.types if one not in (columns or read.types) and one != names]
        reading = {**how_read, "id": names, "without": hidden or None}
        opened = Session.new(
            store,
            name,
            table,
            learner=learner or DEFAULT,
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


def _visible(session: Session) -> list[str]:
    """All columns; of a session that was begun with some, these, without the names of rows."""
    table, source = session.table, session.opened.data.get("source") or {}
    hidden = {table.id} if source.get("without") else set()
    return [name for name in table.types if name not in table.tags and name not in hidden]


def _describe(
    session: Session,
    teacher: str,
    model: str,
    names: Sequence[str],
    meanings: Mapping[str, str],
    dry_run: bool,
) -> None:
    """The labels and their meanings, for people who look at the session."""
    if dry_run:
        return
    session.join(teacher, model=model)
    for name in names:
        if not session.knows_label(name):
            session.add_label(teacher, name)
    for name, text in meanings.items():
        if session.meanings.get(name) != text and name in session.labels:
            session.describe_label(teacher, name, text)


def _set(session: Session, teacher: str, until: float | None, share: float | None) -> None:
    """Settings that were given, if they are others than before."""
    wanted: dict[str, Any] = {} if until is None else {"until": {"error below": until}}
    wanted |= {} if share is None else {"overlap": share}
    now = session.settings
    new = {name: value for name, value in wanted.items() if now[name] != value}
    if new:
        session.set(teacher, **new)


def _say(text: str) -> None:
    if sys.stderr.isatty():
        print(text, file=sys.stderr)


def _beforehand(work: Distillation) -> list[str]:
    """The proven limit on corrections, and what the budget allows."""
    from tellapart.features.phrasing import counted

    session, ledger = work.session, work.model.ledger
    left = max(0, min(work.rows, len(session.table)) - len(work.told))
    groups = len(work.model.labels)
    bound = session.learner.bound(m=groups, k=0)
    lines = []
    if bound is not None and math.isfinite(bound):
        lines.append(
            f"Proven: if the model has {groups} groups in mind, one a label, and never slips, the"
            f" rules need at most {bound:,.0f} corrections, however many rows there are."
        )
    budget = [f"{counted(left, 'row')} more"]
    if ledger.most_calls is not None:
        budget.append(f"{counted(max(0, ledger.most_calls - ledger.calls), 'call')} more")
    if ledger.most_spend is not None:
        budget.append(f"{max(0.0, ledger.most_spend - ledger.spend):.4g} to spend")
    lines.append(f"The budget: {', '.join(budget)}.")
    return lines


def _dry(work: Distillation) -> list[str]:
    """What would be sent first, and how much at most."""
    from tellapart.teachers.endpoint import most_tokens
    from tellapart.teachers.model import LONGEST_TEXT

    model, session = work.model, work.session
    items = work.coming()
    if not items:
        return ["Nothing would be sent: no rows are left."]
    first = (work.batches(items) or [items])[0]
    body = model.labels_request([(item.place, item) for item in first])
    left = max(0, min(work.rows, len(session.table)) - len(work.told))
    sizes = sorted((_size(model, item) for item in session.table.items), reverse=True)
    labels = -(-left // work.batch)
    if work.second is not None:  # it may be asked about all that the first is unsure of
        seconds = left + len(work.told - session.answered_by(work.second_teacher))
        labels += -(-seconds // work.batch)
    reasons = left if work.reasons else 0
    again = "\\" * _COMPLAINT  # takes the most bytes
    pair = len(session.table) - 1, first[0]  # no id is longer
    sent, _ = most_tokens(model.labels_request([pair], again))
    most = sent + sum(sizes[: work.batch])
    _, replied = most_tokens(model.labels_request([pair] * min(work.batch, left)))
    name, text = max(model.labels, key=_bytes), "x" * (LONGEST_TEXT - 6)
    difference = model.difference_request(pair, name, pair, name, [text] * model.offered, again)
    why, because = most_tokens(difference)
    per_reason = why + 2 * sizes[0]
    calls = _AGAIN * (labels + reasons)
    tokens_in = _AGAIN * (labels * most + reasons * per_reason)
    tokens_out = _AGAIN * (labels * replied + reasons * because)
    ledger = model.ledger
    allowed = calls if ledger.most_calls is None else max(0, ledger.most_calls - ledger.calls)
    lines = [
        f"POST {model.endpoint.url}/chat/completions",
        body,
        "",
        "That is the first request, byte for byte. The document in its last message:",
        dumps(loads(loads(body)["messages"][-1]["content"]), ensure_ascii=False, indent=2),
        "",
        f"Columns that are sent: {', '.join(model.columns or ())}. Cells have at most {model.cell}"
        " characters.",
        *_beforehand(work),
        f"Calls, at most: {min(calls, allowed):,} ({labels:,} for labels, up to"
        f" {reasons:,} for differences, each asked again at most once); one more for every one that"
        " the server refuses (429, 5xx) or does not answer.",
        f"Tokens, at most: {tokens_in:,} sent, {tokens_out:,} in replies.",
    ]
    if ledger.price_in or ledger.price_out:
        most_spend = ledger.price(tokens_in, tokens_out)
        limit = most_spend if ledger.most_spend is None else ledger.most_spend - ledger.spend
        lines.append(f"Spend, at most: {max(0.0, min(most_spend, limit)):.6g}.")
    return [*lines, "Nothing was sent."]


def _size(model: Model, item: Row) -> int:
    """The bytes that a row takes in a request: its document is a text inside JSON."""
    cells = dumps({"id": item.place, "cells": model.cells(item)}, ensure_ascii=False)
    return _bytes(cells) + 2 + len(str(item.place))


def _bytes(text: str) -> int:
    """The bytes that a text takes in JSON."""
    return len(dumps(text, ensure_ascii=False).encode())


# -- after


def _give(
    session: Session,
    made: DistilReport,
    output: Path | None,
    page: Path | None,
    *,
    as_json: bool,
) -> None:
    """Write the rules and the report."""
    from tellapart.export.model_files import write_whole

    if output is not None:
        sql = output.suffix.lower() == ".sql"
        text = made.sql if sql else session.judged_model().to_json()
        write_whole(output, (text + "\n").encode())
    if page is not None:
        write_whole(page, made.html().encode())
    if as_json:
        print(dumps(made.to_json(), ensure_ascii=False))
    else:
        print(made.text())
