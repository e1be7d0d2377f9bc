"""Bank statements taught by someone who names the shop: what stays of her reasons, and next year.

python benchmarks/statements.py
python benchmarks/statements.py --seeds 5 --words 30

Three made banks of some twenty shops; 80 of 400 lines are taught, in any order. Another year has
the same shops, other towns and amounts.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from datetime import date, timedelta
from statistics import fmean

import tellapart as ta
from tellapart.lab.corrections import printed_terms

TAUGHT, LINES = 80, 400
BANKS = {
    "English": {
        "food": "tesco waitrose asda greggs ocado lidl coop nandos pret",
        "travel": "tfl trainline shell uber stagecoach esso",
        "home": "ikea thames octopus argos wickes",
        "fun": "odeon spotify steam netflix waterstones",
        "health": "boots superdrug puregym",
    },
    "German": {
        "essen": "rewe aldi lidl edeka netto wimmer napoli",
        "reise": "bahn mvg aral uber flixbus shell",
        "wohnen": "ikea stadtwerke obi bauhaus meier",
        "freizeit": "netflix spotify cinemaxx thalia",
        "gesund": "apotheke hoffmann rossmann fitness",
    },
    "mixed": {
        "food": "rewe tesco carrefour mercadona spar billa migros coop",
        "going": "sncf renfe uber shell bolt ryanair",
        "stay": "airbnb ibis hilton booking",
        "bills": "telekom vodafone edf axa",
        "fun": "netflix spotify steam audible",
        "other": "paypal amazon ebay klarna zalando",
    },
}
TOWNS = ("LEEDS", "YORK", "BATH", "MUENCHEN", "PARIS")


def statement(bank: str, seed: int, year: int) -> tuple[ta.Table, list[str], list[str]]:
    """A table of payments, the label of every line, and its shop."""
    dice = random.Random(seed)
    every = [(shop, label) for label, shops in BANKS[bank].items() for shop in shops.split()]
    lines = dice.choices(every, [1 / (1 + n % 7) for n in range(len(every))], k=LINES)

    def payee(shop: str) -> str:
        before = dice.choice(("", "", "SUMUP *", "PP*"))
        after = dice.choice(("", f" {dice.randrange(1000, 9999)}", " SAGT DANKE", " LTD"))
        return f"{before}{shop.upper()}{after} {dice.choice(TOWNS)}"

    days = [date(year, 1, 1) + timedelta(days=n * 364 // LINES) for n in range(LINES)]
    table = ta.Table(
        {
            "date": days,
            "payee": [payee(shop) for shop, _ in lines],
            "type": [dice.choice(("CARD", "CARD", "SEPA DD", "TRANSFER")) for _ in lines],
            "amount": [-round(dice.lognormvariate(3, 0.7), 2) for _ in lines],
        }
    )
    return table, [label for _, label in lines], [shop for shop, _ in lines]


def taught(bank: str, seed: int, words: int) -> Sequence[float]:
    """Corrections; reasons that stand; terms, and the room; next year right; shops that were
    seen."""
    table, labels, shops = statement(bank, seed, 2026)
    learner = ta.AutoDFF(columns=table.features(words=words) if words else table.features())
    said, wrong = set(), 0
    order = random.Random(seed).sample(range(LINES), TAUGHT)
    for number in order:
        item, label = table.items[number], labels[number]
        guess = learner.guess(item)
        if guess.label == label:
            learner.learn(item, guess, None)
            continue
        told = None
        if guess.label is not None:
            wrong += 1
            named = table.parse(f'payee contains "{shops[number]}"')
            told = None if named(guess.example) else named
            said |= {told} - {None}
        learner.learn(item, guess, ta.Correction(label, told))
    terms = printed_terms(learner.model)
    later, wanted, others = statement(bank, seed + 100, 2027)
    right = fmean(map(str.__eq__, learner.model.predict(later.items), wanted))
    known = {shops[number] for number in order}
    stand = len(said & set(terms)) / len(said)
    room = 8 + 4 * len(BANKS[bank])
    return wrong, stand, len(terms), room, right, fmean(shop in known for shop in others)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--words", type=int, default=0, help="words of texts as columns")
    asked = parser.parse_args()
    for bank in BANKS:
        lessons = [taught(bank, seed, asked.words) for seed in range(asked.seeds)]
        each = zip(*lessons, strict=True)
        wrong, stand, terms, room, right, seen = (fmean(values) for values in each)
        print(
            f"{bank}: {wrong:.1f} corrections, {stand:.2f} of the reasons stand, {terms:.1f} of"
            f" {room:.0f} terms, next year {right:.3f} right, shop seen {seen:.3f}"
        )


if __name__ == "__main__":
    main()
