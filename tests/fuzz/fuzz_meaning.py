"""Fuzz what conditions and model files mean, on as many seeds as you like.

    python tests/fuzz/fuzz_meaning.py conditions --start 0 --count 1000000
    python tests/fuzz/fuzz_meaning.py models --start 0 --count 100000

A condition must parse, its canonical text must mean the same, and so must the words that people are
shown for it, where they can be read. Python, Polars and (one batch in ten) DuckDB must find it true
on the same rows. A model file with something changed must be refused with a message, or be a model
that is saved and read back as the same, and whose Python export labels as it does.
Prints what is wrong, and how many were tried. The tests run a small sample.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

sys.path.insert(0, str(Path(__file__).parent.parent))

import random_features
from random_features import SCHEMA, Maker, ModelMaker, Said
from tellapart.errors import FeatureError, TellapartError
from tellapart.export import sentences, to_python, to_sql
from tellapart.features import Expression, parse_feature
from tellapart.features.phrasing import spoken
from tellapart.features.to_polars import DTYPE
from tellapart.features.tree import Type
from tellapart.model import DecisionList

DTYPES = {name: DTYPE[Type(kind)] for name, kind in SCHEMA.items()}
BATCH = 200
TEXTS = (
    *SCHEMA, "unknown", "known", "not", "a and b", "a or b", "a, b", "x is y", "no", "it", "2",
    "the a", "contains", "(case matters)", "a (case matters)", "is", "1 or more", "2012", "July",
    "null", "true", '"', 'a"b', '" or b or s is "', "'", "`b`", "a.", "a;", "“b”", " b", "b ", "%",
    "a" * 59, "a" * 60, "a" * 61, "b" * 80, "…", "or more", "either", "one of", "year of d",
)  # fmt: skip
"""Values that look like something else."""


class Hostile(Maker):
    """Conditions whose texts and numbers look like something else, now and then."""

    def phrase(self) -> Said:
        if self.rng.random() < 0.5:
            return super().phrase()
        return self.quote(self.rng.choice(TEXTS))

    def figure(self) -> Said:
        if self.rng.random() < 0.7:
            return super().figure()
        whole = self.rng.choice((100_000, -100_000, 1234567, 2**53 + 1, 2**62 + 1, -(2**63), 2012))
        return random_features.alike(str(whole), "integer")


def wrong_meaning(
    feature: Expression, items: list[dict[str, Any]], *, denied: bool, known: set[str]
) -> Iterator[str]:
    """What is wrong with the texts of a feature, and of its opposite if it is `denied`.

    Texts that are `known` are right: short conditions come again and again.
    """
    text = str(feature)
    if text not in known and parse_feature(text, SCHEMA) != feature:
        yield f"not canonical: {feature}"
    for wanted in (True, False)[text in known : 1 + denied]:
        words = spoken(feature, wanted)
        if words == text:
            continue
        try:
            read = parse_feature(words, SCHEMA)
        except FeatureError:
            continue  # refused: nobody is misled
        if wanted:
            same = read == feature
        else:  # what is unknown may be in or out
            pairs = [(feature.value(item), read.value(item)) for item in items]
            same = all(read is not is_so for is_so, read in pairs if is_so is not None)
        if not same:
            yield f"other words: {feature}, {wanted}\n  said {words}\n  read {read}"
    known.add(text)


def conditions(start: int, count: int) -> Iterator[tuple[str, str | None]]:
    """For every seed, what happened and what is wrong, if anything."""
    known: set[str] = set()
    for first in range(start, start + count, BATCH):
        features: list[Expression] = []
        said: list[Said] = []
        rows = pl.DataFrame(random_features.table(12, first), schema=DTYPES)
        items = rows.to_dicts()
        for seed in range(first, min(first + BATCH, start + count)):
            maker = Hostile(seed)
            one = maker.condition((1, 0, 1, 0, 2, 0, 1, 0, 2, 0, 1, 0, 3, 0, 1, 0)[seed % 16])
            try:
                feature = parse_feature(one.feature, SCHEMA)
            except FeatureError as error:
                yield "refused", f"seed {seed}: {one.feature}\n  {error}"
                continue
            except Exception:
                yield "traceback", f"seed {seed}: {one.feature}\n{traceback.format_exc()}"
                continue
            features.append(feature)
            said.append(one)
            try:
                found = list(wrong_meaning(feature, items, denied=seed % 4 == 0, known=known))
            except Exception:
                yield "traceback", f"seed {seed}: {one.feature}\n{traceback.format_exc()}"
                continue
            if found:
                yield "other meaning", f"seed {seed}: " + "\n".join(found)
            else:
                yield "same", None
        yield from other_truths(first, features, said, rows)


def other_truths(
    seed: int, features: list[Expression], said: list[Said], rows: pl.DataFrame
) -> Iterator[tuple[str, str | None]]:
    """Where the engines differ from Python on some rows."""
    items = rows.to_dicts()
    wanted = [[feature(item) for item in items] for feature in features]
    asked = [f.to_polars().eq_missing(True).alias(str(n)) for n, f in enumerate(features)]
    found = {"polars": [column.to_list() for column in rows.select(asked)]}
    if seed // BATCH % 10 == 0:
        with duckdb.connect() as base:
            for macro in random_features.DUCKDB:
                base.execute(macro)
            base.register("items", rows.to_arrow())
            texts = ", ".join(f"({one.duckdb}) IS TRUE" for one in said)
            cells = base.execute(f"SELECT {texts} FROM items").fetchall()
            found["duckdb"] = [list(column) for column in zip(*cells, strict=True)]
    for engine, truths in found.items():
        for feature, one, mine, theirs in zip(features, said, wanted, truths, strict=True):
            if mine != theirs:
                yield "other meaning", f"{engine}: {one.feature}\n -> {feature}\n {mine}\n {theirs}"


def mutate(text: str, dice: random.Random) -> str:
    """A text with a bit, a character or a piece of it changed."""
    raw = bytearray(text.encode())
    place = dice.randrange(len(raw))
    way = dice.randrange(4)
    if way == 0:
        raw[place] ^= 1 << dice.randrange(8)
    elif way == 1:
        raw[place] = dice.choice(b'0123456789"{}[],:ntfaeiE-.')
    elif way == 2:
        del raw[place : place + dice.randrange(1, 9)]
    else:
        other = dice.randrange(len(raw))
        raw[place:place] = raw[other : other + dice.randrange(1, 20)]
    return raw.decode("utf-8", "replace")


def models(start: int, count: int) -> Iterator[tuple[str, str | None]]:
    """For every seed, what became of a model file with something changed."""
    rows = pl.DataFrame(random_features.table(8, start), schema=DTYPES).to_dicts()
    written = ""
    for seed in range(start, start + count):
        dice = random.Random(seed)
        if not written or seed % 20 == 0:
            with suppress(FeatureError):  # conditions whose terms cancel out are none
                written = ModelMaker(seed).model(dice.randint(1, 4)).to_json()
        if not written:
            continue
        text = mutate(written, dice)
        if dice.random() < 0.3:
            text = mutate(text, dice)
        try:
            model = DecisionList.from_json(text)
        except TellapartError:
            yield "refused", None
            continue
        except Exception:
            yield "traceback", f"seed {seed}: {text}\n{traceback.format_exc()}"
            continue
        try:
            wrong = other_model(model, rows)
        except Exception:
            yield "traceback", f"seed {seed}: {text}\n{traceback.format_exc()}"
            continue
        yield ("other meaning", f"seed {seed}: {wrong}: {text}") if wrong else ("same", None)


def other_model(model: DecisionList, rows: list[dict[str, Any]]) -> str | None:
    """What a model says in another way than its copy or its export; None if nothing."""
    if DecisionList.from_json(model.to_json()) != model:
        return "saved and read again it is another model"
    try:
        labels = model.predict(rows)
    except TellapartError:
        return None  # it asks for what the table does not have
    with suppress(TellapartError):
        sentences(model)
    with suppress(TellapartError):
        to_sql(model, "duckdb", schema=SCHEMA)
    try:
        source = to_python(model, schema=SCHEMA)
    except TellapartError:
        return None
    space: dict[str, Any] = {}
    exec(source, space)
    found = [space["predict"](row) for row in rows]
    return None if found == labels else f"Python says {found}, the model {labels}"


def run(found: Iterator[tuple[str, str | None]], show: int = 20) -> Counter[str]:
    """Count what happened, and print what is wrong."""
    counts: Counter[str] = Counter()
    for what, wrong in found:
        counts[what] += 1
        if wrong is not None and counts[what] <= show:
            print(f"{what}: {wrong}", flush=True)
        if counts.total() % 10_000 == 0:
            print(dict(counts), file=sys.stderr, flush=True)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["conditions", "models"])
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--count", type=int, default=10_000)
    given = parser.parse_args()
    started = time.monotonic()
    found = conditions if given.what == "conditions" else models
    counts = run(found(given.start, given.count))
    print(dict(counts), f"in {time.monotonic() - started:,.0f} s", flush=True)
    return int(any(counts[what] for what in ("traceback", "other meaning")))


if __name__ == "__main__":
    sys.exit(main())
