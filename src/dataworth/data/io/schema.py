"""What the columns of a file are, and its rows as Datasets: the one way from a table to numbers.

A `Schema` is fitted once (`infer.fit`), by the test set and the file itself. `transform` then makes a Dataset
of a table: of the whole file where it is read into memory, of one batch after another where it is streamed.
Each cell is converted by itself, so that both give the same bits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dataworth.arrays import Flags
from dataworth.data.convert import Kind, column_kind
from dataworth.data.dataset import Dataset
from dataworth.data.io import dates
from dataworth.data.io.files import Part
from dataworth.data.io.frames import differences_of
from dataworth.data.io.numbers import as_plain, is_null_token, plain_values, to_numbers
from dataworth.data.io.roles import Role
from dataworth.data.io.sources import cleaned
from dataworth.data.vectors import as_labels, as_texts, as_weights, text_keys
from dataworth.errors import DataworthError
from dataworth.wording import counted, option

Is = Literal["number", "date", "text", "as it is", "other", "empty"]
NO_VALUES = ("feature", "ignored", "unusable")
"""Roles of columns that are no vector beside the features."""


@dataclass(frozen=True)
class ColumnType:
    """What a column is, and how one file writes it.

    plain: the type that all its texts have as programs write it, if they do; mark: the decimal mark, and
    order: that of day and month, "" where the file shows none; open: a cell that is then read by default;
    signs: what numbers carry.
    """

    kind: Is
    plain: Any = None
    mark: str = ""
    signs: tuple[str, ...] = ()
    order: str = ""
    open: str = ""


@dataclass(frozen=True)
class Schema:
    """Roles and types of the columns of a file, and what becomes of its cells.

    hours: dates of which the hour counts; spelled: labels in the spelling that counts, most frequent first.
    """

    roles: tuple[Role, ...]
    types: Mapping[str, ColumnType]
    hours: frozenset[str] = frozenset()
    impute: bool = False
    na_values: tuple[str, ...] = ()
    spelled: tuple[str, ...] = ()

    def transform(self, table: Any, before: int = 0) -> Dataset:
        """A Dataset of some rows of the file; `before`: how many stand before them."""
        used = [role for role in self.roles if role.role not in ("ignored", "unusable")]
        table = cleaned(table.select([role.column for role in used]), self.na_values)[0]
        table, problems = self.typed(table, before)
        for problem in [*problems.values(), *missing_values(table, used)]:
            raise DataworthError(problem)
        table.validate(full=True)
        return self.respelled(with_labels(self.features(table), table, used, some=True))

    def typed(self, table: Any, before: int | None = 0) -> tuple[Any, dict[str, str]]:
        """The table with each column of its type, and what is wrong with which.

        before: how many rows stand before these in the file; None if these were drawn from it.
        """
        import pyarrow as pa

        columns, problems = [], {}
        for j, name in enumerate(table.column_names):
            column, wrong = converted(table.column(j), self.types.get(name, ColumnType("as it is")))
            if wrong is not None:
                problems[name] = unparsable(name, self.types[name].kind, table.column(j), wrong, before)
                column = table.column(j)
            columns.append(column)
        return pa.Table.from_arrays(
            columns, names=table.column_names, metadata=table.schema.metadata
        ), problems

    def features(self, table: Any) -> Dataset:
        """The features of a typed table, checked; labels are not theirs."""
        import pyarrow as pa

        kinds: dict[str, Kind] = dict.fromkeys(differences_of(table), "difference")
        found: dict[str, Any] = {}
        for role in (role for role in self.roles if role.role == "feature"):
            if column_kind(table[role.column]) == "date or time":
                found |= dates.features_of(table[role.column], role.column, role.column in self.hours)
            else:
                found[role.column] = table[role.column]
                kinds |= {role.column: "pair"} if role.kind == "pair" else {}
        X = pa.table(found) if found else table.select([])
        made = Dataset(X, np.zeros(table.num_rows), allow_missing=self.impute)
        if not kinds:
            return made
        own = (kinds.get(column.name.partition("[")[0], column.kind) for column in made.columns)
        columns = tuple(replace(c, kind=kind) for c, kind in zip(made.columns, own, strict=True))
        return made._with(columns=columns)

    def respelled(self, data: Dataset) -> Dataset:
        """The data with labels in the spelling that counts."""
        said = spellings([np.array(self.spelled), data.y]) if self.spelled else {}
        return data.with_labels([said.get(text, text) for text in data.y.tolist()]) if said else data


def spellings(labels: Sequence[NDArray[Any]]) -> dict[str, str]:
    """What each label that is spelled in several ways is to be: as the first array has it most often.

    Labels of one letter are left alone: a and A may well be two.

    >>> import numpy as np
    >>> spellings([np.array(["yes", "yes", "YES", "no"]), np.array(["No", "a", "A"])])
    {'YES': 'yes', 'No': 'no'}
    """
    chosen: dict[str, str] = {}
    said: dict[str, str] = {}
    for array in labels:
        if array.dtype.kind != "U":
            continue
        for text, _ in Counter(array.tolist()).most_common():
            if len(text.strip()) > 1:
                as_chosen = chosen.setdefault(" ".join(text.split()).casefold(), text.strip())
                if text != as_chosen:
                    said[text] = as_chosen
    return said


def with_labels(features: Dataset, table: Any, roles: Sequence[Role], *, some: bool = False) -> Dataset:
    """Features with the labels of their rows, and what else belongs to each; `some`: of further rows."""
    where: dict[str, Any] = {role.role: table[role.column] for role in roles if role.role not in NO_VALUES}
    n = len(features)
    texts = {"groups": "group", "ids": "id", "attributes": "attribute"}
    return features._with(
        y=as_labels(where["label"], n),
        weights=as_weights(where.get("weight"), n, some=some),
        **{name: as_texts(where.get(role), name, n) for name, role in texts.items()},
    )


def missing_rows(column: Any) -> NDArray[np.bool_]:
    """Where a pyarrow column is missing: null, or not a number."""
    import pyarrow.compute as pc

    return np.asarray(pc.is_null(column, nan_is_null=True).to_numpy(), dtype=bool)


def missing_values(table: Any, roles: Sequence[Role]) -> list[str]:
    """Sentences about labels, groups and the like that are missing somewhere."""
    found = []
    for role in (role for role in roles if role.role not in NO_VALUES):
        if count := int(missing_rows(table[role.column]).sum()):
            found.append(
                f"the {role.role} column {role.column!r} has {counted(count, 'missing value')} in"
                f" {counted(table.num_rows, 'row')}: fill them in, or leave the rows out"
            )
    return found


def converted(column: Any, to: ColumnType) -> tuple[Any, Flags | None]:
    """A column as the type that it is to be; and where its cells are not of it, if some are not.

    >>> import pyarrow as pa
    >>> made, wrong = converted(pa.chunked_array([["1,5", "?", "red"]]), ColumnType("number", mark=","))
    >>> made.to_pylist(), wrong.tolist()
    ([1.5, None, None], [False, False, True])
    """
    import pyarrow as pa

    kind = column_kind(column)
    if kind != "categorical":
        return (_as_text(column) if to.kind == "text" and kind in ("numeric", "boolean") else column), None
    if to.kind == "empty" or (to.kind in ("number", "date") and column.null_count == len(column)):
        return pa.nulls(len(column), pa.timestamp("us") if to.kind == "date" else pa.float64()), None
    if to.kind in ("text", "other") or (to.kind == "as it is" and to.plain is None):
        return column, None
    texts = texts_of(column)
    if to.plain is not None:
        try:
            return as_plain(texts, to.plain), None
        except pa.ArrowInvalid:  # written otherwise in these rows than in those that were looked at
            if to.kind == "as it is":
                return column, None
    if to.kind == "number":
        made = to_numbers(texts, to.mark or ".", to.signs)
    else:
        made = dates.to_instants(texts, to.order or "mdy")
    wrong = made.is_null().to_numpy(zero_copy_only=False) & ~texts.is_null().to_numpy(zero_copy_only=False)
    if wrong.any():
        wrong &= ~np.asarray(is_null_token(texts).to_numpy(zero_copy_only=False), dtype=bool)
    return made, wrong if wrong.any() else None


def plain_table(part: Part) -> Any:
    """The table of a file, with numbers and dates as such where a text writes them as programs do."""
    table = part.table
    for j, name in enumerate(() if part.typed else table.column_names):
        column = table.column(j)
        if column_kind(column) == "categorical" and column.null_count < len(column):
            values = plain_values(texts_of(column))
            table = table if values is None else table.set_column(j, name, values)
    return table


def texts_of(column: Any) -> Any:
    """A text column as one pyarrow array of strings."""
    import pyarrow as pa

    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return column if column.type == pa.string() else column.cast(pa.string())


def _as_text(column: Any) -> Any:
    """Numbers as the shortest text that says them."""
    import pyarrow as pa

    texts = np.full(len(column), None, dtype=object)
    texts[~np.asarray(column.is_null())] = text_keys(np.asarray(column.drop_null().to_numpy()))
    return pa.array(texts, pa.string())


def unparsable(name: str, kind: str, column: Any, wrong: Flags, before: int | None) -> str:
    """A sentence about cells that are not of the type of their column."""
    rows = np.flatnonzero(wrong)
    texts = list(dict.fromkeys(str(column[int(row)].as_py()).strip() for row in rows))
    more = f" (and in {len(rows) - 1} more)" if len(rows) > 1 and len(texts) == 1 else ""
    meant = option("missing", texts[0]) if len(texts) == 1 else f"{option('missing')} and each of the texts"
    where = "a row that was drawn" if before is None else f"data row {before + int(rows[0]) + 1}"
    return (
        f"column {name!r} holds {kind}s, but {texts[0]!r} in {where}{more}:"
        f" correct it, or if it stands for a missing value, say so with {meant};"
        f" {option('categories', name)} reads all as text"
    )


def with_kinds(table: Any, roles: Sequence[Role]) -> list[Role]:
    """The roles, with what the columns of a typed table hold."""
    kinds = {field.name: column_kind(field) for field in table.schema}
    return [
        role if role.kind in ("pair", kinds[role.column]) else replace(role, kind=kinds[role.column])
        for role in roles
    ]
