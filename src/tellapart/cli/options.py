"""Options that several commands share, `tellapart.toml`, and where options moved."""

# no `from __future__ import annotations`: what inherits from `TableOptions` elsewhere has its types

import re
import sys
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from tellapart.errors import FormatError, ParameterError, TellapartError, as_options

if TYPE_CHECKING:
    from tellapart.tables.findings import Finding

FILE = "tellapart.toml"


def _whole(_kind: Any, tokens: Sequence[Any]) -> int:
    """cyclopts would round 1.5 to 2 without a word."""
    text = tokens[0].value
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"expected a whole number, got {text!r}") from None


def _amount(_kind: Any, tokens: Sequence[Any]) -> int | float:
    text = tokens[0].value
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"expected a count or a rate, got {text!r}") from None


Whole = Annotated[int, Parameter(converter=_whole)]
"""A whole number: 17."""

Amount = Annotated[int | float, Parameter(converter=_amount)]
"""A count (57) or a rate (0.03)."""

Again = Annotated[list[str] | None, Parameter(consume_multiple=False)]
"""An option that may be given several times."""

TomlSettings = Annotated[Mapping[str, Any] | None, Parameter(parse=False)]
"""What `tellapart.toml` says; not an option."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """How a table is read, how its session begins, and who teaches it."""

    label: str | None = None
    """A column with known labels: hidden while one teaches, and compared with the answers."""
    start_from: str | None = None
    """A column with labels to start from: hidden, and each label is taken as a first answer."""
    id: str | None = None
    """The column that names a row; if not given, the first whose texts all differ."""
    learner: str | None = None
    """Who learns, such as CappedDFF:m=7; there is no need to choose. For a new session."""
    name: str | None = None
    """Your name as a teacher; your login name if not given."""
    read: Again = None
    """KEY=VALUE: how the table is read, such as separator=tab (docs/tables.md). Again for more."""


# -- how a table is read

_TEXTS = ("separator", "encoding", "dates", "decimal", "thousands", "comment", "sheet", "query")
_LISTS = ("nulls", "true", "false")
_NUMBERS = ("header", "sample", "sample_seed", "limits")
READ_KEYS = (*_TEXTS, "types", *_LISTS, *_NUMBERS, "from")
"""What `--read` and `[read]` say. docs/tables.md says what each means."""


def reading_of(
    read: Iterable[str] | None, settings: Mapping[str, Any] | None, *, sampling: bool = True
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What `--read` says, and what `[read]` says besides, as arguments of `read_table`.

    >>> reading_of(["separator=tab", "types=zip=text", "nulls=-"], {"read": {"nulls": ["?"]}})
    ({'separator': '\\t', 'types': {'zip': 'text'}, 'nulls': ['-']}, {})
    >>> reading_of(["header=0"], {"read": {"sample": 9, "decimal": ","}}, sampling=False)
    ({'header': 0}, {'decimal': ','})
    """
    given: dict[str, list[str]] = {}
    for text in read or ():
        key, equals, value = text.partition("=")
        if not equals:
            raise ParameterError(f"--read is KEY=VALUE, such as separator=tab, got {text!r}")
        given.setdefault(key.replace("-", "_"), []).append(value)
    if not sampling and (sampled := given.keys() & {"sample", "sample_seed"}):
        raise ParameterError(f"--read {min(sampled)}: this command reads the whole table")
    section = dict((settings or {}).get("read", {}))
    if not sampling:
        section.pop("sample", None)
        section.pop("sample_seed", None)
    said = {key: _read_value(f"--read {key}", key, values) for key, values in given.items()}
    besides = {
        key: _read_value(f"{key} in [read]", key, value)
        for key, value in section.items()
        if key not in given
    }
    return said, besides


def _read_value(where: str, key: str, value: Any) -> Any:
    """What stands for a key, as `read_table` wants it."""
    if key not in READ_KEYS:
        raise ParameterError(f"{where}: there is no such key; there are {', '.join(READ_KEYS)}")
    texts = [str(one) for one in (value if isinstance(value, list) else [value])]
    if key == "types":
        return dict(value) if isinstance(value, Mapping) else column_types(where, texts)
    if key in _LISTS:
        return sorted(set(texts))
    if len(texts) != 1:
        raise ParameterError(f"{where}: give it once")
    if key not in _NUMBERS:
        return "\t" if key == "separator" and texts[0] in ("tab", "\\t") else texts[0]
    try:
        return int(texts[0])
    except ValueError:
        raise ParameterError(f"{where}: expected a whole number, got {texts[0]!r}") from None


def table_and_reading(
    table: str | None,
    read: Iterable[str] | None,
    settings: Mapping[str, Any] | None,
    *,
    sampling: bool = True,
) -> tuple[str | None, dict[str, Any]]:
    """The table that was named, or the database, and the arguments of `read_table`.

    Without a table, `[read]` means nothing, and `--read` is refused.
    """
    said, besides = reading_of(read, settings, sampling=sampling)
    if "from" in said and table is not None:
        raise ParameterError(f"name the table ({table}) or the database (--read from), not both")
    if said and table is None and "from" not in {**said, **besides}:
        options = " ".join(as_options(name, value) for name, value in said.items())
        raise ParameterError(f"{options}: that is how to read a table; name the table, too")
    how = {**besides, **said}
    database = how.pop("from", None)
    place = database if table is None else table
    if table is not None and "query" not in said and database is not None:
        how.pop("query", None)  # it is for the database
    return place, how if place is not None else {}


def local_path(table: str) -> Path:
    """A path that stands for a table: where its sessions are kept, and what they are called.

    >>> local_path("data/zoo.csv"), local_path("postgresql://ann:secret@host/zoo").name
    (PosixPath('data/zoo.csv'), 'postgresql_ann_host_zoo')
    """
    from tellapart.tables.databases import is_database, without_password
    from tellapart.tables.files import is_url

    if not (is_database(table) or is_url(table) or re.search(r"[*?\[]", table)):
        if Path(table).name in ("", ".."):
            raise ParameterError(f"{table} is a folder; name a table in it, or a folder of files")
        return Path(table)
    return Path(re.sub(r"[^\w.-]+", "_", without_password(table)).strip("_."))


def column_types(option: str, given: Iterable[str] | None) -> dict[str, str]:
    """The types of columns that an option gives.

    >>> column_types("--type", ["legs=integer", "a=b=text"])
    {'legs': 'integer', 'a=b': 'text'}
    """
    types = {}
    for text in given or ():
        column, _, kind = text.rpartition("=")
        if not column or not kind:
            raise ParameterError(f"{option} is COLUMN=TYPE, such as zip=text, got {text!r}")
        types[column] = kind
    return types


def say_finding(finding: "Finding") -> None:
    """Print on stderr what could have been read in another way, if there is something to do."""
    if not finding.is_warning:
        return
    print(f"tellapart: {finding.said(as_options)}", file=sys.stderr)


def error_message(error: TellapartError) -> str:
    """What an error says to whoever gave a command."""
    return error.said(as_options) if isinstance(error, FormatError) else str(error)


# -- tellapart.toml


def find_settings(words: Sequence[str]) -> tuple[list[str], Path | None]:
    """The words without `--config FILE`, and that file; else the `tellapart.toml` beside the first
    file that is named, or in this folder, or in a folder above."""
    rest = list(words)
    for place, word in enumerate(rest):
        name, equals, value = word.partition("=")
        if name == "--config":
            if not equals and place + 1 == len(rest):
                raise ParameterError("--config needs a file")
            path = Path(value if equals else rest[place + 1])
            del rest[place : place + (1 if equals else 2)]
            return rest, path
    named = (Path(word) for word in rest[1:] if not word.startswith("-") and len(word) < 1000)
    folder = next((path.parent for path in named if path.is_file()), Path()).resolve()
    found = (one / FILE for one in (folder, *folder.parents) if (one / FILE).is_file())
    return rest, next(found, None)


def load_settings(path: Path | None, sections: Iterable[str]) -> dict[str, Any]:
    """What a `tellapart.toml` says."""
    if path is None:
        return {}
    try:
        with path.open("rb") as file:
            loaded = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError(f"{path} is not TOML: {error}") from None
    for name, section in loaded.items():
        if name not in sections or not isinstance(section, dict):
            known = ", ".join(f"[{one}]" for one in sections)
            raise ParameterError(f"{path}: {name!r} is no section; there are {known}")
    return loaded


# -- options that moved

_IN_READ = "moved: use --read {key}=VALUE, or {key} in [read] of tellapart.toml"
_IN_FILE = "moved: it is {key} in [{command}] of tellapart.toml"
_READERS = ("teach", "serve", "distil", "predict", "simulate")
_READING = {
    "--null": _IN_READ.format(key="nulls"),
    "--no-header": "moved: use --read header=0, or header = 0 in [read] of tellapart.toml",
}
_AGAIN = "is gone: run the command again with another --model; it is another teacher"
_GONE: dict[str, dict[str, str]] = {
    "teach": {"--keys": 'moved: keys are in [keys] of tellapart.toml, such as undo = "z"'},
    "distil": {
        "--second": _AGAIN,
        "--share": _AGAIN,
        "--report": "is gone: the pages of 'tellapart teach TABLE' say the same, and --json",
    },
    "simulate": {"--teacher": "is gone: the teacher goes by the components"},
    "export": {
        "--value": "is gone: --to select gives the label, the rule and its example",
        "--clean": "is gone: leave it out",
        "--simplify": "is gone: exports are always simplified",
    },
}


def moved(command: str, words: Iterable[str], settings: Collection[str] = ()) -> str | None:
    """What to say of the first option that has moved, if there is one.

    `settings` are those that stand in the section of the command only.

    >>> moved("teach", ["zoo.csv", "--separator", "tab"])
    '--separator moved: use --read separator=VALUE, or separator in [read] of tellapart.toml'
    """
    for word in words:
        if word == "--":
            break
        option = word.partition("=")[0]
        key, said = option.removeprefix("--").replace("-", "_"), None
        if option in settings:
            said = _IN_FILE
        elif command in _READERS and key in READ_KEYS and (command, key) != ("teach", "sample"):
            said = _IN_READ
        elif command in _READERS:
            said = _READING.get(option)
        said = _GONE.get(command, {}).get(option, said)
        if said is not None and option.startswith("--"):
            return f"{option} {said.format(key=key, command=command)}"
    return None
