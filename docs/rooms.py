"""Draw docs/figures/rooms.svg: which room of the package imports which, from the real imports.

python docs/rooms.py            draw it
python docs/rooms.py --check    exit with 1 if the picture is out of date

A room is a file or a folder directly under src/tellapart. An arrow points from a room to one that
it imports. Arrows that follow from others are left out: if a imports b, and b imports c, the arrow
from a to c is not drawn. Imports for type checking only do not count.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import fmean

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "tellapart"
PICTURE = ROOT / "docs" / "figures" / "rooms.svg"
BOX_WIDTH, BOX_HEIGHT, ROW_HEIGHT = 104, 30, 64
HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"
 width="{width}" height="{height}">
<title>The rooms of tellapart: an arrow points to a room that is imported</title>
<style>
rect {{ fill: #eef3f8; stroke: #33566e }}
text {{ font: 14px sans-serif; text-anchor: middle; fill: #1f2328 }}
.arrow {{ fill: none; stroke: #6b7f8f; stroke-width: 1.3; marker-end: url(#tip) }}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7"
 orient="auto"><path d="M0 0L8 4L0 8z" fill="#6b7f8f"/></marker></defs>
<rect width="100%" height="100%" style="fill: #fff; stroke: none"/>
"""

Graph = dict[str, set[str]]


def imported(node: ast.AST) -> Iterator[str]:
    """Full names of the modules and names that a syntax tree imports at run time."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for branch in child.orelse:
                yield from imported(branch)
        elif isinstance(child, ast.Import):
            yield from (name.name for name in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from (f"{child.module}.{name.name}" for name in child.names)
        else:
            yield from imported(child)


def rooms() -> Graph:
    """Every room, and the rooms it imports."""
    files = [path.relative_to(SOURCE) for path in sorted(SOURCE.rglob("*.py"))]
    graph: Graph = {path.parts[0].removesuffix(".py"): set() for path in files}
    graph = {room: found for room, found in graph.items() if not room.startswith("__")}
    for path in files:
        room = path.parts[0].removesuffix(".py")
        if room in graph:
            for name in imported(ast.parse((SOURCE / path).read_text(encoding="utf-8"))):
                first, _, rest = name.partition(".")
                other = rest.partition(".")[0]
                if first == "tellapart" and other in graph and other != room:
                    graph[room].add(other)
    return graph


def reachable(graph: Graph, room: str) -> set[str]:
    """All rooms that a room imports, directly or not."""
    return graph[room].union(*(reachable(graph, other) for other in graph[room]))


def reduced(graph: Graph) -> Graph:
    """The graph without the arrows that follow from others."""
    return {
        room: others - set().union(*(reachable(graph, other) for other in others))
        for room, others in graph.items()
    }


def rows(graph: Graph) -> tuple[list[list[str]], list[list[str]]]:
    """The rooms by height, lowest first, and the arrows, each as a list from room to room.

    A long arrow passes through a point in each row between. Points are named "from>to>row".
    """
    heights: dict[str, int] = {}

    def height(room: str) -> int:
        if room not in heights:
            heights[room] = 1 + max(map(height, graph[room]), default=-1)
        return heights[room]

    placed: list[list[str]] = [[] for _ in range(1 + max(map(height, graph)))]
    arrows = []
    for room in sorted(graph):
        placed[heights[room]].append(room)
        for other in sorted(graph[room]):
            between = range(heights[room] - 1, heights[other], -1)
            points = [f"{room}>{other}>{row}" for row in between]
            for row, point in zip(between, points, strict=True):
                placed[row].append(point)
            arrows.append([room, *points, other])
    return placed, arrows


def spread(row: list[str], width: int) -> dict[str, float]:
    """The horizontal middle of each room and point of a row."""
    sizes = [space(one) for one in row]
    left = (width - sum(sizes)) / 2
    return {one: left + sum(sizes[:number]) + sizes[number] / 2 for number, one in enumerate(row)}


def space(one: str) -> int:
    """How wide a place in a row is: that of a room or of a point."""
    return 40 if ">" in one else BOX_WIDTH + 24


def arrange(placed: list[list[str]], arrows: list[list[str]], width: int) -> dict[str, float]:
    """Horizontal places: each row is sorted by the mean place of its neighbours, a few times."""
    places = {one: x for row in placed for one, x in spread(row, width).items()}
    neighbours: dict[str, list[str]] = {one: [] for one in places}
    for arrow in arrows:
        for above, below in pairwise(arrow):
            neighbours[above].append(below)
            neighbours[below].append(above)
    for turn in range(24):
        for row in placed if turn % 2 else reversed(placed):
            means = {
                one: round(fmean(places[other] for other in neighbours[one]), 3) for one in row
            }
            row.sort()
            row.sort(key=means.__getitem__)
            places |= spread(row, width)
    return places


def draw() -> str:
    """The picture."""
    graph = reduced(rooms())
    placed, arrows = rows(graph)
    width = 20 + max(sum(map(space, row)) for row in placed)
    height = ROW_HEIGHT * len(placed)
    x = arrange(placed, arrows, width)
    y = {
        one: height - ROW_HEIGHT // 2 - ROW_HEIGHT * number
        for number, row in enumerate(placed)
        for one in row
    }
    lines = []
    for arrow in arrows:
        spots = [(x[one], float(y[one])) for one in arrow]
        spots[0] = spots[0][0], spots[0][1] + BOX_HEIGHT / 2
        spots[-1] = spots[-1][0], spots[-1][1] - BOX_HEIGHT / 2 - 5  # the tip needs 5
        path = f"M{spots[0][0]:.0f} {spots[0][1]:.0f}"
        for (x0, y0), (x1, y1) in pairwise(spots):
            middle = (y0 + y1) / 2
            path += f" C{x0:.0f} {middle:.0f} {x1:.0f} {middle:.0f} {x1:.0f} {y1:.0f}"
        title = f"<title>{arrow[0]} imports {arrow[-1]}</title>"
        lines.append(f'<path d="{path}" class="arrow">{title}</path>')
    for room in sorted(graph):
        left, top = x[room] - BOX_WIDTH / 2, y[room] - BOX_HEIGHT / 2
        size = f'width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="5"'
        lines.append(f'<rect x="{left:.0f}" y="{top:.0f}" {size}/>')
        lines.append(f'<text x="{x[room]:.0f}" y="{y[room] + 5}">{room}</text>')
    return HEAD.format(width=width, height=height) + "\n".join(lines) + "\n</svg>\n"


def main() -> int:
    picture = draw()
    if "--check" in sys.argv[1:]:
        if PICTURE.exists() and PICTURE.read_text(encoding="utf-8") == picture:
            return 0
        print("docs/figures/rooms.svg is out of date: run python docs/rooms.py", file=sys.stderr)
        return 1
    PICTURE.write_text(picture, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
