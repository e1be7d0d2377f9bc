"""Tables from anywhere: frames of other libraries, databases, addresses, samples; and sessions that
read their table again."""

from __future__ import annotations

import io
import sqlite3
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import polars as pl
import pytest

import tellapart as ta
from messy_files import FILES, database
from tellapart.cli import main
from tellapart.engines import predict_file
from tellapart.errors import FormatError, ParameterError, TableChanged
from tellapart.sessions import Given, Store
from tellapart.tables.append import appended
from tellapart.tables.options import ReadOptions
from tellapart.tables.source import remembered

# -- frames


class Stream:
    """Whatever offers the Arrow C stream, such as a Hugging Face set."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.frame = pl.DataFrame(data)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.frame.__arrow_c_stream__(requested_schema)


def test_whatever_offers_the_arrow_stream_is_a_table(needs: Callable[[str], None]) -> None:
    data: dict[str, Any] = {"a": [1, 2], "b": ["x", None]}
    import pyarrow as pa

    frames = [Stream(data), pa.table(data), pa.table(data).to_reader()]
    needs("duckdb")
    import duckdb

    frames.append(duckdb.sql("select * from (values (1, 'x'), (2, null)) t(a, b)"))
    for frame in frames:
        table = ta.Table(frame)
        assert table.schema == {"a": "integer", "b": "text"}
        assert [dict(row) for row in table.items] == [{"a": 1, "b": "x"}, {"a": 2, "b": None}]


def test_the_index_of_pandas_is_a_column_unless_it_is_the_row_number() -> None:
    frame = pd.DataFrame({"legs": [4, 2]})
    assert ta.Table(frame).columns == ["legs"]
    assert ta.Table(frame, id=None).values("legs") == [4, 2]
    frame.index = pd.Index(["bear", "duck"], name="name")
    assert ta.Table(frame, id="name").item("duck")["legs"] == 2
    frame.index.name = None
    assert ta.Table(frame).columns == ["index", "legs"]
    assert ta.Table(frame.iloc[1:].reset_index(drop=True).iloc[:0]).columns == ["legs"]
    double = frame.set_index(pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["k", None]))
    assert ta.Table(double).columns == ["k", "index_1", "legs"]
    frame.index.name = "legs"
    with pytest.raises(FormatError, match="the index and a column are both called 'legs'"):
        ta.Table(frame)


def test_elements_of_lists_can_be_asked_about() -> None:
    table = ta.Table({"tags": [["red", "big"], ["blue"], [], None]})
    assert table.count(table.parse("tags LIKE '%red%'")) == 1
    assert table.values("tags") == ["red, big", "blue", "", None]


# -- files that are not plain


def test_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    parquet = io.BytesIO()
    pl.DataFrame({"a": [1]}).write_parquet(parquet)
    for content in (b"a\n1\n", b'{"a": 1}\n', b'[{"a": 1}]', parquet.getvalue()):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        assert ta.read_table("-").values("a") == [1]
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"")))
    with pytest.raises(FormatError, match="standard input is empty"):
        ta.read_table("-")
    with Store(tmp_path / "s.db") as store, pytest.raises(ParameterError, match="save standard"):
        ta.Session.new(store, "s", "-")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    made = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{made.server_address[1]}"
    made.shutdown()
    made.server_close()
    thread.join()


def test_addresses(server: str, tmp_path: Path) -> None:
    FILES["gzip"].write(tmp_path)
    assert ta.read_table(f"{server}/t.csv.gz?x=1").values("a") == [1, 2]
    with pytest.raises(FormatError, match="cannot be fetched"):
        ta.read_table(f"{server}/none.csv")
    with pytest.raises(FormatError, match="cannot read ftp://"):
        ta.read_table("ftp://host/a.csv")


def test_several_files_and_kinds(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    (tmp_path / "b.csv").write_text("a\n2\n")
    assert ta.read_table([tmp_path / "a.csv", tmp_path / "b.csv"]).values("a") == [1, 2]
    (tmp_path / "c.jsonl").write_text('{"a": 3}\n')
    with pytest.raises(FormatError, match="files of different kinds"):
        ta.read_table(tmp_path)
    with pytest.raises(FormatError, match="no file has such a name"):
        ta.read_table(str(tmp_path / "x*.csv"))
    for year in (2023, 2024):
        (tmp_path / "hive" / f"year={year}").mkdir(parents=True)
        pl.DataFrame({"a": [year % 10]}).write_parquet(tmp_path / f"hive/year={year}/p.parquet")
    table = ta.read_table(tmp_path / "hive")
    assert table.values("a") == [3, 4]
    assert table.values("year") == [2023, 2024]


# -- databases


def test_queries(tmp_path: Path, needs: Callable[[str], None]) -> None:
    place = database(tmp_path)
    table = ta.read_table(place, query="select * from pets", types={"born": "date"})
    assert str(table.values("born")[0]) == "2024-01-31"
    assert "without ORDER BY" in str(table.findings[0])
    with pytest.raises(FormatError, match="the query fails: no such table: cats"):
        ta.read_table(place, query="select * from cats")
    with pytest.raises(FormatError, match="there is no file"):
        ta.read_table("sqlite:none.db", query="select 1")
    with pytest.raises(ParameterError, match="query is only for those"):
        ta.read_table(FILES["gzip"].write(tmp_path), query="select 1")
    needs("duckdb")
    import duckdb

    with duckdb.connect(str(tmp_path / "t.duckdb")) as base:
        base.execute("create table pets as select 'rex' as name, 4 as legs")
    read = ta.read_table(f"duckdb:{tmp_path / 't.duckdb'}", query="from pets order by name")
    assert [dict(row) for row in read.items] == [{"name": "rex", "legs": 4}]


def test_a_query_to_postgresql(postgres: str) -> None:
    known = dict(part.split("=") for part in postgres.split())
    address = f"postgresql://{known['user']}@/{known['dbname']}?host={known['host']}"
    table = ta.read_table(
        address,
        query="select n, n::numeric / 2 as half, array['a', 'b'] as l, date '2024-01-31' as d"
        " from generate_series(1, 2) n order by n",
    )
    assert table.schema == {"n": "integer", "half": "number", "l": "text", "d": "date"}
    assert table.values("half") == [0.5, 1.0]
    with pytest.raises(FormatError, match="the query fails"):
        ta.read_table(address, query="create table x (a int)")


# -- samples


def test_a_sample_is_the_same_every_time_and_knows_the_whole(tmp_path: Path) -> None:
    frame = pl.DataFrame({"n": range(1000), "even": [n % 2 == 0 for n in range(1000)]})
    frame.write_csv(tmp_path / "t.csv")
    frame.write_parquet(tmp_path / "t.parquet")
    taken = ta.read_table(tmp_path / "t.csv", sample=100)
    assert (len(taken), taken.whole) == (100, 1000)
    assert taken.values("n") == sorted(taken.values("n"))
    assert ta.read_table(tmp_path / "t.parquet", sample=100).values("n") == taken.values("n")
    other = ta.read_table(tmp_path / "t.csv", sample=100, sample_seed=1)
    assert other.values("n") != taken.values("n")
    assert "a random sample of 1,000 rows" in str(taken.without(["even"]).summary())
    assert ta.read_table(tmp_path / "t.csv", sample=1000).whole is None
    (tmp_path / "bad.csv").write_text("a,b\n" + "1,2\n" * 50 + "3\n")
    with pytest.raises(FormatError, match="line 52: 1 cell"):
        ta.read_table(tmp_path / "bad.csv", sample=2)


def test_what_is_said_of_the_error_is_about_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    pl.DataFrame({"n": range(2000), "odd": [n % 2 for n in range(2000)]}).write_csv(path)
    with Store(tmp_path / "s.db") as store:
        how = {"sample": 200}
        session = ta.Session.new(store, "s", path, reading=how, order="random")
        with session:
            for _ in range(100):
                given = session.next("Ann")
                assert isinstance(given, Given)
                label = "odd" if given.item["odd"] else "even"
                if given.guess.label == label:
                    session.answer("Ann", given.id, "right")
                else:
                    feature = None if given.asks == "label" else f"odd = {given.item['odd']}"
                    session.answer("Ann", given.id, "wrong", label, feature)
            summary = session.summary()
        assert (summary.items, summary.left, summary.error.rows_left) == (200, 100, 1900)
        # a bound for the whole is the same share as for draws without end, or a little less
        assert 0 < summary.error.wrong_left < 1900 * 0.15
        again = ta.Session.open(store, "s")
        assert again.summary() == summary
        again.close()
        pl.DataFrame({"n": range(2001), "odd": [n % 2 for n in range(2001)]}).write_csv(path)
        with pytest.raises(TableChanged):
            ta.Session.open(store, "s")


# -- sessions


def test_a_session_reads_its_table_as_it_did(tmp_path: Path) -> None:
    """Also one of an older version, which read other types."""
    path = tmp_path / "t.csv"
    path.write_text("name,when,price,at\nbear,12/31/2024,$5,9:30\nduck,1/2/2024,$7,10:00\n")
    old = {"name": "text", "when": "text", "price": "text"}  # times of day were left out
    with Store(tmp_path / "s.db") as store:
        frame = pl.read_csv(path, infer_schema_length=0).drop("at")
        before = ta.Table(frame, id="name", name="t.csv")
        assert before.schema == old
        ta.Session.new(store, "s", before).close()
        event = store.opened("s")
        event.data["source"] = {"path": str(path), "id": "name"}
        from tellapart.sessions.session import read_again

        assert read_again("s", event).schema == old
        ta.Session.open(store, "s", read_again("s", event)).close()
        new = ta.Session.new(store, "n", path, reading={"id": "name"})
        assert new.table.schema == {
            "name": "text",
            "when": "date",
            "price": "integer",
            "at": "text",
        }
        new.close()
        again = ta.Session.open(store, "n")
        assert [f.column for f in again.table.findings] == ["when", "price", "at"]
        again.close()


def test_rows_are_appended_as_the_file_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("n;c\n1;3,5\n")
    with appended(path, [{"n": 2, "c": 2.5}], ReadOptions(decimal=",")):
        pass
    assert ta.read_table(path, decimal=",").values("c") == [3.5, 2.5]


# -- commands


def test_commands_say_what_could_be_read_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("name,born,wet\nbear,1/2/2024,yes\nduck,3/4/2024,no\n")
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["teach", "t.csv", "--console"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "tellapart: born: dates such as '1/2/2024', which do not show whether the day or the month"
        " comes first; read as dates with the day first. To change that: --read dates=month-first",
        "tellapart: wet: only 'no' and 'yes'; read as texts. To change that: --read true=yes --read"
        " false=no",
    ]
    born = ta.parse_feature("born >= DATE '2024-02-01'", {"born": "date"})
    wet = ta.parse_feature("wet", {"wet": "bool"})
    clauses = [ta.Clause((ta.Literal(one),), str(one)[:4]) for one in (born, wet)]
    ta.save_model(ta.DecisionList(tuple(clauses), ta.Clause((), "no")), "m.json")
    words = ["predict", "m.json", "t.csv", "-o", "o.csv", "--read", "true=yes"]
    words += ["--read", "false=no"]
    for more, labels in (
        ([], ["born", "born"]),
        (["--read", "dates=month-first"], ["wet", "born"]),
    ):
        assert main([*words, *more]) == 0
        assert pl.read_csv("o.csv")["label"].to_list() == labels
        assert ("day first" in capsys.readouterr().err) is (not more)


def test_commands_ask_databases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    place = database(tmp_path)
    for _ in range(2):  # begun, and opened again
        monkeypatch.setattr("sys.stdin", io.StringIO(""))
        query = ["--read", "query=select * from pets order by name", "--read", f"from={place}"]
        assert main(["teach", *query, "--console"]) == 0
        assert "rex" in capsys.readouterr().out
    legs = ta.parse_feature("legs = 4", {"legs": "integer"})
    model = ta.DecisionList((ta.Clause((ta.Literal(legs),), "yes"),), ta.Clause((), "no"))
    ta.save_model(model, "m.json")
    assert main(["predict", "m.json", "-o", "o.csv", "--keep", "name", *query]) == 0
    assert pl.read_csv("o.csv").rows() == [("rex", "yes", 1, None), ("tom", "no", 2, None)]
    assert main(["predict", "m.json", "x.csv", "-o", "o.csv", *query]) == 1
    assert "not both" in capsys.readouterr().err


def test_no_password_is_written_down() -> None:
    address = "postgresql://ann:se/cret@host/zoo?password=secret&port=5"
    assert remembered(address) == "postgresql://ann@host/zoo?port=5"
    assert remembered([address, "sqlite:/a.db"])[0] == "postgresql://ann@host/zoo?port=5"


def test_a_query_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with sqlite3.connect(file) as base:
        base.execute("CREATE TABLE t (a INTEGER)")
    base.close()
    before = file.read_bytes()
    with pytest.raises(FormatError, match="the query fails"):
        ta.read_table(f"sqlite:{file}", query="insert into t values (1) returning a")
    assert file.read_bytes() == before


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('[{"a.b": 1, "a": {"b": 2}}]')
    with pytest.raises(FormatError, match=r"two columns would be called 'a\.b'"):
        ta.read_table(file)


def test_a_type_that_polars_does_not_know_is_named_with_its_column(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as base:
        base.execute("create table t as select 1 a, interval 3 day i")
    with pytest.raises(FormatError, match=r"column 'i' cannot be read.*Cast it to another type"):
        ta.read_table(f"duckdb:{tmp_path / 't.duckdb'}", query="select * from t")
    table = ta.read_table(f"duckdb:{tmp_path / 't.duckdb'}", query="select a, epoch(i) i from t")
    assert table.values("i") == [259200.0]


def test_a_column_that_features_cannot_read_is_named() -> None:
    pa = pytest.importorskip("pyarrow")
    maps = pa.array([[("a", 1)], [("b", 2)]], pa.map_(pa.string(), pa.int64()))
    table = ta.Table(pa.table({"m": maps, "x": [1, 2]}))
    assert [finding.column for finding in table.findings] == ["m"]
    assert "features cannot read them" in str(table.findings[0])
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(FormatError, match="two columns are called 'a'"):
        ta.Table(twice)


class Bucket(SimpleHTTPRequestHandler):
    """An object store, as far as reading goes: GET with ranges, and no such thing."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = Path(self.directory) / self.path.split("?")[0].lstrip("/")
        if not path.is_file():
            self.send_error(404)
            return
        whole = path.read_bytes()
        start, _, end = self.headers.get("range", "bytes=0-").removeprefix("bytes=").partition("-")
        first = int(start) if start else max(0, len(whole) - int(end))
        part = whole[first : int(end) + 1 if start and end else len(whole)]
        self.send_response(206 if "range" in self.headers else 200)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("Content-Range", f"bytes {first}-{first + len(part) - 1}/{len(whole)}")
        self.send_header("ETag", '"1"')
        self.send_header("Last-Modified", "Mon, 16 Nov 2026 08:00:00 GMT")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(part)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that is `s3://zoo`."""
    folder = tmp_path / "store" / "zoo"
    folder.mkdir(parents=True)
    made = ThreadingHTTPServer(("127.0.0.1", 0), partial(Bucket, directory=str(folder.parent)))
    threading.Thread(target=made.serve_forever, args=(0.05,), daemon=True).start()
    known = {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "REGION": "us-east-1"}
    known |= {"ENDPOINT_URL": f"http://127.0.0.1:{made.server_address[1]}", "ALLOW_HTTP": "true"}
    for name, value in known.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    yield folder
    made.shutdown()
    made.server_close()


def test_an_object_store_is_read(
    bucket: Path, tmp_path: Path, needs: Callable[[str], None]
) -> None:
    needs("duckdb")
    pl.DataFrame({"name": ["bear", "duck"], "legs": [4, 2]}).write_parquet(bucket / "a.parquet")
    assert ta.read_table("s3://zoo/a.parquet").values("legs") == [4, 2]
    walks = ta.parse_feature("legs >= 4", {"legs": "integer"})
    model = ta.DecisionList((ta.Clause((ta.Literal(walks),), "walks"),), ta.Clause((), "else"))
    out = tmp_path / "out.csv"
    for engine in ("polars", "duckdb"):
        predict_file(model, "s3://zoo/a.parquet", out, engine=engine)
        assert pl.read_csv(out)["label"].to_list() == ["walks", "else"]
    with pytest.raises(FormatError, match="not found") as raised:
        ta.read_table("s3://zoo/no.parquet")
    assert "\n" not in str(raised.value)
    with pytest.raises(FormatError, match="only Parquet and Arrow files are read from an object"):
        ta.read_table("s3://zoo/a.csv")
    with pytest.raises(FormatError, match="patterns are for files of this machine"):
        ta.read_table("s3://zoo/*.csv")
