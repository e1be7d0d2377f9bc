"""What a teacher may ask for next, worked out while they look: features for the likely labels, and
when these are shown, what is learnt if one of the first is chosen.

Kept until the next event: then it would be another answer.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice

from tellapart.features.candidates import Candidate
from tellapart.sessions import suggestions
from tellapart.sessions.acts import Said, Shown
from tellapart.sessions.state import State

LIMIT = 30
"""So many candidates are offered, unless another number is asked for."""
_LABELS = 2  # of so many labels the features are found beforehand
_BACK = 200  # rounds, in which likely labels are frequent
_FIRST = 3  # so many features are likely to be chosen


class Ahead:
    """Candidates of a session as it is now."""

    def __init__(self) -> None:
        self._of: tuple[State | None, int] = (None, 0)
        self._kept: dict[tuple[str, str | None, int], list[Candidate]] = {}
        self._asked: dict[str, str | None] = {}

    def candidates(
        self, state: State, shown: Shown, label: str | None, limit: int = LIMIT
    ) -> list[Candidate]:
        """See `reasons.candidates`."""
        self._refresh(state)
        self._asked[shown.id] = label
        return list(self._find(state, shown, label, limit))

    def _refresh(self, state: State) -> None:
        if self._of[0] is not state or self._of[1] != state.number:
            self._of, self._kept, self._asked = (state, state.number), {}, {}

    def _find(self, state: State, shown: Shown, label: str | None, limit: int) -> list[Candidate]:
        key = shown.id, label, limit
        if key not in self._kept:
            self._kept[key] = suggestions.candidates(state, shown, label, limit)
        return self._kept[key]

    def expect(self, state: State, first: int = 1) -> bool:
        """Learn beforehand what one of the first features would teach, if they are shown."""
        self._refresh(state)
        shown = next(reversed(state.desk.held.values()), None)
        if shown is None or shown.id not in self._asked:
            return False
        label = self._asked[shown.id]
        key = shown.kept if label is None else state.labels.find(label)
        if key is None:
            return False
        found = self._kept.get((shown.id, label, LIMIT), [])[:first]
        said = (Said("wrong", state.labels.same(key), one.feature) for one in found)
        return any(state.course.foresee(shown, one) for one in said)

    def look(self, state: State) -> bool:
        """Find one thing more; False when all that is likely is at hand."""
        self._refresh(state)
        shown = next(reversed(state.desk.held.values()), None)
        if shown is None:
            return False  # nobody is looking
        if shown.id in self._asked:  # they have made up their mind what it is
            return self.expect(state, _FIRST)
        if shown.asks != "answer":
            return False
        for label in _likely(state, shown):
            if (shown.id, label, LIMIT) not in self._kept:
                self._find(state, shown, label, LIMIT)
                return True
        return False


def _likely(state: State, shown: Shown) -> list[str]:
    """What the item may be if the guess is wrong: the labels that were frequent of late."""
    rounds = islice(reversed(state.course.history.rounds), _BACK)
    often = Counter(told.label for told in rounds)
    others = [key for key in state.label_keys() if key != shown.label]
    first = sorted(others, key=lambda key: -often[key])[:_LABELS]
    return [state.labels.name(key) for key in first]
