"""`predict_file`: every engine, every kind of file, the same answers, in order, or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sql_engines
import tellapart as ta
from random_features import ModelMaker
from tellapart.engines import predict_file
from tellapart.errors import TellapartError

ENGINES = ["polars", "duckdb", "spark"]


@pytest.fixture
def engine(request: Any, needs: Any) -> str:
    if request.param == "spark":
        request.getfixturevalue("spark")
    elif request.param == "duckdb":
        needs("duckdb")
    return str(request.param)


every_engine = pytest.mark.parametrize("engine", ENGINES, indirect=True)


def write(rows: pl.DataFrame, path: Path) -> Path:
    method = {".csv": "csv", ".jsonl": "ndjson", ".parquet": "parquet", ".arrow": "ipc"}
    getattr(rows, f"write_{method[path.suffix]}")(path)
    return path


def read(path: Path) -> pl.DataFrame:
    method = {".csv": "csv", ".jsonl": "ndjson", ".parquet": "parquet"}[path.suffix]
    options: dict[str, Any] = {"infer_schema_length": None} if method != "parquet" else {}
    return getattr(pl, f"read_{method}")(path, **options)


def answers(model: ta.DecisionList, items: Any) -> list[tuple[Any, int, Any]]:
    clauses = list(model)
    found = [model.match(item) for item in items]
    places = [next(n for n, c in enumerate(clauses, 1) if c is match) for match in found]
    return [(c.label, place, c.example) for c, place in zip(found, places, strict=True)]


@pytest.mark.slow
@every_engine
@pytest.mark.parametrize("kind", [".csv", ".jsonl", ".parquet", ".arrow"])
def test_every_kind_of_file(engine: str, kind: str, tmp_path: Path) -> None:
    models = 2 if engine == "spark" else 8
    rows = sql_engines.frame(3, rows=300)
    path = write(rows, tmp_path / f"items{kind}")
    for seed in range(models):
        model = ModelMaker(seed, plain=kind in (".parquet", ".arrow")).model(9)
        out = tmp_path / f"out{['.parquet', '.csv', '.jsonl'][seed % 3]}"
        done = predict_file(model, path, out, engine=engine, keep=["n"])
        assert done == (300, out)
        got = read(out)
        assert got.columns == ["n", "label", "clause", "example"]
        assert got["n"].cast(pl.Int64).to_list() == rows["n"].to_list()
        wanted = answers(model, rows.to_dicts())
        assert got["clause"].to_list() == [clause for _, clause, _ in wanted]
        if out.suffix != ".csv":  # which cannot tell an empty text from none
            assert got["label"].to_list() == [label for label, _, _ in wanted]
            assert got["example"].to_list() == [example for _, _, example in wanted]
        assert sorted(p.name for p in tmp_path.iterdir()) == sorted({path.name, out.name})
        out.unlink()


def one(feature: Any) -> ta.DecisionList:
    clause = ta.Clause((ta.Literal(feature),), "yes", "seen")
    return ta.DecisionList((clause,), ta.Clause((), "no"))


LEGS = one(ta.parse_feature("legs >= 4", {"legs": "integer"}))
ALL = ta.DecisionList(
    tuple(
        ta.Clause((ta.Literal(ta.parse_feature(text, {name: kind})),), n)
        for n, (text, name, kind) in enumerate(
            [
                ("legs > 3", "legs", "integer"),
                ("size < 2.5", "size", "number"),
                ("wild", "wild", "bool"),
                ("born >= '2020-01-01'", "born", "date"),
                ("seen < '2024-01-01 12:00'", "seen", "datetime"),
                ("name ILIKE '%k%'", "name", "text"),
            ]
        )
    ),
    ta.Clause((), -1),
)


@every_engine
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", "legs,a\n4,1\n5\n", r"t\.csv line 3: 1 cell, but the header has 2"),
        ("t.csv", "legs,a\n4,1\n5,6,7\n", r"t\.csv line 3: 3 cells, but the header has 2"),
        ("t.csv", "legs,a,b\n4,1,1\n5,6,7,8\n", r"t\.csv line 3: 4 cells, but the header has 3"),
        ("t.csv", "legs,a\n12:30:00,1\n", r"t\.csv line 2, column 'legs': '12:30:00' is no whole"),
        ("t.csv", "legs,a\n4,1\nsix,2\n", r"t\.csv line 3, column 'legs': 'six' is no whole"),
        ("t.csv", "legs,a\n4,1\n5.7,2\n", r"t\.csv line 3, column 'legs': '5\.7' is no whole"),
        ("t.csv", "leg,a\n4,1\n", r"t\.csv has no column 'legs'\. Did you mean 'leg'\?"),
        ("t.csv", "legs,legs\n4,1\n", "two columns are called 'legs'"),
        ("t.csv", "", "is empty"),
        (
            "t.jsonl",
            '{"legs": 4}\n{"legs": "six"}\n',
            r"t\.jsonl line 2, column 'legs': 'six' is no",
        ),
        ("t.jsonl", '{"legs": 4}\n{"legs": 5.5}\n', r"t\.jsonl line 2: column 'legs' should hold"),
        ("t.jsonl", '{"legs": 4}\n{"legs": \n', r"t\.jsonl line 2"),
        ("t.jsonl", '{"arms": 4}\n', "has no column 'legs'"),
        ("t.parquet", "no parquet", r"t\.parquet is no Parquet file"),
        ("t.doc", "?", "cannot tell what kind"),
    ],
)
def test_bad_tables(engine: str, name: str, content: str, message: str, tmp_path: Path) -> None:
    path, out = tmp_path / name, tmp_path / "out.csv"
    path.write_text(content)
    with pytest.raises(TellapartError, match=message):
        predict_file(LEGS, path, out, engine=engine)
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_mixed_types_in_a_column_that_is_only_named(tmp_path: Path) -> None:
    path, out = tmp_path / "t.csv", tmp_path / "out.csv"
    path.write_text("legs,a\n4,x\nsix,1\n5,2\n")
    with pytest.raises(TellapartError, match=r"line 3, column 'legs': 'six' is no number"):
        predict_file(one("legs"), path, out)
    path.write_text("legs,a\n4,x\n6,1\n5,2\n")  # another column may be mixed
    assert predict_file(one("legs"), path, out).rows == 3
    path = tmp_path / "t.jsonl"
    path.write_text('{"legs": 4}\n{"legs": "six"}\n{"legs": null}\n')
    found: list[Any] = []
    predict_file(one("legs"), path, out, warn=found.append)  # texts, and said
    assert read(out)["label"].to_list() == ["yes", "yes", "no"]
    assert [finding.code for finding in found] == ["mixed"]


@pytest.mark.parametrize("kind", ["date", "datetime"])
def test_times_of_day_beside_a_column_that_should_hold_dates(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("at,seen\n12:30:00,2\n")
    model = one(ta.parse_feature("seen > '2024-01-02'", {"seen": kind}))
    with pytest.raises(TellapartError, match="line 2, column 'seen': '2' is no date"):
        predict_file(model, path, tmp_path / "out.csv")


@every_engine
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", "born,a\n2024-01-02,1\n2024-01-02 10:00:00,1\n", "line 3, column 'born'"),
        (
            "t.jsonl",
            '{"born": "2024-01-02"}\n{"born": "soon"}\n',
            "line 2, column 'born': 'soon' is no date",
        ),
    ],
)
def test_what_is_no_date(
    engine: str, name: str, content: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(content)
    model = one(ta.parse_feature("born > '2024-01-01'", {"born": "date"}))
    with pytest.raises(TellapartError, match=message):
        predict_file(model, path, tmp_path / "out.csv", engine=engine)


@every_engine
def test_good_but_unusual_csv(engine: str, tmp_path: Path) -> None:
    content = (
        '\ufeff"legs";wild;born;seen;size;"na""me; x"\r\n'
        " 4;TRUE;2020-01-02;2024-01-01 11:00:00;1e3;a\r\n"
        "\r\n"
        "+2;False;2019-01-02;2024-01-01 11:59:59;NA;\r\n"
        '3;;;;;"b\r\nk"\r\n'
    )
    path, out = tmp_path / "t.csv", tmp_path / "out.parquet"
    path.write_text(content, encoding="utf-8", newline="")
    clauses = [c for c in ALL.clauses if c.literals[0].feature.schema.keys() != {"name"}]
    name = ta.parse_feature('"na""me; x" LIKE \'%k\'', {'na"me; x': "text"})
    clauses.append(ta.Clause((ta.Literal(name),), 7))
    model = ta.DecisionList(tuple(clauses), ta.Clause((), -1))
    done = predict_file(model, path, out, engine=engine, nulls=["NA"])
    assert done.rows == 3
    assert read(out)["label"].to_list() == [0, 4, 7]


@every_engine
@pytest.mark.parametrize("first", [1, 12_000], ids=["soon", "after the first rows"])
def test_words_for_unknown_among_numbers(engine: str, first: int, tmp_path: Path) -> None:
    cells = ["5"] * first + ["NA", "7", "?"]
    (tmp_path / "t.csv").write_text("n\n" + "\n".join(cells) + "\n")
    few = ta.parse_feature("n < 6", {"n": "integer"})
    unknown = ta.parse_feature("n IS NULL", {"n": "integer"})
    clauses = [ta.Clause((ta.Literal(f),), label) for f, label in ((few, "few"), (unknown, "-"))]
    model = ta.DecisionList(tuple(clauses), ta.Clause((), "many"))
    predict_file(model, tmp_path / "t.csv", tmp_path / "o.csv", engine=engine)
    assert read(tmp_path / "o.csv")["label"].to_list() == ["few"] * first + ["-", "many", "-"]


@every_engine
def test_nan_zones_and_wide_types(engine: str, tmp_path: Path) -> None:
    rows = pl.DataFrame(
        {
            "legs": pl.Series([1, 2, None], dtype=pl.Int8),
            "size": [float("nan"), float("inf"), float("-inf")],
            "wild": [None, None, None],
            "born": [None, None, None],
            "name": pl.Series(["a", "b", "k"], dtype=pl.Categorical),
            "seen": ["2024-01-01 13:30", "2024-01-01 12:30", None],
        }
    ).with_columns(
        pl.col("wild").cast(pl.Boolean),
        pl.col("born").cast(pl.Date),
        pl.col("seen").str.to_datetime("%Y-%m-%d %H:%M").dt.replace_time_zone("Europe/Berlin"),
    )
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    rows.write_parquet(path)
    predict_file(ALL, path, out, engine=engine)
    assert read(out)["label"].to_list() == [-1, 4, 5]


@every_engine
def test_kept_columns_come_out_as_they_went_in(engine: str, tmp_path: Path) -> None:
    rows = pl.DataFrame(
        {"legs": [4, None, 2], "label": ["x", None, "z"], "odd name": [0.5, 1.0, None]}
    )
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    rows.write_parquet(path)
    with pytest.raises(TellapartError, match=r"two columns 'label'.*prefix in"):
        predict_file(LEGS, path, out, engine=engine, keep="all")
    predict_file(LEGS, path, out, engine=engine, keep="all", prefix="our ")
    got = read(out)
    assert got.columns == ["legs", "label", "odd name", "our label", "our clause", "our example"]
    assert got.select(rows.columns).equals(rows)
    assert got["our label"].to_list() == ["yes", "no", "no"]
    with pytest.raises(TellapartError, match="has no column 'nope'"):
        predict_file(LEGS, path, out, engine=engine, keep=["nope"])


def test_wrong_types_in_a_typed_file(tmp_path: Path) -> None:
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    pl.DataFrame({"legs": ["4"]}).write_parquet(path)
    with pytest.raises(TellapartError, match="'legs' should hold integer, but holds text"):
        predict_file(LEGS, path, out)
    pl.DataFrame({"legs": [[4]]}).write_parquet(path)
    with pytest.raises(TellapartError, match="'legs' should hold integer, but holds text"):
        predict_file(LEGS, path, out)
    pl.DataFrame({"legs": [b"4"]}).write_parquet(path)
    with pytest.raises(TellapartError, match="features cannot read"):
        predict_file(LEGS, path, out)


@every_engine
@pytest.mark.parametrize("ending", [".parquet", ".csv", ".jsonl"])
def test_whole_floats_are_integers(engine: str, ending: str, tmp_path: Path) -> None:
    path, out = tmp_path / f"t{ending}", tmp_path / "out.parquet"
    for cells in ([4.0, 2.0, None], [4.0, 2.5]):
        frame = pl.DataFrame({"legs": cells, "n": range(len(cells))})
        {".parquet": frame.write_parquet, ".csv": frame.write_csv, ".jsonl": frame.write_ndjson}[
            ending
        ](path)
        if cells[1] == 2:
            predict_file(LEGS, path, out, engine=engine)
            assert read(out)["label"].to_list() == ["yes", "no", "no"]
        else:
            with pytest.raises(TellapartError, match=r"2\.5"):
                predict_file(LEGS, path, out, engine=engine)


def test_json_lines_that_show_their_types_late(tmp_path: Path) -> None:
    path, out = tmp_path / "t.jsonl", tmp_path / "out.parquet"
    first = '{"legs": 4}\n' * 11_000
    path.write_text(first + '{"legs": 2.0}\n')
    predict_file(LEGS, path, out)
    assert read(out)["label"].to_list() == ["yes"] * 11_000 + ["no"]
    path.write_text(first + '{"legs": "six"}\n')
    with pytest.raises(TellapartError, match=r"line 11001, column 'legs': 'six' is no whole"):
        predict_file(LEGS, path, out)
    path.write_text('{"arms": 1}\n' * 11_000 + '{"legs": 4, "arms": 2}\n')
    predict_file(LEGS, path, out)
    assert read(out)["label"].to_list() == ["no"] * 11_000 + ["yes"]


@every_engine
def test_a_column_without_a_single_value_fits_every_type(engine: str, tmp_path: Path) -> None:
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    names = ["legs", "size", "wild", "born", "seen", "name"]
    pl.DataFrame(
        {name: [None, None] for name in names}, schema=dict.fromkeys(names, pl.Null)
    ).write_parquet(path)
    assert predict_file(ALL, path, out, engine=engine).rows == 2
    assert read(out)["label"].to_list() == [-1, -1]


def test_models_and_outputs_that_do_not_work(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("legs\n4\n")
    with pytest.raises(TellapartError, match=r"must end in \.csv"):
        predict_file(LEGS, path, tmp_path / "out.xls")
    with pytest.raises(TellapartError, match="is the table itself"):
        predict_file(LEGS, path, path)
    with pytest.raises(TellapartError, match="is a function"):
        predict_file(one(len), path, tmp_path / "out.csv")
    with pytest.raises(TellapartError, match="engine must be"):
        predict_file(LEGS, path, tmp_path / "out.csv", engine="oracle")
    with pytest.raises(TellapartError, match="cannot be written"):
        predict_file(LEGS, path, tmp_path / "nowhere" / "out.csv")
    mixed = ta.And(*(ta.parse_feature("legs > 4", {"legs": k}) for k in ("integer", "number")))
    with pytest.raises(TellapartError, match="two kinds of table"):
        predict_file(one(mixed), path, tmp_path / "out.csv")
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]


def test_a_spark_session_keeps_its_settings(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("legs\n2\n4\n")
    mine = {"spark.sql.session.timeZone": "Asia/Tokyo", "spark.sql.caseSensitive": "false"}
    before = {name: spark.conf.get(name) for name in mine}
    try:
        for name, value in mine.items():
            spark.conf.set(name, value)
        predict_file(LEGS, tmp_path / "in.csv", tmp_path / "out.csv", engine="spark")
        assert {name: spark.conf.get(name) for name in mine} == mine
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def test_spark_keeps_the_order_of_rows(spark: Any, tmp_path: Path) -> None:
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    rows = pl.DataFrame({"n": range(200_000)}).with_columns(legs=pl.col("n") % 7)
    rows.write_parquet(path, row_group_size=5_000)
    spark.conf.set("spark.sql.files.maxPartitionBytes", "100000")
    spark.conf.set("spark.sql.files.openCostInBytes", "0")
    try:
        predict_file(LEGS, path, out, engine="spark", keep=["n"])
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
        spark.conf.unset("spark.sql.files.openCostInBytes")
    got = read(out)
    assert got["n"].to_list() == rows["n"].to_list()
    assert (got["label"] == "yes").to_list() == (rows["legs"] >= 4).to_list()


@every_engine
def test_names_that_differ_in_case_are_not_mixed_up(engine: str, tmp_path: Path) -> None:
    path, out = tmp_path / "t.csv", tmp_path / "out.csv"
    path.write_text("Legs,legs\n0,4\n4,0\n")
    read(path).write_parquet(tmp_path / "t.parquet")
    for table in (path, tmp_path / "t.parquet"):
        predict_file(LEGS, table, out, engine=engine, keep=["Legs"])
        assert read(out)["label"].to_list() == ["yes", "no"]
    both = one(ta.parse_feature("Legs < legs", {"Legs": "integer", "legs": "integer"}))
    if engine == "polars":
        predict_file(both, path, out)
        assert read(out)["label"].to_list() == ["yes", "no"]
    else:
        with pytest.raises(TellapartError, match="differ only by case"):
            predict_file(both, path, out, engine=engine)


def test_no_rows_and_no_clauses(needs: Any, tmp_path: Path) -> None:
    needs("duckdb")
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    pl.DataFrame({"legs": []}, schema={"legs": pl.Int64}).write_parquet(path)
    for engine in ("polars", "duckdb"):
        assert predict_file(LEGS, path, out, engine=engine).rows == 0
        assert read(out).columns == ["label", "clause", "example"]
    pl.DataFrame({"legs": [1, 2]}).write_parquet(path)
    for engine in ("polars", "duckdb"):
        bare = ta.DecisionList((), ta.Clause((), None))
        predict_file(bare, path, out, engine=engine)
        assert read(out).rows() == [(None, 1, None)] * 2


def test_more_than_one_batch(tmp_path: Path) -> None:
    path, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    rows = pl.DataFrame({"n": range(1_000_003)}).with_columns(legs=pl.col("n") % 7)
    rows.write_parquet(path)
    told: list[tuple[int, int | None]] = []
    predict_file(LEGS, path, out, keep=["n"], progress=lambda *done: told.append(done))
    got = read(out)
    assert got["n"].to_list() == rows["n"].to_list()
    assert (got["clause"] == 1).to_list() == (rows["legs"] >= 4).to_list()
    assert told[-1] == (1_000_003, 1_000_003)
    assert len(told) > 1


# -- the command line


def run(*words: object) -> int:
    from tellapart.cli import main

    return main([str(word) for word in words])


def test_predict_on_the_command_line(tmp_path: Path, capsys: Any) -> None:
    model, table, out = tmp_path / "m.json", tmp_path / "t.csv", tmp_path / "out.csv"
    ta.save_model(LEGS, model)
    table.write_text("name,legs\nbear,4\nduck,2\nslug,NA\n")
    words = ("predict", model, table, "-o", out, "--read", "nulls=NA")
    (tmp_path / "tellapart.toml").write_text('[predict]\nprefix = "p_"\n')
    assert run(*words, "--keep", "name") == 0
    assert "3 rows labelled" in capsys.readouterr().out
    assert (
        out.read_text()
        == "name,p_label,p_clause,p_example\nbear,yes,1,seen\nduck,no,2,\nslug,no,2,\n"
    )
    (tmp_path / "tellapart.toml").unlink()
    assert run(*words, "--keep-all", "--quiet") == 0
    assert capsys.readouterr() == ("", "")
    assert out.read_text().startswith("name,legs,label,clause,example\nbear,4,yes,1,seen\n")


def test_predict_mistakes_on_the_command_line(tmp_path: Path, capsys: Any) -> None:
    model, table, out = tmp_path / "m.json", tmp_path / "t.csv", tmp_path / "out.csv"
    ta.save_model(LEGS, model)
    table.write_text("name,legs\nbear,4\nduck,two\n")
    assert run("predict", model, table, "-o", out) == 1
    assert "t.csv line 3, column 'legs': 'two'" in capsys.readouterr().err
    assert run("predict", model, tmp_path / "nowhere.csv", "-o", out) == 1
    assert "No such file" in capsys.readouterr().err
    assert run("predict", model, table) == 1
    assert not (tmp_path / "t-labelled.csv").exists()
    assert run("predict") == 2
    assert run("predict", model, table, "-o", out, "--engine", "oracle") == 2
    assert not out.exists()


def test_a_bar_on_a_terminal(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model, table, out = tmp_path / "m.json", tmp_path / "t.csv", tmp_path / "out.csv"
    ta.save_model(LEGS, model)
    table.write_text("name,legs\nbear,4\n")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert run("predict", model, table, "-o", out) == 0
    said = capsys.readouterr()
    assert "t.csv" in said.err
    assert "1 rows labelled" in said.out
