"""Makes the bank statement that comes with the package: `python benchmarks/bank.py`.

Everything in it is made up: payees are common names of shops with invented towns and amounts. The
statement ends in October; November, with the same habits and some new payees, is the next file.
"""

from __future__ import annotations

import csv
import random
from datetime import date, timedelta
from pathlib import Path

TOWNS = ("MUENCHEN", "KOELN", "BERLIN", "HAMBURG", "LEIPZIG")
PAYEES = {  # what is paid how, between which amounts, how often in a hundred lines
    ("REWE SAGT DANKE {town}", "CARD"): (-68, -6, 13),
    ("ALDI SUED {town}", "CARD"): (-45, -5, 8),
    ("LIDL DIENSTLEISTUNG {town}", "CARD"): (-50, -5, 6),
    ("EDEKA CENTER {town}", "CARD"): (-70, -8, 6),
    ("BAECKEREI WIMMER {town}", "CARD"): (-12, -2, 4),
    ("SUSHI BAR KYO {town}", "CARD"): (-60, -14, 6),
    ("PIZZERIA NAPOLI {town}", "CARD"): (-48, -11, 5),
    ("CAFE EINSTEIN {town}", "CARD"): (-22, -4, 6),
    ("MCDONALDS {n} {town}", "CARD"): (-18, -6, 4),
    ("DB VERTRIEB GMBH", "SEPA DD"): (-120, -19, 4),
    ("MVG TICKET APP", "CARD"): (-9, -3, 6),
    ("ARAL AG {town}", "CARD"): (-85, -30, 5),
    ("UBER *TRIP", "CARD"): (-32, -8, 3),
    ("SPOTIFY AB", "SEPA DD"): (-10.99, -10.99, 3),
    ("NETFLIX.COM", "CARD"): (-13.99, -13.99, 3),
    ("AUDIBLE GMBH", "SEPA DD"): (-9.95, -9.95, 2),
    ("STADTWERKE {town} GMBH", "SEPA DD"): (-96, -88, 2),
    ("APOTHEKE AM MARKT {town}", "CARD"): (-38, -5, 4),
    ("DR MED HOFFMANN {town}", "TRANSFER"): (-90, -25, 2),
    ("GELDAUTOMAT {n} {town}", "ATM"): (-200, -20, 5),
}
MONTHLY = (
    (1, "HAUSVERWALTUNG MEIER", "STANDING ORDER", -980.0),
    (28, "NORDWIND SOFTWARE AG LOHN", "TRANSFER", 3240.55),
    (3, "FITNESS PARK {town}", "SEPA DD", -39.9),
)
NEW = {
    ("SUSHI CIRCLE {town}", "CARD"): (-55, -15, 4),
    ("REWE TO GO {town}", "CARD"): (-20, -4, 5),
    ("FLIXBUS", "CARD"): (-39, -12, 2),
}


def statement(first: date, last: date, lines: int, seed: int, more: bool) -> list[list[object]]:
    """So many lines between two days, in order."""
    dice = random.Random(seed)
    payees = {**PAYEES, **(NEW if more else {})}
    home = TOWNS[0]

    def fill(payee: str) -> str:
        town = home if dice.random() < 0.6 else dice.choice(TOWNS)
        return payee.format(town=town, n=dice.choice((221, 318, 1204)))

    found: list[list[object]] = []
    for month in range(first.month, last.month + 1):
        for day, payee, kind, amount in MONTHLY:
            found.append([date(first.year, month, day), fill(payee), kind, f"{amount:.2f}"])
    weights = [often for _, _, often in payees.values()]
    days = (last - first).days + 1
    while len(found) < lines:
        (payee, kind), (low, high, _) = dice.choices(list(payees.items()), weights)[0]
        amount = round(dice.uniform(low, high), 2)
        if "GELDAUTOMAT" in payee:
            amount = -10 * round(-amount / 10)
        day = first + timedelta(days=dice.randrange(days))
        found.append([day, fill(payee), kind, f"{amount:.2f}"])
    return sorted(found, key=lambda line: line[0])  # type: ignore[arg-type,return-value]


def write(path: Path, lines: list[list[object]]) -> None:
    """A statement as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["date", "payee", "type", "amount"])
        out.writerows(lines)


if __name__ == "__main__":
    folder = Path(__file__).parent.parent / "src/tellapart/samples"
    year = 2026
    whole = statement(date(year, 1, 1), date(year, 10, 31), 400, seed=7, more=False)
    write(folder / "bank.csv", whole)
    write(
        folder / "november.csv", statement(date(year, 11, 1), date(year, 11, 30), 60, 11, more=True)
    )
