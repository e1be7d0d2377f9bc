"""What a session's learner came to, as bytes, so that opening the session need not teach it again.

It is a cache: whatever is wrong with it, the log is replayed. It belongs to one version of this
code, and to the log up to one event; the store has digests of both.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tellapart
from tellapart import codec
from tellapart.errors import FormatError
from tellapart.learners import load_learner
from tellapart.protocol import Correction, Guess
from tellapart.review import ClauseRecords, Progress
from tellapart.review.progress import Told
from tellapart.sessions.edited_learner import EditedLearner, EditedRule
from tellapart.sessions.rules import read_literals

if TYPE_CHECKING:
    from tellapart.learners.history import Columns
    from tellapart.protocol import Feature
    from tellapart.sessions.items import Items
    from tellapart.sessions.learning import Learning, Mind


_MOST = 500_000_000
"""Bytes, unpacked: more are not read."""
_APART = ("learner", "progress", "records")
_PLAIN = (bool, int, float, str, type(None))


@cache
def code_version() -> str:
    """What the bytes depend on beside the log: every line of this package."""
    digest = hashlib.sha256(tellapart.__version__.encode())
    for path in sorted(Path(tellapart.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:32]


def pack(learning: Learning) -> bytes:
    """What a learner came to, with an earlier copy for those who undo."""
    kept = [*learning.copies[-1:], (learning.done, *learning.lengths, learning.mind)]
    rounds = [
        [
            number,
            told.guess and told.guess.label,
            -1 if told.guess is None or told.guess.example is None else told.guess.example.place,
            None if told.correction is None else [_text(told.correction.feature)],
        ]
        for number, told in zip(learning.learnt_by, learning.rounds, strict=True)
    ]
    data = {
        "rounds": rounds,
        "mistakes": learning.mistakes,
        "minds": [[done, *lengths, _write_mind(mind)] for done, *lengths, mind in kept],
    }
    return zlib.compress(codec.dump(data).encode(), 1)


def unpack(learning: Learning, packed: bytes, acts: int) -> None:
    """Put a learner that has learnt nothing where it was after so many acts."""
    whole = zlib.decompressobj()
    data = json.loads(whole.decompress(packed, _MOST))
    if whole.unconsumed_tail:
        raise FormatError(f"it has more than {_MOST:,} bytes")
    history, items = learning.history, learning.items
    if data["minds"][-1][0] != acts:
        raise FormatError("it was kept after other acts")
    rows = items.late([history.acts[number].item for number, *_ in data["rounds"]])
    for row, (number, label, example, told) in zip(rows, data["rounds"], strict=True):
        act = history.acts[number]
        guess = Guess(label, None if example < 0 else items.row(example))
        correction = None
        if told is not None:
            feature = None if told[0] is None else items.feature(told[0])
            correction = Correction(history.answer(number).label, feature)
        said = label if correction is None else correction.label
        learning.rounds.append(Told(row, said, guess, correction, act.by))
        learning.learnt_by.append(number)
    learning.mistakes = data["mistakes"]
    for act in history.acts[:acts]:
        if act.kind == "tag set":  # also one that was undone: the tag is there, and unknown
            items.table.tag(act.event.data["tag"])
    tags = _read(data["minds"][-1][3]["tags"])
    for (tag, item), value in tags.items():  # before features that read them
        items.table.tag(tag).set(items.row(item), value)
    learning.copies = [(*at, LateMind(items, written)) for *at, written in data["minds"]]
    learning.mind, learning.done = learning.copies[-1][3].copy(), acts


class LateMind:
    """What a learner came to, read when somebody undoes: that takes as long as opening."""

    def __init__(self, items: Items, written: dict[str, Any]) -> None:
        self._items, self.written = items, written

    def copy(self) -> Mind:
        """Read it."""
        return _read_mind(self._items, self.written)


def _text(feature: Any) -> str | None:
    return None if feature is None else str(feature)


def _write_mind(mind: Mind | LateMind) -> dict[str, Any]:
    if isinstance(mind, LateMind):
        return mind.written
    edits = [
        [place, rule.at, rule.by, rule.label, rule.literals and _literals(rule)]
        for place, rule in mind.learner.edits.items()
    ]
    inner: Any = mind.learner.inner
    with codec.compactly():
        learner = inner.to_json()
    rest = {name: _write(getattr(mind, name)) for name in _counted(mind)}
    progress, records = _write(vars(mind.progress)), mind.records.copy()
    records.take(mind.learner.model)
    written = {"learner": learner, "edits": edits, "progress": progress}
    return {**written, "records": records.write(), **rest}


def _read_mind(items: Items, written: dict[str, Any]) -> Mind:
    from tellapart.sessions.learning import Mind

    learner = EditedLearner(load_learner(written["learner"], items=_ByPlace(items)))
    for place, at, by, label, literals in written["edits"]:
        made = None if literals is None else read_literals(literals, items.table)
        learner.edits[place] = EditedRule(items.row(place), at, by, label, made)
    progress = Progress.__new__(Progress)
    progress.__dict__.update(_read(written["progress"]))
    records = ClauseRecords.read(written["records"], learner.model, rows=len(items))
    mind = Mind(learner, progress, records)
    for name in _counted(mind):
        setattr(mind, name, _read(written[name]))
    return mind


def _counted(mind: Mind) -> list[str]:
    return [one.name for one in fields(mind) if one.name not in _APART]


def _literals(rule: EditedRule) -> list[list[Any]]:
    return [[str(literal.feature), literal.wanted] for literal in rule.literals or ()]


class _ByPlace(Sequence[Any]):
    """The rows of a session's table."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, place: Any) -> Any:
        return self._items.row(place)

    def many(self, places: list[int]) -> list[Any]:
        return self._items.late(places)

    def columns_of(self, features: Iterable[Feature]) -> Columns:
        return self._items.table.columns_of(features)


def _write(value: Any) -> Any:
    """Plain values and containers as JSON; `_read` is the inverse."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, list):
        return [_write(part) for part in value]
    if isinstance(value, tuple):
        return {"tuple": [_write(part) for part in value]}
    if isinstance(value, dict):
        keys, parts = list(value), list(value.values())
        if all(isinstance(one, _PLAIN) for one in (*keys, *parts)):
            return {"plain": [keys, parts]}  # most are, and this is quick to read
        return {"dict": [_write(keys), _write(parts)]}
    if isinstance(value, set | frozenset):
        return {"set": [_write(part) for part in sorted(value)]}
    if isinstance(value, bytearray):
        return {"bytes": base64.b64encode(value).decode("ascii")}
    raise FormatError(f"{type(value).__name__} cannot be kept")


def _read(written: Any) -> Any:
    if isinstance(written, list):
        return [_read(part) for part in written]
    if not isinstance(written, dict):
        return written
    ((kind, inside),) = written.items()
    if kind == "tuple":
        return tuple(_read(part) for part in inside)
    if kind == "plain":
        return dict(zip(*inside, strict=True))
    if kind == "dict":
        return dict(zip(*map(_read, inside), strict=True))
    if kind == "set":
        return {_read(part) for part in inside}
    return bytearray(base64.b64decode(inside))
