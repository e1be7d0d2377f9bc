"""Models as sentences, pictures, files and tables in notebooks."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import sql_engines
import tellapart as ta
from random_features import LABELS, ModelMaker
from tellapart.errors import FormatError

NASTY = "<script>alert('&')</script> \"q\" \\ \x07 \ud83d\udc4d".encode("utf-16", "surrogatepass")
NASTY_TEXT = NASTY.decode("utf-16")


def one(feature: Any, label: Any = "yes", example: Any = None) -> ta.DecisionList:
    clause = ta.Clause((ta.Literal(feature),), label, example)
    return ta.DecisionList((clause,), ta.Clause((), "no"))


# -- pictures and tables


@pytest.mark.parametrize("label", [NASTY_TEXT, *LABELS])
def test_svg_is_well_formed_and_says_it_all(label: str) -> None:
    model = one(ta.features.Column(label, label), label, example=label)
    root = ElementTree.fromstring(ta.export.to_svg(model))
    said = "".join(root.itertext())
    for word in ("script", "slash", "line", "here", "ünïcode"):
        assert (word in label) == (word in said)


def test_svg_boxes_do_not_overlap() -> None:
    world = ta.worlds.zoo()
    learner = ta.AdaptiveDFF()
    ta.teach(learner, world.teacher(), world.items)
    root = ElementTree.fromstring(ta.export.to_svg(learner.model))
    space = "{http://www.w3.org/2000/svg}"
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    boxes = [
        tuple(float(r.attrib[k]) for k in ("x", "y", "width", "height"))
        for r in root.iter(f"{space}rect")
        if "x" in r.attrib
    ]
    assert len(boxes) == 2 * len(learner.model.clauses) + 1
    for n, (x, y, w, h) in enumerate(boxes):
        assert 0 < x < x + w < width
        assert 0 < y < y + h < height
        for x2, y2, w2, h2 in boxes[:n]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y


def test_notebooks_get_a_table_with_everything_escaped() -> None:
    class Words(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.tags: set[str] = set()
            self.said = ""

        def handle_starttag(self, tag: str, attrs: Any) -> None:
            self.tags.add(tag)

        def handle_data(self, data: str) -> None:
            self.said += data

    found = Words()
    found.feed(one(ta.features.Column(NASTY_TEXT, 1), NASTY_TEXT, NASTY_TEXT)._repr_html_())
    assert found.tags == {"table", "thead", "tbody", "tr", "th", "td"}
    assert found.said.count(NASTY_TEXT) == 3


# -- files


@pytest.mark.parametrize("seed", range(20))
def test_a_model_comes_back_the_same(seed: int, tmp_path: Path) -> None:
    model = ModelMaker(seed).model()
    path = tmp_path / "model.json"
    ta.save_model(model, path)
    before = path.read_bytes()
    again = ta.load_model(path)
    assert again == model
    items = sql_engines.frame(seed).to_dicts()
    assert again.predict(items) == model.predict(items)
    ta.save_model(again, path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model.json"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not a model file"),
        (b"[1]", "expected a JSON object"),
        (b"{}", 'lacks "tellapart": "model"'),
        (b'{"tellapart": "model", "format": 99}', r"later tellapart \(format 99; .* up to 1\)"),
        (b'{"tellapart": "model", "format": 1}', "damaged"),
        (b'{"tellapart": "learner", "format": 1}', "load_learner"),
        (b'{"tellapart": "model", "format": 1, "clauses": [{}], "default": {}}', "damaged"),
        (
            b'{"tellapart": "model", "format": 1, "default": {"if": [], "label": 1, "example": 1,'
            b' "origin": 1}, "clauses": [{"if": [[{"$named": "tall"}, true]], "label": 1,'
            b' "example": 1, "origin": 1}]}',
            "features=",
        ),
    ],
)
def test_a_file_that_is_no_model(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message) as error:
        ta.load_model(path)
    assert "model.json" in str(error.value)


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="No such file"):
        ta.load_model(tmp_path / "nowhere.json")
    with pytest.raises(FormatError, match="cannot be written"):
        ta.save_model(one("a"), tmp_path / "nowhere" / "model.json")
    with pytest.raises(FormatError, match="is a folder"):
        ta.save_model(one("a"), tmp_path)
    with pytest.raises(FormatError, match="cannot write"):
        ta.save_model(one(len), tmp_path / "model.json")
    with pytest.raises(FormatError, match="not Unicode"):
        ta.save_model(one("a", label="\ud800"), tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.json"
    ta.save_model(one("a"), path)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        ta.save_model(one("b"), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model.json"]


def test_a_saved_file_has_ordinary_rights(tmp_path: Path) -> None:
    path, plain = tmp_path / "model.json", tmp_path / "plain"
    ta.save_model(one("a"), path)
    plain.touch()
    assert path.stat().st_mode == plain.stat().st_mode
    path.chmod(0o640)
    ta.save_model(one("b"), path)
    assert path.stat().st_mode & 0o777 == 0o640


# -- the command line


def run(*words: str) -> int:
    from tellapart.cli import main

    return main([str(word) for word in words])


def test_export_on_the_command_line(tmp_path: Path, capsys: Any) -> None:
    model = one("n", example="duck")
    path = tmp_path / "model.json"
    ta.save_model(model, path)
    for language, start in {
        "sql": "CASE\n", "json": '{"tellapart"',
        "python": "# 2 rules", "javascript": "// 2 rules", "json-rules": "{",
        "text": "1. It is", "svg": "<svg",
    }.items():  # fmt: skip
        assert run("export", path, "--to", language) == 0
        said = capsys.readouterr().out
        assert said.startswith(start)
        assert said.endswith("\n")
        out = tmp_path / "out"
        assert run("export", path, "--to", language, "-o", out) == 0
        assert out.read_text(encoding="utf-8") == said
    assert json.loads(model.to_json()) == json.loads(path.read_text())


def test_export_of_a_simplified_model(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "model.json"
    both = (ta.Literal("milk"), ta.Literal("hair"))
    clauses = (ta.Clause(both, "bear"), ta.Clause(both[:1], "bear"))
    ta.save_model(ta.DecisionList(clauses, ta.Clause((), "duck")), path)
    assert run("export", path, "--to", "text") == 0
    assert capsys.readouterr().out.splitlines() == [
        "1. It is: bear, if milk.",
        "2. Otherwise it is: duck.",
    ]


def test_export_with_options(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "model.json"
    ta.save_model(one("order"), path)
    for to, said in {
        "sql": "WHEN `order` <> 0 THEN 'yes'",
        "python": '["column", "order", "integer"]',
        "javascript": '["column", "order", "integer"]',
        "json-rules": '["column", "order", "integer"]',
    }.items():
        assert run("export", path, "--to", to, "--dialect", "spark", "--type", "order=integer") == 0
        assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--to", "sql", "--type", "n"), 1, "COLUMN=TYPE"),
        (("--to", "sql", "--type", "n=colour"), 1, "types are bool"),
        (("--to", "sql", "--dialect", "oracle"), 2, "oracle"),
        (("--to", "french"), 2, "french"),
        ((), 2, "--to"),
        (("--to", "sql", "-o", "nowhere/out.sql"), 1, "cannot be written"),
    ],
)
def test_export_mistakes(
    words: tuple[str, ...], code: int, message: str, tmp_path: Path, capsys: Any
) -> None:
    path = tmp_path / "model.json"
    ta.save_model(one("n"), path)
    assert run("export", path, *words) == code
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1
    assert not said.out


def test_export_of_what_is_no_model(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "model.json"
    assert run("export", path, "--to", "sql") == 1
    assert "there is no file" in capsys.readouterr().err
    path.write_text("{}")
    assert run("export", path, "--to", "sql") == 1
    ta.save_model(one(ta.features.Is("platypus")), path)
    out = tmp_path / "out.sql"
    assert run("export", path, "--to", "sql", "-o", out) == 1
    assert "one item only" in capsys.readouterr().err
    assert not out.exists()
