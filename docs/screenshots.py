"""Take the screenshots in docs/screens, in the light and the dark theme, and an animation.

python docs/screenshots.py [FOLDER]     needs Chromium, playwright and matplotlib (for Pillow)
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).parent


def small(shot: bytes) -> Any:
    """The screenshot with 32 colours: a quarter of the bytes without a visible difference."""
    from PIL import Image

    return Image.open(io.BytesIO(shot)).convert("RGB").quantize(32, dither=Image.Dither.NONE)


CLIP = {"x": 0, "y": 0, "width": 1080, "height": 640}
TELLING = ("fins", "feathers", "milk", "hair")
"""Features that a person would name."""
SHOW_KEY = """key => {
    document.getElementById("pressed")?.remove();
    if (!key) return;
    const sign = document.createElement("div");
    sign.id = "pressed";
    sign.textContent = key;
    Object.assign(sign.style, {
        position: "fixed", left: "24%", top: "27rem", padding: "0.3rem 1.4rem", zIndex: 9,
        font: "3rem monospace", color: "#fff", background: "#1f2328", borderRadius: "0.8rem",
    });
    document.body.append(sign);
}"""


class Camera:
    """Takes screenshots of a page in both themes, and frames of an animation."""

    def __init__(self, page: Any, folder: Path) -> None:
        self.page, self.folder = page, folder
        self.frames: list[tuple[bytes, int]] = []

    def take(self, name: str) -> None:
        """Save a screenshot in the light and one in the dark theme."""
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme)
            self.page.wait_for_timeout(150)
            shot = self.page.screenshot()
            small(shot).save(self.folder / f"{name}-{scheme}.png", optimize=True)
        self.page.emulate_media(color_scheme="light")

    def film(self, key: str | None = None) -> None:
        """Add a frame to the animation, with the key that is about to be pressed."""
        self.page.evaluate(SHOW_KEY, key)
        self.frames.append((self.page.screenshot(clip=CLIP), 2200 if key is None else 900))
        self.page.evaluate(SHOW_KEY, None)

    def save(self, path: Path) -> None:
        """Save the animation; it stops after some repetitions."""
        from PIL import Image

        shots = [Image.open(io.BytesIO(shot)).convert("RGB") for shot, _ in self.frames]
        palette = shots[1].quantize(32)
        plain = Image.Dither.NONE
        first, *others = (shot.quantize(palette=palette, dither=plain) for shot in shots)
        times = [time for _, time in self.frames]
        first.save(path, save_all=True, append_images=others, duration=times, loop=4, optimize=True)


def main(folder: Path) -> None:
    """Teach the zoo a little and take a screenshot of every page."""
    sys.path.insert(0, str(HERE.parent / "tests"))
    from browser_teacher import PAGES, TEAM, BrowserTeacher, chromium, history, write_zoo
    from server_process import serving

    folder.mkdir(exist_ok=True)
    size = {"width": 1080, "height": 700}
    with TemporaryDirectory() as made, chromium() as browser:
        truth = write_zoo(Path(made, "zoo.csv"))
        with serving("--folder", made, cwd=Path(made), tokens=TEAM) as server:
            ann = BrowserTeacher(browser, server, "Ann", viewport=size)
            ann.page.goto(f"{server.address}/?token={TEAM['Ann']}")
            camera = Camera(ann.page, folder)
            camera.take("front")
            with server.client("Ann") as client:
                body = {"name": "zoo", "table": "zoo.csv", "id": "name", "overlap": 0.5}
                body |= {"until": {"no mistake in": 40}, "labels": ["mammal", "bird"], "seed": 4}
                client.post("/api/sessions", json={**body, "order": "random"}).raise_for_status()
            ann.open("zoo")
            camera.take("first")
            bob = BrowserTeacher(browser, server, "Bob").open("zoo")
            slipped = False
            for turn in range(16):
                ann.say(truth[ann.item])
                seen = {one["item"]["name"] for one in history(server, "zoo")}
                slips = turn > 5 and not slipped and bob.item in seen and truth[bob.item] != "fish"
                bob.say("fish" if slips else truth[bob.item])
                slipped |= slips
            while True:  # a wrong guess of a label that has a key
                key = ann.label_key(truth[ann.item])
                if key and "I think" in ann.heading and truth[ann.item] not in ann.heading:
                    break
                ann.say(truth[ann.item])
            camera.take("guess")
            camera.film()
            camera.film(key)
            ann.press(key)
            camera.take("feature")
            camera.film()
            telling = ann.page.locator(", ".join(f'#features [value="{one}"]' for one in TELLING))
            key = telling.first.get_attribute("data-key") if telling.count() else "1"
            camera.film(key)
            ann.press(key)
            while f"I think {truth[ann.item]}," not in ann.heading:
                ann.say(truth[ann.item])
            camera.take("next")
            camera.film()
            camera.film("Enter")
            ann.press("Enter")
            camera.film()
            for path in PAGES:
                ann.page.goto(f"{server.address}/s/zoo/{path}")
                camera.take(path)
            camera.save(folder / "teach.gif")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "screens")
