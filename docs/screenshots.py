"""Take the screenshots in docs/screens, light and dark: a bank statement is taught.

python docs/screenshots.py [FOLDER]     needs Chromium, playwright and matplotlib (for Pillow)
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).parent
KNOWN = {
    "rent": ("hausverwaltung", "stadtwerke"),
    "salary": ("lohn",),
    "groceries": ("rewe", "aldi", "lidl", "edeka", "wimmer"),
    "eating out": ("sushi", "pizzeria", "cafe", "mcdonalds"),
    "transport": ("vertrieb", "mvg", "aral", "uber"),
    "subscriptions": ("spotify", "netflix", "audible", "fitness"),
    "health": ("apotheke", "hoffmann"),
    "cash": ("geldautomat",),
}
"""What a person would say of the payees, and why."""
PAGES = ("rules", "answers", "progress", "data", "export")
TAUGHT = 40


def small(shot: bytes) -> Any:
    """The screenshot with 64 colours: a quarter of the bytes without a visible difference."""
    from PIL import Image

    return Image.open(io.BytesIO(shot)).convert("RGB").quantize(64, dither=Image.Dither.NONE)


def take(page: Any, folder: Path, name: str) -> None:
    """Save a screenshot in the light and one in the dark theme."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(150)
        small(page.screenshot()).save(folder / f"{name}-{scheme}.png", optimize=True)
    page.emulate_media(color_scheme="light")


def truth(payee: str) -> tuple[str, str]:
    """What a payee is, and the word that says so."""
    said = ((label, word) for label, words in KNOWN.items() for word in words)
    return next((label, word) for label, word in said if word in payee.lower())


def main(folder: Path) -> None:
    sys.path.insert(0, str(HERE.parent / "tests"))
    from browser_teacher import TEAM, BrowserTeacher, chromium, go
    from server_process import serving
    from tellapart.samples import write_bank

    wanted = ["first", "reason", "learnt"]
    with TemporaryDirectory() as made, chromium() as browser:
        write_bank(Path(made))
        with serving("bank.csv", cwd=Path(made), tokens=TEAM) as server:
            view = {"width": 1280, "height": 800}
            teacher = BrowserTeacher(browser, server, "Ann", viewport=view).open("bank")
            page = teacher.page
            take(page, folder, "first")
            for turn in range(TAUGHT):
                label, word = truth(teacher.item)
                if turn == TAUGHT - 1:
                    take(page, folder, "guess")
                if teacher.guess == label:
                    teacher.press("Enter")
                    continue
                if not teacher.asks_why:
                    teacher.type(label)
                if teacher.asks_why:
                    if turn > 5 and "reason" in wanted:
                        page.locator(".word", has_text=word.upper()).first.click()
                        take(page, folder, wanted.pop(1))
                        teacher.press("Enter")
                        take(page, folder, wanted.pop(1))
                    else:
                        teacher.type(f"payee contains {word}")
            for path in PAGES:
                go(teacher, path)
                take(page, folder, path)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else HERE / "screens")
