"""Files of one command, read together: a column is one thing in all of them; all problems are said at once.

The test set leads: what its columns are, the others follow. Without one the first file leads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from dataworth.data.convert import Column
from dataworth.data.io import roles as role_of
from dataworth.data.io.dates import has_hours
from dataworth.data.io.delimited import Delimited
from dataworth.data.io.files import Part, sample_note, suffix_of
from dataworth.data.io.formats import NPZ_ROLES
from dataworth.data.io.frames import roles_of
from dataworth.data.io.infer import TypeOverrides, fit
from dataworth.data.io.notes import CONSTANT, EMPTY, LIKE_AN_ID, Note, all_notes
from dataworth.data.io.preferences import LONGER, PREFERRED, PROMPT, RESPONSES, are_preferences, pair_table
from dataworth.data.io.roles import (
    Asked,
    Role,
    assign_roles,
    marked,
    uninformative,
    unusable,
    wishes_of,
    with_texts,
)
from dataworth.data.io.schema import ColumnType, Schema, missing_values, spellings, with_kinds, with_labels
from dataworth.data.io.sources import part_of
from dataworth.data.io.streamed import SAMPLE, Piece, passes_note, pieces_of, stream_of
from dataworth.data.memory import TooLarge
from dataworth.errors import DataworthError, Problems
from dataworth.wording import counted, option

SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}
FILE_WHY, NPZ_WHY = "what the file says", "what an npz names so"
PAIR_ROLES = {"label": PREFERRED, "group": PROMPT, "attribute": LONGER, "features": RESPONSES}
PAIR_WHY = "recognised by chosen and rejected"


class Written(TypedDict, total=False):
    """How files are written, as users say it; what is not said is found, and noted."""

    sep: str | None
    encoding: str | None
    decimal: str | None
    dates: str | None
    header: str | bool | None
    sheet: str | None
    categories: role_of.Wishes
    numbers: role_of.Wishes
    exact_labels: bool
    sample: int | None
    stream: bool
    missing: str | Sequence[str] | None


class Options(Asked, Written, total=False):
    """All that reading takes."""


@dataclass
class Read:
    """One source, as far as it could be read: `data` (a Dataset or a Stream) if nothing stands in the way.

    schema: what its columns are; pieces: of what is to be streamed, of which `part` is then a sample.
    """

    source: Any
    part: Part | None = None
    roles: list[Role] = field(default_factory=list)
    schema: Schema | None = None
    problems: list[str] = field(default_factory=list)
    data: Any = None
    pieces: list[Piece] = field(default_factory=list)

    @property
    def name(self) -> str | None:
        """What sentences call it: a file by its path, a frame not at all."""
        return str(self.source) if isinstance(self.source, str | PathLike) else None

    @property
    def notes(self) -> list[Note]:
        """What was decided, of the file and of the roles of its columns."""
        return [] if self.part is None else all_notes(self.part.notes, self.roles)


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

    lead: the place of the test set, whose constant columns are left out of all. columns: those of a
    yardstick, which decide before any file. streams: what does not fit in memory, or is to be, becomes a
    Stream.
    """
    options: dict[str, Any] = dict(asked)
    how, overrides = _how(options), _overrides(options, columns)
    reads = [Read(source) for source in sources]
    for i, read in enumerate(reads):
        with _gathering(read):
            _begin(read, replace(how, sample=None) if i == lead else how, options, streams and i != lead)
    ordered = sorted(
        (read for read in reads if read.part), key=lambda read: lead is None or read is not reads[lead]
    )
    known: dict[str, ColumnType] = {}
    free = []
    for read in ordered:
        _assign(read, {name: options[name] for name in Asked.__annotations__ if name in options}, ordered[0])
        wrong = _fit(read, overrides, known)
        free.append({*wrong, *overrides.kinds, *overrides.categories, *overrides.numbers})
    _leave_out(ordered, free, lead is not None, impute)
    for read in ordered:
        _finish(read, ordered[0], columns, impute)
    if not options.get("exact_labels"):
        _spell_alike(ordered)
    for read in (read for read in ordered if read.pieces and read.data is not None):
        used = columns if lead is None or reads[lead].data is None else reads[lead].data.columns
        said = [] if options.get("exact_labels") else [one.data.y for one in (ordered[0], read) if one.data]
        assert read.part is not None
        assert read.schema is not None
        with _gathering(read):
            schema = replace(read.schema, spelled=_by_number(said), na_values=how.na_values)
            read.data = stream_of(str(read.source), read.pieces, read.part, schema, read.data, used)
    return reads


def _begin(read: Read, how: Delimited, options: Mapping[str, Any], streams: bool) -> None:
    """The table of a source; a sample of it, where it is to be streamed."""
    wanted = bool(options.get("stream"))
    if wanted and how.sample is not None:
        raise DataworthError(
            f"{option('stream')} reads all rows and {option('sample')} some of them: drop one"
        )
    try:
        if not (streams and wanted):
            read.part = part_of(read.source, how)
            return
    except TooLarge:
        if not streams:
            raise
    read.pieces = pieces_of(read.source)
    read.part = part_of(read.source, replace(how, sample=SAMPLE))
    drawn = sample_note(read.part.table.num_rows, read.part.total or read.part.table.num_rows)
    kept = [note for note in read.part.notes if note != drawn]
    read.part.notes = kept + ([] if wanted else [passes_note()])


def sentences(reads: Sequence[Read]) -> list[str]:
    """All that stands in the way, each with the names of its files."""
    where: dict[str, list[str]] = {}
    for read in reads:
        for problem in dict.fromkeys(read.problems):
            where.setdefault(problem, []).extend([] if read.name is None else [read.name])
    return [f"{', '.join(names)}: {problem}" if names else problem for problem, names in where.items()]


def release() -> None:
    """Give memory back: pyarrow would keep the size of the files for itself."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


@contextmanager
def _gathering(read: Read) -> Iterator[None]:
    try:
        yield
    except Problems as error:
        read.problems += error.sentences
    except DataworthError as error:
        read.problems.append(str(error))


def _how(options: Mapping[str, Any]) -> Delimited:
    """How text files are to be read, from what users say."""
    sep, header, sample = (options.get(name) for name in ("sep", "header", "sample"))
    sep = None if sep is None else SEPARATORS.get(sep, sep)
    if sep is not None and len(sep) != 1:
        raise DataworthError(
            f"sep is {sep!r}, but one character is expected: give ';', tab, space or the like"
        )
    if header not in (None, "yes", "no", True, False):
        raise DataworthError(f"header is {header!r}: say yes or no")
    if sample is not None and (not isinstance(sample, int) or sample < 1):
        raise DataworthError(f"sample is {sample!r}, but a number of rows is expected: give 1 or more")
    return Delimited(
        sep=sep,
        encoding=options.get("encoding"),
        header=None if header is None else header in ("yes", True),
        sheet=options.get("sheet"),
        sample=sample,
        na_values=_na_values(options.get("missing")),
    )


def _na_values(given: Any) -> tuple[str, ...]:
    """Texts that stand for a missing value: one, or several."""
    several = [given] if isinstance(given, str | int | float) else list(given or ())
    if wrong := [one for one in several if isinstance(one, bool) or not isinstance(one, str | int | float)]:
        raise DataworthError(f"missing is {wrong[0]!r}: give the text, or a list of texts, that stands there")
    return tuple(dict.fromkeys(str(one).strip() for one in several))


def _overrides(options: Mapping[str, Any], columns: Sequence[Column]) -> TypeOverrides:
    """What columns are and how they are written, from what users say."""
    decimal, dates = options.get("decimal"), options.get("dates")
    if decimal not in (None, ".", ","):
        raise DataworthError(f"decimal is {decimal!r}, but it is a point or a comma: give '.' or ','")
    if dates not in (None, "dmy", "mdy"):
        raise DataworthError(f"dates is {dates!r}: say dmy (day first) or mdy (month first)")
    named = {name: wishes_of(options.get(name) or (), ()) for name in ("categories", "numbers")}
    return TypeOverrides.of(columns, decimal=decimal, dates=dates, **named)


def _assign(read: Read, asked: Mapping[str, Any], lead: Read) -> None:
    """Give every column its role; where nothing is asked for, the label is the one of the lead."""
    assert read.part is not None
    table = read.part.table
    # Columns of a frame may be numbered; their names are texts here.
    named: dict[str, Any] = {name: str(v) if type(v) is int else v for name, v in asked.items()}
    said, why = roles_of(table), FILE_WHY
    paired = are_preferences(table.column_names) and named.get("label") is None
    if paired:
        with _gathering(read):
            table, dropped = pair_table(table)
            said, why = PAIR_ROLES, PAIR_WHY
            if dropped:
                why += f"; {counted(dropped, 'pair')} left out, empty or one response twice"
            read.part.table = table
        if read.problems:
            return
    if read.name is not None and suffix_of(Path(read.name)) == ".npz":
        # Its names say what is what, whatever columns are named in other files.
        named |= dict.fromkeys(NPZ_ROLES)
        said, why = {role: name for role, name in NPZ_ROLES.items() if name in table.column_names}, NPZ_WHY
    # What the file itself says counts where nothing was asked for, and no column has two roles.
    taken = list(named.values())
    said = {role: name for role, name in said.items() if named.get(role) is None and name not in taken}
    guess = next((role.column for role in lead.roles if role.role == "label"), None)
    follows = read is not lead and named.get("label") is None and "label" not in said
    follows = follows and guess in table.column_names
    named |= {"label": guess} if follows else {}
    read.roles = [
        replace(role, why=why) if role.column in said.values() else
        replace(role, why="guessed from its name") if follows and role.role == "label" else role
        for role in assign_roles(table, read.problems, **(named | said))
    ]  # fmt: skip
    if paired:
        read.roles = [replace(role, kind="pair") if role.column == RESPONSES else role for role in read.roles]


def _fit(read: Read, overrides: TypeOverrides, known: dict[str, ColumnType]) -> dict[str, str]:
    """Fit the schema, type the table by it, and tell later files; what is wrong with which column."""
    assert read.part is not None
    part = read.part
    roles = {role.column: role.role for role in read.roles if role.kind != "pair"}
    types, problems = fit(part, roles, overrides, known)
    read.schema = Schema(tuple(read.roles), types)
    drawn = part.total is not None and part.total > part.table.num_rows
    part.table, wrong = read.schema.typed(part.table, None if drawn else 0)
    problems = wrong | problems
    read.problems += dict.fromkeys(problems.values())
    read.roles = with_kinds(part.table, read.roles)
    for name, kind in types.items():
        if name not in known or known[name].kind == "empty":
            known[name] = kind
    return problems


def _leave_out(reads: Sequence[Read], asked: Sequence[set[str]], led: bool, impute: bool) -> None:
    """Leave columns that say nothing out of all files, if one shows it; constants are those of the lead.

    asked: columns of each that were asked for or have a problem, of which nothing more is to be said.
    """
    found: dict[str, str] = {}
    for read, own in zip(reads, asked, strict=True):
        assert read.part is not None
        table = read.part.table
        read.roles = with_texts(table, read.roles, read.problems)
        free = [role for role in read.roles if role.column not in own]
        for name, why in uninformative(table, free, constants=led and read is reads[0]).items():
            alone = why in (CONSTANT, EMPTY)
            if not alone or (read is reads[0] and (led or not impute)):
                found.setdefault(name, why)
    for read in reads:
        features = {role.column for role in read.roles if role.role == "feature" and role.why != "asked for"}
        gone = {name: why for name, why in found.items() if name in features}
        read.roles = marked(read.roles, gone, "ignored")
        if gone and not read.problems and not any(role.role == "feature" for role in read.roles):
            read.problems.append(role_of.no_feature([role.column for role in read.roles]))
        _name_rows(read)


def _name_rows(read: Read) -> None:
    """The one column that is named like an id names the rows, if no two rows share a name.

    Each file by itself: what it is known by (`content_hash`) must not depend on files beside it.
    """
    alike = [role.column for role in read.roles if role.why == LIKE_AN_ID]
    if len(alike) != 1 or read.pieces or any(role.role == "id" for role in read.roles):
        return
    assert read.part is not None
    column = read.part.table[alike[0]]
    if column.null_count == 0 and len(column.unique()) == len(column):
        read.roles = [
            replace(role, role="id", why="guessed from its name") if role.column in alike else role
            for role in read.roles
        ]


def _finish(read: Read, lead: Read, columns: Sequence[Column], impute: bool) -> None:
    """Check the roles and make the Dataset, or gather what is wrong."""
    assert read.part is not None
    assert read.schema is not None
    assert lead.schema is not None
    table = read.part.table
    read.problems += role_of.of_kinds(read.roles)
    if reasons := unusable(table, read.roles):
        read.problems.append(role_of.of_unusable(reasons))
        read.roles = marked(read.roles, reasons, "unusable")
    known, hours = {column.name for column in columns}, set()
    for name in (r.column for r in read.roles if r.role == "feature" and r.kind == "date or time"):
        timed = f"{name}[hour]" in known or (read is not lead and name in lead.schema.hours)
        if timed or (f"{name}[day]" not in known and read is lead and has_hours(table[name])):
            hours.add(name)
    read.schema = replace(read.schema, roles=tuple(read.roles), hours=frozenset(hours), impute=impute)
    read.problems += missing_values(table, read.roles)
    with _gathering(read):
        made = read.schema.features(table)
        if not read.problems:
            read.data = with_labels(made, table, read.roles)


def _by_number(labels: Sequence[Any]) -> tuple[str, ...]:
    """Labels that are texts, those of each array by how often they occur."""
    found: list[str] = []
    for y in (y for y in labels if y.dtype.kind == "U"):
        texts, times = np.unique(y, return_counts=True)
        found += [str(text) for text in texts[np.argsort(-times, kind="stable")]]
    return tuple(found)


def _spell_alike(reads: Sequence[Read]) -> None:
    """Give labels that differ only in case or spaces one spelling, and say so."""
    said = spellings([read.data.y for read in reads if read.data is not None])
    for read in reads:
        if read.data is None or read.part is None or read.data.y.dtype.kind != "U":
            continue
        other = np.isin(read.data.y, list(said))
        if other.any():
            pairs = ", ".join(
                f"{text!r} as {said[text]!r}" for text in np.unique(read.data.y[other]).tolist()[:5]
            )
            rows = counted(int(other.sum()), "row")
            what = f"labels that differ only in case or spaces are one: {pairs} ({rows})"
            read.part.notes.append(Note(what, f"{option('exact_labels', True)} keeps them apart"))
            read.data = read.data.with_labels([said.get(text, text) for text in read.data.y.tolist()])
