"""A fitted schema makes the same bits of a file, whether it is read whole or some rows at a time."""

import datetime
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dataworth as dw
from dataworth.data.io import align, files
from dataworth.data.io.align import read_together, sentences
from dataworth.data.io.schema import ColumnType, Schema

pytestmark = pytest.mark.filterwarnings("ignore::dataworth.data.io.notes.ReadingWarning")
NUMBERS = st.decimals(-9999, 9999, places=2, allow_nan=False).map(float)
DAYS = st.dates(min_value=datetime.date(1990, 1, 1))
ROW = st.tuples(NUMBERS, st.booleans(), st.sampled_from(["Ulm", "Bonn", "Köln"]), DAYS, st.booleans())
WRITTEN = {
    "plain": (",", lambda v: f"{v:.2f}", lambda d: f"{d:%Y-%m-%d}"),
    "German": (";", lambda v: f"{v:,.2f}".translate(str.maketrans(".,", ",.")), lambda d: f"{d:%d.%m.%Y}"),
    "dollars": ("\t", lambda v: f"${v:.2f}".replace("$-", "-$"), lambda d: f"{d:%b} {d.day}, {d.year}"),
}


def text_of(rows, form, missing):
    sep, number, day = WRITTEN[form]
    lines = [
        sep.join([missing if i % 5 == 3 else number(x), str(b).lower(), city, f'"{day(d)}"', str(int(y))])
        for i, (x, b, city, d, y) in enumerate(rows)
    ]
    return "\n".join([sep.join(["x", "b", "city", "day", "label"]), *lines]) + "\n"


@given(
    st.lists(ROW, min_size=12, max_size=40),
    st.sampled_from(list(WRITTEN)),
    st.sampled_from(["", "?", "k.A."]),
    st.integers(1, 9),
    st.sampled_from([".csv", ".parquet"]),
)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_streamed_rows_are_those_of_the_whole_file(rows, form, missing, step, suffix):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder) / "a.csv"
        path.write_text(text_of(rows, form, missing), encoding="utf-8")
        if suffix == ".parquet":  # the same cells, all of them text
            part = align.part_of(path)
            path = path.with_suffix(suffix)
            pq.write_table(part.table, path, row_group_size=7)
        patch.setattr(files, "MAX_ROWS", step)
        patch.setattr(files, "CELLS", 8)
        asked = {"label": "label", "impute": True, "decimal": {"German": ","}.get(form)}
        (whole,) = read_together([path], **asked)
        assert sentences([whole]) == []
        (stream,) = read_together([path], columns=whole.data.columns, streams=True, stream=True, **asked)
        parts = [data for piece in stream.data.pieces for _, data in stream.data.reader.slabs(piece)]
    assert sum(map(len, parts)) == len(rows)
    whole, start = whole.data, 0
    for one in parts:
        rows_of_it = whole.take(range(start, start + len(one))).select(one.columns)
        np.testing.assert_array_equal(one.X, rows_of_it.X)
        assert [str(label) for label in one.y] == [str(label) for label in rows_of_it.y]
        start += len(one)


def test_a_schema_is_applied_and_not_fitted_again():
    """Cells that alone would be whole numbers, or text, are what the schema says."""
    roles = dw.data.io.assign_roles(pa.table({"a": ["1"], "c": ["1"], "label": ["0"]}), [])
    types = {"a": ColumnType("number", how=","), "c": ColumnType("text"), "label": ColumnType("as it is")}
    schema = Schema(tuple(roles), types)
    made = schema.transform(pa.table({"a": ["1.234", "2,5"], "c": ["7", "8"], "label": ["u", "v"]}))
    assert made.X[:, 0].tolist() == [1234, 2.5]
    assert made.columns[1].categories == ("7", "8")
    with pytest.raises(dw.DataworthError, match="column 'a' holds numbers, but 'red' in data row 12"):
        schema.transform(pa.table({"a": ["1", "red"], "c": ["7", "8"], "label": ["u", "v"]}), before=10)
