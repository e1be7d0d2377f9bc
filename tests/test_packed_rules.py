"""Lists of rules over packed columns, as arrays and as integers, against one item at a time."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tellapart.model import Literal
from tellapart.protocol import Feature
from tellapart.simulation import Codes, Labels, Words, bit, pack, unpack, words_for
from tellapart.simulation.numpy_engine import ColumnRule, all_items, write_codes, wrong_items
from tellapart.simulation.packed_rules import PackedRules, without_first


class Case:
    """A random list over random columns, and labels that it mostly gets right."""

    def __init__(self, seed: int, items: int, columns: int, rules: int, labels: int) -> None:
        self.random = random.Random(seed)
        generator = np.random.default_rng(seed)
        self.length, self.items = items, range(items)
        self.columns = [
            pack(generator.random(items) < generator.choice([0.1, 0.5])) for _ in range(columns)
        ]
        self.rules = [
            (
                [
                    (self.random.randrange(columns), self.random.random() < 0.4)
                    for _ in range(self.random.randrange(1, 5))
                ],
                self.random.randrange(labels),
            )
            for _ in range(rules)
        ]
        self.removed = {slot for slot in range(rules) if self.random.random() < 0.2}
        self.default = self.random.randrange(labels)
        self.names = tuple(range(labels))
        self.packed_labels = Labels(self.names, Codes(self.said(), items))

    # -- a world

    def __len__(self) -> int:
        return self.length

    def truth(self, feature: Feature) -> Words:
        assert isinstance(feature, int)
        return self.columns[feature]

    def places(self, feature: Feature) -> None:
        return None

    # -- the same list, in several ways

    def column_rules(self) -> list[ColumnRule]:
        return [
            ColumnRule(
                [self.columns[column] for column, wanted in literals if not wanted],
                [self.columns[column] for column, wanted in literals if wanted],
                code,
            )
            for slot, (literals, code) in enumerate(self.rules)
            if slot not in self.removed
        ]

    def packed_rules(self) -> PackedRules:
        """Build it literal by literal, in any order; some rules are removed again."""
        made = PackedRules(self, self.default, position=-1)
        made.open(0, words_for(self.length))
        todo = []
        for literals, code in self.rules:
            slot = made.append(label=code)
            todo += [(slot, Literal(column, wanted)) for column, wanted in literals]
        random.Random(1).shuffle(todo)
        for slot, literal in todo:
            made.require(slot, literal)
        for slot in self.removed:
            made.remove(slot)
        return made

    def slot(self, item: int) -> int | None:
        """The first rule that covers an item, the slow way."""
        for slot, (literals, _) in enumerate(self.rules):
            if slot not in self.removed and all(
                bit(self.columns[column], item) == wanted for column, wanted in literals
            ):
                return slot
        return None

    def code(self, item: int) -> int:
        slot = self.slot(item)
        return self.default if slot is None else self.rules[slot][1]

    def said(self) -> list[Words]:
        digits = (len(self.names) - 1).bit_length()
        planes = [np.empty(words_for(self.length), dtype=np.uint64) for _ in range(digits)]
        write_codes(planes, self.column_rules(), self.default, self.length)
        return planes

    def disturb(self, times: int) -> None:
        """Change some labels, so that the list errs."""
        for _ in range(times):
            self.packed_labels.codes[self.random.randrange(self.length)] = self.random.choice(
                self.names
            )


@pytest.mark.parametrize("seed", range(12))
def test_what_is_said(seed: int) -> None:
    labels = random.Random(seed).choice([1, 2, 4, 5, 8, 40])
    case = Case(seed, random.Random(seed).choice([0, 1, 64, 1000, 1087]), 7, 9, labels)
    said = Codes(case.said(), case.length)
    assert list(said) == [case.code(item) for item in range(case.length)]
    assert said.array().tolist() == list(said)
    rules = case.packed_rules()
    for item in range(0, case.length, 37):
        assert rules.go_to(item) == case.slot(item)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_wrong(seed: int) -> None:
    case = Case(seed, 700, 6, 5, random.Random(seed).choice([1, 2, 3, 20]))
    case.disturb(40)
    planes, truth = case.packed_labels.codes.planes, case.packed_labels.codes
    for start, stop in ((0, 700), (1, 64), (100, 650), (64, 129)):
        wrong, left = wrong_items(planes, case.column_rules(), case.default, start, stop)
        first = start & ~63
        said = np.flatnonzero(unpack(wrong, 64 * len(wrong))) + first
        assert said.tolist() == [n for n in range(start, stop) if case.code(n) != truth[n]]
        uncovered = np.flatnonzero(unpack(left, 64 * len(left))) + first
        assert uncovered.tolist() == [n for n in range(start, stop) if case.slot(n) is None]


@pytest.mark.parametrize("seed", range(60))
def test_an_event_is_what_it_says(seed: int) -> None:
    """Looked for with integers and with arrays, against one item at a time."""
    case = Case(seed, 300, 5, 4, 3)
    case.disturb(12)
    truth, rules = case.packed_labels.codes, case.packed_rules()
    for _ in range(20):
        start = case.random.randrange(case.length)
        stop = case.random.randrange(start + 1, case.length + 1)
        shown = case.random.random() < 0.6
        spare = case.random.choice([None, 0, 1, case.random.randrange(40)])
        quiet = shown and spare is not None and case.random.random() < 0.5
        event, slot, uncovered, hushed = stop, None, 0, 0
        for item in range(start, stop):
            fired = case.slot(item)
            wrong = case.code(item) != truth[item]
            if fired is not None:
                is_event = shown and wrong
            elif spare is None:
                is_event = wrong
            else:
                is_event = uncovered >= spare or (wrong and shown and not quiet)
            if is_event:
                event, slot = item, fired
                break
            uncovered += fired is None
            hushed += fired is None and wrong
        assert rules.find(start, stop, shown, spare, quiet) == event
        assert (rules.uncovered(event), rules.default_mistakes(event)) == (uncovered, hushed)
        if event < stop:
            assert rules.go_to(event) == slot
        reached = rules.pass_over(start, stop, shown, spare, quiet)
        assert reached == (stop if event == stop else max(start, event & ~63))


def test_mistakes_together() -> None:
    """Those of all rules up to the first uncovered item that may make a rule."""
    for seed in range(40):
        case = Case(seed, 200, 5, 4, 3)
        case.disturb(20)
        truth, rules = case.packed_labels.codes, case.packed_rules()
        spare = case.random.choice([None, case.random.randrange(30)])
        stop, found, by_default, uncovered = rules.all_mistakes(3, 190, spare)
        left = [n for n in range(3, 190) if case.slot(n) is None]
        late = [n for n in left if case.code(n) != truth[n]] if spare is None else left[spare:]
        assert stop == min([*late, 190])
        assert rules.numbers(uncovered, stop).tolist() == [n for n in left if n < stop]
        wrong = [n for n in range(3, stop) if case.code(n) != truth[n]]
        erred = [*found, (None, by_default)]
        assert sorted((n, slot) for slot, bits in erred for n in rules.numbers(bits, stop)) == [
            (n, case.slot(n)) for n in wrong
        ]


def test_parts_of_bits() -> None:
    for start, stop in ((0, 0), (0, 1), (5, 64), (63, 65), (64, 64), (70, 300)):
        words = all_items(start, stop)
        items = np.flatnonzero(unpack(words, 64 * len(words))) + (start & ~63)
        assert items.tolist() == list(range(start, stop))
    generator = random.Random(1)
    for _ in range(200):
        bits, n = generator.getrandbits(generator.randrange(1, 90)), generator.randrange(30)
        places = [place for place in range(90) if bits >> place & 1]
        assert without_first(bits, n) == sum(1 << place for place in places[n:])


def test_codes_and_labels():
    codes = Codes.of([5, 0, 3, 3])
    assert list(codes) == [5, 0, 3, 3]
    assert codes[-1] == 3
    assert codes[1:3] == [0, 3]
    with pytest.raises(IndexError):
        codes[4]
    codes[1] = 7
    assert codes.array().tolist() == [5, 7, 3, 3]
    assert unpack(codes.where(3), 4).tolist() == [False, False, True, True]
    assert not codes.where(9).any()
    assert list(codes.map([0, 0, 0, 1, 0, 2, 0, 3], 4)) == [2, 3, 1, 1]
    labels = Labels(["a", "b", "c", "d"], codes.map([0, 0, 0, 1, 0, 2, 0, 3], 4))
    assert list(labels) == ["c", "d", "b", "b"]
    assert labels[1:] == ["d", "b", "b"]
