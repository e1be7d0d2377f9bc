"""`tellapart distil` with real models: a language model for the wire, and small wise ones."""

from __future__ import annotations

import gettext
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tellapart as ta
from chat_server import ChatServer, serving
from llama_server import language_model
from tellapart.cli import main
from tellapart.lab.corrections import printed_terms

pytestmark = pytest.mark.slow


def test_a_real_language_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], needs: Callable[[str], None]
) -> None:
    needs("smollm2")
    lines = ["text", *(f"The {animal} eats." for animal in ("dog", "cat", "cow", "hen", "bee"))]
    lines += [f"The {thing} is made of wood." for thing in ("table", "chair", "door", "bed", "box")]
    table = tmp_path / "lines.csv"
    table.write_text("\n".join(lines) + "\n")
    with language_model() as url:
        words = [
            "distil", str(table), "--labels", "animal,thing", "--task", "What is it about?",
            "--endpoint", url, "--model", "smollm2", "--calls", "12", "--json",
        ]  # fmt: skip
        settings = "[distil]\nbatch = 2\nparallel = 1\ntimeout = 120\n"
        (tmp_path / "tellapart.toml").write_text(settings)
        assert main(words) == 0
        made = json.loads(capsys.readouterr().out)
    assert 5 <= made["calls"] <= 12
    assert made["no_reply"] == 0
    assert made["asked"] - made["unsure_answers"] >= 6  # it is not wise, but it keeps to the schema
    assert made["tokens_sent"] > 0
    assert made["rules"]


def sentences() -> list[str]:
    """Sentences from the documentation of installed packages."""
    import numpy
    import polars
    import sklearn

    found: dict[str, None] = {}
    for package in (numpy, polars, sklearn):
        for path in sorted(Path(str(package.__file__)).parent.rglob("*.py"))[::4]:
            for text in re.findall(r'"""(.*?)"""', path.read_text(errors="ignore"), re.S):
                for one in re.split(r"(?<=[.!?])\s+", " ".join(text.split())):
                    if 30 < len(one) < 160 and one[0].isupper() and ">>>" not in one:
                        found[one] = None
    return list(found)[::4]


Teacher = tuple[list[str], Callable[[str], str], Callable[[dict[str, Any]], int | None]]
"""Texts, the label of a text, and which difference is chosen."""


def first(document: dict[str, Any]) -> int | None:
    return 1 if document["differences"] else None


def sentiment() -> Teacher:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    analyser = SentimentIntensityAnalyzer()

    def label(text: str) -> str:
        score = analyser.polarity_scores(text)["compound"]
        return "positive" if score >= 0.05 else "negative" if score <= -0.05 else "neutral"

    def difference(document: dict[str, Any]) -> int | None:  # a word that it has a feeling for
        for one in document["differences"]:
            if any(word in analyser.lexicon for word in re.findall(r"[a-z]+", one["text"].lower())):
                return int(one["id"])
        return None

    return sentences(), label, difference


def languages() -> Teacher:
    import py3langid

    wanted = ["de", "fr", "es", "it"]
    found: dict[str, None] = {}
    for name in wanted:
        for path in sorted(Path("/usr/share/locale", name, "LC_MESSAGES").glob("*.mo"))[:40]:
            with path.open("rb") as file:
                catalog = gettext.GNUTranslations(file)._catalog
            texts = [" ".join(t.split()) for t in catalog.values() if isinstance(t, str)]
            found |= dict.fromkeys([t for t in texts if 30 < len(t) < 120][:150])
    py3langid.set_languages(wanted)
    return list(found), lambda text: str(py3langid.classify(text)[0]), first


def files() -> Teacher:
    from magika import Magika

    pieces: dict[str, None] = {}
    for ending in ("py", "md", "json", "js", "css", "html", "csv"):
        paths = sorted(Path(pytest.__file__).parents[1].rglob(f"*.{ending}"))
        for path in paths[:: len(paths) // 200 + 1]:
            text = " ".join(path.read_text(errors="ignore")[:8000].split())
            cut = [text[at : at + 400] for at in range(0, 1200, 400)]
            pieces |= dict.fromkeys(piece for piece in cut if len(piece) > 100)
    detector = Magika()
    common = {"python", "markdown", "json", "javascript", "css", "html", "csv"}

    def label(text: str) -> str:
        found = str(detector.identify_bytes(text.encode()).output.label)
        return found if found in common else "other"

    return list(pieces), label, first


@pytest.mark.parametrize(
    ("kind", "reasons"), [("sentiment", True), ("languages", True), ("files", False)]
)
def test_rules_agree_with_a_real_model_as_a_tree_does(
    kind: str,
    reasons: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    needs: Callable[[str], None],
) -> None:
    """A tree of the same length: rules have a room of terms. Magika only labels, so it is taught
    from as docs/distil.md says."""
    needs({"sentiment": "vaderSentiment", "languages": "py3langid", "files": "magika"}[kind])
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.tree import DecisionTreeClassifier

    make = {"sentiment": sentiment, "languages": languages, "files": files}[kind]
    texts, label, difference = make()
    if len(texts) < 250:
        pytest.skip("too few texts on this machine")
    random.Random(0).shuffle(texts)
    texts = texts[:1400]
    labels = {text: label(text) for text in texts}
    half = min(600, len(texts) * 2 // 3)
    taught, fresh = texts[:half], texts[half:]
    table = tmp_path / "texts.jsonl"
    table.write_text("".join(json.dumps({"text": text}) + "\n" for text in taught))

    def answer(cells: dict[str, Any]) -> str:
        return labels[cells["text"]]

    rows = 200
    with serving(ChatServer(answer, difference=difference)) as url:
        words = [
            "distil", str(table), "--labels", ",".join(sorted(set(labels.values()))),
            "--task", kind, "--endpoint", url, "--model", kind, "--rows", str(rows),
            "-o", str(tmp_path / "rules.json"), "--json",
        ]  # fmt: skip
        settings = f"labels_only = {json.dumps(not reasons)}\ncell = 2000\nparallel = 1\n"
        (tmp_path / "tellapart.toml").write_text("[distil]\n" + settings)
        assert main(words) == 0
    made = json.loads(capsys.readouterr().out)
    model = ta.load_model(tmp_path / "rules.json")
    said = model.predict([{"text": text} for text in fresh])
    right = [labels[text] for text in fresh]
    ours = sum(map(str.__eq__, map(str, said), right)) / len(fresh)
    count = CountVectorizer(binary=True, token_pattern=r"(?u)\b\w+\b")
    leaves = 1 + max(1, len(printed_terms(model)))  # as many splits as the rules have terms
    tree = DecisionTreeClassifier(random_state=0, max_leaf_nodes=leaves)
    tree.fit(count.fit_transform(taught[:rows]), [labels[text] for text in taught[:rows]])
    theirs = float((tree.predict(count.transform(fresh)) == right).mean())
    print(f"{kind}: rules {ours:.3f}, tree {theirs:.3f}, {made['asked']} rows")
    noise = 2 * (((ours * (1 - ours)) + theirs * (1 - theirs)) / len(fresh)) ** 0.5
    assert ours >= theirs - noise  # two standard errors: the texts are those of the machine
