"""A first lesson: the animals of the zoo in an order that teaches, and a word with some of them."""

from __future__ import annotations

from pathlib import Path

from tellapart.samples import animals
from tellapart.sessions.replies import Given

FILE = "tellapart-zoo.csv"
LABEL = "class"
_ORDER = "bear duck lion bass crow dolphin housefly sparrow goat platypus frog tortoise penguin"
FIRST = tuple(_ORDER.split())
_ASKED = {
    "bear": "Welcome to the zoo. Nothing has been taught yet, so it asks: {say} mammal, and Enter.",
}
_WRONG = {
    "duck": "Now it guesses, and shows why. A duck is no {guess}: {say} bird, and Enter. Then"
    " choose what is true of the duck and not of the {example}; eggs, perhaps.",
    "bass": "A new label is welcome at any time: {say} fish, and Enter.",
    "dolphin": "It looks like a {guess}, and is a mammal. What has a dolphin that a {example} has"
    " not? Milk.",
    "platypus": "Trouble. A platypus lays eggs, has a bill, and gives milk. It is a mammal all the"
    " same: say so. One exception does not break the rules.",
}
_RIGHT = {
    "lion": "The guess is right: Enter, and on to the next.",
    "dolphin": "It looks like a fish, and is a mammal. The guess is not taken in: Enter.",
    "platypus": "A platypus lays eggs, has a bill, and gives milk. It is a mammal all the same, and"
    " the guess says so: Enter.",
}
_ALWAYS = {
    "frog": "That was all there is to it. Go on as long as you like: everything is saved at once,"
    " and {undo} undoes. Answers that contradict the others are under Odd ones, Rules shows what it"
    " has learnt, Export gives it to your warehouse.",
}
_LABELS = {"duck": "bird", "lion": "mammal", "bass": "fish", "dolphin": "mammal"}
_LABELS["platypus"] = "mammal"


def hint(given: Given, *, say: str, undo: str) -> str | None:
    """What to say beside an item of the tour: what comes next is what it says.

    `say` is how to begin with a label ("type"), `undo` the key that undoes.
    """
    item, guess = str(given.item), given.guess.label
    if guess is None:
        words = _ASKED.get(item)
    else:
        words = (_RIGHT if guess == _LABELS.get(item) else _WRONG).get(item)
    words = words or _ALWAYS.get(item)
    example = given.guess.example
    return words and words.format(say=say, undo=undo, guess=guess, example=example)


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
