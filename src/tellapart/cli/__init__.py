"""The command line: a thin skin.

Exit codes: 0 done, 1 something the user can mend, 2 usage, 130 interrupted.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence

from tellapart.errors import TellapartError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `tellapart` with `arguments` (those of the process if None); returns the exit code."""
    try:
        return _run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:  # also while a command is being loaded
        return _complain("interrupted; what was saved is kept", 130)


def _run(words: list[str]) -> int:
    from cyclopts import CycloptsError

    from tellapart.cli.app import build

    try:
        result = build(next(iter(words), None))(words, result_action="return_value")
        sys.stdout.flush()
    except BrokenPipeError:  # the reader left (`tellapart demo | head`): nothing to complain about
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except CycloptsError as error:
        return _complain(f"{error} (Try: tellapart {_command(error)}--help)", 2)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        do = ". Make room, and run it again; what was finished is kept" if full else ""
        return _complain(f"{where}{error.strerror or error}{do}", 1)
    except TellapartError as error:
        from tellapart.cli.options import message

        return _complain(message(error), 1)
    return result if isinstance(result, int) else 0


def _command(error: object) -> str:
    chain = getattr(error, "command_chain", None) or ()
    return "".join(f"{word} " for word in chain)


def _complain(message: str, code: int) -> int:
    print(f"tellapart: {' '.join(message.split())}", file=sys.stderr)
    return code
