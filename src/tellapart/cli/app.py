"""The table of commands. To add one: a file with a function, and a line here.

A command is imported when it is run, or when its own --help is asked for. Its arguments are those
of the function; its help is the function's docstring, which must show an example and stand in
docs/cli.md (a test looks).
"""

from __future__ import annotations

import importlib

from cyclopts import App, Parameter

import tellapart

COMMANDS = {
    "bench": (
        "tellapart.cli.bench:bench",
        "Measure how fast simulate, teach, predict and updates are, as ratios.",
    ),
    "compare": (
        "tellapart.cli.compare:compare",
        "Compare learners by the corrections they need, on made worlds and real tables.",
    ),
    "demo": (
        "tellapart.cli.demo:demo",
        "Teach 101 animals to several learners, and see what they learnt.",
    ),
    "export": (
        "tellapart.cli.export:export",
        "Write a model as SQL, Python, sentences or a picture.",
    ),
    "lab": (
        "tellapart.cli.lab:lab",
        "Test the theorems by experiment, and write a report with figures and numbers.",
    ),
    "predict": (
        "tellapart.cli.predict:predict",
        "Label every row of a table.",
    ),
    "serve": (
        "tellapart.cli.serve:serve",
        "Serve sessions over HTTP, for a browser and for programs.",
    ),
    "teach": (
        "tellapart.cli.teach:teach",
        "Teach a classifier about the rows of a table, in your browser or here.",
    ),
    "session": (
        "tellapart.cli.session:session",
        "List sessions, take out what was learnt, export and import them.",
    ),
    "simulate": (
        "tellapart.cli.simulate:simulate",
        "Teach learners a made world, or a table with a label column.",
    ),
}
"""Name: where the function lives, and its one line in `tellapart --help`."""


def build(chosen: str | None = None) -> App:
    """The command line. Only the `chosen` command is loaded, for the help it wrote itself."""
    app = App(
        name="tellapart",
        help="Teach a rule-based classifier by saying what tells two things apart.\n\n"
        "Start with: tellapart demo",
        version=tellapart.__version__,
        # what docstrings need; the renderer takes a while to load, and the list can do without
        help_format="markdown" if chosen in COMMANDS else "plaintext",
        default_parameter=Parameter(negative=()),
        exit_on_error=False,
        print_error=False,
        suppress_keyboard_interrupt=False,
    )
    for name, (path, line) in COMMANDS.items():
        if name == chosen:
            module, _, function = path.partition(":")
            app.command(getattr(importlib.import_module(module), function), name=name)
        else:
            app.command(path, name=name, help=line)
    return app
