"""What a session tells. Nothing here writes: `Session` has the methods that do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from tellapart.errors import ProtocolError
from tellapart.features.candidates import Candidate
from tellapart.learners import BaseLearner
from tellapart.model import DecisionList
from tellapart.protocol import Guess, Item
from tellapart.sessions import adjudication, agreement, replies, suggestions
from tellapart.sessions.events import Event
from tellapart.sessions.log import Log
from tellapart.sessions.rules import rule_changes
from tellapart.sessions.state import Act, Question, State
from tellapart.sessions.store import Store
from tellapart.tables import Row, Table


class SessionReader:
    """A session as one can look at it. Methods may be called from many threads."""

    def __init__(self, store: Store, name: str, table: Table, clock: Callable[[], float]) -> None:
        self.name, self.table = name, table
        self._log = Log(store, name, table, clock)
        self._suggestions = suggestions.Suggestions()
        self._judged: tuple[tuple[int, float], DecisionList] | None = None
        self._summary: tuple[State, int, replies.Summary] | None = None
        self._odd: tuple[int, bool, list[replies.OddOne]] | None = None
        self._named: tuple[DecisionList, dict[str, str], DecisionList] | None = None

    @property
    def number(self) -> int:
        """The number of the last event."""
        with self._log.ready() as state:
            return state.number

    @property
    def opened(self) -> Event:
        """The first event: table, learner, seed."""
        with self._log.ready() as state:
            return state.opened

    @property
    def settings(self) -> dict[str, Any]:
        """The values of `config.Settings`."""
        with self._log.ready() as state:
            return dict(vars(state.settings))

    @property
    def teachers(self) -> list[str]:
        """Who has joined."""
        with self._log.ready() as state:
            return list(state.teachers)

    @property
    def models(self) -> dict[str, str]:
        """The teachers that are language models, and the names of these."""
        with self._log.ready() as state:
            found = state.teachers.items()
            return {name: one.model for name, one in found if one.model is not None}

    @property
    def labels(self) -> list[str]:
        """The names of the labels, oldest first."""
        with self._log.ready() as state:
            return [state.labels.name(key) for key in state.label_keys()]

    @property
    def meanings(self) -> dict[str, str]:
        """The meanings of labels that were described, by their names."""
        with self._log.ready() as state:
            keys = [key for key in state.label_keys() if state.meanings.get(key)]
            return {state.labels.name(key): state.meanings[key] for key in keys}

    @property
    def learner(self) -> BaseLearner:
        """The learner; to look at, not to teach."""
        with self._log.ready() as state:
            return state.replay.now.learner.inner

    @property
    def model(self) -> DecisionList:
        """The rules learnt, with people's edits and the present names of labels."""
        with self._log.ready() as state:
            inner = state.replay.now.learner.model
            names = {key: state.labels.name(key) for key in state.labels.current()}
            if self._named is None or self._named[0] is not inner or self._named[1] != names:
                self._named = (inner, names, replies.named_model(state, inner))
            return self._named[2]

    def judged_model(self, confidence: float = 0.95) -> DecisionList:
        """The rules with a record for each: right, wrong, when last seen, and a bound on its error
        (`review.ClauseRecords`). It takes as long as opening the session."""
        with self._log.ready() as state:
            key = (state.number, confidence)
            if self._judged is None or self._judged[0] != key:
                model = replies.named_model(state, state.replay.judge(confidence))
                self._judged = (key, model)
            return self._judged[1]

    def trust(self, error: float = 0.05, confidence: float = 0.95) -> replies.Trust:
        """How many items the rules answer whose error is at most `error`."""
        with self._log.ready() as state:
            return replies.trust(state, self.judged_model(confidence), error, confidence)

    def chosen_model(self, unsure: str | None = None, error: float | None = None) -> DecisionList:
        """The rules as they are shown and exported: with the setting `unsure` "null", they say
        nothing where a rule's error may be above the setting `error`."""
        settings = self.settings
        if (unsure or settings["unsure"]) == "label":
            return self.model
        return self.judged_model().abstain(settings["error"] if error is None else error)

    def taught(self) -> dict[int, str]:
        """The label that each item was given, by the item's place in the table."""
        with self._log.ready() as state:
            now, replay = state.replay.now, state.replay
            found = {**now.waiting, **now.taught}
            labels = {place: replay.answer(number).label for place, number in found.items()}
            return {place: str(replies.name_of(state, key)) for place, key in labels.items()}

    def model_until(self, moment: str) -> DecisionList:
        """The rules that the answers until a moment (as in the log) make, without what was undone
        since. It takes as long as opening the session."""
        with self._log.ready() as state:
            return replies.named_model(state, state.replay.model_until(moment))

    def mistakes(self) -> list[bool]:
        """For every guess, whether it was a mistake."""
        with self._log.ready() as state:
            return list(state.replay.mistakes)

    def rules_over_time(self) -> list[int]:
        """How many rules there were after every guess."""
        with self._log.ready() as state:
            return list(state.replay.sizes)

    def records(self) -> dict[Any, tuple[int, int]]:
        """How often the rule with each example (by its id) was right, and wrong."""
        with self._log.ready() as state:
            found = state.replay.now.records
            return {state.items.identity(place): counts for place, counts in found.items()}

    def rule_teacher(self, example: Item) -> str | None:
        """Who made the rule with this example: who edited it last, or else taught the example."""
        with self._log.ready() as state:
            now, place = state.replay.now, self.table.place(example)
            if place in now.learner.edits:
                return now.learner.edits[place].by
            return state.acts[now.taught[place]].by if place in now.taught else None

    def notes(self) -> list[Event]:
        """All notes."""
        with self._log.ready() as state:
            return list(state.notes)

    def history(
        self, *, item: Item = None, teacher: str | None = None, last: int | None = None
    ) -> list[replies.Answered]:
        """Every answer, undone ones too, in order; of one item, of one teacher, or the last few."""
        with self._log.ready() as state:
            if item is None:
                numbers = sorted(chain.from_iterable(state.answers.values()))
            else:
                numbers = state.answers.get(self.table.place(item), [])
            if teacher is not None:
                numbers = [n for n in numbers if state.acts[n].by == teacher]
            if last is not None:
                numbers = numbers[len(numbers) - min(last, len(numbers)) :]
            return [replies.answered(state, number) for number in numbers]

    def label_of(self, item: Item) -> str | None:
        """The label an item was given; None if it has none."""
        with self._log.ready() as state:
            now, place = state.replay.now, self.table.place(item)
            number = now.taught.get(place, now.waiting.get(place))
            label = None if number is None else state.replay.answer(number).label
            return replies.name_of(state, label)

    def search_of(self, teacher: str) -> tuple[str, int] | None:
        """A teacher's search, and how many items match; None without one."""
        with self._log.ready() as state:
            search = state.queue.searches.get(teacher)
            held = state.queue.held.get(teacher)
            on_it = held is not None and held.sought and not held.picked
            if search is None or not (on_it or search.next() is not None):
                return None
            return search.text, len(search.places)

    def summary(self) -> replies.Summary:
        """The progress so far."""
        with self._log.ready() as state:
            kept = self._summary
            if kept is None or kept[0] is not state or kept[1] != state.number:
                kept = self._summary = (state, state.number, replies.summary(state))
            return kept[2]

    def about(self) -> list[str]:
        """Who taught it, when and by how many answers, and what is known of the error: lines of
        comment for an exported model."""
        with self._log.ready() as state:
            answers = [one for one in self.history() if not one.undone]
            return replies.about(self.name, answers, replies.summary(state))

    def changes_since(self, old: DecisionList) -> list[str]:
        """Which rules changed since a model, because of which row, and who said so."""
        return rule_changes(old, self.model, self.history())

    def can_undo(self, teacher: str) -> bool:
        """Whether there is something to undo."""
        with self._log.ready() as state:
            return teacher in state.teachers and bool(state.teachers[teacher].done)

    def last_sweep(self, teacher: str) -> str | None:
        """The id of the sweep that undo would take back; None if it would take back another act."""
        with self._log.ready() as state:
            done = state.teachers[teacher].done if teacher in state.teachers else []
            return state.ids[state.acts[done[-1]].id].data.get("sweep") if done else None

    def can_redo(self, teacher: str) -> bool:
        """Whether there is something to redo."""
        with self._log.ready() as state:
            return teacher in state.teachers and bool(state.teachers[teacher].undone)

    # -- what is shown

    def given(self, given: str) -> replies.Given:
        """The question with an id."""
        with self._log.ready() as state:
            return replies.given(state, self._question(state, given))

    def candidates(
        self,
        given: str,
        label: str | None = None,
        *,
        limit: int = suggestions.LIMIT,
        column: str | None = None,
    ) -> list[Candidate]:
        """Features that tell the item from the example shown with it, the worthiest first.

        `label` is what the teacher is about to say; with it the ranking is better. `column`: only
        features that read this column.
        """
        with self._log.ready() as state:
            question = self._question(state, given)
            if column is not None:
                self.table.check(column)
            return self._suggestions.candidates(state, question, label, limit, column)

    def check(self, given: str, expression: str) -> replies.Check:
        """Check whether an expression holds on the item and on the example, and count its items.

        Raises `FeatureError` if it is no expression.
        """
        with self._log.ready() as state:
            shown = replies.given(state, self._question(state, given))
            return suggestions.check(self.table, expression, shown.item, shown.guess.example)

    def _question(self, state: State, given: str) -> Question:
        question = state.questions.get(given)
        if question is None:
            raise ProtocolError(f"nothing was given under the id {given!r}")
        return question

    def question_of(self, event: str) -> replies.Given:
        """The question that an answer was given to."""
        with self._log.ready() as state:
            return replies.given(state, self._answered(state, event)[1])

    def guess_now(self, event: str) -> Guess | None:
        """The guess that an answer is about by now; None if it is the one that its teacher was
        shown."""
        with self._log.ready() as state:
            self._answered(state, event)
            return replies.guess_now(state, state.act_of[event])

    def waiting(self) -> frozenset[int]:
        """The places of the items whose label is known, and whose reason is asked again."""
        with self._log.ready() as state:
            return state.replay.wanting()

    def asked_again(self, given: str) -> replies.AskedAgain | None:
        """Why a question asks only for a feature; None if it asks for more."""
        with self._log.ready() as state:
            return replies.asked_again(state, self._question(state, given))

    def _answered(self, state: State, event: str) -> tuple[Act, Question]:
        number = state.act_of.get(event)
        act = None if number is None else state.acts[number]
        if act is None or act.question is None:
            raise ProtocolError(f"there is no answer {event!r} to change")
        return act, act.question

    # -- several teachers

    def disagreements(self) -> list[replies.Disagreement]:
        """The items that teachers called differently, with everybody's answer."""
        with self._log.ready() as state:
            return agreement.disagreements(state)

    def agreement(self) -> replies.Agreement:
        """How far teachers agree on labels and on features."""
        with self._log.ready() as state:
            return agreement.agreement(state)

    def agreement_by_label(self) -> list[replies.LabelAgreement]:
        """How far teachers agree on each label, the most disputed first."""
        with self._log.ready() as state:
            return agreement.by_label(state)

    def awaits_opinion(self, item: Item, teacher: str) -> bool:
        """Whether a teacher may yet be asked about an item that another has answered about."""
        with self._log.ready() as state:
            return state.queue.awaits_opinion(self.table.place(item), teacher)

    def odd_ones(
        self, teacher: str | None = None, *, everything: bool = False
    ) -> list[replies.OddOne]:
        """Suspected slips, of all or of one teacher, the oddest first.

        With `everything`, the answers that nothing contradicts come after them, the least certain
        first. An answer that a person confirmed is not listed, until it is changed. Others can go
        on meanwhile: it judges what there was when it began.
        """
        with self._log.ready() as state:
            number, kept = state.number, self._odd
            if kept is not None and (kept[0] != number or kept[1] < everything):
                kept = None  # other answers, or not all that are asked for
            if kept is None:
                history, acts = agreement.answers_to_judge(state)
        if kept is not None:
            odd = kept[2]
        else:
            found = agreement.slips(state, history, self._log.lock, everything)
            with self._log.lock:
                odd = [
                    agreement.odd_one(state, suspect, acts[suspect.round])
                    for suspect in found
                    if not state.is_confirmed(acts[suspect.round])
                ]
            self._odd = (number, everything, odd)
        return [
            one
            for one in odd
            if (everything or one.score > 0) and teacher in (None, one.answer.teacher)
        ]

    def slips(self) -> dict[str, tuple[int, int]]:
        """For each teacher, how many of their answers are suspected, and how many there are."""
        with self._log.ready() as state:
            taught = [state.acts[number].by for number in state.replay.rounds]
        odd = [one.answer.teacher for one in self.odd_ones()]
        return {name: (odd.count(name), taught.count(name)) for name in self.teachers}

    # -- language models among the teachers

    def same_label(self, one: str, other: str) -> bool:
        """Whether two names, new or old, mean the same label."""
        with self._log.ready() as state:
            key = state.labels.find(one)
            return one == other or (key is not None and key == state.labels.find(other))

    def knows_label(self, name: str) -> bool:
        """Whether there is a label that is called this, or was."""
        with self._log.ready() as state:
            return state.labels.find(name) is not None

    def answered_by(self, teacher: str) -> frozenset[int]:
        """The places of the rows that a teacher has answered about, "skipped" left out."""
        with self._log.ready() as state:
            return frozenset(
                place
                for place, numbers in state.answers.items()
                for n in numbers
                if state.acts[n].by == teacher
                and state.acts[n].alive
                and state.replay.raw_answer(n).answer != "skipped"
            )

    def free(self, items: Sequence[Row], teacher: str) -> list[Row]:
        """Those of some rows that may be given to this teacher, or are with them."""
        with self._log.ready() as state:
            held = state.queue.held.get(teacher)
            mine = None if held is None else held.place
            return [
                item
                for item in items
                if item.place == mine or state.queue.is_free(item.place, teacher)
            ]

    def slip_rates(self) -> dict[str, list[adjudication.SlipRate]]:
        """For each language model, how often people say otherwise: in all, and by its label."""
        with self._log.ready() as state:
            return adjudication.slip_rates(state)
