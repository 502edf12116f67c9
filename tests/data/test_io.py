"""Files: every format gives the same Dataset, only plain roles are guessed, refusals are sentences."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

from dataworth.data.convert import Column
from dataworth.data.dataset import Dataset
from dataworth.data.io import ReadingWarning, Role, assign_roles, describe, read, read_with_roles
from dataworth.data.io.roles import check_kinds, unusable
from dataworth.data.io.sources import part_of
from dataworth.data.leaks import look_for_leaks
from dataworth.errors import DataworthError, Problems

ROWS = {
    "age": [31.5, 45.0, 27.25, 60.0],
    "member": [True, False, True, True],
    "city": ["Ulm", "Bonn", "Ulm", "Köln"],
    "label": ["yes", "no", "no", "yes"],
    "batch": [1, 1, 2, 2],
    "id": [10, 11, 12, 13],
    "times": [1.0, 2.0, 0.5, 1.0],
}
ROLES = {"group": "batch", "weights": "times"}


def write(table: pa.Table, path: Path) -> Path:
    """The table in the format of the path's suffix."""
    data = io.BytesIO()
    kind = path.name.removesuffix(".gz").rsplit(".", 1)[1]
    if kind in ("csv", "tsv"):
        pl.from_arrow(table).write_csv(data, separator="," if kind == "csv" else "\t")
    elif kind in ("jsonl", "ndjson"):
        data.write("".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode())
    elif kind == "parquet":
        pyarrow.parquet.write_table(table, data)
    elif kind == "feather":
        with pa.ipc.new_file(data, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
            writer.write(table)
    elif kind == "arrow":
        with pa.ipc.new_stream(data, table.schema) as writer:
            writer.write(table)
    else:
        raise AssertionError(kind)
    content = data.getvalue()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def text(tmp_path: Path, content: str, name: str = "data.csv", encoding: str = "utf-8") -> Path:
    path = tmp_path / name
    path.write_text(content, encoding=encoding)
    return path


def refusal(path: Path, **options) -> str:
    """The sentence, without the path that each begins with."""
    with pytest.raises(DataworthError) as caught:
        read(path, **options)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}: ")
    assert sentence.count(str(path)) == 1
    assert "\n" not in sentence
    return sentence.removeprefix(f"{path}: ")


def roles_of(columns: dict, **options) -> dict[str, str]:
    return {r.column: r.role for r in assign_roles(pa.table(columns), **options)}


# Formats

SUFFIXES = [
    ".csv", ".CSV", ".csv.gz", ".tsv", ".tsv.gz", ".jsonl", ".jsonl.gz", ".ndjson", ".parquet",
    ".feather", ".arrow",
]  # fmt: skip


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_gives_the_same_dataset(tmp_path, suffix):
    D = read(write_any(tmp_path, suffix), **ROLES)
    features = pa.table({name: ROWS[name] for name in ("age", "member", "city")})
    expected = Dataset(features, ROWS["label"], ROWS["batch"], ROWS["id"], ROWS["times"])
    assert D.columns == expected.columns
    assert D.content_hash() == expected.content_hash()


def write_any(tmp_path: Path, suffix: str) -> Path:
    lower = write(pa.table(ROWS), tmp_path / f"data{suffix.lower()}")
    return lower.rename(tmp_path / f"data{suffix}")


def test_a_feather_file_written_by_pandas_and_a_parquet_by_polars(tmp_path):
    pd.DataFrame(ROWS).to_feather(tmp_path / "a.feather")
    pl.DataFrame(ROWS).write_parquet(tmp_path / "a.parquet")
    hashes = {read(tmp_path / name, **ROLES).content_hash() for name in ("a.feather", "a.parquet")}
    assert hashes == {read(write_any(tmp_path, ".csv"), **ROLES).content_hash()}


def test_npz_gives_the_same_dataset(tmp_path):
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(5, 3)), np.array(["a", "b", "a", "b", "b"]), rng.random(5)
    np.savez(tmp_path / "a.npz", X=X, y=y, groups=[1, 1, 2, 2, 2], ids=list("vwxyz"), weights=w)
    D, roles = read_with_roles(tmp_path / "a.npz")
    assert D.content_hash() == Dataset(X, y, [1, 1, 2, 2, 2], list("vwxyz"), w).content_hash()
    assert D.names == ("x0", "x1", "x2")
    assert {r.column: r.role for r in roles}["weights"] == "weight"
    np.savez(tmp_path / "b.npz", X=X, y=y, names=["p", "q", "r"])
    named = read(tmp_path / "b.npz")
    assert named.content_hash() == Dataset(X, y, names=["p", "q", "r"]).content_hash()
    assert read(tmp_path / "b.npz", features=["p", "r"]).names == ("p", "r")
    assert "p" not in read(tmp_path / "b.npz", exclude="p").names


def test_in_an_npz_y_is_the_label_whatever_is_asked_for_elsewhere(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(2), y=[0, 1])
    D = read(tmp_path / "a.npz", label="x0", group="g")
    assert D.names == ("x0", "x1")
    assert D.y.tolist() == [0, 1]


def test_npz_of_booleans_and_missing_values(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(2, dtype=bool), y=[True, False])
    assert read(tmp_path / "a.npz").columns == (Column("x0", "boolean"), Column("x1", "boolean"))
    np.savez(tmp_path / "b.npz", X=[[np.nan], [1.0]], y=[0, 1])
    assert "1 of 2 rows have missing values, in column 'x0'" in refusal(tmp_path / "b.npz")
    assert np.isnan(read(tmp_path / "b.npz", impute=True).X[0, 0])


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"X": np.eye(2)}, "an npz holds X and y, but y is missing (it holds X): save it with numpy.savez"),
        ({"a": np.eye(2)}, "but X and y are missing (it holds a)"),
        ({"X": np.eye(2), "y": [0]}, "y has shape (1,), but X has 2 rows: give one value per row"),
        ({"X": np.eye(2), "y": [[0], [1]]}, "y has shape (2, 1), but X has 2 rows"),
        ({"X": [1, 2], "y": [0, 1]}, "X has shape (2,), but rows × features are expected"),
        ({"X": 1, "y": [0, 1]}, "X has shape (), but rows × features are expected"),
        ({"X": np.empty((0, 2)), "y": []}, "the file has no rows"),
        ({"X": np.eye(2), "y": [0, 1], "names": ["a"]}, "names has 1 name for 2 columns"),
        ({"X": np.eye(2), "y": [0, 1], "names": ["a", "y"]}, "column 'y' more than once"),
        ({"X": np.eye(2), "y": [0, np.nan]}, "the label column 'y' has 1 missing value in 2 rows"),
    ],
)
def test_refused_npz(tmp_path, arrays, words):
    np.savez(tmp_path / "a.npz", **arrays)
    assert words in refusal(tmp_path / "a.npz")


def test_a_lone_array_named_npz(tmp_path):
    with (tmp_path / "a.npz").open("wb") as file:
        np.save(file, np.eye(2))
    assert "but X and y are missing (it holds no named arrays)" in refusal(tmp_path / "a.npz")


def test_an_npz_with_pickles_is_not_opened(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.array([[{}]], dtype=object), y=[0], allow_pickle=True)
    assert "X holds Python objects, not numbers or texts" in refusal(tmp_path / "a.npz")
    (tmp_path / "b.npz").write_bytes(b"garbage")
    assert "pickle" not in refusal(tmp_path / "b.npz")


def test_embeddings_are_read_from_parquet_and_jsonl(tmp_path):
    table = pa.table({"emb": [[1.0, 2.0], [3.0, 4.5]], "label": [0, 1]})
    for suffix in (".parquet", ".jsonl"):
        D = read(write(table, tmp_path / f"a{suffix}"))
        assert D.names == ("emb[0]", "emb[1]")
        assert D.X.tolist() == [[1.0, 2.0], [3.0, 4.5]]


def test_a_long_line_of_json_and_keys_that_come_late(tmp_path):
    wide = {"emb": [0.1234567890123456] * 100, "pad": " " * 2_000_000, "label": 1}
    lines = [json.dumps(wide)] * 2 + [json.dumps(wide | {"late": 1})]
    D = read(text(tmp_path, "\n".join(lines), "a.jsonl"), features=["emb", "late"], impute=True)
    assert D.X.shape == (3, 101)
    np.testing.assert_array_equal(D.X[:, -1], [np.nan, np.nan, 1])


def test_different_keys_per_line_are_missing_values(tmp_path):
    path = text(tmp_path, '{"a": 1, "label": 0}\n\n{"b": "u", "label": 1}\n', "a.jsonl")
    assert "2 of 2 rows have missing values, in columns 'a', 'b'" in refusal(path)
    np.testing.assert_array_equal(read(path, impute=True).X, [[1, np.nan], [np.nan, 0]])


def test_a_parquet_file_is_not_given_the_columns_of_its_directories(tmp_path):
    (tmp_path / "part=1").mkdir()
    assert read(write(pa.table({"a": [1], "label": [0]}), tmp_path / "part=1" / "a.parquet")).names == ("a",)


# Refused files


def test_refused_paths(tmp_path):
    assert refusal(tmp_path / "none.csv") == "there is no such file: check the path"
    assert "this is a directory without tables, but a file is expected" in refusal(tmp_path)
    assert refusal(text(tmp_path, "a", "data.doc")).startswith("the suffix is not one of .csv .csv.gz .tsv")
    assert refusal(text(tmp_path, "a", "data.xls")).endswith(": save it as .xlsx")


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow", ".npz", ".csv.gz", ".jsonl"])
def test_corrupt_files(tmp_path, suffix):
    sentence = refusal(text(tmp_path, "not what it says", f"a{suffix}"))
    assert sentence.startswith(f"this cannot be read as {suffix} (")
    assert sentence.endswith("): check that the file is complete")


@pytest.mark.parametrize("suffix", [".csv.gz", ".parquet", ".npz", ".feather"])
def test_files_that_end_too_early(tmp_path, suffix):
    if suffix == ".npz":
        np.savez(tmp_path / "a.npz", X=np.random.default_rng(0).random((100, 2)), y=np.zeros(100))
        path = tmp_path / "a.npz"
    else:
        path = write_any(tmp_path, suffix)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert f"this cannot be read as {suffix} (" in refusal(path)


def test_damage_within_a_file(tmp_path):
    path = write(pa.table({"c": ["Ulm", "Bonn", "Köln"], "label": [0, 1, 1]}), tmp_path / "a.arrow")
    offsets = np.array([0, 3, 7, 12], dtype="<i4").tobytes()
    assert path.read_bytes().count(offsets) == 1
    # Beyond the end of the texts: read on trust, this ends the process.
    path.write_bytes(path.read_bytes().replace(offsets, np.array([0, 3, 7, 2**30], dtype="<i4").tobytes()))
    assert "this cannot be read as .arrow (Column 0: " in refusal(path)
    other = text(tmp_path, '{"c": "Köln", "label": 1}\n', "a.jsonl", encoding="latin-1")
    assert refusal(other) == "this is not UTF-8 text: save it as UTF-8"


def test_a_zip_of_a_kind_that_python_cannot_open(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(2), y=[0, 1])
    content = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(content.replace(b"PK\x01\x02\x2d\x03\x2d", b"PK\x01\x02\x2d\x03\xff"))
    assert "this cannot be read as .npz (zip file version 25.5)" in refusal(tmp_path / "a.npz")


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv", ".jsonl"])
def test_empty_text_files(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(gzip.compress(b"") if suffix.endswith("gz") else b"")
    assert refusal(path) == "the file is empty: write rows to it"


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow", ".npz"])
def test_empty_binary_files(tmp_path, suffix):
    assert f"this cannot be read as {suffix} (" in refusal(text(tmp_path, "", f"a{suffix}"))


def test_files_without_rows(tmp_path):
    assert refusal(text(tmp_path, "a,label\n")) == "the file has no rows: write some to it"
    empty = pa.table({"a": pa.array([], pa.float64()), "label": pa.array([], pa.int64())})
    assert "the file has no rows" in refusal(write(empty, tmp_path / "a.parquet"))


def test_column_names_that_occur_twice(tmp_path):
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([0])], names=["a", "a", "y"])
    for file in (text(tmp_path, "a,a,y\n1,2,0\n"), write(twice, tmp_path / "a.arrow")):
        with pytest.warns(
            ReadingWarning, match=r"column 'a' more than once, read also as column 'a.1'; excl"
        ):
            D = read(file)
        assert D.names == ("a", "a.1")
        assert D.X.tolist() == [[1, 2]]


def test_a_long_reason_is_cut(tmp_path):
    sentence = refusal(text(tmp_path, "a,b\n" + "x" * 5000 + "\n"))
    assert sentence.startswith(
        "this cannot be read as .csv (CSV parse error: Row #2: Expected 2 columns, got 1"
    )
    assert len(sentence) < 300


@pytest.mark.parametrize(
    ("role", "options"),
    [("label", {"label": "c"}), ("group", {"group": "c"}), ("id", {"id": "c"}), ("weight", {"weights": "c"})],
)
def test_missing_values_outside_the_features(tmp_path, role, options):
    path = text(tmp_path, "a,c,y\n1,1,0\n2,,1\n3,3,1\n")
    expected = f"the {role} column 'c' has 1 missing value in 3 rows: fill them in, or leave the rows out"
    assert refusal(path, **options, impute=True) == expected


# CSV oddities


def test_cells_that_stand_for_missing_values(tmp_path):
    cells = ["", "NA", "NaN", "nan", "null", "None", '""', " NA "]
    path = text(tmp_path, "a,c,label\n" + "".join(f"{cell},{cell},1\n" for cell in cells) + "5,u,0\n")
    assert "8 of 9 rows have missing values, in columns 'a', 'c'" in refusal(path)
    D = read(path, impute=True)
    np.testing.assert_array_equal(D.X, [[np.nan, np.nan]] * 8 + [[5, 0]])
    assert D.columns == (Column("a", "numeric"), Column("c", "categorical", ("u",)))


def test_spaces_quotes_newlines_and_byte_order_marks(tmp_path):
    path = text(tmp_path, '\ufeffa, b , label\r\n1, 2.5, "x"\r\n2, 3, y \r\n', encoding="utf-8")
    D = read(path, label="label")
    assert D.columns == (Column("a", "numeric"), Column("b", "numeric"))
    assert D.X.tolist() == [[1, 2.5], [2, 3]]
    assert D.y.tolist()[1] == "y"
    broken = read(text(tmp_path, 'a,label\n"u\nv",1\nw,0\n'))
    assert broken.columns[0].categories == ("u\nv", "w")
    long = read(text(tmp_path, "a,text,label\n" + '1,"u\n\nv",1\n' * 200_000), features="a")
    assert len(long) == 200_000


def test_one_stray_word_in_a_column_of_numbers(tmp_path):
    cells = [str(i) for i in range(100)]
    cells[41], cells[60] = "oops", "?"
    path = text(tmp_path, "a,label\n" + "".join(f"{cell},{i % 2}\n" for i, cell in enumerate(cells)))
    assert refusal(path) == (
        "column 'a' holds numbers, but 'oops' in data row 42: correct it, or if it stands for a missing"
        " value, say so with missing='oops'; categories='a' reads all as text"
    )
    assert "column 'a' holds numbers, but 'oops' in data row 42" in refusal(path, label="a")
    assert "column 'a' holds numbers, but 'oops' in data row 42" in describe(path).problems[0]


def test_text_that_is_partly_numbers_is_text_and_said(tmp_path):
    def file(values):
        return text(tmp_path, "a,label\n" + "".join(f"{value},1\n" for value in values))

    with pytest.warns(
        ReadingWarning, match="mixes numbers with text, such as '3.', and is read as text; numb"
    ):
        few = read(file(["0", "1", "2"] * 30 + ["3+"] * 5))
    assert few.columns[0].categories == ("0", "1", "2", "3+")
    many = [str(i) for i in range(20)] * 5
    assert "column 'a' holds numbers, but '1_0' in data row 1" in refusal(file(["1_0"] * 11 + many))
    with pytest.warns(ReadingWarning, match="mixes numbers with text, such as '1_0'"):
        assert read(file(["1_0"] * 12 + many)).columns[0].kind == "categorical"
    assert "but '3+' in data row 4" in refusal(file(["0", "1", "2", "3+"] * 25), numbers="a")
    ids = "".join(f"{i},{i % 2}\n" for i in range(40)) + "x1,1\n"
    assert read(text(tmp_path, "id,label,f\n" + ids.replace("\n", ",1\n"))).ids[-1] == "x1"


def test_infinite_values_are_refused_even_to_impute(tmp_path):
    path = text(tmp_path, "a,label\n1,0\ninf,1\n")
    assert "column 'a' has 1 infinite value: replace it, or leave the row or" in refusal(path, impute=True)


def test_an_index_written_by_pandas_is_ignored(tmp_path):
    frame = pd.DataFrame({"a": [1.5, 2.5], "label": [0, 1]}, index=[3, 4])
    frame.to_csv(tmp_path / "a.csv")
    frame.to_parquet(tmp_path / "a.parquet")
    pd.read_csv(tmp_path / "a.csv").to_csv(tmp_path / "b.csv", index=False)
    for name, index in (("a.csv", ""), ("a.parquet", "__index_level_0__"), ("b.csv", "Unnamed: 0")):
        D, roles = read_with_roles(tmp_path / name)
        assert D.names == ("a",)
        assert D.ids is None
        why = "it only numbers or names the rows"
        assert Role(index, "ignored", "numeric", why) in roles


# Roles


@pytest.mark.parametrize("name", ["label", "Labels", "TARGET", "y", "Class", "outcome"])
def test_a_label_is_guessed_from_its_name(name):
    roles = assign_roles(pa.table({"a": [1.0], name: [0]}))
    assert roles == [
        Role("a", "feature", "numeric", "not used otherwise"),
        Role(name, "label", "numeric", "guessed from its name"),
    ]


def test_a_label_asked_for_leaves_the_others_features():
    assert roles_of({"a": [1], "y": [0]}, label="a") == {"a": "label", "y": "feature"}


def test_a_label_is_guessed_among_the_columns_without_another_role():
    columns = {"a": [1], "y": [0], "target": [1]}
    assert roles_of(columns, group="y")["target"] == "label"
    assert roles_of(columns, features=["a", "y"])["target"] == "label"


@pytest.mark.parametrize("name", ["id", "ID", "ids", "row_id", "rowid", "uuid", "guid", "index"])
def test_an_id_is_guessed_from_its_name(name):
    roles = assign_roles(pa.table({"a": [1.0], name: [5], "y": [0]}))
    assert roles[1] == Role(name, "id", "numeric", "guessed from its name")


def test_several_ids_are_not_guessed_between_and_are_no_features():
    columns = {"a": [1], "id": [5], "uuid": [6], "y": [0]}
    roles = assign_roles(pa.table(columns))
    assert [r.role for r in roles] == ["feature", "ignored", "ignored", "label"]
    assert "name it with id=" in roles[1].why
    assert roles_of(columns, id="uuid") == {"a": "feature", "id": "ignored", "uuid": "id", "y": "label"}
    assert roles_of(columns, features=["a", "id"]) == {
        "a": "feature",
        "id": "feature",
        "uuid": "id",
        "y": "label",
    }


def test_groups_and_weights_are_taken_only_when_asked_for():
    columns = {"a": [1], "group": [1], "weights": [1], "y": [0]}
    assert roles_of(columns) == {"a": "feature", "group": "feature", "weights": "feature", "y": "label"}
    asked = roles_of(columns, group="group", weights="weights")
    assert asked == {"a": "feature", "group": "group", "weights": "weight", "y": "label"}


def test_features_by_name_pattern_and_comma():
    columns = {"emb_1": [1], "emb_2": [1], "emb_y": [1], "b": [1], "c": [1], "label": [0]}
    for features in (["emb_*", "c"], "emb_*,c", "emb_*, c"):
        roles = roles_of(columns, features=features, group="emb_y")
        assert [name for name, role in roles.items() if role == "feature"] == ["emb_1", "emb_2", "c"]
        assert roles["b"] == "ignored"
        assert roles["emb_y"] == "group"
    assert roles_of(columns, features="*")["label"] == "label"
    assert roles_of({"a,b": [1], "y": [0]}, features="a,b")["a,b"] == "feature"


def test_features_keep_the_order_of_the_file(tmp_path):
    assert read(text(tmp_path, "a,b,c,y\n1,2,3,0\n"), features=["c", "a"]).names == ("a", "c")


COLUMNS = {"age": [1, 2], "income": [3, 4], "label": [0, 1], "target": [0, 1]}


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        (COLUMNS, {}, "columns 'label', 'target' could each be the label: name it with label="),
        ({"a": [1], "b": [1]}, {}, "no column is named like a label among columns 'a', 'b': name it"),
        ({f"c{i}": [1] for i in range(40)}, {}, "'c28', 'c29' and 10 more: name it with label="),
        (COLUMNS, {"label": "lable"}, "there is no label column 'lable': did you mean 'label'?"),
        (COLUMNS, {"label": "Age"}, "there is no label column 'Age': did you mean 'age'?"),
        (COLUMNS, {"label": "zzz"}, "there is no label column 'zzz': choose from columns 'age', 'income',"),
        (COLUMNS, {"label": "label", "group": "agee"}, "there is no group column 'agee': did you mean 'age'"),
        (COLUMNS, {"label": "label", "id": "agee"}, "there is no id column 'agee'"),
        (COLUMNS, {"label": "label", "weights": "agee"}, "there is no weight column 'agee'"),
        (COLUMNS, {"label": "label", "features": ["incom"]},
         "there is no feature column 'incom': did you mean 'income'?"),
        (COLUMNS, {"label": "label", "features": ["emb_*"]}, "no column matches the feature pattern 'emb_*'"),
        (COLUMNS, {"label": "label", "group": "label"}, "'label' was asked for as label and as group: give"),
        (COLUMNS, {"label": "label", "features": ["label"]}, "'label' was asked for as label and as feature"),
        ({"y": [1]}, {}, "no column is left to be a feature among column 'y': add one"),
    ],
)  # fmt: skip
def test_refused_roles(columns, options, words):
    with pytest.raises(DataworthError) as caught:
        roles_of(columns, **options)
    assert words in str(caught.value)


DAY = pd.Timestamp("2020-01-01")


@pytest.mark.parametrize(
    ("extra", "options", "words"),
    [
        ({"s": [{"k": 1}] * 2}, {}, "column 's' (nested) cannot be a feature"),
        ({"s": [b"k"] * 2}, {}, "column 's' (binary) cannot be a feature"),
        ({"s": [b"k"] * 2, "t": [{"k": 1}] * 2}, {},
         "'s' (binary), 't' (nested) cannot be features: leave them out with exclude='s,t'"),
        ({"s t": [b"k"] * 2}, {}, "leave it out with exclude='s t'"),
        ({"e": ["[0.1, 0.2 … 0.3]", "[1, -2e-3]"]}, {}, "column 'e' (lists written as text: embeddings need"),
        ({"when": [DAY] * 2}, {"label": "when"}, "'when' (date or time) cannot be the label, which is"),
        ({"e": [[1.0]] * 2}, {"group": "e"}, "column 'e' (embedding) cannot be the group"),
        ({"w": ["u", "v"]}, {"weights": "w"}, "the weight, which is numeric or boolean: name another"),
    ],
)  # fmt: skip
def test_columns_that_cannot_do_what_is_asked(tmp_path, extra, options, words):
    path = write(pa.table({"a": [1, 2], **extra, "y": [0, 1]}), tmp_path / "a.parquet")
    assert words in refusal(path, **options)


def test_an_unusable_column_may_be_left_out_or_group_the_rows(tmp_path):
    path = write(pa.table({"a": [1, 2], "when": [DAY] * 2, "y": [0, 1]}), tmp_path / "a.parquet")
    D, roles = read_with_roles(path, features=["a"])
    assert D.names == ("a",)
    assert Role("when", "ignored", "date or time", "not among the features asked for") in roles
    assert len(set(read(path, group="when").groups)) == 1


def test_short_texts_that_name_rows_are_left_out_and_few_or_repeated_ones_are_not(tmp_path):
    def file(words):
        return write(
            pa.table({"a": [1] * len(words), "t": words, "y": [0] * len(words)}), tmp_path / "a.parquet"
        )

    distinct = [f"text {i}" for i in range(51)]
    with pytest.warns(
        ReadingWarning, match="column 't' is left out, for it seems to name the rows: 51 differ"
    ):
        assert read(file(distinct)).names == ("a",)
    assert read(file(distinct), id="t").ids[50] == "text 50"
    assert read(file(distinct), features="t").names == ("t",)
    assert len(read(file(distinct[:50])).columns[1].categories) == 50
    assert len(read(file(distinct * 2)).columns[1].categories) == 51


def test_all_problems_are_told_at_once(tmp_path):
    columns = {"a": [1.0, None], "s": [b"k"] * 2, "t": [{"k": 1}] * 2, "b": [1, 2]}
    path = write(pa.table(columns), tmp_path / "a.parquet")
    with pytest.raises(Problems) as caught:
        read(path, group="grp")
    assert [sentence.removeprefix(f"{path}: ")[:33] for sentence in caught.value.sentences] == [
        "there is no group column 'grp': c",
        "no column is named like a label a",
        "columns 's' (binary), 't' (nested",
        "1 of 2 rows have missing values, ",
    ]
    assert read(path, label="b", exclude="s,t", impute=True).names == ("a",)


def test_exclude_by_name_pattern_and_comma():
    columns = {"emb_1": [1], "emb_2": [1], "b": [1], "label": [0], "target": [0], "id": [1]}
    for exclude in (["emb_*", "target"], "emb_*, target"):
        roles = roles_of(columns, exclude=exclude)
        assert [name for name, role in roles.items() if role == "feature"] == ["b"]
        assert [name for name, role in roles.items() if role == "ignored"] == ["emb_1", "emb_2", "target"]
    assert roles_of(columns, label="label", exclude="id")["id"] == "ignored"
    assert roles_of(columns, label="label", features="emb_*", exclude="emb_2")["emb_2"] == "ignored"
    assert roles_of(columns, label="label", exclude="none,no_*", absent_ok=True)["b"] == "feature"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"exclude": "aeg"}, "there is no excluded column 'aeg': did you mean 'age'?"),
        ({"exclude": "emb_*"}, "no column matches the excluded pattern 'emb_*'"),
        ({"exclude": "label"}, "column 'label' was asked for as label and as excluded"),
        ({"exclude": "age", "features": "age"}, "column 'age' was asked for as feature and as excluded"),
        ({"exclude": "age,income,target"}, "no column is left to be a feature"),
    ],
)
def test_refused_exclusions(options, words):
    with pytest.raises(DataworthError) as caught:
        roles_of(COLUMNS, label="label", **options)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "frame", [pd.DataFrame(ROWS), pl.DataFrame(ROWS), pa.table(ROWS), pa.table(ROWS).to_batches()[0]]
)
def test_frames_are_read_as_files_are(tmp_path, frame):
    expected = read(write_any(tmp_path, ".parquet"), **ROLES)
    assert read(frame, **ROLES).content_hash() == expected.content_hash()
    assert read(frame, **ROLES, exclude="city").names == ("age", "member")
    assert describe(frame, **ROLES).path == "frame"


def test_columns_of_a_frame_may_be_numbered():
    frame = pd.DataFrame(np.arange(6.0).reshape(2, 3), index=[7, 8])
    D = read(frame, label="2")
    assert D.names == ("0", "1")
    assert D.X.tolist() == [[0, 1], [3, 4]]
    assert D.y.tolist() == [2, 5]
    assert Dataset(frame, [0, 1]).X.tolist() == frame.to_numpy().tolist()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            [[1, 2]],
            "read was given an object of type list: give the path of a file, or a pandas, polars or pyarrow",
        ),
        (np.eye(2), "read was given an object of type ndarray"),
        (None, "read was given an object of type NoneType"),
        (3, "read was given an object of type int"),
        (pa.table({"a": pa.array([], pa.int64()), "y": pa.array([], pa.int64())}), "the frame has no rows"),
        (pd.DataFrame({"a": [1, {}, 2.5], "y": [0, 1, 1]}), "column 'a' mixes values of different types"),
        (pd.DataFrame({"a": [1, 2]}), "no column is named like a label"),
    ],
)
def test_refused_frames(source, words):
    with pytest.raises(DataworthError) as caught:
        read(source)
    assert str(caught.value).startswith(words)


def test_usable_columns_are_told_on_pandas_and_polars():
    for frame in (pd.DataFrame(ROWS), pl.DataFrame(ROWS)):
        table = part_of(frame).table
        check_kinds(assign_roles(table))
        assert unusable(table, assign_roles(table)) == {}
        assert [r.kind for r in assign_roles(table)][:3] == ["numeric", "boolean", "categorical"]


def test_a_constant_column_is_a_feature(tmp_path):
    assert read(text(tmp_path, "a,label\n1,0\n1,1\n")).names == ("a",)


# Description


def test_describe(tmp_path):
    path = write(
        pa.table(
            {
                "a": [1.0, None, float("nan"), 4.0],
                "c": [7, 7, 7, 7],
                "emb": [[1.0, 2.0], [1.0, None], None, [5.0, 6.0]],
                "label": ["u", "v", None, "u"],
                "when": [DAY] * 4,
                "id": [1, 2, 3, 4],
            }
        ),
        tmp_path / "a.parquet",
    )
    about = describe(path, features=["a", "c", "emb"])
    assert about.path == str(path)
    assert about.rows == 4
    assert about.labels.classes == {"u": 2, "v": 1}
    assert about.missing == {"a": 2, "emb": 2, "label": 1}
    assert about.problems == (
        "the label column 'label' has 1 missing value in 4 rows: fill them in, or leave the rows out",
        "2 of 4 rows have missing values, in columns 'a', 'emb[0]', 'emb[1]': leave them out, fill them in,"
        " or keep them with impute=True (allow_missing=True in dw.Dataset)",
    )
    assert about.notes == ("constant: column 'c'",)
    plain = json.loads(json.dumps(about.to_dict()))
    assert plain["labels"] == {"classes": {"u": 2, "v": 1}}
    assert plain["roles"][3] == {
        "column": "label",
        "role": "label",
        "kind": "categorical",
        "why": "guessed from its name",
    }
    assert plain["missing"] == about.missing
    assert plain["notes"] == list(about.notes)
    assert plain["problems"] == list(about.problems)


def test_describe_numbers_and_single_classes(tmp_path):
    about = describe(text(tmp_path, "a,y\n1,0.5\n2,1.5\n"))
    assert about.labels.to_dict() == {"low": 0.5, "high": 1.5}
    assert about.missing == {}
    assert about.notes == ()
    assert describe(text(tmp_path, "a,y\n1,0\n2,0\n")).notes == ("all labels are the same",)
    assert describe(text(tmp_path, "a,b,y\n1,1,\n2,1,\n")).labels.classes is not None


def test_describe_marks_columns_that_are_not_used(tmp_path):
    columns = {
        "a": [1, 2, 3] * 17,
        "b": [b"k"] * 51,
        "t": [f"text {i}" for i in range(51)],
        "y": [0, 1, 1] * 17,
    }
    about = describe(write(pa.table(columns), tmp_path / "a.parquet"))
    assert [role.role for role in about.roles] == ["feature", "unusable", "ignored", "label"]
    assert [role.why for role in about.roles[1:3]] == [
        "a feature is a number, a category, a date, a text or an embedding",
        "it seems to name the rows: 51 different short texts in 51 rows",
    ]
    assert about.problems == (
        "column 'b' (binary) cannot be a feature: leave it out with exclude='b'; images become features by"
        " dataworth embed",
    )
    assert about.labels.classes == {"0": 17, "1": 34}


def test_describe_says_what_imputing_does(tmp_path):
    path = text(tmp_path, "a,y\n1,0\n,1\n3,0\n")
    assert "1 of 3 rows have missing values" in describe(path).problems[0]
    assert describe(path, impute=True).notes == ("1 row with missing feature values: they will be filled in",)


def test_describe_without_a_label_tells_the_rest(tmp_path):
    about = describe(text(tmp_path, "a,b\n1,2\n,3\n"))
    assert about.labels is None
    assert about.to_dict()["labels"] is None
    assert [problem[:30] for problem in about.problems] == [
        "no column is named like a labe", "1 of 2 rows have missing value",
    ]  # fmt: skip


@pytest.mark.parametrize("content", ["a,b\n1,2\n", "a,y\ninf,2\n"])
def test_describe_tells_what_read_refuses(tmp_path, content):
    path = text(tmp_path, content)
    assert describe(path).problems == (refusal(path),)


# Attributes


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_an_attribute_is_read_beside_the_group(tmp_path, suffix):
    table = pa.table({"a": [1.5, 2.5], "who": ["p", "q"], "hue": ["red", "blue"], "y": [0, 1]})
    D = read(write(table, tmp_path / f"a.{suffix}"), group="who", attribute="hue")
    assert D.names == ("a",)
    assert D.groups.tolist() == ["p", "q"]
    assert D.attributes.tolist() == ["red", "blue"]


def test_attributes_in_an_npz(tmp_path):
    np.savez(tmp_path / "a.npz", X=[[1.0], [2.0]], y=[0, 1], attributes=["u", "v"])
    D = read(tmp_path / "a.npz", attribute="whatever other files call it")
    assert D.attributes.tolist() == ["u", "v"]


def test_attributes_are_refused_as_groups_are(tmp_path):
    path = text(tmp_path, "a,hue,y\n1,red,0\n2,,1\n")
    assert "the attribute column 'hue' has 1 missing value" in refusal(path, attribute="hue")
    full = text(tmp_path, "a,hue,y\n1,red,0\n2,blue,1\n", "full.csv")
    assert "asked for as group and as attribute" in refusal(full, group="hue", attribute="hue")
    assert "no attribute column 'hu': did you mean 'hue'?" in refusal(full, attribute="hu")


# Row numbers


def numbered(name, values):
    n = len(values)
    return pa.table({name: values, "a": np.sqrt(np.arange(n)), "y": np.arange(n) % 2})


@pytest.mark.parametrize("name", ["rownames", "Unnamed: 0", "obs", "t", "row_number"])
@pytest.mark.parametrize("start", [0, 1])
def test_row_numbers_are_named_and_left_out(name, start):
    table = numbered(name, np.arange(start, start + 20))
    D, roles = read_with_roles(table)
    assert D.names == ("a",)
    (role,) = (role for role in roles if role.column == name)
    assert (role.role, role.why) == ("ignored", "it only numbers or names the rows")
    assert f'column "{name}" only numbers the rows; say features= to use it' in describe(table).notes
    assert read(table, features=[name, "a"]).names == (name, "a")


@pytest.mark.parametrize(
    "values",
    [np.arange(2, 22), np.r_[0, np.arange(19)], np.arange(9), np.arange(20) / 2],
)
def test_other_numbers_are_features(values):
    assert read(numbered("t", values)).names == ("t", "a")


def test_shuffled_row_numbers_are_still_row_numbers():
    assert read(numbered("t", np.random.default_rng(0).permutation(20) + 1)).names == ("a",)


def test_row_numbers_hide_no_leaks_and_a_dataset_keeps_what_it_is_given():
    a = numbered("rownames", np.arange(20))
    b = (
        numbered("rownames", np.arange(20))
        .take(np.arange(20)[::-1])
        .set_column(0, "rownames", [np.arange(20)])
    )
    assert look_for_leaks(read(a), read(b)).test.all()
    assert not look_for_leaks(*(Dataset(t.drop_columns(["y"]), t["y"]) for t in (a, b))).test.all()
