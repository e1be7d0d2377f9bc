"""How good are rules that a slipping model teaches, and how many of its labels do they need?

    python benchmarks/distil.py [--tables spambase,phoneme,magic] [--rows 400] [--slips 0.05]
        [--seeds 1] [--settle 30] [--labels-only]

2,000 rows of a real table are given to `Distillation`; the model knows the truth and slips. Of all
rows that it asks about, a decision tree and a logistic regression get the same number, drawn at
random, with the same slips. All are compared with the truth on rows that none of them saw. "random"
is the same session in random order, with as many labels and with twice as many. At the end a person
settles 30 answers, as the session gives them. Rules follow a slip if they say the same of its row;
it hurts them if they would not, had that one answer been right. Where they still would, rows like
it say the same, and the rules would be wrong there anyway.
The reason is the first difference offered; with `--labels-only` there is none.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import tellapart as ta
from tellapart.distil import Distillation, Model
from tellapart.distil.model_teacher import Chosen, Said
from tellapart.lab.real_tables import table_path

TABLES = "spambase,phoneme,magic"
TAUGHT = 2_000


def read(name: str, seed: int) -> tuple[pl.DataFrame, list[str], pl.DataFrame, list[str]]:
    """Rows to teach and fresh rows of a table, with their labels."""
    lines = [line for line in table_path(name).read_text().splitlines() if line.strip()]
    random.Random(f"{seed}/{name}").shuffle(lines)
    *columns, labels = zip(
        *([cell.strip() for cell in line.split(",")] for line in lines), strict=True
    )
    frame = pl.DataFrame({f"c{n}": list(map(float, c)) for n, c in enumerate(columns, 1)})
    names = [f"l{label}" for label in labels]
    taught = min(TAUGHT, len(names) * 2 // 3)
    return frame[:taught], names[:taught], frame[taught:], names[taught:]


class Scripted(Model):
    """A model that knows the truth and slips; it calls nobody."""

    def __init__(self, truth: Sequence[str], slips: float, seed: int) -> None:
        labels = sorted(set(truth))
        super().__init__("http://127.0.0.1:1/v1", "scripted", "Which label?", labels, key="")
        self.truth = truth
        self.slipped: dict[int, str] = {}
        self.calls = self.reasons = 0
        for place, label in enumerate(truth):
            chance = random.Random(f"{seed} {place}")
            if chance.random() < slips:
                self.slipped[place] = chance.choice([one for one in labels if one != label])

    def said(self, place: int) -> str:
        return self.slipped.get(place, self.truth[place])

    def label(self, items: Any) -> dict[int, Said]:
        self.calls += 1
        return {place: Said(self.said(place), "", None) for place, _ in items}

    def reason(self, *question: Any) -> Chosen:
        self.reasons += 1
        item, _, example, _, found = question
        offered = self.offer(found, item[1], example[1])
        return Chosen(offered[0] if offered else None, "", None)

    def asked_about(self, state: str) -> Any:
        return iter(())


def taught(
    table: ta.Table,
    model: Scripted,
    rows: Sequence[int],
    order: str,
    fresh: ta.Table,
    truth: Any,
    *,
    reasons: bool,
) -> tuple[ta.Session, ta.Store, list[float]]:
    """A session, and its agreement with the truth on fresh rows after some numbers of rows."""
    folder = Path(tempfile.mkdtemp())
    store = ta.Store(folder / "bench.db")
    session = ta.Session.new(store, "bench", table, order=order)
    scores = []
    for n in rows:
        Distillation(session, model, rows=n, parallel=1, reasons=reasons).run()
        scores.append(agreement(session.model, fresh, truth))
    return session, store, scores


def agreement(model: ta.DecisionList, fresh: ta.Table, truth: Sequence[str]) -> float:
    """How often the rules say the truth."""
    said = model.predict(fresh.items)
    return float(np.mean([str(a) == b for a, b in zip(said, truth, strict=True)]))


def peers(
    frame: pl.DataFrame, said: Sequence[str], fresh: pl.DataFrame, truth: Sequence[str], seed: int
) -> tuple[float, float]:
    """A decision tree and a logistic regression from the labels of the first rows."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    taught = frame[: len(said)].to_numpy()

    def agrees(learner: Any) -> float:
        guesses = learner.fit(taught, list(said)).predict(fresh.to_numpy())
        return float(np.mean(guesses == np.array(truth)))

    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    return agrees(DecisionTreeClassifier(random_state=seed)), agrees(logistic)


def adjudicate(session: ta.Session, truth: Sequence[str], count: int) -> set[int]:
    """A person settles some answers, truthfully; returns the places of the slips among them."""
    slips = set()
    for _ in range(count):
        given = session.next("Ann")
        right, before = truth[given.item.place], session.label_of(given.item)
        if before is not None and before != right:
            slips.add(given.item.place)
        if given.guess.label == right:
            session.answer("Ann", given.id, "right")
        else:
            session.answer("Ann", given.id, "wrong", right)
    return slips


def followed(session: ta.Session, model: Scripted) -> set[int]:
    """The places of the slips that the rules agree with."""
    places = sorted(session.answered_by(model.endpoint.model) & model.slipped.keys())
    said = session.model.predict([session.table.items[place] for place in places])
    return {p for p, label in zip(places, said, strict=True) if label == model.slipped[p]}


def hurting(session: ta.Session, model: Scripted) -> set[int]:
    """Those that they would not agree with if that one answer had been right."""
    asked = {one.item.place: one for one in session.history()}
    found = set()
    for place in followed(session, model):
        right = model.truth[place]
        word = "right" if asked[place].guess == right else "wrong"
        session.change("Ann", asked[place].id, word, None if word == "right" else right)
        if session.model.predict([session.table.items[place]]) == [right]:
            found.add(place)
        session.undo("Ann")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default=TABLES)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--slips", type=float, default=0.05)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--settle", type=int, default=30)
    parser.add_argument("--labels-only", action="store_true")
    chosen = parser.parse_args()
    steps = [chosen.rows // 2, chosen.rows]
    print(
        f"{'table':14}{'seed':>5}{'rows':>6}{'rules':>8}{'tree':>8}{'logistic':>9}"
        f"{'random order':>24}{'settled':>9}{'seconds':>9}"
    )
    for name in chosen.tables.split(","):
        for seed in range(chosen.seeds):
            start = time.perf_counter()
            frame, labels, rest, truth = read(name, seed)
            fresh = ta.Table(rest)
            model = Scripted(labels, chosen.slips, seed)
            asked = {"reasons": not chosen.labels_only}
            session, store, scores = taught(
                ta.Table(frame), model, steps, "mixed", fresh, truth, **asked
            )
            again = Scripted(labels, chosen.slips, seed)
            many = [chosen.rows // 2, chosen.rows, 2 * chosen.rows]
            _, other, at_random = taught(
                ta.Table(frame), again, many, "random", fresh, truth, **asked
            )
            other.close()
            tree, logistic = peers(
                frame, [model.said(n) for n in range(chosen.rows)], rest, truth, seed
            )
            session.join("Ann")
            follows, hurt = followed(session, model), hurting(session, model)
            found = adjudicate(session, labels, chosen.settle)
            settled = agreement(session.model, fresh, truth)
            told = session.answered_by(model.endpoint.model)
            slips = len(told & model.slipped.keys())
            shown = " ".join(f"{score:.3f}" for score in at_random)
            print(
                f"{name:14}{seed:5}{chosen.rows:6}{scores[-1]:8.3f}{tree:8.3f}{logistic:9.3f}"
                f"{shown:>24}{settled:9.3f}{time.perf_counter() - start:9.0f}"
                f"  steps {[round(s, 3) for s in scores]}, {model.calls} label calls,"
                f" {model.reasons} reasons, {len(found)} of {slips} slips settled,"
                f" {len(follows & found)} of {len(follows)} that rules follow,"
                f" {len(hurt & found)} of {len(hurt)} that hurt,"
                f" of which {len(hurt & followed(session, model))} are still followed",
                flush=True,
            )
            session.close()
            store.close()


if __name__ == "__main__":
    main()
