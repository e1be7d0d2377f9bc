"""How often a correction takes two keys: what a person would say is among the first nine.

python benchmarks/two_keys.py [--tables packages ...] [--vega FOLDER] [--mdn FILE] [--misses]

`wishes.toml` has conditions that a person who knows a table would say to tell two labels apart.
Each was written down before the first nine of its table were looked at. For each wish, some pairs
are drawn: an item with the one label on which the wish holds, an example with the other on which
it does not, and 20 or 100 labelled items that went before. The wish counts if one of the first
nine holds on the same rows of the table: at most 2 % of the rows on which either holds differ.

A place among the nine is wasted if it has a stopword or less than three letters, a list of three
values or more, an equality with a measured number, holds on a single row, or holds on the same
rows as an earlier place.

The tables are on the machine: Debian's lists of packages, files below /usr, Unicode, time zones,
types of media, the standard library, the history of this repository; from `npm pack
vega-datasets` (the folder `data` in it), movies, weather, bird strikes and others; and from `npm
pack @mdn/browser-compat-data` (`data.json`), features of browsers. What is not there is left out.
The ranking was tuned on the first group and never on the second.
"""

from __future__ import annotations

import tomllib
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import wish_tables
from wish_tables import APART, TUNED

from tellapart.columns import unpack
from tellapart.features import Expression, tree
from tellapart.features.tree import Value, Wild
from tellapart.features.vocabulary import STOPWORDS
from tellapart.tables import Table
from tellapart.tables.packed_columns import evaluate

ROWS = 2_000
"""The most rows of a table; some are drawn if there are more."""
HERE = Path(__file__).parent


class Wishes:
    """A table with its labels and wishes."""

    def __init__(self, name: str) -> None:
        rows = {**TUNED, **APART}[name]()
        dice = np.random.default_rng(0)
        if len(rows) > ROWS:
            rows = [rows[n] for n in sorted(dice.permutation(len(rows))[:ROWS].tolist())]
        self.labels = np.array([row.pop("label") for row in rows])
        self.table = Table(pl.DataFrame(rows, infer_schema_length=None), name=name)
        said = tomllib.loads((HERE / "wishes.toml").read_text())[name]["wishes"]
        self.wishes = [(mine, theirs, self.table.parse(text)) for mine, theirs, text in said]
        self._held: dict[Expression, Any] = {}

    def held(self, feature: Expression) -> Any:
        """Where a feature holds."""
        if feature not in self._held:
            words = evaluate(self.table, feature)
            self._held[feature] = np.asarray(unpack(words, len(self.table)), dtype=bool)
        return self._held[feature]

    def draws(self, wish: tuple[str, str, Expression], seed: int) -> Iterator[tuple[int, int, Any]]:
        """Items, examples, and the items labelled before."""
        mine, theirs, feature = wish
        held, dice = self.held(feature), np.random.default_rng(seed)
        ours = np.flatnonzero(held & (self.labels == mine))
        others = (self.labels != mine) if theirs == "*" else (self.labels == theirs)
        unlike = np.flatnonzero(~held & others)
        if not len(ours) or not len(unlike):
            raise SystemExit(f"{self.table.name}: nothing to draw for {feature} ({mine}, {theirs})")
        for known in (20, 100) * 3:
            yield (
                int(dice.choice(ours)),
                int(dice.choice(unlike)),
                dice.permutation(len(self.labels))[:known],
            )

    def wasted(self, nine: list[Expression]) -> list[str]:
        """The places among the nine that say nothing."""
        found = []
        for place, feature in enumerate(nine):
            held = self.held(feature)
            again = any(_alike(held, self.held(other)) == 1 for other in nine[:place])
            if again or held.sum() <= 1 or _is_waste(feature, self.table):
                found.append(str(feature))
        return found


def _alike(one: Any, other: Any) -> float:
    either = np.count_nonzero(one | other)
    return float(np.count_nonzero(one & other) / either) if either else 1.0


def _is_waste(feature: Expression, table: Table) -> bool:
    """A stopword or a fragment, a long list, an equality with a measured number."""
    match feature.tree:
        case tree.In(values=values):
            return len(values) > 2
        case tree.Like(pattern=pattern):
            text = "".join(part for part in pattern if not isinstance(part, Wild)).strip().lower()
            return (
                len(text.strip("-_./: ")) < 3 and Wild.ANY in (pattern[0],)
            ) or text in STOPWORDS
        case tree.Compare("=" | "<>", tree.Column(name, kind), Value()) if kind.numeric:
            values = table.frame([name]).to_series().n_unique()
            return values > 20 and table.count(feature) < len(table) / 20
    return False


def measure(name: str, *, misses: bool, show: bool) -> tuple[float, float, float]:
    """The share of wishes met with 20 and with 100 labelled items, and places wasted."""
    said = Wishes(name)
    met: dict[int, list[bool]] = {20: [], 100: []}
    wasted: list[int] = []
    for number, wish in enumerate(said.wishes):
        missed = []
        for here, there, before in said.draws(wish, number):
            history = [(int(n), said.labels[n]) for n in (*before, there)]
            label = said.labels[here]
            listed = said.table.candidates(here, there, history, label=label, limit=9)
            nine = [one.feature for one in listed]
            held = said.held(wish[2])
            found = any(one == wish[2] or _alike(said.held(one), held) >= 0.98 for one in nine)
            met[len(before)].append(found)
            wasted.append(len(said.wasted(nine)))
            if not found:
                missed.append((len(before), here, there, nine))
        if misses and missed:
            print(f"  {6 - len(missed)} of 6: {wish[2]} ({wish[0]}, not {wish[1]})")
            if show:
                known, here, there, nine = missed[-1]
                bad = said.wasted(nine)
                print(f"      {known} labelled, {here} against {there}:")
                for one in nine:
                    print(f"        {'-' if str(one) in bad else ' '} {str(one)[:110]}")
    few, many = (float(np.mean(met[known])) for known in (20, 100))
    whole, lost = (few + many) / 2, float(np.mean(wasted))
    print(
        f"{name:10} {len(said.table):5} rows, {len(said.wishes):2} wishes: {whole:.2f} among nine"
        f" ({few:.2f} after 20, {many:.2f} after 100), {lost:.1f} wasted",
        flush=True,
    )
    return few, many, lost


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("--tables", nargs="*", choices=[*TUNED, *APART], default=[*TUNED, *APART])
    parser.add_argument("--vega", type=Path, default=wish_tables.VEGA)
    parser.add_argument("--mdn", type=Path, default=wish_tables.MDN)
    parser.add_argument("--misses", action="store_true", help="print the wishes that were not met")
    parser.add_argument("--show", action="store_true", help="and the nine that were there")
    chosen = parser.parse_args()
    wish_tables.VEGA, wish_tables.MDN = chosen.vega, chosen.mdn
    for title, group in (("tuned on", TUNED), ("kept apart", APART)):
        results = []
        print(title)
        for name in (name for name in chosen.tables if name in group):
            try:
                results.append(measure(name, misses=chosen.misses, show=chosen.show))
            except (OSError, ValueError, StopIteration) as error:
                print(f"{name:10} is not on this machine ({type(error).__name__}: {error})")
        if results:
            few, many, lost = np.mean(results, axis=0)
            print(
                f"{'mean':10} {(few + many) / 2:.2f} among nine ({few:.2f} after 20, {many:.2f}"
                f" after 100), {lost:.1f} wasted"
            )
