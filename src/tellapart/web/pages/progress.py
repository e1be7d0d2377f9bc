"""The progress page: how it went, with charts, and the labels and settings changed on it."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from fastapi import APIRouter
from markupsafe import Markup
from starlette.responses import Response

from tellapart.errors import ParameterError
from tellapart.features.phrasing import counted
from tellapart.sessions import Session, Summary
from tellapart.sessions.config import ORDERS
from tellapart.sessions.labels import split_names
from tellapart.web.api.review import mistake_bound
from tellapart.web.auth import Call
from tellapart.web.pages.render import Form, page, redirect
from tellapart.web.session_pool import in_session, reads_session

router = APIRouter(prefix="/s/{session}")


@router.get("/progress")
@reads_session
def progress(session: Session, call: Call) -> Response:
    """How far it is, and how it went."""
    mistakes = session.mistakes()
    groups = max(len(session.labels), session.summary().rules + 1)
    bound, most = None, mistake_bound(session, m=groups).mistakes
    if most is not None and most >= len(session.table):
        bound = (
            f"Proven for {groups} groups and no exception: at most {most:,.0f} mistakes. That is no"
            " useful bound for a table of this size: it allows a mistake on every row."
        )
    elif most is not None and most >= sum(mistakes):
        bound = (
            f"Proven: if you have {groups} groups in mind and no exception comes, at most"
            f" {most:,.0f} mistakes, however many items there are."
        )
    elif most is not None:
        bound = (
            f"With {groups} groups and no exception there would be at most {most:,.0f}"
            " mistakes: so there are more groups than that, exceptions, or slips."
        )
    return page(
        session,
        call,
        "progress",
        mistakes=Markup(curve(np.cumsum(mistakes).tolist(), "guesses", "mistakes so far")),
        bound=bound,
        settings=session.settings,
        to_go=_to_go(session.summary()),
        slip_rates=session.slip_rates(),
        **_tally(session, call.viewer),
        orders=[(order, _ORDERS.get(order, order)) for order in ORDERS],
        overlaps=_overlaps(session) if len(call.app.people.all) > 1 else [],
    )


def _tally(session: Session, viewer: str | None) -> dict[str, Any]:
    """How often each label was said, and mistaken; and what each teacher did.

    Said is, as under Rules, the label that each item was taught with; second opinions teach
    nothing. Where there was no guess, none was right or wrong.
    """
    labels = {label: Counter[str]() for label in session.labels}
    for label in session.taught(viewer=viewer).values():
        labels.setdefault(label, Counter())["said"] += 1
    teachers: dict[str, Counter[str]] = {}
    for one in session.history(viewer=viewer):
        if one.undone:
            continue
        if one.outcome == "mistake":
            labels.setdefault(str(one.label), Counter())["missed"] += 1
            labels.setdefault(str(one.guess.label), Counter())["mistaken"] += 1
        done = teachers.setdefault(one.teacher, Counter())
        done["answers"] += 1
        done["label" if one.answer == "wrong" and one.guess.label is None else one.answer] += 1
    return {"said": labels, "teachers": teachers}


def _to_go(summary: Summary) -> str:
    """How many corrections are left, as far as that is known."""
    rows, (_, likely, high) = summary.rows_left, summary.error
    if not rows:
        return "No rows are left: there is nothing more to correct."
    wrong, drawn = summary.recent_draws
    if not drawn:
        return "Corrections to go: not known yet. It takes some items drawn at random."
    about = f"about {likely * rows:,.0f}"
    most = f"at most {summary.wrong_left:,} if the rules stayed as they are, with 95 % confidence"
    if high > 0.99:
        about += ", so far,"
        used = counted(summary.draws_used, "item")
        most = f"no bound is known yet ({used} drawn at random since the rules last changed)"
    return (
        f"Corrections to go: {about} if you answered all {rows:,} rows left; {most}. The first"
        f" number is the share of mistakes lately, {wrong:,} in {counted(drawn, 'item')} drawn at"
        " random, times the rows left. Each correction improves the rules, so it is usually fewer."
    )


@router.post("/labels")
@in_session
def rename(session: Session, sent: Form, call: Call) -> Response:
    """Call a label something else; the owner makes one of two with the name of another."""
    label, to = sent.get("label", ""), sent.get("to", "").strip()
    merge = to in session.labels
    if merge:
        call.must_own()
    act = session.merge_labels if merge else session.rename_label
    act(call.name, label, to, id=sent.get("id"))
    return redirect(session, "/progress")


_OVERLAPS = {0.0: "none", 0.1: "a tenth", 0.25: "a quarter", 0.5: "half", 1.0: "all"}


def _overlaps(session: Session) -> list[tuple[float, str]]:
    """Shares of the items that two teachers may be asked about, the present one among them."""
    now = session.settings["overlap"]
    return sorted({now: f"{100 * now:.0f} %", **_OVERLAPS}.items())


_ORDERS = {
    "file": "as in the file",
    "random": "at random",
    "least sure": "where the rules are least sure",
    "mixed": "where the rules are least sure, one in four at random",
}


@router.post("/settings")
@in_session
def settings(session: Session, sent: Form, call: Call) -> Response:
    """Switch the order of items, the share that two teachers are asked about, what is said where a
    rule is not sure, or who gets which rows."""
    call.must_own()
    wanted: dict[str, Any] = {"order": sent.get("order", "")}
    if "overlap" in sent:
        try:
            wanted = {"overlap": float(sent["overlap"])}
        except ValueError:
            raise ParameterError(
                f"overlap is a number from 0 to 1, got {sent['overlap']!r}"
            ) from None
    elif "unsure" in sent:
        wanted = {"unsure": sent["unsure"]}
    elif "teacher" in sent:
        own = {
            "where": sent.get("where", "").strip(),
            "labels": _known_labels(session, sent.get("labels", "").strip()),
        }
        wanted = {"assignments": {**session.settings["assignments"], sent["teacher"]: own}}
    session.set(call.name, **wanted, id=sent.get("id"))
    back = sent.get("back", "")
    return redirect(session, back if back in ("/rules", "/disagreements") else "/progress")


def _known_labels(session: Session, text: str) -> list[str]:
    """The labels that a text names: any, if it is empty."""
    names = split_names(text) if text else []
    for name in names:
        if name not in session.labels:
            near = difflib.get_close_matches(name, session.labels, 1)
            known = ", ".join(session.labels) or "none yet"
            meant = f"did you mean {near[0]!r}?" if near else f"labels are: {known}"
            raise ParameterError(f"there is no label {name!r}; {meant}")
    return names


# -- charts

_W, _H, _LEFT, _BOTTOM, _TOP = 640, 240, 56, 40, 12


def curve(values: Sequence[float], across: str, up: str) -> str:
    """A line as SVG from the first to the last value, with its last value written out.

    >>> "<polyline" in curve([0, 1, 1, 2], "guesses", "mistakes")
    True
    """
    if not values:
        return f'<p class="hint">No {escape(across)} yet.</p>'
    most = max(1.0, *values)
    step = max(1, len(values) // 600)
    places = sorted({*range(0, len(values), step), len(values) - 1})
    wide, high = _W - _LEFT - 60, _H - _TOP - _BOTTOM

    def x(n: int) -> float:
        return _LEFT + wide * (n + 1) / len(values)  # nothing has happened at 0

    def y(value: float) -> float:
        return _TOP + high * (1 - value / most)

    points = f"{_LEFT},{y(0):.1f} " + " ".join(f"{x(n):.1f},{y(values[n]):.1f}" for n in places)
    ticks = "".join(
        f'<line x1="{_LEFT}" x2="{_LEFT + wide}" y1="{y(v):.1f}" y2="{y(v):.1f}"'
        f' stroke="currentColor" stroke-opacity="0.2"/>'
        f'<text x="{_LEFT - 8}" y="{y(v) + 5:.1f}" text-anchor="end">{v:g}</text>'
        for v in _ticks(most)
    )
    title = f"{up}: {values[-1]:g} after {len(values):,} {across}"
    return (
        f'<svg class="curve" viewBox="0 0 {_W} {_H}" width="{_W}" height="{_H}" role="img"'
        f' aria-label="{escape(title)}" font-size="14" fill="currentColor">{ticks}'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="2.5"/>'
        f'<text x="{x(len(values) - 1) + 6:.1f}" y="{y(values[-1]) + 5:.1f}"'
        f' font-weight="bold">{values[-1]:g}</text>'
        f'<text x="{_LEFT + wide / 2}" y="{_H - 8}" text-anchor="middle">'
        f"{len(values):,} {escape(across)}</text></svg>"
    )


def _ticks(most: float) -> list[float]:
    step = 1.0
    while most / step > 5:
        step *= 2 if str(int(step))[0] in "15" else 2.5
    return [n * step for n in range(int(most / step) + 1)]
