"""A first lesson: the animals of the zoo in an order that teaches, and a word with some of them."""

from __future__ import annotations

from pathlib import Path

from tellapart.samples import animals
from tellapart.sessions.replies import Given

FILE = "tellapart-zoo.csv"
LABEL = "class"
_ORDER = "bear duck lion bass crow dolphin housefly sparrow goat platypus frog tortoise penguin"
FIRST = tuple(_ORDER.split())
_WELCOME = "Welcome to the zoo. What is a bear? Type {ask} and press Enter."
_WRONG = {
    "duck": "Now the machine guesses. A duck is no {guess}: type a bird, and press Enter.",
    "bass": "A new label is welcome at any time: type a fish, and press Enter.",
    "dolphin": "It looks like a {guess}, and is a mammal. Say so.",
    "platypus": "A platypus lays eggs and gives milk. It is a mammal all the same: one exception"
    " does not break a rule.",
}
_WHY = {
    "duck": "Now say why: {pick}.",
    "bass": "Why? Pick what a bass has, and a {guess} has not.",
    "dolphin": "What has a dolphin that a {guess} has not? Milk.",
    "platypus": "Milk, perhaps. Pick what you would say.",
}
_RIGHT = {
    "lion": "The guess is right: press Enter.",
    "dolphin": "It looks like a fish, and is a mammal. The guess is not taken in: press Enter.",
    "platypus": "A platypus lays eggs and gives milk. It is a mammal all the same, and the guess"
    " says so: press Enter.",
}
_RULE = " You just made a rule. Look at the green line."
_END = "That was the tour. Now your own table: tellapart teach FILE. {undo}"
_LABELS = {"bear": "mammal", "duck": "bird", "lion": "mammal", "bass": "fish"}
_LABELS |= {"dolphin": "mammal", "platypus": "mammal"}


def hint(
    given: Given,
    said: str | None = None,
    *,
    last: str | None = None,
    learnt: bool = False,
    console: bool = False,
) -> str | None:
    """What to say beside a row of the tour.

    `said` is the label that was chosen for it, when the reason is asked; `last` the label that the
    row before it was given; `learnt` whether a rule came of that. In a console there is nothing to
    click, and Ctrl Z is the shell's.
    """
    item, guess = str(given.item), given.guess.label
    before = FIRST[FIRST.index(item) - 1] if item in FIRST[1:] else None
    slip = before is not None and last is not None and _LABELS.get(before, last) != last
    named = f"a {last}" if last in _LABELS.values() else last
    way = "type /undo" if console else "press Ctrl Z, or type /undo"
    undo = f"You called the {before} {named}. If that was a slip, {way}. "
    if guess is None:
        words = _WELCOME.format(ask="a mammal") if item == FIRST[0] else None
    elif said is not None:
        words, pick = _WHY.get(item), "click eggs, or press its digit"
        pick = "press the digit of eggs" if console else pick
        if words is not None and said != _LABELS.get(item):
            words = f"You said {said}. If that was a slip, press Esc. {words}"
        words = words and words.format(guess=guess, pick=pick)
    else:
        words = (_RIGHT if guess == _LABELS.get(item) else _WRONG).get(item)
        words = words and words.format(guess=guess)
        words = _END.format(undo="") if item == FIRST[10] else words
    if learnt and words and item == "lion":
        words = f"{_RULE.strip()} {words}"
    return f"{undo}{words or ''}".strip() if slip else words


def write_zoo(folder: Path) -> Path:
    """The zoo as a table in a folder, the tour's animals first; what is there already is kept."""
    path = folder / FILE
    if path.exists():
        return path
    by_name = {}
    for animal, label in animals():
        name = animal["name"]  # there are two frogs
        by_name[name if name not in by_name else f"{name} (another)"] = animal, label
    # the others in an order without rhyme that is always the same: by their names read backwards
    order = [*FIRST, *sorted(by_name.keys() - set(FIRST), key=lambda name: name[::-1])]
    columns = [name for name in animal if name != "name"]
    lines = [",".join(["name", *columns, LABEL])]
    for name in order:
        animal, label = by_name[name]
        cells = [_cell(animal[column]) for column in columns]
        lines.append(",".join([name, *cells, str(label)]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _cell(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
