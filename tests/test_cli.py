"""The command line, run in this process: what it prints, and how it ends."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tellapart
from tellapart.cli import COMMANDS, main

SNAPSHOTS = Path(__file__).parent / "snapshots"
ANIMALS = """name,milk,feathers,legs,class
bear,yes,no,4,mammal
duck,no,yes,2,bird
bass,no,no,0,fish
bat,yes,no,2,mammal
hen,no,yes,2,bird
carp,no,no,0,fish
"""


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No files are left behind, and lines are as long as on a wide terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")


@pytest.fixture
def animals(tmp_path: Path) -> str:
    (tmp_path / "animals.csv").write_text(ANIMALS, encoding="utf-8")
    return "animals.csv"


def words(text: str) -> str:
    """The text without its layout."""
    return " ".join(text.split())


def fails(capsys: pytest.CaptureFixture[str], code: int, *arguments: str) -> str:
    """Run a command that must end in `code` with one line on stderr; that line."""
    assert main(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tellapart: ")
    assert err.count("\n") == 1
    return err


def without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)


# -- the frame


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"{tellapart.__version__}\n"


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = words(capsys.readouterr().out)
    for name, line in COMMANDS.items():
        assert f"{name} " in shown
        assert line in shown
    assert main([]) == 0
    assert words(capsys.readouterr().out) == shown


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    shown = words(capsys.readouterr().out)
    assert COMMANDS[command] in shown, "the line in COMMANDS is the docstring's first"
    assert f"tellapart {command} --" in shown, "an example"


def test_help_loads_nothing_heavy() -> None:
    code = "import sys; from tellapart.cli import main; main(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert not loaded & {"numpy", "matplotlib", "tellapart.worlds", "tellapart.cli.simulate"}


@pytest.mark.slow
def test_as_a_module_and_through_a_pipe_that_closes() -> None:
    command = f"{sys.executable} -m tellapart simulate --world zoo | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == "Teaching zoo(seed=0)\n"
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["dmo"], 'Unknown command "dmo"'),
        (["demo", "--sed", "3"], "--sed"),
        (["demo", "--seed", "x"], "expected a whole number, got 'x'"),
        (["demo", "--seed", "1.5"], "expected a whole number, got '1.5'"),
        (["demo", "more"], "more"),
        (["simulate", "--world", "mars"], "Choose from"),
        (["simulate", "--items", "2e3"], "expected a whole number"),
        (["simulate", "--exceptions", "few"], "expected a count or a rate, got 'few'"),
        (["simulate", "--learner"], "--learner"),
    ],
)
def test_wrong_usage_ends_in_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in fails(capsys, 2, *arguments)


# -- demo


def test_demo_as_it_was(capsys: pytest.CaptureFixture[str], needs: Callable[[str], None]) -> None:
    """TELLAPART_UPDATE=1 writes the snapshot anew; look at the difference."""
    needs("matplotlib")
    assert main(["demo"]) == 0
    shown = "".join(f"{line.rstrip()}\n" for line in capsys.readouterr().out.splitlines())
    kept = SNAPSHOTS / "demo.txt"
    if os.environ.get("TELLAPART_UPDATE"):
        kept.write_text(shown, encoding="utf-8")
    assert words(shown) == words(kept.read_text(encoding="utf-8"))
    assert Path("tellapart-demo.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 8))
@pytest.mark.parametrize("columns", [80, 120])
def test_demo_tells_of_the_platypus_whatever_the_seed(
    seed: int, columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    without_matplotlib(monkeypatch)
    assert main(["demo", "--seed", str(seed)]) == 0
    out = capsys.readouterr().out
    story = out[out.index("A few rounds") : out.index("What AutoDFF learnt")]
    assert "platypus" in story
    assert max(map(len, out.splitlines())) <= columns
    assert "…" not in out, "nothing is cut"


@pytest.mark.slow
def test_demo_without_matplotlib_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    without_matplotlib(monkeypatch)
    assert main(["demo"]) == 0
    out, err = capsys.readouterr()
    assert "What AutoDFF learnt" in out
    assert "pip install 'tellapart[lab]'" in err
    assert list(Path().iterdir()) == []


@pytest.mark.slow
def test_demo_for_machines(
    capsys: pytest.CaptureFixture[str], needs: Callable[[str], None]
) -> None:
    needs("matplotlib")
    assert main(["demo", "--json", "--picture", "curves.svg"]) == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert err == ""
    assert told["picture"] == "curves.svg"
    assert Path("curves.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert [odd["item"] for odd in told["exceptions"]] == ["seasnake", "scorpion", "platypus"]
    assert len(told["learners"]) >= 3
    for learner in told["learners"]:
        assert learner["mistakes"] == len(learner["mistake_rounds"]) <= learner["rounds"] == 101
        assert learner["bound"] is None or learner["mistakes"] <= learner["bound"]
        assert len(learner["slips"]) == 2
    platypus = next(one for one in told["story"] if one["item"] == "platypus")
    assert platypus["round"] == 88
    assert platypus["exception"] is True
    assert platypus["slip"] is False
    assert (platypus["correction"] is None) == (platypus["guess"]["label"] == "mammal")


@pytest.mark.slow
def test_same_seed_same_bytes(
    capsys: pytest.CaptureFixture[str], needs: Callable[[str], None]
) -> None:
    needs("matplotlib")
    runs = []
    for picture in ("one.png", "two.png"):
        assert main(["demo", "--seed", "5", "--picture", picture]) == 0
        shown = capsys.readouterr().out.replace(picture, "")
        runs.append((shown, Path(picture).read_bytes()))
    assert runs[0] == runs[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("picture", "said"),
    [("no/such/folder/a.png", "no/such/folder/a.png: No such file"), ("a.doc", "end it in one of")],
)
def test_a_picture_that_cannot_be_saved(
    picture: str, said: str, capsys: pytest.CaptureFixture[str], needs: Callable[[str], None]
) -> None:
    needs("matplotlib")
    assert said in fails(capsys, 1, "demo", "--picture", picture)


# -- simulate


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["--items", "200"],
        ["--world", "dnf", "--items", "200", "--exceptions", "5", "--slips", "0.05"],
        ["--world", "lower-bound", "--components", "5"],
        ["--world", "single-exception", "--features", "9"],
        ["--items", "1"],
        ["--components", "1", "--items", "9"],
        ["--items", "60", "--learner", "robust:patience=0", "--learner", "StRoDFF:scale=0.1"],
        ["--items", "60", "--learner", "guarded", "--learner", "adaptive:schedule=ruler"],
    ],
)
def test_simulate(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", *arguments]) == 0
    out = capsys.readouterr().out
    assert "Mistakes, and the most there could be" in out
    assert main(["simulate", *arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["tellapart"] == "simulation"
    for learner in told["learners"]:
        assert learner["bound"] is None or learner["mistakes"] <= learner["bound"]
    assert list(Path().iterdir()) == []


def test_simulate_a_file(animals: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--table", animals, "--label", "class", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["items"], told["labels"], told["components"]) == (6, 3, 3)
    assert told["exceptions"] == []
    first = told["learners"][0]
    assert (first["mistakes"], first["bound"], first["right_afterwards"]) == (2, 21, 6)
    assert told["story"][1] == {
        "round": 1,
        "item": "duck",
        "guess": {"label": "mammal", "example": "bear"},
        "correction": {"label": "bird", "feature": "not (milk = 'yes')"},
        "slip": False,
        "exception": False,
    }


def test_simulate_saves_what_was_learnt(
    animals: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "learnt.json"
    command = ["simulate", "--table", animals, "--label", "class", "--learner", "dff"]
    assert main([*command, "--model", str(saved)]) == 0
    capsys.readouterr()
    assert main(["export", str(saved), "--to", "select", "--table", "animals"]) == 0
    assert "AS rules" in capsys.readouterr().out


@pytest.mark.slow
def test_the_labels_of_a_file_are_not_among_its_features(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    coins = random.Random(7)
    rows = [f"{coins.randint(0, 99)},{coins.choice('xy')}\n" for _ in range(120)]
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(rows), encoding="utf-8")
    assert main(["simulate", "--table", "t.csv", "--label", "y", "--json"]) == 0
    for learner in json.loads(capsys.readouterr().out)["learners"]:
        assert learner["mistakes"] > 35, learner["learner"]  # coins cannot be foreseen
    said = fails(capsys, 1, "simulate", "--table", "t.csv", "--label", "y", "--id", "y")
    assert "the id 'x' in column 'y'" in said or "the id 'y' in column 'y'" in said


def test_rows_alike_with_other_labels_are_exceptions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text("a,y\n1,x\n1,z\n0,z\n1,x\n", encoding="utf-8")
    assert main(["simulate", "--table", "t.csv", "--label", "y", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [odd["round"] for odd in told["exceptions"]] in ([1], [0, 3])


def test_markup_in_a_file_is_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = 'who,milk,y\n[red]a[/red],1,[bold]x\n[/b],0,"[link=""q""]z"\n'
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    assert main(["simulate", "--table", "t.csv", "--label", "y"]) == 0
    out = capsys.readouterr().out
    assert '[link="q"]z, like [/b]' in out
    assert "[bold]x, like [red]a[/red]" in out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "t.csv is empty"),
        ("\n\n", "t.csv is empty"),
        ("a,y\n", "no items"),
        ("a,y\n1,x\n1\n", "t.csv line 3: 1 cell"),
        ("a,y\n1,x\n1,2,3\n", "t.csv line 3: 3 cells"),
        ("a,a,y\n1,2,x\n", "two columns are called 'a'"),
        ("a,y\n1,x\n1,\n", "row 1 (counted from 0) has no label"),
        ("a,class\n1,x\n", "t.csv has no column 'y'. Columns: a, class"),
        ("y\nx\nz\n", "no column but 'y' can be a feature"),
        ('a,y\n1,"x\n', "line 2: a quote is opened and not closed"),
        (b"a,y\n\xff,x\n", "not UTF-8"),
        ("a,y\n1,x\n".encode("utf-16-le"), "looks like UTF-16"),
    ],
)
def test_bad_files(
    text: str | bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = text.encode() if isinstance(text, str) else text
    (tmp_path / "t.csv").write_bytes(content)
    assert said in fails(capsys, 1, "simulate", "--table", "t.csv", "--label", "y")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--table", "none.csv", "--label", "y"],
            "none.csv: cannot be read: No such file",
        ),
        (["--table", ".", "--label", "y"], "cannot tell what kind of file"),
        (["--table", "none.csv"], "give both --table FILE and --label COLUMN"),
        (["--label", "y"], "give both --table FILE and --label COLUMN"),
        (["--table", "none.csv", "--label", "y", "--world", "tree"], "not both"),
        (["--table", "none.csv", "--label", "y", "--items", "3"], "takes --components"),
        (["--world", "zoo", "--items", "3"], "takes no sizes, got --items 3"),
        (["--items", "-5"], "items must be an integer >= 1, got -5"),
        (["--features", "0"], "features must be an integer >= 1, got 0"),
        (["--components", "-1"], "components must be an integer >= 1, got -1"),
        (["--labels", "9", "--components", "3"], "labels must be an integer from 1 to"),
        (["--exceptions", "-1"], "exceptions must be"),
        (["--exceptions", "1.5"], "exceptions must be a rate from 0 to 1, got 1.5"),
        (["--exceptions", "nan"], "exceptions must be a rate from 0 to 1, got nan"),
        (["--slips", "-0.5"], "rate must be from 0 to 1"),
        (["--learner", "oracle"], "unknown learner 'oracle'; known are AdaptiveDFF"),
        (["--learner", "capped:m=0"], "CappedDFF: m must be an integer >= 1, got 0"),
        (["--learner", "capped:m=many"], "got 'many' (str)"),
        (["--learner", "capped:k=3"], "CappedDFF has no parameter 'k'; it has m, remember"),
        (["--learner", "auto:columns=3"], "columns must be a list of features, got 3 (int)"),
        (["--learner", "hindsight:columns=legs"], "columns must be a list of features, got 'legs'"),
        (["--learner", "strodff:epsilon=0.3"], "epsilon must be in [0, 1/4), got 0.3"),
    ],
)
def test_bad_values_end_in_1(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in fails(capsys, 1, "simulate", *arguments)


@pytest.mark.parametrize("step", ["tellapart.cli.build", "tellapart.worlds.tree"])
def test_ctrl_c_is_no_fault(
    step: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(step, stop)
    assert "interrupted" in fails(capsys, 130, "simulate")
