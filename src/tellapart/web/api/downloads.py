"""What leaves the server: the model, the log, and a label for every item."""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

import numpy as np
import polars as pl
from fastapi import APIRouter, Query
from starlette.responses import Response, StreamingResponse

from tellapart import codec
from tellapart.export import to_dot, to_python, to_sql, to_svg, to_text
from tellapart.export.text import example_text
from tellapart.model import DecisionList
from tellapart.sessions import Session, export_log
from tellapart.tables import Table
from tellapart.web.api.review import clause_of_items
from tellapart.web.api.teaching import plain
from tellapart.web.auth import Call, SessionName
from tellapart.web.session_pool import in_session, reads_session

router = APIRouter(prefix="/sessions/{session}", tags=["downloads"])

Dialect = Literal["duckdb", "sqlite", "postgres", "spark", "bigquery", "snowflake"]
LANGUAGES = {
    "json": ("application/json", "json"),
    "sql": ("text/plain; charset=utf-8", "sql"),
    "python": ("text/plain; charset=utf-8", "py"),
    "text": ("text/plain; charset=utf-8", "txt"),
    "dot": ("text/plain; charset=utf-8", "dot"),
    "svg": ("image/svg+xml", "svg"),
}
"""The languages of a model: media type and ending."""
FORMATS = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
OURS = ("label", "clause", "example")
BLOCK = 10_000
"""So many rows are written at a time."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def write_model(session: Session, language: str, dialect: str = "duckdb") -> str:
    """The model of a session in some language."""
    made, meanings = session.model, session.meanings
    if language == "json":
        more = {"meanings": meanings} if meanings else {}
        return codec.dump({**codec.parse(made.to_json()), **more}) + "\n"
    if language == "sql":
        return to_sql(made, dialect, schema=session.table.schema) + "\n"
    writers: dict[str, Callable[[DecisionList], str]] = {
        "python": to_python,
        "text": to_text,
        "dot": to_dot,
        "svg": to_svg,
    }
    text = writers[language](made).rstrip("\n") + "\n"
    if language == "text" and meanings:
        text += "\n" + "".join(f"{label}: {means}\n" for label, means in meanings.items())
    return text


def answers_csv(session: Session) -> bytes:
    """The answers in force as CSV, in the order of their coming."""
    rows: list[list[str]] = [
        ["item", "label", "feature", "answer", "guess", "example", "teacher", "at"]
    ]
    for one in session.history():
        if not one.undone:
            label = one.guess.label if one.answer == "right" else one.label
            example = "" if one.guess.example is None else str(one.guess.example)
            cells = (str(one.item), label, one.feature, one.answer, one.guess.label, example)
            rows.append([_safe(cell or "") for cell in (*cells, one.teacher, one.at)])
    return _csv(rows)


class Predictions:
    """A label for every item, with the number of the rule and its example, block by block.

    It is made once, at one moment of the session; teaching may go on while it is read.
    """

    def __init__(self, table: Table, model: DecisionList, columns: list[str]) -> None:
        for name in columns:
            table.check(name)
        clauses = list(model)
        self._numbers = clause_of_items(table, model)
        self._labels = [clause.label for clause in clauses]
        self._examples = [example_text(clause.example) for clause in clauses]
        kept = list(dict.fromkeys(columns))
        if table.id is not None and table.id not in kept:
            kept.insert(0, table.id)
        self._frame = table.frame(kept)
        self._row_numbers = table.id is None
        taken = {*kept, "item"}
        self._ours = [_free(name, taken) for name in OURS]
        self.columns = [*(["item"] if self._row_numbers else []), *kept, *self._ours]

    def blocks(self) -> Iterator[list[tuple[Any, ...]]]:
        """Rows, some thousand at a time."""
        for start in range(0, len(self._numbers), BLOCK):
            found = self._numbers[start : start + BLOCK].tolist()
            cells = self._frame.slice(start, BLOCK).rows() if self._frame.width else None
            block = []
            for n, clause in enumerate(found):
                head = (start + n,) if self._row_numbers else ()
                row = () if cells is None else cells[n]
                said = (self._labels[clause], clause + 1, self._examples[clause])
                block.append((*head, *row, *said))
            yield block

    def csv(self, *, exact: bool = False) -> Iterator[bytes]:
        """As CSV. Texts that a spreadsheet would take for a formula get a ' before them, unless
        `exact`."""
        safe = plain if exact else _safe
        yield _csv([[safe(name) for name in self.columns]])
        for block in self.blocks():
            yield _csv([[safe(cell) for cell in row] for row in block])

    def jsonl(self) -> Iterator[bytes]:
        """As JSON lines."""
        for block in self.blocks():
            lines = (
                json.dumps(
                    {name: plain(cell) for name, cell in zip(self.columns, row, strict=True)},
                    ensure_ascii=False,
                )
                for row in block
            )
            yield ("\n".join(lines) + "\n").encode()

    def frame(self) -> pl.DataFrame:
        """As a frame."""
        found = self._numbers
        labels = pl.Series(self._ours[0], self._labels, dtype=pl.String, strict=False)
        examples = pl.Series(self._ours[2], self._examples, dtype=pl.String)
        made = [
            labels.gather(found),
            pl.Series(self._ours[1], (found + 1).astype(np.uint32)),
            examples.gather(found),
        ]
        head = [pl.Series("item", np.arange(len(found)))] if self._row_numbers else []
        return pl.DataFrame([*head, *self._frame.get_columns(), *made])

    def parquet(self) -> Iterator[bytes]:
        """As a Parquet file."""
        with tempfile.TemporaryFile() as file:
            self.frame().write_parquet(file)
            file.seek(0)
            while chunk := file.read(1 << 18):
                yield chunk

    def stream(self, format: str, *, exact: bool = False) -> Iterator[bytes]:
        """In one of `FORMATS`."""
        if format == "csv":
            return self.csv(exact=exact)
        return self.jsonl() if format == "jsonl" else self.parquet()


def _safe(cell: Any) -> Any:
    """
    >>> _safe("=1+1"), _safe("bear"), _safe(-4)
    ("'=1+1", 'bear', -4)
    """
    cell = plain(cell)
    if isinstance(cell, str) and cell.lstrip(" \ufeff\u3000").startswith(_FORMULA):
        return "'" + cell
    return cell


def _csv(rows: list[list[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode()


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


# -- routes


def _file(kind: str, description: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"description": description, "content": {kind: {"schema": {}}}}}


@router.get("/export", response_class=Response, responses=_file("*/*", "The model."))
@in_session
def export(
    session: Session,
    to: Literal["json", "sql", "python", "text", "dot", "svg"] = "json",
    dialect: Dialect = "duckdb",
) -> Response:
    """The model: JSON, SQL in a dialect, Python, sentences, or a picture."""
    kind, ending = LANGUAGES[to]
    made = write_model(session, to, dialect).encode()
    return Response(made, headers=_attached(session.name, ending), media_type=kind)


@router.get("/log", response_class=StreamingResponse, responses=_file("*/*", "Lines of JSON."))
async def log(session: SessionName, call: Call) -> Response:
    """The whole session, an event a line; `tellapart session import` reads it. For the owner."""
    call.must_own()
    await call.pool.run(session, lambda s: s.number)  # it is there, and what was answered is in it
    return StreamingResponse(
        export_log(call.pool.store, session),
        headers=_attached(session, "jsonl"),
        media_type=FORMATS["jsonl"],
    )


@router.get(
    "/predictions", response_class=StreamingResponse, responses=_file("*/*", "A row an item.")
)
@reads_session
def predictions(
    session: Session,
    column: Annotated[list[str], Query(max_length=500, default_factory=list)],
    format: Literal["csv", "jsonl", "parquet"] = "csv",
    exact: bool = False,
) -> Response:
    """A label for every item, with the rule and its example; `column` for more of the table.

    In CSV, a text that a spreadsheet would run as a formula gets a ' before it, unless `exact`.
    """
    made = Predictions(session.table, session.model, column)
    return StreamingResponse(
        made.stream(format, exact=exact),
        headers=_attached(session.name, format),
        media_type=FORMATS[format],
    )


def _attached(name: str, ending: str) -> dict[str, str]:
    """A file to be saved, never shown: what is in it came from a table."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._") or "session"
    return {"content-disposition": f'attachment; filename="{safe[:80]}.{ending}"'}
