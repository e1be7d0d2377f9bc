"""Models as Python, JavaScript and JSON rules say what the model says, on dirty rows."""

from __future__ import annotations

import datetime
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from jsonschema_rs import validator_for

import sql_engines
import tellapart as ta
from random_features import SCHEMA, ModelMaker
from tellapart.errors import ExportError
from tellapart.export.text import answers
from tellapart.model import Record

RULES = validator_for(
    json.loads(Path(__file__, "../../docs/rules.schema.json").resolve().read_text())
)


def models(seed: int, count: int) -> list[ta.DecisionList]:
    maker = ModelMaker(seed, sql=False)
    record = Record(200, 1, 201, high=0.03)
    judged = ta.DecisionList((ta.Clause((ta.Literal("b"),), 1.5, record=record),))
    return [*(maker.model(5) for _ in range(count)), judged, ta.DecisionList()]


def wanted(model: ta.DecisionList, rows: pl.DataFrame) -> list[tuple[Any, ...]]:
    """What should be said of dirty rows, by the items one by one."""
    given, number = answers(model), {id(clause): n for n, clause in enumerate(model)}
    items = sql_engines.known(rows).to_dicts()
    return [tuple(given[number[id(model.match(item))]]) for item in items]


def run(source: str) -> dict[str, Any]:
    program: dict[str, Any] = {"__name__": "exported"}
    exec(compile(source, "exported", "exec"), program)
    return program


@pytest.mark.parametrize("seed", range(4))
def test_python(seed: int) -> None:
    rows = sql_engines.dirty_rows(100, seed)
    for model in models(seed, 8):
        program = run(ta.export.to_python(model, schema=SCHEMA))
        assert [tuple(program["explain"](row)) for row in rows.to_dicts()] == wanted(model, rows)


def one(feature: Any, label: Any = "yes") -> ta.DecisionList:
    return ta.DecisionList((ta.Clause((ta.Literal(feature),), label),), ta.Clause((), "no"))


def marked(value: Any) -> Any:
    """A cell as JSON, with marks for what JSON does not have."""
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return {"$number": {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]}
    if isinstance(value, int) and abs(value) > 2**53:
        return {"$integer": str(value)}
    return value


RUN = """
import fs from "fs";
const unmarked = (key, v) => {
  if (v?.$date) return new Date(v.$date);
  return v?.$number ? Number(v.$number) : v?.$integer ? BigInt(v.$integer) : v;
};
const { rows, count } = JSON.parse(fs.readFileSync("rows.json"), unmarked);
const said = [];
for (let n = 0; n < count; n++) {
  const { predict } = await import(`./model${n}.mjs`);
  said.push(rows.map((row) => {
    try { return predict(row); } catch (error) { return `${error.name}: ${error.message}`; }
  }));
}
console.log(JSON.stringify(said));
"""


def in_node(made: list[ta.DecisionList], rows: list[Any], folder: Path, **how: Any) -> list[Any]:
    for n, model in enumerate(made):
        source = ta.export.to_javascript(model, **how)
        (folder / f"model{n}.mjs").write_text(source, encoding="utf-8")
    cells = [{name: marked(cell) for name, cell in row.items()} for row in rows]
    (folder / "rows.json").write_text(json.dumps({"rows": cells, "count": len(made)}))
    (folder / "run.mjs").write_text(RUN)
    done = subprocess.run(
        ["node", "run.mjs"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert not done.stderr
    said: list[Any] = json.loads(done.stdout)
    return said


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_javascript(seed: int, tmp_path: Path, needs: Any) -> None:
    needs("node")
    rows, made = sql_engines.dirty_rows(100, seed), models(seed, 30)
    for model, said in zip(
        made, in_node(made, rows.to_dicts(), tmp_path, schema=SCHEMA), strict=True
    ):
        assert [tuple(one.values()) for one in said] == wanted(model, rows), model


def test_javascript_reads_dates_and_refuses_other_types(tmp_path: Path, needs: Any) -> None:
    needs("node")
    schema = {"z": "datetime", "d": "date", "n": "integer", "b": "bool", "x": "number"}
    texts = ["z >= '2024-01-01 12:00:00.5'", "weekday(d) = 7", "n = 4", "b", "x > 0", "d < z"]
    made = [one(ta.parse_feature(text, schema)) for text in texts]
    rows: list[dict[str, Any]] = [
        {"z": "2024-01-01T12:00:00.5Z", "d": "2024-03-03", "n": 4.0, "b": 1, "x": 1},
        {"z": "2024-01-01 13:00:00.499999+01:00", "d": None, "n": 2**60, "b": 0, "x": float("nan")},
        {"z": {"$date": "2024-01-01T12:00:00.500Z"}, "d": {"$date": "2024-03-03"}},
        {"z": "2024", "d": "2024-03-03T10:00:00", "n": 0.5, "b": "true", "x": "1"},
    ]
    said = in_node(made, rows, tmp_path)
    labels = [[x if isinstance(x, str) else x["label"] for x in rows] for rows in said]
    assert [row[:3] for row in labels] == [
        ["yes", "no", "yes"], ["yes", "no", "yes"], ["yes", "no", "no"], ["yes", "no", "no"],
        ["yes", "no", "no"], ["no", "no", "no"],
    ]  # fmt: skip
    kinds = ("datetime", "date", "integer", "bool", "number", "date")
    for row, kind in zip(labels, kinds, strict=True):
        assert row[3].startswith("TypeError: column")
        assert f"should hold {kind}, but has" in row[3]


HARD = [
    "length(s) = 1", "s > 'Ａ'", "s < '👍'", "s >= '👍'", "s LIKE '_'", "s LIKE '_.'", "s = 'a '",
    "trim(s) = 'a'", "lower(s) = 'k'", "upper(s) > 'Z'", "s ILIKE '%é'", "n = 9007199254740993",
    "n > 9007199254740992", "n + 0 = 9007199254740992", "x IN (0, 1, 2)", "x / n IS NULL",
    "n / x > 1", "d = '2024-02-29'", "weekday(d) = 7", "z > d", "(z <= d) IS NULL",
]  # fmt: skip


def test_what_languages_see_differently(tmp_path: Path, needs: Any) -> None:
    """Characters beyond U+FFFF, white space, case, large integers, -0.0, division, Sundays."""
    needs("node")
    texts = [*"👍Ａa", "a ", " a", "\u00a0a", *"kK\u212aÉ", "e\u0301", "👍.", None, ""]
    count, day = len(texts), datetime.date(2024, 2, 29)
    rows = pl.DataFrame(
        {
            "s": texts,
            "n": [2**53 + 1, 2**53, 0, None, -1, 3, *range(count - 6)],
            "x": [0.0, -0.0, 1.0, None, math.nan, math.inf, 5e-324, 1e308, *range(count - 8)],
            "d": [day + datetime.timedelta(days=n) for n in range(count)],
            "z": [datetime.datetime(2024, 3, n + 1, 0, 0, 0, n) for n in range(count - 1)] + [None],
        },
        schema={"s": pl.String, "n": pl.Int64, "x": pl.Float64, "d": pl.Date, "z": pl.Datetime},
    )
    schema = {"s": "text", "n": "integer", "x": "number", "d": "date", "z": "datetime"}
    made = [one(ta.parse_feature(text, schema)) for text in HARD]
    in_javascript = in_node(made, rows.to_dicts(), tmp_path)
    for text, model, said in zip(HARD, made, in_javascript, strict=True):
        program = run(ta.export.to_python(model))
        found = {
            "javascript": [row["rule"] for row in said],
            "python": [program["explain"](row).rule for row in rows.to_dicts()],
        }
        expected = [answer[1] for answer in wanted(model, rows)]
        assert set(expected) == {1, 2}, f"{text} tells nothing apart"
        assert found == dict.fromkeys(found, expected), text


@pytest.mark.parametrize("seed", range(4))
def test_json_rules(seed: int) -> None:
    for model in models(seed, 8):
        RULES.validate(json.loads(ta.export.to_json_rules(model, schema=SCHEMA)))


def test_letters_are_there_for_long_conditions() -> None:
    column = "a name so long that no line can hold a condition on this column, however short it is"
    text = f"lower(trim(coalesce(\"{column}\", 'what stands for an unknown text'))) < 'b'"
    program = run(ta.export.to_python(one(ta.parse_feature(text, {column: "text"}))))
    assert program["predict"]({column: " A "}) == "yes"
    assert program["predict"]({column: "c"}) == "no"


def test_the_schema_of_json_rules_refuses_other_things() -> None:
    rules = json.loads(ta.export.to_json_rules(one("milk")))
    assert RULES.is_valid(rules)
    for wrong in (["soundex", "a"], ["column", "a", "blob"], ["and"], [">=", 1], "yes", {"a": 1}):
        rules["rules"][0]["when"] = wrong
        assert not RULES.is_valid(rules), wrong


WRITERS = ("to_javascript", "to_python", "to_json_rules")


@pytest.mark.parametrize("writer", WRITERS)
def test_what_cannot_be_written_is_refused(writer: str) -> None:
    write = getattr(ta.export, writer)
    for model, reason in (
        (one(ta.features.Named("tall", bool)), "'tall' is a function"),
        (one(ta.features.Is("x")), "one item only"),
        (one("a", label=3), "labels must be all texts"),
        (ta.DecisionList(reading=lambda feature, item: True), "holds"),
    ):
        with pytest.raises(ExportError, match=reason):
            write(model)
    big = ta.DecisionList((), ta.Clause((), 2**60))
    if writer == "to_javascript":
        with pytest.raises(ExportError, match="a number that JavaScript cannot hold"):
            write(big)
    else:
        assert str(2**60) in write(big)


@pytest.mark.parametrize("writer", WRITERS)
def test_a_program_says_who_taught_it(writer: str) -> None:
    about = ["taught by Ann\nimport nothing", 'at most """5""" are wrong']
    made = getattr(ta.export, writer)(one("milk"), about=about)
    assert "taught by Ann" in made
    if writer == "to_json_rules":
        RULES.validate(json.loads(made))
    elif writer != "to_javascript":
        compile(made, "exported", "exec")


@pytest.mark.slow
def test_python_has_types_and_needs_nothing(tmp_path: Path) -> None:
    """mypy --strict finds nothing, and it runs under `python -I -S`."""
    for n, model in enumerate(models(0, 3)):
        source = ta.export.to_python(model, schema=SCHEMA)
        (tmp_path / f"exported_{n}.py").write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("Success: no issues"), done.stdout + done.stderr
    path = tmp_path / "exported_0.py"
    path.write_text(path.read_text() + "\nprint(explain({}).rule)\n")
    alone = [sys.executable, "-I", "-S", "-W", "error", str(path)]
    assert subprocess.run(alone, capture_output=True, text=True, check=True).stdout.strip()


def test_python_takes_sets_and_refuses_other_types() -> None:
    program = run(ta.export.to_python(one(ta.And("milk", ta.Not("eggs")))))
    items = ({"milk"}, frozenset({"milk", "eggs"}), set(), {"milk": 1, "eggs": None})
    assert [program["predict"](item) for item in items] == ["yes", "no", "no", "yes"]
    with pytest.raises(TypeError, match="column 'milk' should hold bool, but has 'no'"):
        program["predict"]({"milk": "no"})
