"""Cells that stand for a missing value because somebody says so: `xx`, `-999`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dataworth.data.io.formats import Part
from dataworth.data.io.notes import Kind, Note
from dataworth.wording import counted, option

AS_ASKED = Kind("read as missing, as asked", "missing", "says what is")


def without_markers(part: Part, markers: Sequence[str]) -> Part:
    """The part with these cells missing, also where its text is read once more; a note for each column."""
    if not markers:
        return part
    again = part.again
    if again is not None:
        part.again = lambda how: without_markers(again(how), markers)
    kept = part.table
    for j, name in enumerate(part.table.column_names):
        column = part.table.column(j)
        for marker in markers:
            column, count = _without(column, marker)
            if count:
                what = f"{counted(count, 'cell')} of {marker!r} in column {name!r} read as missing"
                choice = f"without {option('missing', marker)} they stay"
                about = f"{name!r} ({marker!r})"
                part.notes.append(Note(what, choice, plain=True, kind=AS_ASKED, about=about, cells=count))
        if column is not part.table.column(j):
            kept = kept.set_column(j, name, _as_numbers(column) if part.typed else column)
    part.table = kept
    return part


def _as_numbers(column: Any) -> Any:
    """Numbers that a format with types called text because of the marker; codes such as 007 stay text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    plain = pc.all(pc.match_substring_regex(column, r"^-?(0|[1-9]\d*)(\.\d+)?$")).as_py()
    return column.cast(pa.float64()) if plain else column


def _without(column: Any, marker: str) -> tuple[Any, int]:
    """The column without the cells that are the marker, and how many those were; numbers are numbers.

    >>> import pyarrow as pa
    >>> [_without(pa.chunked_array([some]), "-9")[1] for some in (["1", " -9", "2"], [1.5, -9.0])]
    [1, 1]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        equal = pc.equal(pc.utf8_trim_whitespace(column), pa.scalar(marker, kind))
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        try:
            equal = pc.equal(column.cast(pa.float64(), safe=False), float(marker))
        except ValueError:
            return column, 0
    else:
        return column, 0
    count = int(pc.sum(equal).as_py() or 0)
    return (pc.if_else(equal, pa.scalar(None, kind), column), count) if count else (column, 0)
