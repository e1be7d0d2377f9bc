"""Five small tables, and pairs of suggestions whose order is beyond doubt.

The second row of each table is to be told from the first, and nothing else is known. Of each pair,
the first suggestion that fits the left pattern should come before the first that fits the right.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from random import Random
from typing import Any

from tellapart import Table

Pairs = list[tuple[str, str]]


def _table(first: dict[str, Any], second: dict[str, Any], more: list[dict[str, Any]]) -> Table:
    rows = [first, second, *more]
    return Table({name: [row[name] for row in rows] for name in first})


def bank() -> tuple[Table, str, str, Pairs]:
    """A statement of an account, with a number of each line."""
    some = Random(1)
    day = date(2026, 3, 1)

    def line(n: int, payee: str, kind: str, amount: float) -> dict[str, Any]:
        booked = day + timedelta(days=n // 2)
        line = {"id": 10001 + n, "booked": booked, "payee": payee, "type": kind}
        return {**line, "amount": amount, "currency": "EUR"}

    shops = ("REWE MARKT", "SHELL STATION", "NETFLIX", "STADTWERKE", "REWE CITY", "DB VERTRIEB")
    more = [
        line(
            n,
            some.choice(shops),
            some.choice(("card", "debit", "transfer")),
            -some.randrange(399, 14000) / 100,
        )
        for n in range(2, 80)
    ]
    first = line(0, "SHELL STATION", "card", -54.37)
    second = line(1, "REWE MARKT", "debit", -17.89)
    pairs = [
        ("payee", r"\bid\b"),
        ("payee", "booked"),
        ("type", r"\bid\b"),
        ("amount", r"\bid\b"),
        ("amount >= -(50|40|30|20)$", r"amount >= -\d+\.\d"),
        ("payee.*(rewe|REWE)", "amount"),
    ]
    return _table(first, second, more), "fuel", "groceries", pairs


def penguins() -> tuple[Table, str, str, Pairs]:
    """Birds with measures, places and the year in which each was seen."""
    some = Random(2)

    def bird(n: int, island: str, sex: str, bill: float, mass: int, year: int) -> dict[str, Any]:
        measures = {"bill_length": bill, "body_mass": mass}
        return {"rownames": n + 1, "island": island, **measures, "sex": sex, "year": year}

    more = [
        bird(
            n,
            some.choice(("Biscoe", "Dream", "Torgersen")),
            some.choice(("female", "male")),
            some.randrange(330, 590) / 10,
            some.randrange(2700, 6300, 25),
            some.choice((2007, 2008, 2009)),
        )
        for n in range(2, 90)
    ]
    first = bird(0, "Torgersen", "male", 39.1, 3750, 2007)
    second = bird(1, "Biscoe", "female", 47.6, 5050, 2009)
    pairs = [
        ("island", "rownames"),
        ("bill_length", "rownames"),
        ("body_mass", "year"),
        ("body_mass >= (4000|4500|5000)$", r"body_mass >= \d\d(\d[1-9]|[1-9]\d)$"),
        ("island = 'Biscoe'", "year"),
    ]
    return _table(first, second, more), "Adelie", "Gentoo", pairs


def tickets() -> tuple[Table, str, str, Pairs]:
    """Requests to a help desk."""
    some = Random(3)
    opened = datetime(2026, 5, 4, 8, 0)

    def ticket(n: int, subject: str, team: str, priority: str, replies: int) -> dict[str, Any]:
        when = opened + timedelta(minutes=47 * n)
        return {
            "ticket": f"T-{4000 + n}",
            "opened": when,
            "subject": subject,
            "team": team,
            "priority": priority,
            "replies": replies,
            "status": "closed",
        }

    subjects = (
        "password reset does not work",
        "invoice is missing",
        "wrong amount on invoice",
        "app crashes on start",
        "cannot login after update",
        "refund for last invoice",
    )
    more = [
        ticket(
            n,
            some.choice(subjects),
            some.choice(("web", "phone", "mail")),
            some.choice(("high", "low", "normal")),
            some.randrange(0, 9),
        )
        for n in range(2, 70)
    ]
    first = ticket(0, "password reset does not work", "web", "high", 6)
    second = ticket(1, "wrong amount on invoice", "mail", "low", 2)
    pairs = [
        ("subject.*invoice", "replies"),
        ("subject.*invoice", "opened"),
        ("subject", "ticket"),
        ("team", "opened"),
        ("priority", "opened"),
    ]
    return _table(first, second, more), "login problem", "billing", pairs


def products() -> tuple[Table, str, str, Pairs]:
    """Things that a shop sells."""
    some = Random(4)

    def product(n: int, name: str, brand: str, price: float, stock: int) -> dict[str, Any]:
        return {
            "product_id": 500 + 3 * n,
            "name": name,
            "brand": brand,
            "price": price,
            "stock": stock,
            "added": date(2025, 1, 1) + timedelta(days=n),
        }

    names = ("cordless drill", "garden hose", "paint brush", "wall paint", "garden chair", "saw")
    more = [
        product(
            n,
            f"{some.choice(names)} {some.choice(('red', 'blue', 'large', 'small'))}",
            some.choice(("Bosch", "Gardena", "Alpina", "Makita")),
            some.randrange(299, 24999) / 100,
            some.randrange(0, 400),
        )
        for n in range(2, 90)
    ]
    first = product(0, "cordless drill blue", "Bosch", 129.99, 37)
    second = product(1, "garden hose large", "Gardena", 24.49, 212)
    pairs = [
        ("name.*garden", "product_id"),
        ("brand", "added"),
        ("price", "product_id"),
        (r"price < (100|50)$", r"price < \d+\.\d"),
        ("brand", "stock"),
    ]
    return _table(first, second, more), "tool", "garden", pairs


def people() -> tuple[Table, str, str, Pairs]:
    """Members of a club, two of one name."""
    some = Random(5)

    def person(n: int, name: str, city: str, age: int, since: date) -> dict[str, Any]:
        row = {"member": 70_300 + 7 * n, "name": name, "city": city, "age": age}
        return {**row, "since": since, "active": n % 3 != 1, "country": "DE"}

    names = ("Eva Lang", "Tom Berg", "Ida Kern", "Max Roth", "Lea Wolf", "Jan Voss", "Mia Haas")
    more = [
        person(
            n,
            some.choice(names),
            some.choice(("Berlin", "Hamburg", "Köln")),
            some.randrange(14, 81),
            date(2010, 1, 1) + timedelta(days=some.randrange(5000)),
        )
        for n in range(2, 60)
    ]
    first = person(0, "Eva Lang", "Berlin", 34, date(2019, 6, 14))
    second = person(1, "Eva Lang", "Hamburg", 67, date(2012, 2, 3))
    pairs = [
        ("city", "member"),
        ("age", "member"),
        ("active", "since"),
        (r"age >= (40|50|60)$", r"age >= \d[1-9]$"),
    ]
    return _table(first, second, more), "adult", "senior", pairs


TABLES = (bank, penguins, tickets, products, people)
