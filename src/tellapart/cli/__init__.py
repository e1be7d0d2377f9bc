"""The command line: a table of commands, and how they are run.

To add one: a file with a function, and a line in `COMMANDS`. A command is imported when it is run
or when its own --help is asked for. Its arguments are those of the function. Its help is the
function's docstring, which must show an example and stand in docs/cli.md (a test looks).

Exit codes: 0 done, 1 something the user can mend, 2 usage, 130 interrupted.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tellapart.errors import TellapartError

if TYPE_CHECKING:
    from cyclopts import App

COMMANDS = {
    "teach": "Teach a classifier about the rows of a table, in your browser or here.",
    "demo": "Teach 101 animals to several learners, and see what they learnt.",
    "predict": "Label every row of a table.",
    "export": "Write a model as SQL, a program, sentences or a picture.",
    "import": "Read rules that are written in SQL, a CASE WHEN, as a model.",
    "session": "List sessions, take out what was learnt, export and import, check and repair.",
    "serve": "Serve sessions over HTTP, for a browser and for programs.",
    "distil": "Let a language model teach: its judgement becomes rules and SQL.",
    "simulate": "Teach learners a made world, or a table with a label column.",
    "lab": "Test claims by experiment, and write a report with figures and numbers.",
    "compare": "Compare learners by the corrections they need, on real tables and made worlds.",
}
"""Every command, and its one line in `tellapart --help`."""

_LONGEST = 10_000  # characters of a message: a damaged file may be all one name
_PLACES = {"import": "export:import_rules", "demo": "simulate:demo", "compare": "lab:compare"}
"""Where a command is, if not in NAME:NAME."""


def place_of(command: str) -> tuple[str, str]:
    """The module and the function of a command."""
    module, function = _PLACES.get(command, f"{command}:{command}").split(":")
    return f"tellapart.cli.{module}", function


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `tellapart` with `arguments` (those of the process if None); returns the exit code."""
    try:
        return _run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:  # also while a command is being loaded
        return _complain("interrupted; what was saved is kept", 130)


def _run(words: list[str]) -> int:
    from cyclopts import CycloptsError, MissingArgumentError

    from tellapart.cli.options import error_message, find_settings, load_settings, moved

    try:
        words, file = find_settings(words)
        chosen = next(iter(words), None)
        settings = load_settings(file, [*COMMANDS, "read", "keys"])
        app = build(chosen, settings, str(file))
        found = app[chosen].assemble_argument_collection() if chosen in COMMANDS else ()
        hidden = [one.name for one in found if not one.show]
        if (said := moved(chosen or "", words, hidden)) is not None:
            return _complain(f"{said} (Try: tellapart {chosen} --help)", 2)
        command, bound, ignored = app.parse_args(words)
        result = command(*bound.args, **bound.kwargs, **dict.fromkeys(ignored, settings))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader left (`tellapart demo | head`): nothing to complain about
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except CycloptsError as error:
        chain = "".join(f"{word} " for word in error.command_chain or ())
        said = str(error)
        if isinstance(error, MissingArgumentError) and error.argument is not None:
            name = error.argument.name
            is_option = error.argument.index is None
            said = f"{name if is_option else name.lstrip('-').upper()} is missing."
        return _complain(f"{said} (Try: tellapart {chain}--help)", 2)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        do = ". Make room, and run it again; what was finished is kept" if full else ""
        return _complain(f"{where}{error.strerror or error}{do}", 1)
    except TellapartError as error:
        return _complain(error_message(error), 1)
    return result if isinstance(result, int) else 0


def build(
    chosen: str | None = None, settings: Mapping[str, Any] | None = None, source: str = ""
) -> App:
    """The command line. Only the `chosen` command is loaded, for the help it wrote itself.

    What is not given is in the section of the command in `settings`, if it is there.
    """
    from cyclopts import App, Parameter
    from cyclopts.config import Dict

    import tellapart

    app = App(
        name="tellapart",
        help="Teach a rule-based classifier by saying what tells two things apart.\n\n"
        "Start with: tellapart teach --sample bank\n\n"
        "Settings are in tellapart.toml beside the table or above it; --config FILE names another.",
        version=tellapart.__version__,
        # what docstrings need; the renderer takes a while to load, and the list can do without
        help_format="markdown" if chosen in COMMANDS else "plaintext",
        default_parameter=Parameter(
            negative=(),
            show_default=lambda value: str(value) if value not in (None, False) else None,
        ),
        config=[Dict(dict(settings), source=source)] if settings else None,
        exit_on_error=False,
        print_error=False,
        suppress_keyboard_interrupt=False,
    )
    for place, (name, line) in enumerate(COMMANDS.items()):
        module, function = place_of(name)
        if name == chosen:
            app.command(getattr(importlib.import_module(module), function), name=name)
        else:
            app.command(f"{module}:{function}", name=name, help=line, sort_key=place)
    return app


def _complain(message: str, code: int) -> int:
    short = message if len(message) <= _LONGEST else f"{message[:_LONGEST]} ... (cut)"
    print(f"tellapart: {' '.join(short.split())}", file=sys.stderr)
    return code
