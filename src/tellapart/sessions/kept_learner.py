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
_DICTS, _SETS = ("taught", "waiting", "outcomes"), ("put_off", "counted")


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
            None if told.correction is None else [_text(told.correction)],
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
    rows = items.fetch([history.acts[number].item for number, *_ in data["rounds"]])
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
    for tag, item, value in data["minds"][-1][3]["tags"]:  # before features that read them
        items.table.tag(tag).set(items.row(item), value)
    learning.copies = [(*at, LateMind(items, written)) for *at, written in data["minds"]]
    learning.mind, learning.done = learning.copies[-1][3].copy(), acts


class LateMind:
    def __init__(self, items: Items, written: dict[str, Any]) -> None:
        self._items, self.written = items, written

    def copy(self) -> Mind:
        return _read_mind(self._items, self.written)


def _text(correction: Correction) -> str | None:
    return None if correction.feature is None else str(correction.feature)


def _write_mind(mind: Mind | LateMind) -> dict[str, Any]:
    if isinstance(mind, LateMind):
        return mind.written
    edits: list[list[Any]] = []
    for place, rule in mind.learner.edits.items():
        literals = rule.literals
        written = None if literals is None else [[str(one.feature), one.wanted] for one in literals]
        edits.append([place, rule.at, rule.by, rule.label, written])
    inner: Any = mind.learner.inner
    with codec.compactly():
        learner = inner.to_json()
    kinds = base64.b64encode(mind.progress.kinds).decode("ascii")
    records = mind.records.copy()
    records.take(mind.learner.model)
    return {
        "learner": learner,
        "edits": edits,
        "progress": {**vars(mind.progress), "kinds": kinds},
        "records": records.write(),
        "tags": [[*of, value] for of, value in mind.tags.items()],
        **{name: list(zip(*getattr(mind, name).items(), strict=True)) for name in _DICTS},
        **{name: sorted(getattr(mind, name)) for name in _SETS},
    }


def _read_mind(items: Items, written: dict[str, Any]) -> Mind:
    from tellapart.sessions.learning import Mind

    learner = EditedLearner(load_learner(written["learner"], items=_ByPlace(items)))
    for place, at, by, label, literals in written["edits"]:
        made = None if literals is None else read_literals(literals, items.table)
        learner.edits[place] = EditedRule(items.row(place), at, by, label, made)
    counts = {n: tuple(v) if isinstance(v, list) else v for n, v in written["progress"].items()}
    kinds = bytearray(base64.b64decode(written["progress"]["kinds"]))
    progress = Progress()
    progress.__dict__.update(counts, kinds=kinds)
    records = ClauseRecords.read(written["records"], learner.model, rows=len(items))
    mind = Mind(learner, progress, records)
    mind.tags = {(tag, item): value for tag, item, value in written["tags"]}
    for name in _DICTS:
        setattr(mind, name, dict(zip(*written[name], strict=True)))
    for name in _SETS:
        setattr(mind, name, set(written[name]))
    return mind


class _ByPlace(Sequence[Any]):
    def __init__(self, items: Items) -> None:
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, place: Any) -> Any:
        return self._items.row(place)

    def columns_of(self, features: Iterable[Feature]) -> Columns:
        return self._items.table.columns_of(features)
