"""A first lesson: the animals of the zoo in an order that teaches, and a word with some of them."""

from __future__ import annotations

from pathlib import Path

from tellapart.worlds.zoo import read

FILE = "tellapart-zoo.csv"
LABEL = "class"
_ORDER = "bear duck lion bass crow dolphin housefly sparrow goat platypus frog tortoise penguin"
FIRST = tuple(_ORDER.split())
HINTS = {
    "bear": "Welcome to the zoo. Nothing has been taught yet, so it asks. Type the label: mammal,"
    " and Enter.",
    "duck": "Now it guesses, and shows why. A duck is no mammal: say bird. Then choose what is true"
    " of the duck and not of the bear; eggs, perhaps.",
    "lion": "If the guess is right, Enter, and on to the next.",
    "bass": "A new label is welcome at any time: this one is a fish.",
    "dolphin": "Some look like one thing and are another. If it says fish: what has a dolphin"
    " that a bass has not? Milk.",
    "platypus": "Trouble. A platypus lays eggs, has a bill, and gives milk. It is a mammal all the"
    " same: say so. One exception does not break the rules; you will find it under Odd ones.",
    "frog": "That was all there is to it. Go on as long as you like: everything is saved at once,"
    " and u undoes. Rules shows what it has learnt, Export gives it to your warehouse.",
}
"""What to say beside an item."""


def write_zoo(folder: Path) -> Path:
    """The zoo as a table in a folder, the tour's animals first; what is there already is kept."""
    path = folder / FILE
    if path.exists():
        return path
    animals, labels = read()
    by_name = {}
    for animal, label in zip(animals, labels, strict=True):  # there are two frogs
        name = str(animal) if str(animal) not in by_name else f"{animal} (another)"
        by_name[name] = animal, label
    # the others in an order without rhyme that is always the same: by their names read backwards
    order = [*FIRST, *sorted(by_name.keys() - set(FIRST), key=lambda name: name[::-1])]
    columns = [name for name in animals[0] if name != "name"]
    lines = [",".join(["name", *columns, LABEL])]
    for name in order:
        animal, label = by_name[name]
        cells = [_cell(animal[column]) for column in columns]
        lines.append(",".join([name, *cells, str(label)]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _cell(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
