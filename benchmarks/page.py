"""How quick the teaching page is: key press to next item painted, in a real browser.

python benchmarks/page.py [--items 1000000] [--columns 20] [--turns 60] [--look 0.3]

Beside it, in the same run and the same browser, a bare FastAPI app that swaps a fragment of a few
lines on a key press: what the browser, the loopback and FastAPI cost by themselves. One guess in
three is called wrong, which is a bad start; "all to the next item" are the keys that lead there:
right, and the feature of a correction. Sooner than `--look`, a page takes no digit and no Enter.

The browser draws 60 frames a second, so that what is ready just after a frame began waits for the
next one: the last column says how long, on average. It is part of the time.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
BARE = """
import sys
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse
import uvicorn
app = FastAPI()
n = 0
PAGE = '''<!doctype html><div id="card"></div><script>
document.addEventListener("keydown", async () => {
  const box = document.createElement("template");
  box.innerHTML = await (await fetch("/next", {method: "POST", body: "answer=right"})).text();
  document.getElementById("card").replaceWith(box.content.firstElementChild);
});</script>'''
@app.get("/")
async def page(): return HTMLResponse(PAGE)
@app.post("/next")
async def next(request: Request):
    global n
    n += 1
    await request.body()
    return HTMLResponse(f'<div id="card">item {n}</div>')
uvicorn.run(app, port=int(sys.argv[1]), log_level="error")
"""
WATCH = """([key, ctrlKey]) => new Promise((done) => {
  document.getElementById("card").dataset.old = 1;
  const start = performance.now();
  const seen = new MutationObserver(() => {
    if (!document.querySelector("#card:not([data-old])")) return;
    seen.disconnect();
    const ready = performance.now();
    requestAnimationFrame(() => {  // and after this frame is drawn
      const waited = performance.now() - ready;
      const channel = new MessageChannel();
      channel.port1.onmessage = () => done([performance.now() - start, waited]);
      channel.port2.postMessage(0);
    });
  });
  seen.observe(document.body, {childList: true, subtree: true});
  document.body.dispatchEvent(new KeyboardEvent('keydown', {key, ctrlKey, bubbles: true}));
})"""


def write_table(path: Path, items: int, wide: int) -> None:
    """Numbers, truths and a few words: a table as they come, of at least 20 columns."""
    import numpy as np
    import polars as pl

    dice = np.random.default_rng(0)
    words = np.array(["red", "green", "blue", "old", "new", "long", "short", "quick"])
    columns: dict[str, Any] = {"name": [f"item-{n}" for n in range(items)]}
    columns |= {f"b{n}": dice.random(items) < 0.3 for n in range(12)}
    columns |= {f"x{n}": dice.integers(0, 1000, items) for n in range(6)}
    picked = words[dice.integers(0, len(words), (items, 4))]
    columns["words"] = [" ".join(row) for row in picked]
    for n in range(len(columns), wide):
        columns[f"c{n}"] = (
            words[dice.integers(0, len(words), items)] if n % 2 else dice.normal(size=items)
        )
    pl.DataFrame(columns).write_parquet(path)


def start(words: list[str], cwd: Path, port: int, token: str) -> subprocess.Popen[bytes]:
    """A server, when it answers."""
    import socket

    process = subprocess.Popen(
        [sys.executable, *words], cwd=cwd, env={**os.environ, "TELLAPART_TOKEN": token}
    )
    for _ in range(1200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the server did not start")


def press_all(page: Any, other: Any, turns: int, look: float) -> dict[str, list[list[float]]]:
    """Milliseconds from a key to what it leads to, for every kind of key; and how many of them were
    spent waiting for a frame."""
    times: dict[str, list[list[float]]] = {}

    def press(kind: str, key: str, on: Any = page, *, ctrl: bool = False) -> None:
        on.evaluate("document.activeElement.blur()")
        time.sleep(look)
        times.setdefault(kind, []).append(on.evaluate(WATCH, [key, ctrl]))

    for label in ("first", "second", "third"):
        time.sleep(look)
        page.evaluate("document.getElementById('card').dataset.old = 1")
        page.keyboard.type(label)
        page.keyboard.press("Enter")
        page.wait_for_selector("#card:not([data-old])")
        if label != "first":
            press("feature", "1")
    for turn in range(turns):
        press("bare", "Enter", other)
        if turn % 3:
            press("right", "Enter")
        else:
            wrong = page.locator("#labels li:not([data-guess], .new) button").first
            press("label", wrong.get_attribute("data-key"))
            press("feature", "1")
        if turn % 6 == 5:
            press("undo", "z", ctrl=True)
            press("redo", "y", ctrl=True)
    return times


def main() -> None:
    """Print what was measured."""
    asked = ArgumentParser()
    asked.add_argument("--items", type=int, default=1_000_000)
    asked.add_argument("--columns", type=int, default=20)
    asked.add_argument("--turns", type=int, default=60)
    asked.add_argument("--look", type=float, default=0.3, help="seconds before every key")
    chosen = asked.parse_args()
    sys.path.insert(0, str(HERE.parent / "tests"))
    from browser_teacher import chromium

    token = "token-of-the-owner-1"
    with tempfile.TemporaryDirectory() as made, chromium() as browser:
        folder = Path(made)
        write_table(folder / "big.parquet", chosen.items, chosen.columns)
        (folder / "bare.py").write_text(BARE)
        ours, bare = 8571, 8572
        teach = ["-m", "tellapart", "teach", "big.parquet", "--no-browser", "--port", str(ours)]
        running = [start(["bare.py", str(bare)], folder, bare, token)]
        began = time.perf_counter()
        running.append(start(teach, folder, ours, token))
        opened = time.perf_counter() - began
        try:
            page, other = browser.new_page(), browser.new_page()
            page.goto(f"http://127.0.0.1:{bare}/")  # the browser itself is awake
            other.goto(f"http://127.0.0.1:{bare}/")
            answers: list[Any] = []
            page.on("requestfinished", partial(answers.append))  # it takes no built-in method
            at = f"http://127.0.0.1:{ours}/s/big/teach?token={token}"
            began = time.perf_counter()
            page.goto(at)
            page.wait_for_selector("#card")
            first = time.perf_counter() - began
            page.wait_for_load_state("networkidle")
            sizes = [one.sizes() for one in list(answers)]
            weight = sum(one["responseBodySize"] + one["responseHeadersSize"] for one in sizes)
            began = time.perf_counter()
            page.goto(at)
            page.wait_for_selector("#card")
            again = time.perf_counter() - began
            times = press_all(page, other, chosen.turns, chosen.look)
        finally:
            for process in running:
                process.terminate()
                process.wait()
    times["all to the next item"] = [*times["right"], *times["feature"]]
    middle = {name: statistics.median(t for t, _ in taken) for name, taken in times.items()}
    load = os.getloadavg()[0]
    print(f"{chosen.items:,} items; ready after {opened:.1f} s; {load:.1f} programs at work here")
    print(f"first page {first:.2f} s, again {again:.2f} s; {weight / 1000:.0f} kB")
    for name, taken in times.items():
        high = sorted(taken)[int(0.95 * len(taken))][0]
        ratio = middle[name] / middle["bare"]
        waited = statistics.mean(wait for _, wait in taken)
        print(
            f"{name:20} median {middle[name]:6.1f} ms  p95 {high:6.1f} ms  {ratio:4.1f} x bare"
            f"  ({len(taken)} turns)  waiting for a frame {waited:4.1f} ms"
        )


if __name__ == "__main__":
    main()
