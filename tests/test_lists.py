"""The two lists on columns, `Plain` and `Tape`: against each other, and against single items."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path

import numpy as np
import pytest

from tellapart.simulation import Codes, Labels, bit, blank, clear, pack, unpack, words_for
from tellapart.simulation.plain import Plain
from tellapart.simulation.tape import Tape


class Case:
    """A random list over random columns, and labels that it mostly gets right."""

    def __init__(self, seed: int, items: int, columns: int, rules: int, labels: int) -> None:
        self.random = random.Random(seed)
        generator = np.random.default_rng(seed)
        self.items = items
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
        self.digits = (labels - 1).bit_length()

    def fill(self, made: Plain | Tape) -> Plain | Tape:
        """Build it literal by literal, in any order; some rules are removed again."""
        todo = []
        for literals, code in self.rules:
            slot = made.append(code)
            todo += [(slot, column, wanted) for column, wanted in literals]
        random.Random(1).shuffle(todo)
        for slot, column, wanted in todo:
            made.require(slot, made.hold(self.columns[column]), wanted)
        for slot in self.removed:
            made.remove(slot)
        return made

    def slot(self, item: int) -> int:
        """The first rule that covers an item, the slow way."""
        for slot, (literals, _) in enumerate(self.rules):
            if slot not in self.removed and all(
                bit(self.columns[column], item) == wanted for column, wanted in literals
            ):
                return slot
        return -1

    def code(self, item: int) -> int:
        slot = self.slot(item)
        return self.default if slot < 0 else self.rules[slot][1]

    def said(self, kind: type[Plain] | type[Tape]) -> list[np.ndarray]:
        planes = [blank(words_for(self.items)) for _ in range(self.digits)]
        self.fill(kind(planes, self.default)).say(self.items)
        return planes


@pytest.mark.parametrize("seed", range(12))
def test_what_is_said(seed, needs):
    needs("numba")
    labels = random.Random(seed).choice([1, 2, 4, 5, 8, 40])
    case = Case(seed, random.Random(seed).choice([0, 1, 64, 1000, 1087]), 7, 9, labels)
    plain, tape = (Codes(case.said(kind), case.items) for kind in (Plain, Tape))
    assert list(plain) == list(tape) == [case.code(item) for item in range(case.items)]
    assert plain.array().tolist() == list(plain)
    lists = [case.fill(kind([], case.default)) for kind in (Plain, Tape)]
    for item in range(0, case.items, 37):
        assert [made.first(item) for made in lists] == [case.slot(item)] * 2


@pytest.mark.parametrize("shown", [True, False])
@pytest.mark.parametrize("quiet", [-1, 0, 3, 1000, 10**6])
@pytest.mark.parametrize("seed", range(8))
def test_what_is_found(seed, quiet, shown, needs):
    """Walk from event to event; both lists must agree on every step and on what is put down."""
    needs("numba")
    generator = random.Random(seed)
    labels = [3, 20, 2, 4, 6, 2, 20, 3][seed]
    case = Case(seed, [70, 3000, 45_000, 45_000][seed % 4], 30 if seed % 2 else 5, 12, labels)
    planes = case.said(Plain)
    for _ in range([300, 40, 40, 3, 300, 40, 40, 20][seed]):
        item = generator.randrange(case.items)
        generator.choice(planes)[item >> 6] ^= np.uint64(1 << (item & 63))
    ordinary = pack(np.random.default_rng(seed).random(case.items) < 0.5)
    for given, wrong_only in itertools.product((None, ordinary), (True, False)):
        noted = [None] * 2 if given is None else [np.zeros_like(ordinary), ordinary.copy()]
        lists = [
            case.fill(kind(planes, case.default, given, put_down))
            for kind, put_down in zip((Plain, Tape), noted, strict=True)
        ]
        start = steps = 0
        while start < case.items and steps < 100:
            stop = generator.choice([case.items, generator.randrange(start, case.items + 1)])
            found = [made.find(start, stop, shown, quiet, wrong_only) for made in lists]
            assert found[0] == found[1]
            start, steps = found[0][0] + 1, steps + 1
        if given is not None:
            written = lists[1].written
            assert noted[0][:written].tolist() == noted[1][:written].tolist()
            assert not noted[0][written:].any()


def test_an_event_is_what_it_says():
    """`Plain.find` against one item at a time."""
    for seed in range(60):
        case = Case(seed, 150, 5, 4, 3)
        planes = case.said(Plain)
        for _ in range(4):
            item = case.random.randrange(case.items)
            planes[1][item >> 6] ^= np.uint64(1 << (item & 63))
        truth = Codes(planes, case.items)
        ordinary = pack([case.random.random() < 0.7 for _ in range(case.items)])
        shown, quiet, wrong_only = case.random.random() < 0.5, case.random.randrange(-1, 40), True
        noted = np.zeros_like(ordinary)
        found = case.fill(Plain(planes, case.default, ordinary, noted)).find(
            0, case.items, shown, quiet, wrong_only
        )
        uncovered, put_down, answer = 0, [], (case.items, -1)
        for item in range(case.items):
            slot = case.slot(item)
            wrong = case.code(item) != truth[item] and (shown or slot < 0)
            counted = slot < 0 and 0 <= uncovered < quiet
            if wrong and not (counted and bit(ordinary, item)):
                answer = (item, slot)
                break
            if wrong and shown:
                put_down.append(item)
            uncovered += slot < 0 <= quiet
        assert found == (*answer, uncovered), seed
        assert np.flatnonzero(unpack(noted, case.items)).tolist() == put_down


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


@pytest.mark.parametrize("items", [1, 64, 200])
def test_clear(items):
    for start in range(0, items, 7):
        for stop in range(start, items + 1, 9):
            words = pack(np.ones(items, dtype=np.bool_))
            clear(words, start, stop)
            expected = [not start <= item < stop for item in range(items)]
            assert unpack(words, items).tolist() == expected


def test_columns_of_one_length_start_at_different_places_of_their_pages():
    starts = {blank(10_000).ctypes.data % 4096 for _ in range(20)}
    assert len(starts) == 20
    assert all(start % 64 == 0 for start in starts)


def test_compiled_code_goes_by_the_contents_of_all_its_files(needs):
    """numba looks at the date of the kernel's own file alone: the others are in its name."""
    needs("numba")
    from tellapart.simulation import kernel

    here = Path(kernel.__file__)
    for name in ("kernel", *kernel._PARTS):
        source = (here.parent / f"{name}.py").read_text(encoding="utf-8")
        imported = re.findall(r"^from tellapart\.columns\.(\w+) import", source, re.MULTILINE)
        # (of `bits` and `codes` only what is not compiled)
        assert set(imported) - {"bits", "codes"} <= set(kernel._PARTS)
    assert kernel.find.py_func.__qualname__ == f"find{kernel._stamp()}"
    assert kernel._stamp()
