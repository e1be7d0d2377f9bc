"""All that page and console say: the same in both, and in one place, ready for another language.

One person speaks: calm, short, present tense. A row, a reason, a label, a rule, an answer, an
earlier row; right and wrong. No other words for these.
"""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from types import SimpleNamespace
from typing import Any

from tellapart.errors import ParameterError
from tellapart.features.candidates import Candidate
from tellapart.features.phrasing import counted, joined, shown_number, shown_time
from tellapart.protocol import Guess
from tellapart.sessions.replies import (
    AT_RANDOM,
    RECENT,
    Agreement,
    Answered,
    AskedAgain,
    Check,
    Ending,
    Saved,
    Summary,
)
from tellapart.tables import Row

SAY = SimpleNamespace(
    # the frame
    skip_link="Skip to the question",
    all_tables="tellapart: all tables",
    pages="Pages",
    help="Help",
    more="More",
    close="Close",
    save="Save",
    undo="Undo",
    back="Back",
    yes="Yes",
    no="No",
    change="Change",
    saved="Saved.",
    export="Export",
    # the first row
    what_is="What is",
    it_is="It is",
    first_label="a word of your own, such as rent",
    then_it_guesses="Then the machine guesses, and you only correct it.",
    call_otherwise="Call them by another column",
    call_by="Call them by a column",
    # a guess
    type_label="Type a label",
    type_or_digit="Type a label, or press its digit",
    new_label="New label:",
    no_it_is="No, it is",
    label_first="Type a label first.",
    this_row="This row",
    earlier_row="Earlier row",
    column="column",
    same_one="The same in both: {} is {}",
    marked="You marked it as wrong: what is it?",
    dont_know="I don’t know",
    show_all_rows="Show all rows again",
    looking_for="Only rows that fit “{}”: {:,} left.",
    like="like",
    # the reason
    why_is="Why is",
    unlike="unlike",
    name_one_thing="Name one thing that is true of this row and not of the other.",
    because="Because",
    such_as="such as {}",
    pick_choose_type="Pick it in the row, choose one below, or type it.",
    nothing_tells="No column tells these two rows apart. Write a tag, or choose 0.",
    suggestions="Suggestions",
    agree="{} of {} agree",
    new_tag="New tag:",
    cannot_name="I cannot name one thing",
    it_is_not="It is not {}",
    # the end
    rule_if="The rule: if",
    what_next="What next?",
    look_at_odd="Look at {} odd answers",
    stays="{} stays {}; it is not listed again.",
    restored="Undone: {} is {} again.",
    they_contradict="They contradict the others. Two keys each.",
    look_at_them="Look at them",
    take_table="Take the table with you",
    another_file="Use the rules on another file",
    copy_command="Copy the command",
    kept_in="Everything is saved in {}. Nothing was sent anywhere.",
    take_with="{} with one more column, or the rules as SQL.",
    # the first page, and a new table
    hero="Teach a table to sort itself",
    hero_more="Correct a guess, say why in one word, and get rules you can read and run as SQL.",
    drop_table="Drop a table here",
    choose_file="Choose a file",
    kinds="CSV, Excel, JSON, Parquet or Arrow, up to {} MB.",
    stays_here="It stays on this computer.",
    kept_there="It is kept on this server.",
    go_on="Go on where you stopped",
    of_folder="Or a table of this folder",
    table="Table",
    table_head="{}: {}, {}",
    look_at_it="Look at it",
    no_table="There is no table yet. Only the owner of this server can add one.",
    try_first="Or try it first",
    how_read="This is how it was read. Begin if it looks right; you can change the first line"
    " later.",
    called_by="A row is called by its",
    such_row="{}, such as {}",
    row_number="number, such as {}",
    labels_so_far="Labels so far",
    no_labels="none: I teach them",
    as_answers="in a column, as first answers",
    to_compare="in a column, hidden, to compare with",
    call_it="There is a session of this name. Call it",
    more_columns="{} more columns are not shown here.",
    what_was_odd="What was odd about it",
    begin="Begin",
    other_file="Another file",
    taking="Taking {:,} labels from {} as first answers: {} %",
    look_at_them_all="Look at them",
    teach_on="Teach on",
    # everything else
    everything_else="Everything else",
    what_to_do="What would you like to do?",
    type_to_find="Type to find: skip, note, undo …",
    # help
    help_intro="The machine guesses what a row is and shows an earlier row as its reason. If it is"
    " wrong, you say what the row is and one thing that tells the two rows apart. From that it"
    " makes a rule you can read.",
    your_keys="Your keys",
    change_keys="Change them in tellapart.toml, under [keys].",
    single_off="Turn single keys off",
)
"""Texts that stay the same."""
setattr(SAY, "is", "Is")

HELP = (
    (
        "On every row",
        (
            ("[Enter]", "Yes, the guess is right"),
            ("[1] – [9]", "No: choose the label with this digit"),
            ("letters", "No: type a label, old or new, then [Enter]"),
            ("[Ctrl]+[Z]", "Undo, as often as you like, also tomorrow"),
            ("[Ctrl]+[Shift]+[Z]", "Redo"),
        ),
    ),
    (
        "When you are asked why",
        (
            ("[1] – [9]", "Use the reason with this digit"),
            ("click, or arrows", "Pick a word or a limit in the row, then [Enter]"),
            ("[Shift]+[→]", "Make the phrase longer by a word"),
            ("letters", "Find a reason, or write one: `amount < -50`"),
            ("[#]", "Make a tag: true here, though no column shows it"),
            ("[0]", "I cannot name one thing"),
            ("[Esc]", "Back to the labels"),
        ),
    ),
    (
        "Anywhere",
        (
            (
                "[/]",
                "Everything else: skip, unsure, note, find rows, check many rows, and all pages",
            ),
            ("[?]", "This help"),
            ("[Esc]", "Leave a box, close a window, go back to teaching"),
        ),
    ),
    (
        "Good to know",
        (
            ("Saving", "Every answer is saved before the next row comes."),
            ("Rules", "The first rule that fits decides."),
            ("Stopping", "Progress says how many rows may still be wrong."),
        ),
    ),
)
"""What help says: headings, and under each the keys in [brackets] and what they do."""

SAMPLES = (
    {
        "name": "bank",
        "title": "A bank statement",
        "about": "400 made-up lines. Five minutes to rules for next month.",
    },
    {"name": "zoo", "title": "The zoo", "about": "101 animals, a two-minute tour."},
)
"""What can be tried first."""


def taken_labels(labels: int, column: str, rules: int, against: int) -> str:
    """What came of the labels of a column.

    >>> taken_labels(400, "category", 16, 1)
    '400 labels of category are first answers: 16 rules learnt; 1 row contradicts them.'
    """
    first = f"{counted(labels, 'label')} of {column} {'is' if labels == 1 else 'are'} first answers"
    rows = f"{counted(against, 'row')} {'contradicts' if against == 1 else 'contradict'}"
    rows = rows if against else "no row contradicts"
    return f"{first}: {counted(rules, 'rule')} learnt; {rows} {'it' if rules == 1 else 'them'}."


COMMANDS = {
    "skip": "Show this row again later",
    "undo": "Take back your last answer",
    "unsure": "Save it as unsure; nothing is learnt",
    "redo": "Give it again",
    "note": "Write a note about this row",
    "find": "Teach only the rows that fit some words",
    "many": "Check many guesses at once",
    "example": "The earlier row is wrong: change its answer",
    "labels": "Rename a label, or say what it means",
    "rules": "Read the rules",
    "answers": "Look at your answers, and change them",
    "progress": "See how many rows may be wrong",
    "data": "Look at all rows",
    "export": "Use the rules",
}
"""What is behind `/`, and what it does."""
ASKED = {"note": "Your note", "find": "Words, or a reason such as amount < -50"}
"""What a command asks for."""
CONSOLE = {
    "first": "a word of your own, such as rent, then Enter · / more · ? help",
    "guess": "Enter yes · a digit or a word: no, it is that · / more · ? help",
    "reason": "A digit or your own words · 0 I cannot name one thing · Esc back · / more",
    "more": " · + the next nine",
    "none": "No column tells these two rows apart. Type #tag, or 0.",
    "no reason": '"{}" is no reason yet: write column, is or contains, value.',
    "no digit": "Nothing has the digit {} here.",
    "tag": "{}? 1 yes · 2 no · 0 I don\N{RIGHT SINGLE QUOTATION MARK}t know",
    "change": "You called {} {}. What is it?",
    "on the page": "/{} is on the page: the same command without --console.",
    "all rows": "All rows come again.",
    "go on": "The same command goes on here.",
    "next": "Use the rules: tellapart predict {} {}",
}
"""What only the console says."""
CONSOLE_HELP = (
    ("Enter", "Yes, the guess is right"),
    ("1 - 9", "No: it is the label with this digit. When you are asked why: this reason"),
    ("letters", "A label, old or new; or a reason, such as amount < -50. Then Enter"),
    ("+", "The next nine reasons"),
    ("#name", "A tag: true here, though no column shows it"),
    ("0", "I cannot name one thing"),
    ("Esc", "Take back what is typed; or back to the labels"),
)
"""What help says in the console, before the commands."""
EXAMPLE_OF_OTHERS = (
    "The earlier row was answered by somebody else: only they or the owner can change it"
)


def a_label(label: str, articles: Mapping[str, str]) -> str:
    """A label with its article, if it has one.

    >>> a_label("mammal", {"mammal": "a"}), a_label("rent", {})
    ('a mammal', 'rent')
    """
    article = articles.get(label)
    return f"{article} {label}" if article else label


def counted_columns(columns: Sequence[str]) -> str:
    """Columns that are the same in both rows.

    >>> counted_columns(["sex", "year"])
    '2 columns are the same in both: sex, year'
    """
    return f"{len(columns):,} columns are the same in both: {', '.join(columns[:4])}"


def taught_so_far(summary: Summary) -> str:
    said = f"{summary.labelled:,} of {counted(summary.items, 'row')} taught."
    if summary.waiting:
        said += f" {counted(summary.waiting, 'answer')} {_need(summary.waiting)} a reason."
    return said


def _need(number: int) -> str:
    return "needs" if number == 1 else "need"


def lately(mistakes: Sequence[bool]) -> str:
    """How the last guesses went.

    >>> lately([True, False, False]), lately([True])
    ('2 of the last 3 guesses were right.', 'The last guess was wrong.')
    """
    last = mistakes[-RECENT:]
    if len(last) > 1:
        right = len(last) - sum(last)
        return f"{right} of the last {len(last)} guesses {'was' if right == 1 else 'were'} right."
    return f"The last guess was {'wrong' if sum(last) else 'right'}." if last else ""


def called_by(rows: int, column: str | None) -> str:
    if column is None:
        return f"{counted(rows, 'row')} without a name: they are called by their number."
    return f"{counted(rows, 'row')}, named by {column}."


def means(check: Check, opposite: str | None = None) -> str:
    """What a reason is true of, while it is picked or typed.

    >>> means(Check("x", True, False, 32)), means(Check("x", True, False, 1))
    ('True of this row and 31 others, not of the earlier row.', 'True of this row alone.')
    """
    if check.on_item is not True:
        said = "It is not true of this row."
        return f"{said} Did you mean {opposite}?" if opposite else said
    if check.on_example is True:
        return "It is true of both rows, so it does not tell them apart."
    if check.items <= 1:
        return "True of this row alone."
    more = check.items - 1
    others = "1 other" if more == 1 else f"{more:,} others"
    return f"True of this row and {others}, not of the earlier row."


_NOTICES = {
    "again": "Saved. The rules changed meanwhile: the label is kept, but what tells it now?",
    "unsure": "Saved as unsure; nothing is learnt from it.",
    "skipped": "Skipped. {} comes back later.",
}


def notice(outcome: str | None, row: str = "It") -> str | None:
    """What to say after an answer, where the next row does not say it all.

    >>> notice("skipped", "duck"), notice("right")
    ('Skipped. duck comes back later.', None)
    """
    said = _NOTICES.get(outcome or "")
    return said and said.format(row)


NEWS = {
    "new": "New rule: {label} if {reason}",
    "else": "New rule: {label}, where no other rule fits",
    "changed": "The rule for {label} changed: now if {reason}",
    "exception": "{row} is {label}, an exception to \N{LEFT DOUBLE QUOTATION MARK}{wanted} if"
    " {reason}\N{RIGHT DOUBLE QUOTATION MARK}. No other row changes.",
    "exception to the rest": "{row} is {label}, an exception: rows that no rule fits are {wanted}.",
    "known": "You had said this reason before: {label} if {reason}",
    "without": "Saved as {label}, without a reason. The machine looks for one of its own.",
    "fault": "{row} was saved; the machine could not learn from it (a fault of the program, event"
    " {event}). Your answer is safe.",
}
"""What was learnt."""


def news_of(kind: str, reason: str) -> str:
    """What to say of what was learnt; a rule that asks nothing decides all the rest."""
    other = {"new": "else", "changed": "else", "exception": "exception to the rest"}
    return NEWS[kind if reason else other.get(kind, kind)]


ALONE = "It decides this row alone so far."
CHECK_THEM = "Check them"
MILESTONE_LINKS = (
    'Go on as long as it pays: <a href="{}">Progress</a> says when to stop. You can'
    ' <a href="{}">read the rules</a> or <a href="{}">use them</a> at any time.'
)


def decides(rows: int, labels: Sequence[str]) -> str:
    """How many rows a rule took from which labels.

    >>> decides(31, ["groceries"]), decides(1, [""])
    ('It decides 31 more rows, which were groceries until now', 'It decides 1 more row')
    """
    said = f"It decides {rows:,} more {'row' if rows == 1 else 'rows'}"
    were = [label for label in labels if label]
    if not were:
        return said
    return f"{said}, which {'was' if rows == 1 else 'were'} {joined(were[:3])} until now"


def moves(rows: int, before: str, now: str) -> str:
    """Rows that another rule took on the way.

    >>> moves(2, "rent", "health")
    '2 rows move from rent to health.'
    """
    verb = "moves" if rows == 1 else "move"
    return f"{counted(rows, 'row')} {verb} from {before or 'no label'} to {now or 'no label'}."


def milestone(summary: Summary) -> str:
    right = summary.guesses - summary.mistakes
    return (
        f"{counted(summary.labelled, 'answer')}, and {counted(summary.rules, 'rule')} you can read."
        f" {right:,} of {counted(summary.guesses, 'guess', 'guesses')} were right."
    )


def may_stop(summary: Summary) -> str:
    error = summary.error
    if error.high > 0.99:
        return "You may stop, or go on."
    return (
        f"At most {error.wrong_left:,} of the {counted(error.rows_left, 'row')} left"
        f" {'is' if error.wrong_left == 1 else 'are'} wrong. You may stop, or go on."
    )


def unread(error: Exception, text: str, hint: str | None = None) -> str:
    """Why a text is no reason; `hint` is one that Enter takes in its place."""
    said = str(error).splitlines()[0].partition(". Did you mean: ")[0]
    if hint is not None:
        return f"{said[:1].upper()}{said[1:]}. Did you mean {hint}? Enter takes it."
    if said.startswith("unknown column"):
        return said[:1].upper() + said[1:] + "."
    if " " not in text.strip():
        return (
            f"\N{LEFT DOUBLE QUOTATION MARK}{text}\N{RIGHT DOUBLE QUOTATION MARK} is no reason yet:"
            " write column, is or contains, value."
        )
    return said[:1].upper() + said[1:]


_OUTCOMES = {
    "label": "the first answer",
    "right": "you agreed",
    "again": "needs a reason again",
    "opinion": "second opinion",
}


def outcome_text(one: Answered) -> str:
    if one.undone:
        return "undone"
    said = _OUTCOMES.get(one.outcome or "", one.outcome or "")
    if one.outcome == "mistake":
        said = f"guessed {one.guess}"
    if one.changed_by:
        said += f", {'confirmed' if one.confirmed else 'changed'} by {one.changed_by}"
    return said


def said_before(one: Answered, who: str, reason: str | None) -> tuple[str, str]:
    """What was said of a row, and why: what stands before the time, and after it."""
    if one.answer == "right":
        return f"{who} agreed with that guess", "."
    return f"{who} said so", f", because {reason}." if reason else "."


def agreed(found: Agreement) -> str:
    if not found.items:
        return "No row has been answered by two people."
    said = f"{counted(found.items, 'row')} {'has' if found.items == 1 else 'have'} several answers"
    if found.labels is not None:
        said += f"; {100 * found.labels:.0f} % of pairs agree on the label"
    if found.alpha is not None:
        said += f" (Krippendorff\N{RIGHT SINGLE QUOTATION MARK}s alpha {found.alpha:.2f})"
    said += "."
    if found.features is not None:
        same = round(found.features * found.reasons)
        said += (
            " Where two say the same label and both give a reason, the reason is the same in"
            f" {same:,} of {counted(found.reasons, 'pair')}."
        )
    return said


def answers_head(tab: str, number: int, team: str, *, taught: bool) -> tuple[str, str]:
    if tab == "odd":
        odd = "answer looks" if number == 1 else "answers look"
        if number:
            return f"{number:,} {odd} odd", (
                "Each contradicts your other answers. It may be a slip, or a true exception: you"
                " decide."
            )
        return "Nothing is odd", "What contradicts your other answers will be here."
    if tab == "disputed":
        head = f"{counted(number, 'row')} {'is' if number == 1 else 'are'} called differently"
        until = " Until you settle these, the first answer counts." if number else ""
        return (head if number else "Nobody disagrees"), (
            f"{team}{until}"
            if taught
            else "This is for several people: tellapart serve TABLE --teachers."
        )
    return counted(number, "answer"), (
        "Every answer can be changed; the rules follow."
        if number
        else "No answers yet. Every answer will be here, to be found and changed."
    )


def changed_notice(again: int | None, row: str = "", label: str | None = None) -> str | None:
    """What to say when an answer was changed; None if none was.

    >>> changed_notice(1), changed_notice(0, "duck", "bird")
    ('Changed. 1 answer needs a reason again: it comes next.', 'Changed: duck is bird now.')
    """
    if again is None:
        return None
    said = f"Changed: {row} is {label} now." if row and label else "Changed."
    if not again:
        return said
    comes = "it comes" if again == 1 else "they come"
    return f"{said} {counted(again, 'answer')} {_need(again)} a reason again: {comes} next."


ORDER_WORDS = {
    "mixed": "the one the rules know least, and one in four at random",
    "file": "in the order of the file",
    "random": "at random",
}
"""Which row comes next."""


def progress_sentence(summary: Summary, taught: int, wrong: int | None) -> str:
    rest = summary.error.rows_left
    said = f"You have taught {taught:,} of {counted(summary.items, 'row')}."
    if not summary.labelled:
        return "Nothing has been taught yet."
    if not rest:
        return said
    if wrong is None:
        missing = "It takes some rows drawn at random to say how many of the others are wrong."
        return f"{said} {missing}"
    return (
        f"{said} Of the {rest:,} others, at most {wrong:,} {'is' if wrong == 1 else 'are'} wrong."
    )


def how_sure(summary: Summary) -> str:
    error = summary.error
    if error.high > 0.99:
        return (
            "Nothing is known yet. Rows drawn at random since the rules last changed tell it, and"
            " there are too few of them."
        )
    recent = summary.recent_draws
    used = counted(summary.draws_used, "row")
    were = "was" if summary.draws_used == 1 else "were"
    said = (
        f"Of the rows you answered, {used} {were} drawn at random since the rules last changed."
        if summary.drawn is not None
        else f"It rests on {used} answered since the rules last changed."
    )
    lately = (
        f" Lately {recent.mistakes:,} of {recent.guesses:,} such guesses were wrong."
        if recent.guesses
        else ""
    )
    return (
        f"{said}{lately} So with 95 % confidence at most {error.wrong_left:,} of the"
        f" {error.rows_left:,} other rows are wrong. Rows you searched for do not count: nobody"
        " drew them."
    )


def rules_head(
    rules: int, decided: int, rows: int, rest: str | None, right: int, answers: int
) -> tuple[str, str]:
    if not rules:
        return "There are no rules yet", "The first one comes with your first correction."
    other = f"the other {rows - decided:,} are called {rest}"
    if rest is None:
        other = f"the other {rows - decided:,} get no label"
    said = f"They decide {decided:,} of {counted(rows, 'row')}; {other}."
    return (
        f"{counted(rules, 'rule')}, in your words",
        f"{said} {right:,} of {counted(answers, 'answer')} {'fits' if right == 1 else 'fit'} them.",
    )


def fits(right: int, wrong: int) -> str:
    """How many answers fit a rule.

    >>> fits(3, 0), fits(2, 1), fits(0, 0), fits(1, 0)
    ('all 3 answers fit', '2 answers fit, 1 does not', 'no answer yet', '1 answer fits')
    """
    if not right + wrong:
        return "no answer yet"
    if not wrong:
        return "1 answer fits" if right == 1 else f"all {right:,} answers fit"
    said = f"{counted(right, 'answer')} {'fits' if right == 1 else 'fit'}"
    return f"{said}, {wrong:,} {'does' if wrong == 1 else 'do'} not"


def taken_first(taken: Sequence[tuple[str, int]]) -> str:
    """Rows that fit a rule, and that rules of other labels before it take.

    >>> taken_first([("salary", 8)])
    '8 more rows fit, but salary takes them first.'
    >>> taken_first([("rent", 10), ("cash", 20)])
    '30 more rows fit, but other rules take them first: cash 20 and rent 10.'
    """
    rows = sum(n for _, n in taken)
    fit, them = ("row fits", "it") if rows == 1 else ("rows fit", "them")
    if len(taken) == 1:
        return f"{rows:,} more {fit}, but {taken[0][0]} takes {them} first."
    most = sorted(taken, key=lambda one: -one[1])
    told = joined([f"{label} {n:,}" for label, n in most])
    return f"{rows:,} more {fit}, but other rules take {them} first: {told}."


def silent_label(label: str, times: int) -> str:
    """A label that no rule says.

    >>> silent_label("cash", 2)
    'cash has no rule yet: it was said twice.'
    """
    often = {1: "once", 2: "twice"}.get(times, f"{times:,} times")
    return f"{label} has no rule yet: it was said {often}."


def fills(file: str, summary: Summary) -> str:
    rest = counted(summary.items - summary.labelled, "other row")
    return (
        f"{file} with one more column, the label: your {counted(summary.labelled, 'answer')}, and"
        f" the rules for the {rest}."
    )


def swept_notice(accepted: int, marked: int, label: str = "right") -> str:
    """What to say after many answers at once.

    >>> swept_notice(48, 2, "transport")
    'Saved: 48 rows are transport. Now the 2 you marked.'
    """
    said = f"Saved: {counted(accepted, 'row')} {'is' if accepted == 1 else 'are'} {label}."
    return f"{said} Now the {'one' if marked == 1 else f'{marked:,}'} you marked."


def undone_notice(
    saved: Saved, row: Row | None = None, label: str | None = None, *, redo: bool = False
) -> str:
    """What to say after undo or redo.

    >>> undone_notice(Saved(9, "u", None, "a"), Row("duck", {}))
    'Undone: duck is open again.'
    >>> undone_notice(Saved(9, "u", None, "a", 31))
    'Undone: 31 answers given at once.'
    """
    done = "Redone" if redo else "Undone"
    if saved.acts != 1:
        return f"{done}: {saved.acts:,} answers given at once."
    if row is None:
        return f"{done}."
    if redo and label is None:
        return f"{done}: the answer about {name(row)}."
    return f"{done}: {name(row)} {f'is {label}' if redo else 'is open again'}."


def why_again(again: AskedAgain | None, guess: Guess) -> str | None:
    """Why an item is asked again.

    >>> duck, bear = Row("duck", {}), Row("bear", {})
    >>> why_again(AskedAgain("fish", None, duck, "Ann"), Guess("mammal", bear))
    'It was called fish. Then the answer about duck was changed: now it is like bear.'
    >>> why_again(AskedAgain("fish", None, None, None, itself=True), Guess("mammal", bear))
    'Its answer was changed to fish. Now it is like bear: a reason is wanted.'
    >>> why_again(AskedAgain("fish", None, duck, "Ann", duck), Guess("bird", duck))
    'It was called fish, like duck. Then the answer about duck was changed: duck is bird now.'
    """
    if again is None or guess.example is None:
        return None
    if again.itself:
        now = f"Now it is like {name(guess.example)}: a reason is wanted."
        return f"Its answer was changed to {again.label}. {now}"
    told = "" if again.example is None else f" and told from {name(again.example)}"
    told = told if again.like is None else f", like {name(again.like)}"
    then, now = "the rules changed", f"now it is like {name(guess.example)}"
    if again.changed is not None:
        then = f"the answer about {name(again.changed)} was changed"
        if again.changed.identity == guess.example.identity:
            now = f"{name(again.changed)} is {guess.label} now"
    return f"It was called {again.label}{told}. Then {then}: {now}."


def name(item: Row) -> str:
    """What an item is called: its title, with what tells it from its namesakes.

    >>> name(Row("bear", {})), name(Row(7, {}))
    ('bear', 'row 7')
    """
    return f"row {item}" if item.table is None and isinstance(item.identity, int) else str(item)


def show_cell(row: Row, column: str) -> str:
    """What a row has in a column, with the decimals of the column."""
    decimals = None if row.table is None else row.table.decimals.get(column)
    return show(row.get(column), decimals)


def show(value: Any, decimals: int | None = None) -> str:
    """A value as people write it.

    >>> show(True), show(None), show(2.50), show(1_000_000), show(1984)
    ('yes', 'nothing known', '2.5', '1,000,000', '1984')
    """
    if value is None:
        return "nothing known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return shown_number(value, decimals)
    if isinstance(value, datetime):
        return shown_time(value)
    if isinstance(value, date):
        return value.isoformat()
    return str(value)


def covers(candidate: Candidate) -> str:
    return f"{'' if candidate.exact else 'about '}{counted(candidate.covers, 'row')}"


def ending_text(ending: Ending) -> str:
    summary = ending.summary
    if not ending.busy and not summary.left:
        said = f"That was the last row. All {counted(summary.items, 'row')} have an answer"
        if summary.unsure:
            said = f"That was the last row. {counted(summary.labelled, 'row')} have an answer"
            said += f", {summary.unsure:,} {'is' if summary.unsure == 1 else 'are'} unsure"
        right = summary.labelled - summary.mistakes
        return f"{said}: {right:,} guessed right or taught first, {summary.mistakes:,} corrected."
    busy = f"; {counted(ending.busy, 'row')} with others may come back" if ending.busy else ""
    return f"That was the last row for you{busy}."


def next_file(file: str) -> str:
    """An example of the file that comes next.

    >>> next_file("bank.csv"), next_file("sales.parquet")
    ('november.csv', 'NEXT.parquet')
    """
    _, dot, ending = file.rpartition(".")
    other = "november" if file.startswith("bank.") else "NEXT"
    return f"{other}.{ending}" if dot else other


def _big(text: str) -> str:
    return text[:1].upper() + text[1:]


def stop_hint(summary: Summary) -> str | None:
    """Whether it is time to stop, and if not, when it may be."""
    if summary.stop is None or not summary.guesses or not (summary.left or summary.may_stop):
        return None
    facts = summary.stop.split("; ")
    if summary.may_stop:
        assumed = AT_RANDOM if summary.stop.endswith(AT_RANDOM) else ""
        return f"You may stop: {facts[0]}{assumed}"
    return _big(facts[-1])


def visible(text: str) -> str:
    """A text without characters that do something instead of being seen.

    A terminal obeys escape sequences, wherever they come from; and marks of direction can turn a
    line around. Joiners stay, for scripts and emoji need them.

    >>> visible("\\x1b[2J red\\tlight\\r\\n"), visible("a\\u202eb")
    ('␛[2J red light␍␊', 'a\\\\u202eb')
    """
    if text.isprintable():
        return text
    return "".join(map(_visible, text))


def _visible(character: str) -> str:
    number = ord(character)
    if character == "\t":
        return " "
    if number < 32:
        return chr(0x2400 + number)  # the picture of a control character
    if number == 127:
        return "\N{SYMBOL FOR DELETE}"
    kind = unicodedata.category(character)
    if character in "\u200c\u200d" or kind in ("Zs", "Co", "Cn"):
        return character
    return character.encode("unicode_escape").decode() if kind[0] in "CZ" else character


# -- labels as people type them

NEW = "new:"
"""Typed before a label to make a new one, where a known label would match."""


def match_label(text: str, labels: Iterable[str]) -> str | None:
    """The label that a typed text means, the same on the page and in the console.

    The first label that equals it, else the first that begins with it, else the first with a word
    that does, in any case. Otherwise, and always after `new:`, it is a new label. None for an empty
    text.

    >>> [match_label(text, ["mandrill", "big cat"]) for text in ("Man", "cat", "new: man", "drill")]
    ['mandrill', 'big cat', 'man', 'drill']
    """
    wanted, known = text.strip(), list(labels)
    low = wanted.lower()
    for fits in (str.__eq__, str.startswith, _has_word):
        found = next((label for label in known if low and fits(label.lower(), low)), None)
        if found is not None:
            return found
        if low.startswith(NEW):
            return wanted[len(NEW) :].strip() or None
    return wanted or None


def _has_word(label: str, low: str) -> bool:
    """Whether a word of a label begins so: "sport" does not mean "transport"."""
    return f" {low}" in label


def split_article(text: str) -> tuple[str, str]:
    """The article that a label was typed with, if it was, and the label.

    >>> split_article("a mammal"), split_article("an Adelie"), split_article("anaconda")
    (('a', 'mammal'), ('an', 'Adelie'), ('', 'anaconda'))
    """
    article, _, label = text.strip().partition(" ")
    if article.lower() in ("a", "an") and label.strip():
        return article.lower(), label.strip()
    return "", text.strip()


def split_names(text: str) -> list[str]:
    """Names with commas between them; one that has a comma itself is in double quotes.

    >>> split_names('red, "salt, pepper"')
    ['red', 'salt, pepper']
    """
    try:
        names = [part.strip() for part in next(csv.reader([text], skipinitialspace=True), [])]
    except csv.Error:
        names = []
    if not names or not all(names) or len(set(names)) != len(names):
        raise ParameterError(f"give different names with commas between them, got {text!r}")
    return names
