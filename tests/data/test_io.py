"""Files: every format gives the same Dataset, only plain roles are guessed, refusals are sentences."""

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

from dataworth.data.changes import compare
from dataworth.data.convert import Column
from dataworth.data.dataset import Dataset
from dataworth.data.io import ReadingWarning, assign_roles, describe, read, read_together
from dataworth.data.io.inputs import Reading, load_inputs
from dataworth.data.io.notes import refuse_all
from dataworth.errors import Problems
from golden.sentences import all_refused
from worlds import refusal as refused

ROWS = {
    "age": [31.5, 45.0, 27.25, 60.0], "member": [True, False, True, True],
    "city": ["Ulm", "Bonn", "Ulm", "Köln"], "label": ["yes", "no", "no", "yes"], "batch": [1, 1, 2, 2],
    "id": [10, 11, 12, 13], "times": [1.0, 2.0, 0.5, 1.0],
}  # fmt: skip
ROLES = {"group": "batch", "weights": "times"}


def write(table: pa.Table, path: Path) -> Path:
    data = io.BytesIO()
    kind = path.name.lower().removesuffix(".gz").rsplit(".", 1)[1]
    if kind in ("csv", "tsv"):
        pl.from_arrow(table).write_csv(data, separator="," if kind == "csv" else "\t")
    elif kind in ("jsonl", "ndjson"):
        data.write("".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode())
    elif kind == "json":
        data.write(json.dumps(table.to_pydict() if "2" in path.name else table.to_pylist()).encode())
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
    sentence = refused(read, path, **options)
    assert sentence.startswith(f"{path}: ")
    assert sentence.count(str(path)) == 1
    return sentence.removeprefix(f"{path}: ")


def roles_of(columns: dict, **options) -> dict[str, str]:
    wrong = []
    roles = assign_roles(pa.table(columns), wrong, **options)
    refuse_all(wrong)
    return {role.column: role.role for role in roles}


SUFFIXES = [
    ".csv", ".CSV", ".csv.gz", ".tsv", ".tsv.gz", ".jsonl", ".jsonl.gz", ".ndjson", ".json", "2.json",
    ".parquet", ".feather", ".arrow",
]  # fmt: skip


@pytest.mark.parametrize("suffix", [*SUFFIXES, "pandas", "polars", "pyarrow", "batch"])
def test_every_format_gives_the_same_dataset(tmp_path, suffix):
    frames = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
    frames["batch"] = lambda rows: pa.table(rows).to_batches()[0]
    frame = frames[suffix](ROWS) if suffix in frames else None
    source = write(pa.table(ROWS), tmp_path / f"data{suffix}") if frame is None else frame
    D = read(source, **ROLES)
    features = pa.table({name: ROWS[name] for name in ("age", "member", "city")})
    expected = Dataset(features, ROWS["label"], ROWS["batch"], ROWS["id"], ROWS["times"])
    assert (D.columns, D.content_hash()) == (expected.columns, expected.content_hash())


def test_npz_gives_the_same_dataset(tmp_path):
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(5, 3)), np.array(["a", "b", "a", "b", "b"]), rng.random(5)
    np.savez(tmp_path / "a.npz", X=X, y=y, groups=[1, 1, 2, 2, 2], ids=list("vwxyz"), weights=w)
    D = read(tmp_path / "a.npz")
    assert D.content_hash() == Dataset(X, y, [1, 1, 2, 2, 2], list("vwxyz"), w).content_hash()
    assert D.names == ("x0", "x1", "x2")
    np.savez(tmp_path / "b.npz", X=X, y=y, names=["p", "q", "r"])
    named = read(tmp_path / "b.npz")
    assert named.content_hash() == Dataset(X, y, names=["p", "q", "r"]).content_hash()
    assert read(tmp_path / "b.npz", features=["p", "r"]).names == ("p", "r")
    assert "p" not in read(tmp_path / "b.npz", exclude="p").names


NPZ = [
    {"X": np.eye(2)}, {"a": np.eye(2)}, {"X": np.eye(2), "y": [0]}, {"X": 1, "y": [0, 1]},
    {"X": np.empty((0, 2)), "y": []}, {"X": np.eye(2), "y": [0, 1], "names": ["a"]},
    {"X": np.eye(2), "y": [0, 1], "names": ["a", "y"]}, {"X": np.eye(2), "y": [0, np.nan]},
    {"X": np.array([[{}]], dtype=object), "y": [0]},
]  # fmt: skip


def test_a_long_line_of_json_and_keys_that_come_late(tmp_path):
    wide = {"emb": [0.1234567890123456] * 100, "pad": " " * 2_000_000, "label": 1}
    lines = [json.dumps(wide)] * 2 + [json.dumps(wide | {"late": 1})]
    D = read(text(tmp_path, "\n".join(lines), "a.jsonl"), features=["emb", "late"], impute=True)
    assert D.X.shape == (3, 101)
    np.testing.assert_array_equal(D.X[:, -1], [np.nan, np.nan, 1])


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow", ".npz", ".csv.gz", ".jsonl"])
@pytest.mark.parametrize("content", [b"not what it says", "the first half", b""])
def test_damaged_files(tmp_path, suffix, content):
    path = tmp_path / f"data{suffix}"
    if suffix == ".npz":
        np.savez(path, X=np.random.default_rng(0).random((100, 2)), y=np.zeros(100))
    else:
        write(pa.table(ROWS), path)
    half = path.read_bytes()[: path.stat().st_size // 2]
    path.write_bytes(half if isinstance(content, str) else content)
    told = refusal(path)
    assert f"this cannot be read as {suffix} (" in told or "the file is empty" in told
    assert "pickle" not in told


def test_damage_within_a_file(tmp_path):
    path = write(pa.table({"c": ["Ulm", "Bonn", "Köln"], "label": [0, 1, 1]}), tmp_path / "a.arrow")
    offsets = np.array([0, 3, 7, 12], dtype="<i4").tobytes()
    assert path.read_bytes().count(offsets) == 1
    # Beyond the end of the texts: read on trust, this ends the process.
    path.write_bytes(path.read_bytes().replace(offsets, np.array([0, 3, 7, 2**30], dtype="<i4").tobytes()))
    assert "this cannot be read as .arrow (Column 0: " in refusal(path)
    other = text(tmp_path, '{"c": "Köln", "label": 1}\n', "a.jsonl", encoding="latin-1")
    assert refusal(other) == "this is not UTF-8 text: save it as UTF-8"


def test_spaces_quotes_byte_order_marks_and_missing_cells(tmp_path):
    cells = ["", "NA", "NaN", "nan", "null", "None", '""', " NA "]
    path = text(tmp_path, "a,c,label\n" + "".join(f"{cell},{cell},1\n" for cell in cells) + "5,u,0\n")
    assert "8 of 9 rows have missing values, in columns 'a', 'c'" in refusal(path)
    D = read(path, impute=True)
    np.testing.assert_array_equal(D.X, [[np.nan, np.nan]] * 8 + [[5, 0]])
    assert D.columns == (Column("a", "numeric"), Column("c", "categorical", ("u",)))
    path = text(tmp_path, '\ufeffa, b , label\r\n1, 2.5, "x"\r\n2, 3, y \r\n', encoding="utf-8")
    D = read(path, label="label")
    assert D.columns == (Column("a", "numeric"), Column("b", "numeric"))
    assert (D.X.tolist(), D.y.tolist()[1]) == ([[1, 2.5], [2, 3]], "y")
    broken = read(text(tmp_path, 'a,label\n"u\nv",1\nw,0\n'))
    assert broken.columns[0].categories == ("u\nv", "w")
    long = read(text(tmp_path, "a,text,label\n" + '1,"u\n\nv",1\n' * 200_000), features="a")
    assert len(long) == 200_000


def test_one_stray_word_in_a_column_of_numbers(tmp_path):
    cells = [str(i) for i in range(100)]
    cells[41], cells[60] = "oops", "?"
    path = text(tmp_path, "a,label\n" + "".join(f"{cell},{i % 2}\n" for i, cell in enumerate(cells)))
    for told in (refusal(path), refusal(path, label="a"), describe(path).problems[0]):
        assert "'oops' in data row 42" in told
        assert "na_values='oops'" in told


def test_text_that_is_partly_numbers_is_text_and_said(tmp_path):
    def file(values):
        return text(tmp_path, "a,label\n" + "".join(f"{value},1\n" for value in values))

    with pytest.warns(ReadingWarning, match="mixes numbers with text, such as '3.'"):
        few = read(file(["0", "1", "2"] * 30 + ["3+"] * 5))
    assert few.columns[0].categories == ("0", "1", "2", "3+")
    many = [str(i) for i in range(20)] * 5
    assert "column 'a' holds numbers, but '1_0' in data row 1" in refusal(file(["1_0"] * 11 + many))
    with pytest.warns(ReadingWarning, match="mixes numbers with text, such as '1_0'"):
        assert read(file(["1_0"] * 12 + many)).columns[0].kind == "categorical"
    assert "but '3+' in data row 4" in refusal(file(["0", "1", "2", "3+"] * 25), numeric="a")
    ids = "".join(f"{i},{i % 2}\n" for i in range(40)) + "x1,1\n"
    assert read(text(tmp_path, "id,label,f\n" + ids.replace("\n", ",1\n"))).ids[-1] == "x1"


def test_an_index_written_by_pandas_is_ignored(tmp_path):
    frame = pd.DataFrame({"a": [1.5, 2.5], "label": [0, 1]}, index=[3, 4])
    frame.to_csv(tmp_path / "a.csv")
    frame.to_parquet(tmp_path / "a.parquet")
    pd.read_csv(tmp_path / "a.csv").to_csv(tmp_path / "b.csv", index=False)
    for name, index in (("a.csv", "Unnamed: 0"), ("a.parquet", "__index_level_0__"), ("b.csv", "Unnamed: 0")):
        D = read(tmp_path / name)
        assert D.names == ("a",)
        assert D.ids is None
        assert {role.column: role.role for role in describe(tmp_path / name).roles}[index] == "ignored"


EMBEDDED = {"emb_1": [1], "emb_2": [1], "emb_y": [1], "b": [1], "label": [0]}
TWO = {"a": [1], "y": [0], "target": [1]}
IDS = {"a": [1], "id": [5], "uuid": [6], "y": [0]}


@pytest.mark.parametrize(
    ("columns", "options", "roles"),
    [
        *[({"a": [1], name: [0]}, {}, "feature label") for name in ("label", "Labels", "TARGET", "Class")],
        *[({"a": [1], name: [5], "y": [0]}, {}, "feature id label") for name in ("ID", "row_id", "index")],
        ({"a": [1], "y": [0]}, {"label": "a"}, "label feature"), (TWO, {"group": "y"}, "feature group label"),
        (TWO, {"features": ["a", "y"]}, "feature feature label"), (IDS, {}, "feature ignored ignored label"),
        (IDS, {"id": "uuid"}, "feature ignored id label"),
        (IDS, {"features": ["a", "id"]}, "feature feature id label"),
        ({"a": [1], "group": [1], "weights": [1], "y": [0]}, {}, "feature feature feature label"),
        (EMBEDDED, {"features": "emb_*, b", "group": "emb_y"}, "feature feature group feature label"),
        (EMBEDDED, {"features": ["emb_*"]}, "feature feature feature ignored label"),
        (EMBEDDED, {"features": "*"}, "feature feature feature feature label"),
        (EMBEDDED, {"exclude": "emb_*"}, "ignored ignored ignored feature label"),
        (EMBEDDED, {"features": "emb_*", "exclude": "emb_2,b"}, "feature ignored feature ignored label"),
        (EMBEDDED, {"exclude": "none,no_*", "absent_ok": True}, "feature feature feature feature label"),
        ({"a,b": [1], "y": [0]}, {"features": "a,b"}, "feature label"),
    ],
)  # fmt: skip
def test_roles_are_those_asked_for_or_told_by_names(columns, options, roles):
    assert list(roles_of(columns, **options).values()) == roles.split()


COLUMNS = {"age": [1, 2], "income": [3, 4], "label": [0, 1], "target": [0, 1]}


ASKED = [
    ({"label": [0], **COLUMNS}, {"label": None}), ({f"c{i}": [1] for i in range(40)}, {"label": None}),
    (COLUMNS, {"label": "lable"}), (COLUMNS, {"label": "Age"}), (COLUMNS, {"label": "zzz"}),
    (COLUMNS, {"group": "agee"}), (COLUMNS, {"weights": "agee"}), (COLUMNS, {"features": ["incom"]}),
    (COLUMNS, {"features": ["emb_*"]}), (COLUMNS, {"features": ["label"]}), (COLUMNS, {"exclude": "aeg"}),
    (COLUMNS, {"exclude": "label"}), (COLUMNS, {"exclude": "age", "features": "age"}),
    (COLUMNS, {"exclude": "age,income,target"}),
]  # fmt: skip


DAY = pd.Timestamp("2020-01-01")


CANNOT = [
    ({"s": [{"k": 1}] * 2}, {}), ({"s t": [b"k"] * 2, "t": [{"k": 1}] * 2}, {}),
    ({"e": ["[0.1, 0.2 … 0.3]", "[1, -2e-3]"]}, {}), ({"when": [DAY] * 2}, {"label": "when"}),
    ({"e": [[1.0]] * 2}, {"group": "e"}), ({"w": ["u", "v"]}, {"weights": "w"}),
]  # fmt: skip


def test_all_problems_are_told_at_once(tmp_path):
    columns = {"a": [1.0, None], "s": [b"k"] * 2, "t": [{"k": 1}] * 2, "b": [1, 2]}
    path = write(pa.table(columns), tmp_path / "a.parquet")
    with pytest.raises(Problems) as caught:
        read(path, group="grp")
    assert [sentence.removeprefix(f"{path}: ")[:33] for sentence in caught.value.sentences] == [
        "there is no group column 'grp': c", "no column is named like a label a",
        "columns 's' (binary), 't' (nested", "1 of 2 rows have missing values, ",
    ]  # fmt: skip
    assert read(path, label="b", exclude="s,t", impute=True).names == ("a",)


NO_FRAMES = [
    [[1, 2]], None, pa.table({"a": pa.array([], pa.int64()), "y": pa.array([], pa.int64())}),
    pd.DataFrame({"a": [1, {}, 2.5], "y": [0, 1, 1]}),
]  # fmt: skip


def test_describe(tmp_path):
    columns = {
        "a": [1.0, None, float("nan"), 4.0], "c": [7, 7, 7, 7],
        "emb": [[1.0, 2.0], [1.0, None], None, [5.0, 6.0]], "label": ["u", "v", None, "u"], "b": [b"k"] * 4,
    }  # fmt: skip
    path = write(pa.table(columns), tmp_path / "a.parquet")
    about = describe(path)
    assert (about.path, about.rows, about.labels.classes) == (str(path), 4, {"u": 2, "v": 1})
    assert about.missing == {"a": 2, "emb": 2, "label": 1}
    assert [role.role for role in about.roles] == ["feature", "feature", "feature", "label", "unusable"]
    assert [problem.partition(":")[0] for problem in about.problems] == [
        "column 'b' (binary) cannot be a feature",
        "the label column 'label' has 1 missing value in 4 rows",
        "2 of 4 rows have missing values, in columns 'a', 'emb[0]', 'emb[1]'",
    ]
    assert about.notes == ("constant: column 'c'",)
    plain = json.loads(json.dumps(about.to_dict()))
    assert plain["labels"] == {"classes": {"u": 2, "v": 1}}
    assert plain["roles"][3]["why"] == "guessed from its name"
    assert plain["problems"] == list(about.problems)


def test_constant_columns_are_features_and_row_numbers_are_none(tmp_path):
    assert read(text(tmp_path, "a,label\n1,0\n1,1\n")).names == ("a",)
    numbers, n = np.random.default_rng(0).permutation(20) + 1, np.arange(20)
    assert read(pa.table({"t": numbers, "a": np.sqrt(n), "y": n % 2})).names == ("a",)


RANDOM = np.random.default_rng(20)
N = 400
COUNTED = RANDOM.permutation(100_000 + 7 * np.arange(N) + RANDOM.integers(0, 6, N))
TWICE = np.r_[COUNTED[1:], COUNTED[1:2]]


def described(columns, **asked):
    rows = {"a": RANDOM.normal(size=N), "label": np.arange(N) % 2}
    return {role.column: role.role for role in describe(pa.table({**columns, **rows}), **asked).roles}


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("customer_id", COUNTED, "id"),
        ("customer_id", TWICE, "ignored"),
        ("customer_id", pa.array([None, *COUNTED[1:].tolist()]), "ignored"),
        ("Kunden-Nr", COUNTED, "feature"),  # what a number counts is not guessed from how it is spread
        ("Kunden-Nr", [f"K{number}" for number in COUNTED], "ignored"),
    ],
)
def test_a_column_named_like_an_id_names_the_rows_if_it_can(name, values, role):
    assert described({name: values})[name] == role


def test_of_two_columns_named_like_an_id_neither_is_chosen():
    both = {"user_id": COUNTED, "order_id": COUNTED[::-1]}
    roles, asked = described(both), described(both, id="order_id")
    assert [roles["user_id"], roles["order_id"]] == ["ignored", "ignored"]
    assert [asked["user_id"], asked["order_id"]] == ["ignored", "id"]


def test_what_a_file_is_known_by_does_not_depend_on_files_beside_it(tmp_path):
    """And rows that were edited under a customer id are known by it."""
    rows = {"a": RANDOM.normal(size=N), "label": np.arange(N) % 2}
    files = [tmp_path / "named.csv", tmp_path / "repeated.csv"]
    for file, names in zip(files, (COUNTED, TWICE), strict=True):
        pa.csv.write_csv(pa.table({"customer_id": names, **rows}), file)
    beside = [found.data for found in read_together(files)]
    assert [one.ids is None for one in beside] == [False, True]
    for one, file in zip(beside, files, strict=True):
        assert one.content_hash() == read_together([file])[0].data.content_hash()
    edited = rows | {"customer_id": COUNTED, "a": rows["a"] + (np.arange(N) < 20)}
    change = compare(beside[0], read(pa.table(edited)))
    assert (change.by, change.counts["edited"], change.counts["new"]) == ("ids", 20, 0)


def test_sentences(tmp_path):
    def of(columns, options):
        return read(write(pa.table(columns), tmp_path / "a.parquet"), **options)

    def npz(arrays):
        np.savez(tmp_path / "a.npz", **arrays, allow_pickle=True)
        return read(tmp_path / "a.npz")

    gap = text(tmp_path, "a,c,y\n1,1,0\n2,,1\n3,3,1\n", "gap.csv")
    cases = [(npz, arrays) for arrays in NPZ] + [(read, frame) for frame in NO_FRAMES]
    cases += [(of, {"a": [1, 2], **extra, "y": [0, 1]}, options) for extra, options in CANNOT]
    cases += [lambda c=c, a=a: roles_of(c, **({"label": "label"} | a)) for c, a in ASKED]
    cases += [
        lambda r=r: read(gap, impute=True, **{r: "c"}, **({} if r == "label" else {"label": "y"}))
        for r in ("label", "group", "id", "weights")
    ]
    texts = {"none.doc": "a", "none.xls": "a", "twice.csv": "a,a,y\n1,2,0\n"}
    cases += [(read, text(tmp_path, content, name)) for name, content in texts.items()]
    (tmp_path / "empty").mkdir()
    all_refused("io", [*cases, (read, tmp_path / "none.csv"), (read, tmp_path / "empty")], tmp_path)


@pytest.mark.parametrize("orient", ["columns", "records", "split", "index", "table"])
def test_json_of_pandas_in_every_orient_that_names_columns(tmp_path, orient):
    """`DataFrame.to_json` writes columns of objects unless it is told otherwise."""
    frame = pd.DataFrame({"a": [1.5, 2.5, 3.5], "city": ["Ulm", "Bonn", "Ulm"], "label": [0, 1, 1]})
    frame.to_json(tmp_path / "t.json", orient=orient)
    found = read(tmp_path / "t.json", features="a,city")
    assert found.names == ("a", "city")
    assert found.X[:, 0].tolist() == [1.5, 2.5, 3.5]
    assert found.y.tolist() == [0, 1, 1]


def test_json_without_names_says_what_to_do(tmp_path):
    (tmp_path / "t.json").write_text("[[1, 2], [3, 4]]")
    told = refused(read, tmp_path / "t.json")
    assert "its rows are lists, which do not name their columns: write objects" in told


def test_weights_are_those_of_the_files_that_have_them(tmp_path):
    rows = [f"{i},{i % 2},{1 + i % 3}" for i in range(60)]
    (tmp_path / "d.csv").write_text("a,label,w\n" + "\n".join(rows[:30]))
    (tmp_path / "t.csv").write_text("a,label\n" + "\n".join(row[: row.rindex(",")] for row in rows[30:]))
    files = [tmp_path / "d.csv", tmp_path / "t.csv"]
    inputs = load_inputs(
        files, files[1], Reading(options={"weights": "w", "label": "label", "features": "a"})
    )
    assert inputs(files[0]).weights.tolist() == [1 + i % 3 for i in range(30)]
    assert inputs(files[1]).weights is None
    told = refused(load_inputs, files, files[1], Reading(options={"weights": "v", "label": "label"}))
    assert "weights= 'v' is no column of any file" in told or "weights 'v' is no column of any file" in told
