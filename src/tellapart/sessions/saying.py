"""What can be said besides answers: labels, tags, rules by hand, notes, what is to come next."""

from __future__ import annotations

from typing import Any

from tellapart.errors import ParameterError
from tellapart.protocol import Item
from tellapart.sessions import search
from tellapart.sessions.known import Known
from tellapart.sessions.replies import Saved
from tellapart.sessions.state import State
from tellapart.sessions.validation import check_rule, check_settings, check_tag, check_text


class Saying(Known):
    """Each method writes one event."""

    # -- labels

    def add_label(self, teacher: str, label: str, *, id: str | None = None) -> Saved:
        """A label to choose from."""
        check_text("a label", label)
        return self._simple(
            "label added",
            teacher,
            {"label": label},
            id,
            lambda state: state.labels.check_free(label),
        )

    def rename_label(self, teacher: str, label: str, to: str, *, id: str | None = None) -> Saved:
        """Call a label something else, in the past too."""
        check_text("a label", to)

        def check(state: State) -> None:
            state.labels.check_free(to, but=state.labels.must_find(label))

        return self._simple("label renamed", teacher, {"label": label, "to": to}, id, check)

    def merge_labels(self, teacher: str, label: str, into: str, *, id: str | None = None) -> Saved:
        """Make one label of two, in the past too."""

        def check(state: State) -> None:
            if state.labels.must_find(label) == state.labels.must_find(into):
                raise ParameterError(f"{label!r} and {into!r} are one label already")

        return self._simple("labels merged", teacher, {"label": label, "into": into}, id, check)

    def describe_label(
        self, teacher: str, label: str, meaning: str, *, id: str | None = None
    ) -> Saved:
        """Say in a line what a label means; an empty text takes the line away."""
        if meaning:
            check_text("a meaning", meaning)

        def check(state: State) -> None:
            state.labels.must_find(label)

        data = {"label": label, "meaning": meaning}
        return self._simple("label described", teacher, data, id, check)

    # -- tags, rules, notes

    def set_tag(
        self, teacher: str, tag: str, item: Item, value: bool | None, *, id: str | None = None
    ) -> Saved:
        """Say of an item (a row or its id) that it has a tag, has it not, or that it is unknown."""
        if value is not None and not isinstance(value, bool):
            raise ParameterError(f"a tag is True, False or None, got {value!r}")
        check_text("a tag", tag)
        with self._ready() as state:
            row = state.items.row(self.table.place(item))
            written = {"tag": tag, "item": state.items.write(row), "value": value}
            return self._simple(
                "tag set", teacher, written, id, lambda state: check_tag(state, tag)
            )

    def drop_rule(self, teacher: str, example: Item, *, id: str | None = None) -> Saved:
        """Drop the rule with this example (a row or its id)."""
        with self._ready() as state:
            row = state.items.row(self.table.place(example))
            return self._simple(
                "rule dropped",
                teacher,
                {"example": state.items.write(row)},
                id,
                lambda state: check_rule(state, row),
            )

    def edit_rule(
        self, teacher: str, example: Item, condition: str, label: str, *, id: str | None = None
    ) -> Saved:
        """Replace the condition (SQL) and the label of the rule with this example."""
        check_text("a label", label)
        with self._ready() as state:
            row = state.items.row(self.table.place(example))
            text = str(state.items.feature(condition))
            data = {"example": state.items.write(row), "if": text, "label": label}
            return self._simple(
                "rule edited", teacher, data, id, lambda state: check_rule(state, row)
            )

    def note(self, teacher: str, text: str, item: Item = None, *, id: str | None = None) -> Saved:
        """Write something down, about an item or in general."""
        check_text("a note", text, 10_000)
        with self._ready() as state:
            data: dict[str, Any] = {"text": text}
            if item is not None:
                row = state.items.row(self.table.place(item))
                data["item"] = state.items.write(row)
            return self._simple("note", teacher, data, id)

    # -- what comes next

    def search(self, teacher: str, text: str | None, *, id: str | None = None) -> Saved:
        """Give this teacher next the items that a text fits; None or "": as they come again.

        The text is a condition (`legs >= 4`), or words that must all be in the texts of an item.
        Items that were looked for do not count for the estimate of the error: nobody drew them.
        """
        with self._ready():
            data: dict[str, Any] = {"where": None}
            if text is not None and text.strip():
                check_text("what to look for", text, 2_000)
                where = search.condition(self.table, text)
                data = {"where": str(where), "text": text.strip()}
            return self._simple(
                "search", teacher, data, id, lambda state: search.check(state, data["where"])
            )

    def set(self, teacher: str, *, id: str | None = None, **settings: Any) -> Saved:
        """Switch `order`, `overlap`, `lease` (seconds) or `until` (a stopper)."""
        return self._simple("settings", teacher, check_settings(settings), id)
