"""Compare exported SELECTs with Python, on real engines and as many rows as you like.

    python tests/fuzz/fuzz_views.py duckdb sqlite --models 200 --rows 100000
    python tests/fuzz/fuzz_views.py imports --models 10000

The engines are duckdb, sqlite, postgres, spark, clickhouse and mysql (MariaDB). Every cell of
`label`, `rule`, `because`, `like` and `is_sure` must be what Python gives. The rows are dirty: NaN,
infinity, unknown values, texts and numbers of all kinds. The models have all kinds of features.
`imports` writes models for the dialects in turn, reads the SQL again, and compares the models.
Prints what differs, and how many cells were compared.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

sys.path.insert(0, str(Path(__file__).parent.parent))

import mariadb_server
import postgres_server
import sql_engines
from random_features import SCHEMA, ModelMaker
from sql_engines import ENGINES, Query
from tellapart.errors import ExportError, FeatureError
from tellapart.export import from_sql, to_select, to_sql, to_view
from tellapart.export.dialects import DIALECTS
from tellapart.export.feature_trees import columns_of
from tellapart.export.text import answers, example_text
from tellapart.model import Clause, DecisionList, Literal, Record

Numbers = npt.NDArray[np.int64]


class Rows:
    """Rows for an engine, and what Python says of them."""

    def __init__(self, dirty: pl.DataFrame) -> None:
        self.dirty, self.clean = dirty, sql_engines.known(dirty)

    def truth(self, literal: Literal) -> npt.NDArray[np.bool_]:
        """Where Python finds a literal satisfied: each combination of cells is asked about once."""
        alone = DecisionList((Clause((literal,), True),), Clause((), False))
        names = list(columns_of(alone)) or ["b"]
        groups = self.clean.select(pl.struct(names).rank("dense").alias("group")).to_series() - 1
        first = pl.DataFrame({"group": groups}).with_row_index("at").group_by("group").first()
        items = self.clean[first.sort("group")["at"].to_list()].to_dicts()
        return np.array(alone.predict(items), dtype=bool)[groups.to_numpy()]

    def rules(self, model: DecisionList) -> Numbers:
        """The number of the rule that applies to each row, from 0."""
        found = np.full(self.clean.height, len(model.clauses), dtype=np.int64)
        open_rows = np.ones(self.clean.height, dtype=bool)
        for number, clause in enumerate(model.clauses):
            applies = open_rows.copy()
            for literal in clause.literals:
                applies &= self.truth(literal)
            found[applies] = number
            open_rows &= ~applies
        return found


def differences(
    model: DecisionList, dialect: str, query: Query, rules: Numbers
) -> Iterator[tuple[int, tuple[Any, ...], tuple[Any, ...]]]:
    """The rows of which the engine says something else than Python."""
    sql = to_select(model, dialect, table="items", keep=["place"], schema=SCHEMA)
    said = [answer.because for answer in answers(model)]
    wanted = [
        (c.label, n + 1, said[n], example_text(c.example), c.record and c.record.high <= 0.05)
        for n, c in enumerate(model)
    ]
    found = sorted(query(sql), key=lambda row: row[0])
    if [row[0] for row in found] != list(range(len(rules))):
        yield -1, (len(rules),), (len(found),)
    for row, rule in zip(found, rules.tolist(), strict=False):
        if row[1:] != wanted[rule]:
            yield row[0], wanted[rule], row[1:]


def random_models(seed: int, count: int) -> Iterator[DecisionList]:
    maker, dice = ModelMaker(seed), random.Random(seed)
    while count:
        try:
            model = maker.model(dice.randint(1, 8))
        except FeatureError:  # a sum in which everything cancels out
            continue
        if dice.random() < 0.3:
            record = Record(200, 1, 201, high=dice.choice((0.03, 0.2)))
            clauses = [Clause(c.literals, c.label, c.example, record=record) for c in model]
            model = DecisionList(tuple(clauses[:-1]), clauses[-1])
        yield model
        count -= 1


@contextmanager
def engine(dialect: str, rows: pl.DataFrame) -> Iterator[Query]:
    """A real engine with the rows in it."""
    load: Any = getattr(sql_engines, f"{dialect}_base")
    with ExitStack() as stack:
        server: list[Any] = []
        if dialect == "postgres":
            server = [stack.enter_context(postgres_server.server())]
        elif dialect == "mysql":
            server = [stack.enter_context(mariadb_server.server())]
        elif dialect == "spark":
            from tellapart.engines.sql_engines import spark_session

            server = [spark_session("local[1]", {"spark.driver.memory": "2g"})]
            stack.callback(server[0].stop)
        yield stack.enter_context(load(*server, rows))


def views(dialects: Sequence[str], models: int, rows: int, seed: int) -> int:
    """Compare on engines; returns how many cells differ."""
    frame = sql_engines.dirty_rows(rows, seed)
    tables = {name: Rows(sql_engines.storable(frame, name)) for name in dialects}
    common = Rows(frame)
    wrong, cells, refused = (dict.fromkeys(dialects, 0) for _ in range(3))
    started = time.monotonic()
    with ExitStack() as stack:
        bases = {name: stack.enter_context(engine(name, tables[name].dirty)) for name in dialects}
        for number, model in enumerate(random_models(seed, models)):
            rules = common.rules(model) if set(dialects) - {"clickhouse"} else None
            for name in dialects:
                mine = tables[name].rules(model) if name == "clickhouse" else rules
                assert mine is not None
                try:
                    found = list(differences(model, name, bases[name], mine))
                except ExportError as error:
                    refused[name] += 1
                    print(f"{name}, model {number}: {error}", flush=True)
                    continue
                cells[name] += 5 * rows
                wrong[name] += len(found)
                for place, expected, got in found[:2]:
                    print(f"{name}, model {number}, row {place}: {expected} but {got}\n{model}")
            if number % 10 == 9:
                took = time.monotonic() - started
                print(f"{number + 1} models, {took:,.0f} s: {cells} cells, {wrong} rows wrong,"
                      f" {refused} refused", flush=True)  # fmt: skip
    print(f"cells compared {cells}; rows that differ {wrong}; models refused {refused}")
    return sum(wrong.values())


def imports(models: int, seed: int) -> int:
    """Read again what was written, a model for each dialect in turn; returns how many differ."""
    wrong, refused = 0, 0
    for number, model in enumerate(random_models(seed, models)):
        dialect = list(DIALECTS)[number % len(DIALECTS)]
        try:
            if number // len(DIALECTS) % 2:
                sql = to_sql(model, dialect, schema=SCHEMA)
            else:
                sql = to_view(model, dialect, name="v", table="items", schema=SCHEMA)
        except ExportError:
            refused += 1
            continue
        if from_sql(sql, dialect) != model:
            wrong += 1
            print(f"{dialect}, model {number}:\n{model}\n{sql}", flush=True)
        if number % 500 == 499:
            print(f"{number + 1} models, {wrong} wrong, {refused} refused", flush=True)
    print(f"{models} models; {wrong} are another model when read again; {refused} refused")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", nargs="+", choices=[*ENGINES, "imports"])
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.what == ["imports"]:
        return int(imports(given.models, given.seed) > 0)
    return int(views(given.what, given.models, given.rows, given.seed) > 0)


if __name__ == "__main__":
    sys.exit(main())
