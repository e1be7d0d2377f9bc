"""Take the pictures of every page in docs/screens, light and dark, and the strip of the README.

python docs/screenshots.py [FOLDER]     needs Chromium, playwright and matplotlib (for Pillow)
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).parent
LOOKED_AT = (
    "rules",
    "progress",
    "history",
    "odd",
    "disagreements",
    "data",
    "export",
    "help",
)


def small(shot: bytes) -> Any:
    """A picture in few colours: a quarter of the bytes, and nobody sees it."""
    from PIL import Image

    return Image.open(io.BytesIO(shot)).convert("RGB").quantize(64, dither=Image.Dither.NONE)


class Camera:
    """Takes every picture twice."""

    def __init__(self, page: Any, folder: Path) -> None:
        self.page, self.folder = page, folder
        self.taken: dict[str, bytes] = {}

    def take(self, name: str) -> None:
        """A picture by day and one by night."""
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme)
            self.page.wait_for_timeout(150)
            shot = self.page.screenshot()
            small(shot).save(self.folder / f"{name}-{scheme}.png", optimize=True)
            if scheme == "light":
                self.taken[name] = shot
        self.page.emulate_media(color_scheme="light")

    def strip(self, names: list[str], path: Path) -> None:
        """Some pictures side by side."""
        from PIL import Image

        shots = [Image.open(io.BytesIO(self.taken[name])).convert("RGB") for name in names]
        wide, high = shots[0].size
        made = Image.new("RGB", (len(shots) * (wide + 16) - 16, high), "#888")
        for n, shot in enumerate(shots):
            made.paste(shot, (n * (wide + 16), 0))
        made = made.resize((made.width * 2 // 3, made.height * 2 // 3), Image.Resampling.LANCZOS)
        made.quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)


def main(folder: Path) -> None:
    """Teach the zoo a little, and look at everything."""
    sys.path.insert(0, str(HERE.parent / "tests"))
    from browsing import TEAM, Desk, chromium, write_zoo
    from served import serving

    folder.mkdir(exist_ok=True)
    size = {"width": 900, "height": 680}
    with TemporaryDirectory() as made, chromium() as browser:
        truth = write_zoo(Path(made, "zoo.csv"))
        with serving("--folder", made, cwd=Path(made), tokens=TEAM) as server:
            ann = Desk(browser, server, "Ann", viewport=size)
            ann.page.goto(f"{server.address}/?token={TEAM['Ann']}")
            camera = Camera(ann.page, folder)
            camera.take("front")
            with server.client("Ann") as client:
                body = {"name": "zoo", "table": "zoo.csv", "id": "name", "overlap": 0.5}
                body |= {"until": {"no mistake in": 10}, "labels": ["mammal", "bird"], "seed": 4}
                client.post("/api/sessions", json={**body, "order": "random"}).raise_for_status()
            ann.sit("zoo")
            camera.take("first")
            bob = Desk(browser, server, "Bob").sit("zoo")
            for turn in range(16):
                ann.say(truth[ann.item])
                bob.say("fish" if turn == 9 else truth[bob.item])
            while f"I think {truth[ann.item]}," in ann.heading:
                ann.press("Enter")
            camera.take("guess")
            key = ann.label_key(truth[ann.item])
            if key:
                ann.press(key)
            else:
                ann.write("l", truth[ann.item])
            camera.take("feature")
            ann.press("1")
            while f"I think {truth[ann.item]}," not in ann.heading:
                ann.say(truth[ann.item])
            camera.take("next")
            for path in LOOKED_AT:
                ann.page.goto(f"{server.address}/s/zoo/{path}")
                camera.take(path)
            camera.strip(["guess", "feature", "next"], folder / "strip.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "screens")
