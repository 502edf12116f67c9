"""What the columns of a file are, and its rows as Datasets: the one way from a table to numbers.

A `Schema` is fitted once. What a column is, is decided by the first file that has it, the test set before all
others, or a yardstick before any file; how its numbers or dates are written each file shows itself, and one
that leaves it open is read as the test set is. The test set never follows the data: what it leaves open is
refused. Each cell is converted by itself, so that a file gives the same bits whole and batch by batch.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dataworth.arrays import Flags
from dataworth.data.convert import Column, Kind, column_kind
from dataworth.data.dataset import Dataset
from dataworth.data.io import cells
from dataworth.data.io.cells import Is
from dataworth.data.io.files import Part
from dataworth.data.io.notes import Note
from dataworth.data.io.roles import Role
from dataworth.data.io.tables import cleaned, differences_of, with_columns
from dataworth.data.vectors import as_labels, as_texts, as_weights, text_keys
from dataworth.errors import DataworthError
from dataworth.wording import counted, option

SAID: dict[str, dict[str, tuple[str, Any]]] = {
    "number": {mark: ("decimal", mark) for mark in ".,"},
    "date": {"mdy": ("dayfirst", False), "dmy": ("dayfirst", True)},
}
"""The option by which users say how a column is written, by the ways of `cells.WAYS`."""


@dataclass(frozen=True)
class TypeOverrides:
    """What users say of the types of columns; `kinds`: what columns of a yardstick are."""

    categorical: Collection[str] = ()
    numeric: Collection[str] = ()
    decimal: str | None = None
    dayfirst: bool | None = None
    kinds: Mapping[str, Is] = field(default_factory=dict)


def kinds_of(columns: Collection[Column]) -> dict[str, Is]:
    """What the columns of a yardstick are in a file, which has a date for the parts of one."""
    of: dict[str, Is] = {"categorical": "text", "text": "text", "numeric": "number", "boolean": "number"}
    kinds = {column.name: of[column.kind] for column in columns if column.kind in of}
    parts = [column.name.partition("[") for column in columns]
    dates = ("elapsed]", "day]", "weekday]", "hour]")
    return kinds | {base: "date" for base, _, part in parts if part in dates}


@dataclass(frozen=True)
class ColumnType:
    """What a column is, and how one file writes it.

    plain: the type of all its texts, if they are written as programs do; how: the decimal mark, or the order
    of day and month, "" where both are the same; mixed: why text that looks like numbers is text.
    """

    kind: Is
    plain: Any = None
    how: str = ""
    signs: tuple[str, ...] = ()
    mixed: str = ""
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Schema:
    """Roles and types of the columns of a file, and what becomes of its cells.

    hours: dates of which the hour counts; spelled: the spelling of labels (`spelled_alike`).
    """

    roles: tuple[Role, ...]
    types: Mapping[str, ColumnType]
    na_values: tuple[str, ...] = ()
    hours: frozenset[str] = frozenset()
    impute: bool = False
    spelled: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def fit(
        cls, part: Part, roles: Sequence[Role], overrides: TypeOverrides, known: Mapping[str, ColumnType]
    ) -> tuple[Schema, dict[str, str]]:
        """The schema of a file, whose table is then typed; what is wrong; known: types of files before it."""
        used = {role.column: role.role for role in roles if role.kind != "pair"}
        # others are compared as text
        typed = {name for name, role in used.items() if role in ("label", "weight", "feature")}
        wanted = typed & {*overrides.numeric, *(n for n, kind in overrides.kinds.items() if kind == "number")}
        said = {*used} - part.cleaned if part.typed else set()  # what their format calls text
        looks = {n: cells.look_at(part.table[n], n, n in said, n in wanted) for n in used}
        mark, problems = _decimal_mark(part, looks, typed - set(overrides.categorical), overrides.decimal)
        types: dict[str, ColumnType] = {}
        for name, look in looks.items():
            leading, numeric = known.get(name), name in typed
            if used[name] == "label" and leading is not None and leading.kind != "empty":
                numeric = leading.kind == "number"
            elif used[name] == "label":  # few different texts are classes
                written = look.kind == "number" and bool(look.readings)
                numeric = written and len(part.table[name].unique()) > cells.FEW
            types[name] = ColumnType("empty" if look.kind == "empty" else "as it is", look.plain)
            if numeric:
                types[name], wrong = _type_of(part, name, look, mark, overrides, leading)
                problems |= {name: wrong} if wrong and name not in problems else {}
        made = cls(tuple(roles), types, part.how.na_values)
        # those that were converted to be looked at
        ready = {name: looks[name].values for name, to in types.items() if to.plain and to.kind != "text"}
        table = with_columns(part.table, [ready.get(n, part.table[n]) for n in part.table.column_names])
        drawn = part.total is not None and part.total > table.num_rows
        part.table, strays = made.typed(table, None if drawn else 0)
        return made, strays | problems

    def transform(self, table: Any, before: int = 0) -> Dataset:
        """A Dataset of some rows of the file; `before`: how many stand before them."""
        used = [role for role in self.roles if role.used]
        table = cleaned(table.select([role.column for role in used]), self.na_values)[0]
        table, problems = self.typed(table, before)
        for problem in [*problems.values(), *missing_values(table, used)]:
            raise DataworthError(problem)
        table.validate(full=True)
        return respelled(with_labels(self.features(table), table, used, some=True), self.spelled)

    def typed(self, table: Any, before: int | None = 0) -> tuple[Any, dict[str, str]]:
        """The table with each column of its type, and what is wrong with which; before: None if drawn."""
        columns, problems = [], {}
        for name, given in zip(table.column_names, table.columns, strict=True):
            column, wrong = converted(given, self.types.get(name, ColumnType("as it is")))
            if wrong is not None:
                problems[name] = unparsable(name, self.types[name].kind, given, wrong, before)
            columns.append(column if wrong is None else given)
        return with_columns(table, columns), problems

    def features(self, table: Any) -> Dataset:
        """The features of a typed table, checked; labels are not theirs."""
        kinds: dict[str, Kind] = dict.fromkeys(differences_of(table), "difference")
        found: dict[str, Any] = {}
        for role in (role for role in self.roles if role.role == "feature"):
            if column_kind(table[role.column]) == "date or time":
                found |= cells.features_of(table[role.column], role.column, role.column in self.hours)
            else:
                found[role.column] = table[role.column]
                kinds |= {role.column: "pair"} if role.kind == "pair" else {}
        X = pa.table(found) if found else table.select([])
        made = Dataset(X, np.zeros(table.num_rows), allow_missing=self.impute)
        own = (replace(c, kind=kinds.get(c.name.partition("[")[0], c.kind)) for c in made.columns)
        return made._with(columns=tuple(own)) if kinds else made


def _decimal_mark(
    part: Part, looks: dict[str, cells.Look], names: Collection[str], asked: str | None
) -> tuple[str, dict[str, str]]:
    """The decimal mark of a file ("" if it shows none, or both), and columns that contradict the one asked.

    1.234 may be a fraction or, in German, 1234: columns of such numbers are looked at once more where the
    file shows commas, leaves something open, or separates columns by semicolons.
    """
    numeric = [name for name in looks if name in names and looks[name].kind == "number"]
    floats = [name for name in numeric if looks[name].plain == pa.float64()]
    found = {name: looks[name].readings["number"] for name in numeric if looks[name].readings}
    if asked or part.how.sep == ";" or any(one.how == "," or one.open for one in found.values()):
        texts = {name: cells.texts_of(part.table[name]).drop_null() for name in floats}
        found |= {name: cells.best_reading(own, "number") for name, own in texts.items()}
    shown = {one.how for one in found.values() if one.how}
    mark = asked or (min(shown) if len(shown) == 1 else "")
    for name in floats if mark != "." else ():
        if name in found and found[name].open:  # as a text, with the mark that was found
            looks[name] = looks[name]._replace(values=None, readings={"number": found[name]})
    other = "," if asked == "." else "."
    return mark, {
        name: f"column {name!r} has decimal {'commas' if other == ',' else 'points'}, such as"
        f" {one.such!r}, but {option('decimal', asked)} was said: say {option('decimal', other)} instead, or"
        f" keep the text with {option('categorical')}"
        for name, one in found.items()
        if asked and shown == {other} and one.how == other
    }


def _type_of(
    part: Part, name: str, look: cells.Look, mark: str, overrides: TypeOverrides, leading: ColumnType | None
) -> tuple[ColumnType, str]:
    """What a column is, as asked, as in the test set, or as it looks; and what is wrong with that."""
    kind = look.kind if leading is None or leading.kind in ("empty", "as it is") else leading.kind
    kind = overrides.kinds.get(name, "number" if name in overrides.numeric else kind)
    kind = "text" if name in overrides.categorical else kind
    made, notes, plain = ColumnType(kind, look.plain), [], look.plain
    if kind in ("other", "empty") or look.kind in ("other", "empty"):
        return made, ""
    if kind == "text":
        if look.mixed and name not in overrides.categorical:
            about, usual = f"{name!r} ({look.mixed})", look.mixed == cells.AS_A_FRAME_SAYS
            notes.append(Note("read as text", f"{option('numeric')} reads numbers", about, usual))
        return replace(made, mixed=look.mixed, notes=tuple(notes)), ""
    found = look.readings.get(kind)
    if look.kind == "text" and found is None:
        return ColumnType("text"), ""  # text where others have numbers is said when they are compared
    if look.kind not in (kind, "text"):
        out = option("exclude", name)
        return made, f"column {name!r} holds {look.kind}s, but {kind}s elsewhere: leave it out with {out}"
    if plain is None and found is not None:
        asked = mark if kind == "number" else {None: None, False: "mdy", True: "dmy"}[overrides.dayfirst]
        how = found.how or asked or (leading.how if leading else "")
        if found.open and not how:
            say = " or ".join(option(*SAID[kind][way]) for way in cells.WAYS[kind])
            return made, f"column {name!r} leaves open what {found.open!r} is: say {say}"
        made = ColumnType(kind, how=how, signs=found.signs)
        such = found.open or found.such or (part.table[name].drop_null()[0].as_py() if part.typed else "")
        plainly = not found.open and not part.typed and re.match(cells.PLAIN, such)
        if such and not plainly and name not in {*part.cleaned, *overrides.numeric}:
            value = cells.read_as(pa.array([such]), kind, how, found.signs)[0].as_py()
            form = ".12g" if kind == "number" else "%Y-%m-%d"
            shown = "nothing" if value is None else format(value, form)
            notes.append(note_of(kind, f"{name!r} ({such!r} is {shown})"))
    elif plain == pa.float64():
        made = replace(made, how=".")
    if look.tokens:
        tokens = f"{', '.join(map(repr, sorted(look.tokens)))}, {counted(sum(look.tokens.values()), 'cell')}"
        says = f"{option('categorical')} keeps the text"
        notes.append(Note("taken for missing", says, f"{name!r} ({tokens})"))
    return replace(made, notes=tuple(notes)), ""


def note_of(kind: str, about: str, plain: bool = False) -> Note:
    """That a column holds numbers or dates that are written as text; dates are told of in any case."""
    if kind == "number":
        says = f"{option('categorical')} keeps the text, {option('decimal')} says the decimal mark"
        return Note("numbers written as text", says, about)
    says = f"{option('exclude')} leaves them out, {option('dayfirst')} says whether the day comes first"
    return Note("dates, of which days, day of the year and weekday are features", says, about, plain)


def spelled_alike(labels: Sequence[NDArray[Any]]) -> dict[str, str]:
    """Of labels, whatever their case and spaces, the spelling that the first array has most often."""
    chosen: dict[str, str] = {}
    for array in (array for array in labels if array.dtype.kind == "U"):
        for text, _ in Counter(array.tolist()).most_common():
            if len(text.strip()) > 1:  # a and A may well be two
                chosen.setdefault(_letters(text), text.strip())
    return chosen


def respelled(data: Dataset, chosen: Mapping[str, str]) -> Dataset:
    """The same rows with labels in the spelling that counts."""
    texts = data.y.tolist() if data.y.dtype.kind == "U" else []
    alike = [chosen.get(_letters(text), text) for text in texts]
    return data if alike == texts else data.with_labels(alike)


def _letters(text: str) -> str:
    return " ".join(text.split()).casefold()


def with_labels(features: Dataset, table: Any, roles: Sequence[Role], *, some: bool = False) -> Dataset:
    """Features with the labels of their rows, and what else belongs to each; `some`: of further rows."""
    names = {role.role: role.column for role in roles}
    where: dict[str, Any] = {role: table[name] for role, name in names.items()}
    n = len(features)
    texts = {"groups": "group", "ids": "id", "attributes": "attribute"}
    return features._with(
        y=as_labels(where["label"], n),
        weights=as_weights(where.get("weight"), n, some=some),
        attribute_name=names.get("attribute", "attribute"),
        **{name: as_texts(where.get(role), name, n) for name, role in texts.items()},
    )


def missing_rows(column: Any) -> NDArray[np.bool_]:
    """Where a pyarrow column is missing: null, or not a number."""
    return np.asarray(pc.is_null(column, nan_is_null=True).to_numpy(), dtype=bool)


def missing_values(table: Any, roles: Sequence[Role]) -> list[str]:
    """Sentences about labels, groups and the like that are missing somewhere."""
    own = [role for role in roles if role.used and role.role != "feature"]
    counts = {role: int(missing_rows(table[role.column]).sum()) for role in own}
    return [
        f"the {role.role} column {role.column!r} has {counted(count, 'missing value')} in"
        f" {counted(table.num_rows, 'row')}: fill them in, or leave the rows out"
        for role, count in counts.items()
        if count
    ]


def converted(column: Any, to: ColumnType) -> tuple[Any, Flags | None]:
    """A column as the type that it is to be; and where its cells are not of it, if some are not."""
    if (kind := column_kind(column)) != "categorical":
        if to.kind != "text" or kind not in ("numeric", "boolean"):
            return column, None
        shortest = np.full(len(column), None, dtype=object)
        shortest[np.asarray(column.is_valid())] = text_keys(np.asarray(column.drop_null().to_numpy()))
        return pa.array(shortest, pa.string()), None
    if to.kind == "empty" or (to.kind in ("number", "date") and column.null_count == len(column)):
        return pa.nulls(len(column), pa.timestamp("us") if to.kind == "date" else pa.float64()), None
    if to.kind in ("text", "other") or (to.kind == "as it is" and to.plain is None):
        return column, None
    texts = cells.texts_of(column)
    if to.plain is not None:
        try:
            return texts.cast(to.plain), None
        except pa.ArrowInvalid:  # written otherwise in these rows than in those that were looked at
            if to.kind == "as it is":
                return column, None
    made = cells.read_as(texts, to.kind, to.how, to.signs)
    wrong = np.asarray(made.is_null()) & np.asarray(texts.is_valid())
    wrong &= ~np.asarray(cells.is_null_token(texts))
    return made, wrong if wrong.any() else None


def unparsable(name: str, kind: str, column: Any, wrong: Flags, before: int | None) -> str:
    """A sentence about cells that are not of the type of their column."""
    rows = np.flatnonzero(wrong)
    texts = list(dict.fromkeys(str(column[int(row)].as_py()).strip() for row in rows))
    more = f" (and in {len(rows) - 1} more)" if len(rows) > 1 and len(texts) == 1 else ""
    meant = (
        option("na_values", texts[0]) if len(texts) == 1 else f"{option('na_values')} and each of the texts"
    )
    where = "a row that was drawn" if before is None else f"data row {before + int(rows[0]) + 1}"
    return (
        f"column {name!r} holds {kind}s, but {texts[0]!r} in {where}{more}:"
        f" correct it, or if it stands for a missing value, say so with {meant};"
        f" {option('categorical', name)} reads all as text"
    )
