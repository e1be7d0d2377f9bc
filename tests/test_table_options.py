"""How a table is read, said to commands: one set of options, and a session remembers them."""

from __future__ import annotations

import io
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tellapart as ta
from tellapart.cli import main
from tellapart.cli.open_session import open_or_begin
from tellapart.cli.options import TableOptions, reading_of
from tellapart.engines import predict_file
from tellapart.errors import FormatError, ParameterError, as_options
from tellapart.sessions import Store

ODD = (
    "name;zip;weight;kind\n"
    "Bär;04103;-;mammal\n"
    "Ente;99999;2.5;bird\n"
    "Löwe;10115;none;mammal\n"
    "Möwe;20095;0.5;bird\n"
)
"""Semicolons, Latin-1, two words for unknown, and postal codes."""
HOW = [
    *("--read", "encoding=latin-1", "--read", "nulls=-"),
    *("--read", "nulls=none", "--read", "types=zip=text"),
]
READ: dict[str, Any] = {"encoding": "latin-1", "nulls": ["-", "none"], "types": {"zip": "text"}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("odd.csv").write_bytes(ODD.encode("latin-1"))
    return tmp_path


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command that fails: its one line."""

    def run(*words: str) -> str:
        assert main(list(words)) == 1
        [line] = capsys.readouterr().err.splitlines()
        return line

    return run


# -- what is given


def test_options_become_arguments() -> None:
    words = ["encoding=latin-1", "nulls=none", "nulls=-", "nulls=-"]
    assert reading_of([*words, "types=zip=text", "types=a=b=date"], None) == (
        {
            "encoding": "latin-1",
            "nulls": ["-", "none"],
            "types": {"zip": "text", "a=b": "date"},
        },
        {},
    )
    assert reading_of(["separator=\\t"], None)[0] == {"separator": "\t"}
    assert reading_of(None, None) == reading_of([], {}) == ({}, {})


def test_arguments_become_options() -> None:
    assert as_options("separator", "\t") == "--read separator=tab"
    assert as_options("separator", ";") == "--read 'separator=;'"
    assert as_options("encoding", "cp1252") == "--read encoding=cp1252"


@pytest.mark.parametrize("given", ["zip", "=text", "zip=", ""])
def test_a_type_is_given_to_a_column(given: str) -> None:
    with pytest.raises(ParameterError, match="--read types is COLUMN=TYPE, such as zip=text"):
        reading_of([f"types={given}"], None)


def test_an_error_knows_both_languages_wherever_it_goes() -> None:
    error = FormatError("{a} {nulls}", nulls=["x y"])
    for one in (error, pickle.loads(pickle.dumps(error))):
        assert str(one) == "{a} nulls=['x y']"
        assert one.said(as_options) == "{a} --read 'nulls=x y'"


# -- the words of whoever reads


@pytest.mark.parametrize(
    ("words", "option", "argument"),
    [
        ([], "likely --read encoding=cp1252", "likely encoding='cp1252'"),
        (["encoding=latin-1"], "pass --read nulls=-; or", "pass nulls=['-']; or"),
        (
            ["encoding=latin-1", "nulls=-"],
            "'none' is no number, but other cells of the column are. Fix the cell; or, if it means"
            " unknown, leave it empty or pass --read nulls=none; or pass --read types=weight=text",
            "types={'weight': 'text'}",
        ),
    ],
)
def test_advice_names_options_to_commands_and_arguments_to_programs(
    words: list[str], option: str, argument: str, said: Callable[..., str]
) -> None:
    model = ta.DecisionList((), ta.Clause((), "x"))
    ta.save_model(model, "m.json")
    for command in (["simulate", "--label", "kind", "--table"], ["teach", "--console"], ["serve"]):
        assert option in said(*command, "odd.csv", *(w for one in words for w in ("--read", one)))
    how = reading_of(words, None)[0]
    with pytest.raises(FormatError) as raised:
        ta.read_table("odd.csv", **how)
    assert argument in str(raised.value)


def test_advice_on_separators_and_utf_16(said: Callable[..., str]) -> None:
    command = ("simulate", "--label", "kind", "--table")
    Path("odd.csv").write_text(ODD, encoding="utf-16")
    assert said(*command, "odd.csv").endswith("or pass --read encoding=utf-16")
    Path("odd.csv").write_text("a;b\n1;2\n3;4;5\n")
    assert said(*command, "odd.csv").endswith(
        "or pass another separator, such as --read separator=,"
    )
    assert "one character such as ';', and no quote, got '::'" in said(
        *command, "odd.csv", "--read", "separator=::"
    )


def test_what_does_not_fit_is_said(said: Callable[..., str]) -> None:
    command = ("simulate", "--label", "kind")
    table = ("--table", "odd.csv", "--read", "encoding=latin-1")
    assert "types are bool, integer, number" in said(*command, *table, "--read", "types=zip=txt")
    line = said(*command, *table, "--read", "types=zap=text")
    assert (
        "odd.csv has no column 'zap' to give a type to. Did you mean 'zip'? Columns: name" in line
    )
    assert "unknown encoding 'base64'" in said(*command, *table[:3], "encoding=base64")
    for words in (("simulate",), ("serve",), ("teach",)):
        assert "--read nulls=-: that is how to read a table" in said(*words, "--read", "nulls=-")
    pl.DataFrame({"kind": ["x"]}).write_parquet("t.parquet")
    for key in ("separator", "encoding", "nulls"):
        words = ("--table", "t.parquet", "--read", f"{key}=;")
        assert "t.parquet is no CSV file" in said(*command, *words)
    for wrong, message in (
        ("separator", "--read is KEY=VALUE, such as separator=tab"),
        ("colour=red", "there is no such key; there are separator, encoding"),
        ("header=one", "expected a whole number, got 'one'"),
        ("dates=odd", "one of day-first, month-first, iso"),
    ):
        assert message in said(*command, *table, "--read", wrong)
    ta.save_model(ta.DecisionList((), ta.Clause((), "x")), "m.json")
    assert "reads the whole table" in said(
        "predict", "m.json", "odd.csv", "-o", "o.csv", "--read", "sample=2"
    )


def test_what_a_file_says_is_read_too(
    said: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    """`tellapart.toml` beside the table or above it; `--read` goes before it."""
    Path("data").mkdir()
    Path("odd.csv").rename("data/odd.csv")
    command = ["simulate", "--label", "kind", "--table", "data/odd.csv"]
    settings = '[read]\nencoding = "latin-1"\nnulls = ["-", "none"]\n[read.types]\nzip = "text"\n'
    for place in ("data/tellapart.toml", "tellapart.toml"):
        Path(place).write_text(settings)
        assert main(command) == 0
        assert "weight is known" in capsys.readouterr().out
        Path(place).unlink()
    Path("other.toml").write_text(settings)
    assert main([*command, "--config", "other.toml"]) == 0
    capsys.readouterr()
    assert main(["simulate", "--items", "30", "--config=other.toml"]) == 0  # without a table
    capsys.readouterr()
    assert "likely --read encoding" in said(*command, "--config", "other.toml", "--read",
                                            "encoding=utf-8")  # fmt: skip
    for text, message in (
        ("[red]\n", "'red' is no section; there are [teach]"),
        ("read = 1\n", "'read' is no section"),
        ("[read\n", "other.toml is not TOML"),
        ("[read]\nnul = 1\n", "nul in [read]: there is no such key"),
    ):
        Path("other.toml").write_text(text)
        assert message in said(*command, "--config", "other.toml")
    assert "none.toml" in said(*command, "--config", "none.toml")


MOVED = {
    "teach": "separator types null no-header keys",
    "serve": "separator sample title allow-host",
    "distil": "sample-seed meaning price-in batch labels-only id reply-tokens second share report",
    "predict": "encoding prefix master",
    "simulate": "sample query teacher",
    "export": "value clean simplify",
}


@pytest.mark.parametrize("command", MOVED)
def test_an_option_that_moved_is_refused_with_its_new_place(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in MOVED[command].split():
        for words in ([f"--{option}", "x"], [f"--{option}=x"]):
            assert main([command, "odd.csv", *words]) == 2
            line = capsys.readouterr().err
            assert re.match(f"tellapart: --{option} (moved|is gone): .*--help", line)
            assert line.count("\n") == 1


# -- every command that reads a table


def test_simulate_reads_it_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--table", "odd.csv", "--label", "kind", *HOW]) == 0
    assert "weight is known" in capsys.readouterr().out


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8"])
def test_predict_reads_it_so(
    engine: str, encoding: str, folder: Path, needs: Callable[[str], None]
) -> None:
    if engine == "duckdb":
        needs("duckdb")
    table = ta.read_table("odd.csv", **READ)
    clauses = [("zip = '10115'", "post"), ("weight > 1", "heavy"), ("name = 'Möwe'", "gull")]
    made = [ta.Clause((ta.Literal(table.parse(text)),), label) for text, label in clauses]
    ta.save_model(ta.DecisionList(tuple(made), ta.Clause((), "no")), "m.json")
    Path("odd.csv").write_text(ODD.replace(";", ":"), encoding=encoding)
    how = [*HOW[2:], "--read", f"encoding={encoding}", "--read", "separator=:"]
    how += ["--engine", engine]
    assert main(["predict", "m.json", "odd.csv", "-o", "out.csv", "--keep", "name", *how]) == 0
    rows = [line.split(",")[:2] for line in Path("out.csv").read_text().splitlines()[1:]]
    assert rows == [["Bär", "no"], ["Ente", "heavy"], ["Löwe", "post"], ["Möwe", "gull"]]
    assert sorted(one.name for one in folder.iterdir()) == ["m.json", "odd.csv", "out.csv"]


def test_predict_goes_by_the_model(said: Callable[..., str], folder: Path) -> None:
    code = ta.parse_feature("zip = '10115'", {"zip": "text"})
    model = ta.DecisionList((ta.Clause((ta.Literal(code),), "post"),), ta.Clause((), "no"))
    ta.save_model(model, "m.json")
    words = ("predict", "m.json", "odd.csv", "-o", "out.csv", "--read", "encoding=latin-1")
    assert "the model takes it for text" in said(*words, "--read", "types=zip=number")
    assert "odd.csv has no column 'zap'. Did you mean 'zip'?" in said(
        *words, "--read", "types=zap=date"
    )
    assert "odd.csv: byte 22 is not ascii" in said(*words[:-1], "encoding=ascii")
    assert sorted(one.name for one in folder.iterdir()) == ["m.json", "odd.csv"]
    plain = ta.DecisionList((ta.Clause((ta.Literal("zip"),), "some"),), ta.Clause((), "none"))
    with pytest.raises(FormatError, match=r"'04103' is no true or false, which the column is to"):
        predict_file(plain, "odd.csv", "out.csv", encoding="latin-1", types={"zip": "bool"})


def test_a_session_remembers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, said: Callable[..., str]
) -> None:
    def teach(keys: str, *words: str) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO(keys))
        assert main(["teach", "odd.csv", "--console", *words]) == 0
        return capsys.readouterr().out

    assert "What is Bär?" in teach("lbeast\n", "--order", "file", "--label", "kind", *HOW)
    assert "Ente" in teach("")
    assert "Ente" in teach("", *HOW)  # to say it again is harmless
    with Store("odd.csv.sessions.db") as store:
        assert READ.items() <= store.opened("odd").data["source"].items()
    for words, begun in (
        ("nulls=-", "with --read nulls=- --read nulls=none."),
        ("types=zip=integer", "with --read types=zip=text."),
        ("separator=;", "without it."),
        ("encoding=utf-8", "with --read encoding=latin-1."),
    ):
        line = said("teach", "odd.csv", "--console", "--read", words)
        assert words in line
        assert f"the session was begun {begun} Leave it out to go on; or begin another" in line


def test_a_served_session_remembers() -> None:
    with Store("s.db") as store:
        open_or_begin(store, Path("odd.csv"), "odd", READ).close()
        again = open_or_begin(store, Path("odd.csv"), "odd")
        assert again.table.schema["zip"] == "text"
        assert again.table.values("weight") == [None, 2.5, None, 0.5]
        again.close()
        with pytest.raises(ParameterError, match="begin another one with --session NAME"):
            open_or_begin(store, Path("odd.csv"), "odd", {"nulls": ["x"]})
        for chosen, begun in (
            ([TableOptions(id="weight")], "--id weight: the session was begun with"),
            (
                [TableOptions(learner="DFF")],
                "--learner DFF: the session has another learner, AutoDFF.",
            ),
            (
                [TableOptions(learner="CappedDFF:m=7")],
                "another learner, AutoDFF. Leave it out to go on",
            ),
        ):
            with pytest.raises(ParameterError, match=re.escape(begun)):
                open_or_begin(store, Path("odd.csv"), "odd", None, *chosen)
            with pytest.raises(ParameterError, match=re.escape("--overlap 0.5: it is 0.0 in this")):
                open_or_begin(store, Path("odd.csv"), "odd", overlap=0.5)
        same = TableOptions(learner="AutoDFF")
        open_or_begin(store, Path("odd.csv"), "odd", None, same, overlap=0.0).close()


def test_a_word_beside_those_for_true_and_false_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("n,ok\na,yes\nb,no\nc,maybe\nd,yes\n")
    words = {"true": ["yes"], "false": ["no"]}
    [finding] = ta.read_table(path, **words).findings
    assert str(finding) == (
        "ok: 'maybe' among the words for true and false; read as texts. To change that:"
        " nulls=['maybe']"
    )
    table = ta.read_table(path, **words, **finding.option)
    assert table.values("ok") == [True, False, None, True]
