"""Sources of one command, read together: a column is one thing in all, led by the test set or the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

import pyarrow as pa

from dataworth.data.convert import Column
from dataworth.data.io import roles as role_of
from dataworth.data.io import schema as schemas
from dataworth.data.io.cells import has_hours
from dataworth.data.io.conversations import (
    CONVERSATION,
    DOCUMENTS,
    LABELS,
    PAIRS,
    RESPONSE,
    check_task,
    pairs_of,
    task_of,
)
from dataworth.data.io.delimited import Delimited
from dataworth.data.io.files import part_of, suffix_of
from dataworth.data.io.notes import Note, gathering
from dataworth.data.io.preferences import PAIR_ROLES, PROMPT, RESPONSES, are_preferences, pair_table
from dataworth.data.io.roles import Asked, Role, Wishes, assign_roles, marked, wishes_of
from dataworth.data.io.schema import Schema
from dataworth.data.io.streamed import SAMPLE, Piece, pieces_of, stream_of
from dataworth.data.io.tables import NPZ_ROLES, roles_of
from dataworth.errors import DataworthError
from dataworth.limits import TooLarge
from dataworth.wording import counted, option

SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


class Options(Asked, total=False):
    """All that reading takes: roles of columns, and how files are written; what is not said is found."""

    sep: str | None
    encoding: str | None
    decimal: str | None
    dayfirst: bool | None
    header: str | bool | None
    sheet: str | None
    categorical: Wishes
    numeric: Wishes
    no_label_normalization: bool
    sample: int | None
    stream: bool
    na_values: str | Sequence[str] | None
    task: str | None


@dataclass
class Read:
    """One source, as far as it could be read.

    pieces: of what is streamed, whose part is then a sample. task: what rows are, if that was asked for, or
    if they are prompts with responses.
    """

    source: Any
    part: Any = None
    roles: list[Role] = field(default_factory=list)
    schema: Schema = field(default_factory=lambda: Schema((), {}))
    problems: list[str] = field(default_factory=list)
    data: Any = None
    pieces: list[Piece] = field(default_factory=list)
    task: str | None = None

    @property
    def name(self) -> str | None:
        """What sentences call it: a file by its path, a frame not at all."""
        return str(self.source) if isinstance(self.source, str | PathLike) else None

    @property
    def notes(self) -> list[Note]:
        """What was decided: of the file, of what its used columns hold, and of the roles of all."""
        used = [role for role in self.roles if role.used]
        told = [note for role in used if (to := self.schema.types.get(role.column)) for note in to.notes]
        dates = [role for role in used if role.role == "feature" and role.kind == "date or time"]
        plain = [role.column for role in dates if not self.schema.types[role.column].notes]
        told += [schemas.note_of("date", repr(name), plain=True) for name in plain]
        return [] if self.part is None else [*self.part.notes, *told, *role_of.role_notes(self.roles)]


def read_together(
    sources: Sequence[Any],
    *,
    lead: int | None = None,
    columns: Sequence[Column] = (),
    impute: bool = False,
    streams: bool = False,
    **asked: Unpack[Options],
) -> list[Read]:
    """Read sources of one command; nothing is raised: each says what is wrong with it.

    lead: the place of the test set. columns: those of a yardstick, which decide before any file. streams:
    what does not fit in memory becomes a Stream.
    """
    options: dict[str, Any] = dict(asked)
    how, overrides = _parsed(options, columns)
    reads = [Read(source) for source in sources]
    for i, read in enumerate(reads):
        with gathering(read.problems):
            own = replace(how, sample=None) if i == lead else how
            _begin(read, own, bool(options.get("stream")), streams and i != lead)
    first = None if lead is None else reads[lead]
    ordered = sorted((read for read in reads if read.part), key=lambda read: read is not first)
    if (task := _task(ordered, options, columns)) in (PAIRS, DOCUMENTS):
        for read in ordered:
            with gathering(read.problems):
                _pair_up(read, task, options)
        ordered = [read for read in ordered if not read.problems]
    elif task is not None:
        for read in ordered:
            read.task = task
    known: dict[str, schemas.ColumnType] = {}
    free = []
    for read in ordered:
        roles = {name: options[name] for name in Asked.__annotations__ if name in options}
        with gathering(read.problems):
            _assign(read, roles, ordered[0])
        read.schema, wrong = Schema.fit(read.part, read.roles, overrides, known)
        read.problems += dict.fromkeys(wrong.values())
        read.roles = role_of.with_kinds(read.part.table, read.roles, read.problems)
        known |= {n: to for n, to in read.schema.types.items() if n not in known or known[n].kind == "empty"}
        free.append({*wrong, *overrides.kinds, *overrides.categorical, *overrides.numeric})
    _leave_out(ordered, free, lead is not None, impute)
    for read in ordered:
        _finish(read, ordered[0], columns, impute)
    done = [read for read in ordered if read.data is not None]
    spelled = (
        {} if options.get("no_label_normalization") else schemas.spelled_alike([read.data.y for read in done])
    )
    for read in done:
        _spell(read, spelled)
    used = columns if first is None or first.data is None else first.data.columns
    for read in (read for read in done if read.pieces):
        with gathering(read.problems):
            read.data = stream_of(str(read.source), read.pieces, read.part, read.schema, read.data, used)
    return reads


def sentences(reads: Sequence[Read]) -> list[str]:
    """All that stands in the way, each with the names of its files."""
    where: dict[str, list[str]] = {}
    for read in reads:
        for problem in dict.fromkeys(read.problems):
            where.setdefault(problem, []).extend([] if read.name is None else [read.name])
    return [f"{', '.join(names)}: {problem}" if names else problem for problem, names in where.items()]


def release() -> None:
    """Give memory back: pyarrow would keep the size of the files for itself."""
    pa.default_memory_pool().release_unused()


def delimited(options: Mapping[str, Any]) -> Delimited:
    """How files are to be read, from what users say."""
    return _parsed(options, ())[0]


def _parsed(options: Mapping[str, Any], columns: Sequence[Column]) -> tuple[Delimited, schemas.TypeOverrides]:
    """How files are to be read and what columns are, from what users say."""
    sep, header, sample = (options.get(name) for name in ("sep", "header", "sample"))
    sep = SEPARATORS.get(str(sep), sep)
    if sep is not None and len(sep) != 1:
        raise DataworthError(f"sep is {sep!r}, but one character is expected: give ';', tab or the like")
    if sample is not None and (not isinstance(sample, int) or sample < 1):
        raise DataworthError(f"sample is {sample!r}, but a number of rows is expected: give 1 or more")
    choices = {"header": ("yes", "no", True, False), "decimal": (".", ","), "dayfirst": (True, False)}
    for name, known in choices.items():
        if options.get(name) not in (None, *known):
            raise DataworthError(f"{name} is {options[name]!r}: give {' or '.join(map(repr, known[:2]))}")
    given = options.get("na_values")
    markers = [given] if isinstance(given, str | int | float) else list(given or ())
    if wrong := [one for one in markers if isinstance(one, bool) or not isinstance(one, str | int | float)]:
        raise DataworthError(
            f"na_values is {wrong[0]!r}: give the text, or a list of texts, that stands there"
        )
    header = None if header is None else header in ("yes", True)
    na_values = tuple(dict.fromkeys(str(one).strip() for one in markers))
    how = Delimited(sep, options.get("encoding"), header, options.get("sheet"), na_values, sample)
    categorical, numeric = (wishes_of(options.get(name) or (), ()) for name in ("categorical", "numeric"))
    said = options.get("decimal"), options.get("dayfirst"), schemas.kinds_of(columns)
    return how, schemas.TypeOverrides(categorical, numeric, *said)


def _begin(read: Read, how: Delimited, wanted: bool, streams: bool) -> None:
    """The table of a source; a sample of it, where it is to be streamed."""
    if wanted and how.sample is not None:
        both = f"{option('stream')} reads all rows and {option('sample')} some of them"
        raise DataworthError(f"{both}: drop one")
    try:
        if not (streams and wanted):
            read.part = part_of(read.source, how)
            return
    except TooLarge:
        if not streams:
            raise
    read.pieces = pieces_of(read.source)
    read.part = part_of(read.source, replace(how, sample=SAMPLE))
    notes = [note for note in read.part.notes if "drawn at random" not in note.decision]
    passes = Note("all rows are read, in several passes", f"{option('sample')} reads some of them instead")
    read.part.notes = notes if wanted else [*notes, passes]


PAIRED = {"label": RESPONSE, "group": CONVERSATION, "features": PROMPT}
FIXED = {RESPONSE: "response", PROMPT: "text"}
"""Roles and kinds of the columns of prompts and responses."""


def _task(ordered: Sequence[Read], options: Mapping[str, Any], columns: Sequence[Column]) -> str | None:
    """What rows are: as asked, else as the test set (else the first source) looks; None: rows of a table."""
    asked, label = options.get("task"), options.get("label")
    check_task(asked)
    if asked in (PAIRS, DOCUMENTS) and label is not None:
        raise DataworthError(f"{option('task', asked)} needs no {option('label', label)}: drop one of them")
    measured = not columns or any(column.kind == "response" for column in columns)
    if asked is not None or label is not None or not ordered or not measured:
        return None if asked is None else str(asked)
    found = task_of(ordered[0].part.table)
    return None if found == LABELS else found


def _pair_up(read: Read, task: str, options: Mapping[str, Any]) -> None:
    """The table of a source, a row for each prompt and response."""
    if read.pieces:
        raise DataworthError(
            f"prompts and responses are read whole, not in passes: read some, with {option('sample', 10_000)}"
        )
    asked = (options.get(name) for name in ("group", "attribute", "id", "weights"))
    keep = [str(name) for name in asked if name is not None]
    keep += ["id"] if "id" in read.part.table.column_names and "id" not in keep else []
    if missing := [name for name in keep if name not in read.part.table.column_names]:
        raise DataworthError(f"there is no column {missing[0]!r}: check its name")
    read.part.table, note = pairs_of(read.part.table, task, keep)
    read.part.typed, read.task = True, task
    read.part.notes.append(note)


def _assign(read: Read, asked: Mapping[str, Any], lead: Read) -> None:
    """Give every column its role; where nothing is asked for, the label is the one of the lead."""
    # Columns of a frame may be numbered; their names are texts here.
    named: dict[str, Any] = {name: str(v) if type(v) is int else v for name, v in asked.items()}
    said, why = roles_of(read.part.table), "what the file says"
    paired = read.task is None and named.get("label") is None
    paired = paired and are_preferences(read.part.table.column_names)
    if read.task in (PAIRS, DOCUMENTS):
        said, why = (
            {r: n for r, n in PAIRED.items() if n in read.part.table.column_names},
            "made of the texts",
        )
    elif paired:
        read.part.table, dropped = pair_table(read.part.table)
        said, why = PAIR_ROLES, "recognised by chosen and rejected"
        if dropped:
            why += f"; {counted(dropped, 'pair')} left out, empty or one response twice"
    table = read.part.table
    if read.name is not None and suffix_of(Path(read.name)) == ".npz":
        # Its names say what is what, whatever columns are named in other files.
        named |= dict.fromkeys(NPZ_ROLES)
        said, why = {role: n for role, n in NPZ_ROLES.items() if n in table.column_names}, "what an npz says"
    # What the file itself says counts where nothing was asked for, and no column has two roles.
    taken = list(named.values())
    said = {role: name for role, name in said.items() if named.get(role) is None and name not in taken}
    guess = next((role.column for role in lead.roles if role.role == "label"), None)
    asked_for = named.get("label") is not None or "label" in said
    if follows := read is not lead and not asked_for and guess in table.column_names:
        named["label"] = guess
    for role in assign_roles(table, read.problems, **(named | said)):
        if role.column in said.values():
            role = replace(role, why=why)
        elif follows and role.role == "label":
            role = replace(role, why=role_of.GUESSED)
        fixed = {RESPONSES: "pair"} if paired else FIXED if read.task in (PAIRS, DOCUMENTS) else {}
        read.roles.append(replace(role, kind=fixed[role.column]) if role.column in fixed else role)


def _leave_out(reads: Sequence[Read], asked: Sequence[set[str]], led: bool, impute: bool) -> None:
    """Leave columns that say nothing out of all files, if one shows it; not those `asked` for, or wrong."""
    found: dict[str, str] = {}
    for read, own in zip(reads, asked, strict=True):
        first, free = read is reads[0], [role for role in read.roles if role.column not in own]
        for name, why in role_of.uninformative(read.part.table, free, constants=led and first).items():
            if why not in (role_of.CONSTANT, role_of.EMPTY) or (first and (led or not impute)):
                mixed = read.schema.types[name].mixed
                found.setdefault(name, f"{why}, for it {mixed}" if mixed else why)
    for read in reads:
        features = {role.column for role in read.roles if role.role == "feature" and role.why != "asked for"}
        gone = {name: why for name, why in found.items() if name in features}
        read.roles = marked(read.roles, gone, "ignored")
        if gone and not read.problems and not any(role.role == "feature" for role in read.roles):
            read.problems.append(role_of.no_feature([role.column for role in read.roles]))
        # The one column that is named like an id names the rows, if no two share a name; each file by itself,
        # for its `content_hash` must not depend on files beside it.
        alike = [i for i, role in enumerate(read.roles) if role.why == role_of.LIKE_AN_ID]
        if len(alike) == 1 and not read.pieces and not any(role.role == "id" for role in read.roles):
            role = read.roles[alike[0]]
            column = read.part.table[role.column]
            if column.null_count == 0 and len(column.unique()) == len(column):
                read.roles[alike[0]] = replace(role, role="id", why=role_of.GUESSED)


def _finish(read: Read, lead: Read, columns: Sequence[Column], impute: bool) -> None:
    """Check the roles and make the Dataset, or gather what is wrong."""
    table = read.part.table
    features = [role for role in read.roles if role.role == "feature"]
    reasons = {role.column: role.kind for role in features if role.kind not in role_of.FEATURE_KINDS}
    read.problems += role_of.wrong_kinds(read.roles, reasons)
    read.roles = marked(read.roles, dict.fromkeys(reasons, role_of.UNUSABLE), "unusable")
    known = {column.name for column in columns}
    dates = [role.column for role in read.roles if role.role == "feature" and role.kind == "date or time"]
    hours = {name for name in dates if f"{name}[hour]" in known} | lead.schema.hours
    if read is lead:  # the hour counts where a date of the test set has one
        hours |= {name for name in dates if f"{name}[day]" not in known and has_hours(table[name])}
    read.schema = replace(read.schema, roles=tuple(read.roles), hours=frozenset(hours), impute=impute)
    read.problems += schemas.missing_values(table, read.roles)
    with gathering(read.problems):
        made = read.schema.features(table)
        if not read.problems:
            read.data = schemas.with_labels(made, table, read.roles)


def _spell(read: Read, spelled: Mapping[str, str]) -> None:
    """Give labels that differ only in case or spaces one spelling, and say so."""
    made = schemas.respelled(read.data, spelled)
    each = zip(read.data.y.tolist(), made.y.tolist(), strict=True)
    if other := [(text, said) for text, said in each if text != said]:
        pairs = ", ".join(f"{text!r} as {said!r}" for text, said in sorted(set(other))[:5])
        about = f"{pairs} ({counted(len(other), 'row')})"
        says = f"{option('no_label_normalization', True)} keeps them apart"
        read.part.notes.append(Note("labels that differ only in case or spaces are one", says, about))
    read.data, read.schema = made, replace(read.schema, spelled=spelled)
