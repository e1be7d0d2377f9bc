"""One list of rules on its own: what `simulate` does for most learners, and does quickest.

Of an item that is no exception, a made world's teacher says what its component alone decides
(`MadeWorld.said_against`), of others what comes to his mind (`columns.reasons`). Such a round is
told to the learner without asking the teacher, and kept as a number and a guess: what was said is
asked when somebody wants to know (`corrections.Noted`).
"""

from __future__ import annotations

from typing import Any

from tellapart.protocol import Conversation, Feature
from tellapart.simulation.bits import words_for
from tellapart.simulation.corrections import Noted
from tellapart.simulation.match import PackedMatch, Unreadable, World
from tellapart.simulation.patience import Patience
from tellapart.simulation.reasons import Reasons
from tellapart.simulation.tape import COMPONENT, COMPONENT_DIGITS, COMPONENTS, LABEL, Tape


class Solo:
    """A learner whose own list of rules decides everything, in a lesson that nobody watches.

    Parameters
    ----------
    learner : RuleLearner
        Told of the rounds that matter, by the book (`RuleLearner.by_the_book`).
    world : World
        Where it learns.
    conversation : Conversation
        Takes the rounds of which the teacher must be asked.
    """

    def __init__(self, learner: Any, world: World, conversation: Conversation) -> None:
        self._learner, self._conversation = learner, conversation
        self._world: Any = world  # a made one, where `_against` is not None
        self._quiet = learner.quiet()
        self._clocked = self._quiet[0] >= 0
        counts = self._clocked or learner.tolerance is not None
        has = getattr(world, "has", None)
        # against an example from elsewhere nothing that the teacher says is known to be sound
        strange = has is not None and not has(learner.default.example)
        ordinary = world.ordinary if counts and not strange else None
        self._match = PackedMatch(world, learner.default.label, ordinary)
        self._list = self._match.list
        known = has is not None and not strange and isinstance(self._list, Tape)
        self._against: dict[int, Any] | None = {} if known else None  # by number of a rule
        self.noted: Noted | None = None
        if known or (self._clocked and ordinary is not None):
            self.noted = Noted(learner.default)
        self._guesses = {} if self.noted is None else self.noted.guesses
        self._room = 0 if ordinary is not None and self._clocked else len(world)
        self._patience: Patience | None = None
        self._reasons: Reasons | None = None
        self._default = self._match.labels.code(learner.default.label)
        self._usual = getattr(world, "usual", ())
        """The codes of the label of the default, and of those of the components."""
        self._fired, self._skipped = -1, 0
        """What was found last: the slot, and how many were uncovered before."""

    def run(self, number: int) -> int:
        """Go on from round `number`; returns the first round not done."""
        learner, match, tape = self._learner, self._match, self._list
        end, clocked = len(self._world), self._clocked
        lasting = isinstance(tape, Tape)  # what it was told of time to come is all it needs
        quiet, began, counted, asked = self._quiet, number, 0, False
        learner.use(match)
        try:
            self._prepare(number)
            patience = self._patience
            while number < end:
                if clocked and asked:
                    quiet, began, counted = learner.quiet(), number, 0
                if number >= self._room:
                    self._make_room(number)
                if match.pending:
                    match.settle(number)
                before = counted
                event, self._fired, counted = tape.find(number, end, True, *quiet, began, before)
                if event > number:
                    self._skipped = counted - before
                    learner.skip(event - number, self._uncovered)
                    number = event
                    asked = not lasting
                    if number == end or number == self._room or (asked and self._fired < 0):
                        continue
                if patience is not None:
                    patience.settle()
                self._tell(number)
                asked = not lasting or self._fired < 0
                number += 1
        except Unreadable:
            if self.noted is not None:
                self.noted.forget(number)  # what was put down ahead
        finally:
            if self._patience is not None:
                self._patience.end()
            if self.noted is not None and self.noted.parts:
                self.noted.end(self._list.written)
            learner.use(None)
        return number

    def _prepare(self, number: int) -> None:
        """Let the kernel know of the components, and of what rules can take."""
        if self._against is None:
            return
        planes = self._world.components.planes
        self._list.cells[COMPONENT_DIGITS] = len(planes)
        self._list.hold_all(planes, COMPONENTS)
        mind = self._world.mind
        if mind is not None:
            teacher = self._conversation.teacher
            self._reasons = Reasons(mind, self._learner, self._world, self._list, teacher)
        tolerance = self._learner.tolerance
        if tolerance is not None:
            assert self.noted is not None
            self._list.tolerate(tolerance, self._learner.rounds + 1 - number)
            self._patience = Patience(
                self._learner, self._world, self._list, self.noted.log, self._reasons
            )

    def _make_room(self, number: int) -> None:
        assert self.noted is not None
        first = number >> 6
        self.noted.end(self._list.written)
        part = self.noted.extend(first, words_for(len(self._world)))
        self._list.note(part, first)
        self._room = 64 * (first + len(part))

    def _uncovered(self, rules: object) -> int:
        return self._skipped

    def _tell(self, number: int) -> None:
        """Tell the learner of a round."""
        slot, tape = self._fired, self._list
        rule = self._learner.rule(slot) if slot >= 0 else None
        if self._against is None:
            self._ask(number, rule)
            return
        label, component = tape.cells[LABEL], tape.cells[COMPONENT]
        ordinary = label == self._usual[component]
        if rule is None:
            if ordinary or label == self._default:
                self._meet(number, label)
                return
        elif ordinary:
            feature = self._said_against(rule)[component]
            if feature is not None:
                self._err(number, rule, feature, component)
                return
        feature = None
        if self._reasons is not None:
            example = (rule.guess if rule else self._learner.default).example
            feature = self._reasons.think(number, component, example, ordinary)
        if feature is None:
            self._ask(number, rule)
        elif rule is None:
            self._meet(number, label)
        else:
            self._err(number, rule, feature)

    def _ask(self, number: int, rule: Any) -> None:
        """A round of which the teacher himself must be asked."""
        self._match.slot = self._fired
        correction = self._conversation.round(number, self._world.items[number])
        feature = correction and correction.feature
        if self._patience is not None:
            self._patience.look(rule, feature)
        if self._reasons is not None:
            example = (rule.guess if rule else self._learner.default).example
            self._reasons.hear(example, feature)

    def _said_against(self, rule: Any) -> Any:
        if self._patience is not None:
            return self._patience.said_against(rule)
        assert self._against is not None
        said = self._against.get(rule.number)
        if said is None:
            said = self._world.said_against(rule.example)
            self._against[rule.number] = said
        return said

    def _meet(self, number: int, code: int) -> None:
        """An item that no rule covers."""
        learner, label = self._learner, self._match.labels.names[code]
        if code != self._default:
            self._guesses[number] = learner.default
        learner.meet(self._world.items[number], label)
        if self._patience is not None:
            self._patience.look(None, None)

    def _err(self, number: int, rule: Any, feature: Feature, component: int | None = None) -> None:
        """A mistake of a rule; `component`: of an ordinary item, which made him say so."""
        self._guesses[number] = rule.guess
        self._learner.err(rule, feature)
        if self._patience is not None:
            self._patience.look(rule, feature, component)
