"""Data as people have it: one table written in many ways gives the same rows, and every decision is said."""

import datetime
import gzip
import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import dataworth as dw
from dataworth.data.convert import Column
from dataworth.data.io import ReadingWarning, describe, read, read_together
from dataworth.data.io.align import sentences
from dataworth.data.io.cells import best_reading, to_instants, to_numbers
from worlds import refusal

RNG = np.random.default_rng(0)
PRICE = (RNG.random(60) * 5000 + 1000).round(2)
SIZE = RNG.normal(170, 10, 60).round(1)
CITY = RNG.choice(["Köln", "Ulm", "Bonn"], 60)
CHURN = RNG.choice(["yes", "no"], 60)
FRAME = pd.DataFrame({"price": PRICE, "size": SIZE, "city": CITY, "churn": CHURN})
TRUTH = dw.Dataset(FRAME[["price", "size", "city"]], CHURN)


def heard(source, **options):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ReadingWarning)
        D = read(source, **({"label": "churn"} | options))
    start = f"{source}: "
    return D, [str(one.message).removeprefix(start) for one in said]


def written(tmp_path, name="a.csv", frame=FRAME, encoding="utf-8", **options):
    path = tmp_path / name
    path.write_bytes(frame.to_csv(index=False, **options).encode(encoding))
    return path


def text(tmp_path, content, name="a.csv"):
    (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path / name


def german(values, places=2):
    """1234.5 as 1.234,50."""
    return [f"{v:,.{places}f}".translate(str.maketrans(".,", ",.")) for v in values]


FILES = {
    "plain": ({}, []), "semicolons": ({"sep": ";"}, ["separated by ';'; sep="]),
    "tabs": ({"sep": "\t"}, ["separated by tabs; sep="]), "pipes": ({"sep": "|"}, ["separated by '|'; sep="]),
    "Latin-1": ({"encoding": "latin-1"}, ["read as cp1252: 'Köln'; encoding="]),
    "UTF-16": ({"encoding": "utf-16"}, ["read as utf-16: 'Köln'; encoding="]),
    "a mark of UTF-8": ({"encoding": "utf-8-sig"}, []),
    "tabs in .txt": ({"sep": "\t", "name": "a.txt"}, ["separated by tabs; sep="]),
    "quotes and CRLF": ({"quoting": 1, "lineterminator": "\r\n"}, []),
}  # fmt: skip


def told(said, *parts):
    return len(said) == len(parts) and all(part in note for note, part in zip(said, parts, strict=True))


@pytest.mark.parametrize("name", FILES)
def test_every_way_of_writing_a_file_gives_the_same_rows_and_is_said(tmp_path, name):
    options, notes = FILES[name]
    D, said = heard(written(tmp_path, **options))
    assert D.content_hash() == TRUTH.content_hash()
    assert told(said, *notes)


COLUMNS = {
    "decimal commas": (";", [f"{v:.2f}".replace(".", ",") for v in PRICE]),
    "German thousands": (";", german(PRICE)),
    "English thousands": (",", [f"{v:,.2f}" for v in PRICE]),
    "dollars": (",", [f"${v:,.2f}" for v in PRICE]),
    "euros behind": (";", [f"{one} €" for one in german(PRICE)]),
    "Swiss": (",", [f"CHF {v:,.2f}".replace(",", "’") for v in PRICE]),
    "spaces": (",", [f"{v:,.2f}".replace(",", "\u202f") for v in PRICE]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_numbers_written_as_text_are_read_exactly_and_said(tmp_path, name):
    sep, cells = COLUMNS[name]
    frame, note = FRAME.assign(price=cells), f"'price' ({cells[0]!r} is {PRICE[0]:.12g}); categorical="
    for source in (written(tmp_path, frame=frame, sep=sep), frame):
        D, said = heard(source)
        assert D.content_hash() == TRUTH.content_hash()
        assert note in said[-1]
    _, said = heard(written(tmp_path, frame=frame, sep=sep), categorical="price")
    assert not any("'price'" in note for note in said)


def number(cell, mark="."):
    cells = pa.array([cell])
    found = best_reading(cells, "number")
    return to_numbers(cells, found.how or mark, found.signs)[0].as_py()


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("12.3%", 12.3), ("−5", -5), ("-$5", -5), ("5,00 €", 5), ("1'234.5", 1234.5), ("1,5e3", 1500),
        (".5", 0.5), ("5.", 5), ("1.234.567", 1234567), ("0,125", 0.125), ("1234,567", 1234.567),
        ("abc", None), ("1_000", None), ("1.2.3", None), ("1,23,4", None), ("12:30", None), ("", None),
        ("2021-01-02", None), ("12b", None), ("--5", None), ("(5", None), ("12 kg", None),
    ],
)  # fmt: skip
def test_cells_that_prove_what_they_are(cell, value):
    assert {number(cell, mark) for mark in ".,"} == {value}


def test_codes_and_units_are_text(tmp_path):
    frame = FRAME.assign(size=[f"{v} kg" for v in SIZE])
    _, said = heard(written(tmp_path, frame=frame), exclude="price")
    line = "frame['size'] = frame['size'].str.removesuffix('kg').str.strip().astype(float)"
    assert [line in note for note in said] == [True]
    exec(line)
    assert frame["size"].tolist() == SIZE.tolist()
    path = text(tmp_path, "zip,churn\n01234,0\n89073,1\n")
    D, said = heard(path)
    assert D.columns[0].categories == ("01234", "89073")
    assert ["leading zeros, such as '01234'" in note for note in said] == [True]
    D, said = heard(path, numeric="zip")
    assert (D.X.ravel().tolist(), said) == ([1234, 89073], [])


@pytest.mark.parametrize(
    ("content", "option", "values"),
    [
        ('a,churn\n"1,234",0\n"5,678",1\n', "decimal", {".": [1234, 5678], ",": [1.234, 5.678]}),
        ("a;b;churn\n1.234;7;0\n5.678;8;1\n", "decimal", {".": [1.234, 5.678], ",": [1234, 5678]}),
        ("a,churn\n03/04/2021,0\n03/05/2021,1\n", "dayfirst", {False: [18690, 18691], True: [18720, 18750]}),
    ],
)
def test_what_a_column_leaves_open_is_asked(tmp_path, content, option, values):
    path = text(tmp_path, content)
    said = refusal(dw.read, path, label="churn")
    for way, expected in values.items():
        assert f"{option}={way!r}" in said
        assert heard(path, **{option: way})[0].X[:, 0].tolist() == expected


def test_what_one_cell_proves_holds_for_its_column_and_for_its_file(tmp_path):
    D, _ = heard(text(tmp_path, "a,churn\n" + '"1.234",0\n"1.234,50",1\n'))
    assert D.X.ravel().tolist() == [1234, 1234.5]
    D, said = heard(text(tmp_path, "a;b;churn\n1.234;1,5;0\n5.678;2,25;1\n"))
    assert D.X.tolist() == [[1234, 1.5], [5678, 2.25]]
    assert told(said, "';'", "'a' ('1.234' is 1234)", "'b' ('1,5' is 1.5)")
    late = text(tmp_path, "a,b,churn\n" + "5,1.234,0\n" * 40_000 + '"5,25",1.234,1\n')
    D, said = heard(late)  # far behind the beginning that is looked at
    assert D.X[-1].tolist() == [5.25, 1234]
    assert told(said, "'a' ('5,25' is 5.25)", "'b' ('1.234' is 1234)")
    both = text(tmp_path, "a;b;churn\n1.5;1,5;0\n2.25;2,25;1\n")
    assert heard(both)[0].X.tolist() == [[1.5, 1.5], [2.25, 2.25]]


@pytest.mark.parametrize(
    ("rows", "asked"),
    [
        ("3,5;1,234;7;0\n4,25;5,678;8;1\n", "."),  # would be 3.5 beside 1234
        ("3,5;1.234;7;0\n4,25;5.678;8;1\n", "."),  # 3.5 beside 1.234, which German files write for 1234
        ("3.5;1.234;7;0\n4.25;5.678;8;1\n", ","),
    ],
)
def test_a_decimal_mark_that_the_file_contradicts_is_refused(tmp_path, rows, asked):
    path = text(tmp_path, f"a;b;c;churn\n{rows}")
    found = rows[1]
    said = refusal(dw.read, path, label="churn", decimal=asked)
    assert f"such as {rows[:3]!r}, but decimal={asked!r} was said: say decimal={found!r}" in said
    assert list(describe(path, label="churn", decimal=asked).problems) == [said.partition(": ")[2]]
    assert heard(path, decimal=found)[0].X[:, 0].tolist() == [3.5, 4.25]
    left = heard(path, decimal=asked, categorical="a")[0]  # nothing against it is left
    assert left.X[0, 1] in (1.234, 1234)


def test_two_currencies_have_no_common_number_and_it_is_said(tmp_path):
    D, said = heard(text(tmp_path, "a,churn\n$5,0\n€6,1\n$7,0\n"))
    assert D.columns[0].kind == "categorical"
    assert told(said, "read as text: 'a' (is in $ and €); numeric=")


def test_digits_that_a_frame_calls_text_are_categories_unless_there_are_many():
    few = pd.DataFrame({"a": [str(i % 50) for i in range(200)], "churn": [0, 1] * 100})
    assert heard(few)[0].columns[0].kind == "categorical"
    assert any("holds whole numbers as text" in note for note in describe(few, label="churn").notes)
    many = pd.DataFrame({"a": [str(i % 51) for i in range(200)], "churn": [0, 1] * 100})
    D, said = heard(many)
    assert D.X[:3].ravel().tolist() == [0, 1, 2]
    assert told(said, "numbers written as text: 'a' ('0' is 0)")


def test_tokens_among_numbers_are_missing_values(tmp_path):
    cells = ["1.234,50 €", "58,20 €", "k.A.", "7,00 €"] * 5
    found, said = heard(pa.table({"a": cells, "churn": [0, 1] * 10}), impute=True)
    assert told(said, "'a' ('1.234,50 €' is 1234.5)", "taken for missing: 'a' ('k.A.', 5 cells)")
    np.testing.assert_array_equal(found.X[:4, 0], [1234.5, 58.2, np.nan, 7.0])
    path = text(tmp_path, "a,churn\n" + "".join(f"{i / 4},{i % 2}\n" for i in range(50)) + "?,0\n-,1\n")
    D, said = heard(path, impute=True)
    assert np.isnan(D.X[-2:]).all()
    assert told(said, "taken for missing: 'a' ('-', '?', 2 cells)")
    assert "?" in heard(path, categorical="a", features="a")[0].columns[0].categories


def test_a_first_row_of_data_is_no_header(tmp_path):
    path = written(tmp_path, header=False)
    assert "say header='no' if it is data" in refusal(dw.read, path, label="column 4")
    frame = FRAME.set_axis([f"column {j}" for j in range(1, 5)], axis=1)
    D = heard(path, label="column 4", header=False)[0]
    assert D.content_hash() == read(frame, label="column 4").content_hash()
    whole = text(tmp_path, "63,male,1\n45,female,0\n50,male,1\n")
    assert "the first row has '63'" in refusal(dw.read, whole)
    assert heard(whole, label="1", header=True)[0].X[:, 0].tolist() == [45, 50]
    D, said = heard(text(tmp_path, "0,1,churn\n5,6,0\n6,7,1\n"))
    assert (D.names, said) == (("0", "1"), [])


@pytest.mark.parametrize(
    ("content", "X"),
    [
        ("sep=;\na;churn\n5;0\n6;1\n", [[5], [6]]),
        ('"a","churn"\n"1",5,0\n"2",6,1\n', [[5], [6]]),  # row names, as R writes them
        ("a,churn,\n5,0,\n6,1,\n", [[5], [6]]),  # a mark at the end of every line
        ('\r\n"the\r\na",churn\r\n5,0\r\n6,1\r\n', [[5], [6]]),
    ],
)
def test_headers_of_other_programs(tmp_path, content, X):
    D, said = heard(text(tmp_path, content))
    assert (D.X.tolist(), said) == (X, [])


def test_what_is_not_guessed_says_what_helps(tmp_path):
    lined = text(tmp_path, FRAME.to_string(index=False), "a.txt")
    assert "give the frame pandas.read_csv(file, sep=r'\\s+')" in refusal(dw.read, lined)
    unmarked = written(tmp_path, encoding="utf-16-le")
    assert "say encoding='utf-16-le'" in refusal(dw.read, unmarked)
    assert heard(unmarked, encoding="utf-16-le")[0].content_hash() == TRUTH.content_hash()
    path = written(tmp_path, sep=";", encoding="cp1252")
    assert heard(path, sep=";", encoding="cp1252")[1] == []
    assert heard(path, sep="semicolon", encoding="latin-1")[0].content_hash() == TRUTH.content_hash()
    assert "this is not utf-8 text" in refusal(read, path, encoding="utf-8")
    assert "there is no encoding 'klingon'" in refusal(read, path, encoding="klingon")
    for name, wrong in {"sep": ";;", "decimal": "x", "dayfirst": "ymd", "header": "perhaps"}.items():
        assert f"{name} is " in refusal(read, path, **{name: wrong})


@pytest.mark.parametrize(
    "cells",
    [
        ["2021-04-03", "2021-12-24"], ["3.4.2021", "24.12.2021"], ["03/04/2021", "24/12/2021"],
        ["04/03/2021", "12/24/2021"], ["Apr 3, 2021", "December 24, 2021"], ["3-Apr-21", "24-Dec-21"],
    ],
)  # fmt: skip
def test_dates_become_numbers(tmp_path, cells):
    body = "".join(f'"{cell}",{i % 2}\n' for i, cell in enumerate(cells))
    D, said = heard(text(tmp_path, "when,churn\n" + body))
    assert D.names == ("when[elapsed]", "when[day]", "when[weekday]")
    days = [datetime.date(2021, 4, 3), datetime.date(2021, 12, 24)]
    assert D.X[:, 0].tolist() == [(day - datetime.date(1970, 1, 1)).days for day in days]
    assert D.X[:, 1].tolist() == [day.timetuple().tm_yday for day in days]
    assert [D.columns[2].categories[int(c)] for c in D.X[:, 2]] == [f"{day:%a}" for day in days]
    plain = cells[0] == "2021-04-03"
    assert ["is 2021-04-03); exclude=" in note for note in said] == [True] * (not plain)


def test_hours_count_and_what_is_no_date(tmp_path):
    D, _ = heard(text(tmp_path, "when,churn\n04/03/2021 2:15 pm,0\n04/23/2021 00:00,1\n"))
    assert D.names[-1] == "when[hour]"
    assert D.X[:, -1].tolist() == [14.25, 0]
    stamps = pd.DataFrame({"when": pd.to_datetime(["2021-04-03 14:15", "2021-04-23 00:00"]), "churn": [0, 1]})
    assert read(stamps, label="churn").content_hash() == D.content_hash()
    cells = pa.array(["1.2.3", "13/13/2021", "2021-02-30", "12:30", "April", "3 Foo 2021"])
    assert [to_instants(cells, order).null_count for order in ("dmy", "mdy")] == [6, 6]


def test_short_texts_that_differ_in_most_rows_are_left_out(tmp_path):
    numbers = RNG.permutation(10**6)[:60]
    D, said = heard(written(tmp_path, frame=FRAME.assign(ref=[f"X{n}" for n in numbers])))
    assert D.content_hash() == TRUTH.content_hash()
    assert told(said, "left out: 'ref' (it seems to name the rows); features=")


def test_labels_in_several_spellings_are_one(tmp_path):
    ways = [str.upper if i % 20 == 0 else "{} ".format if i % 7 == 0 else str for i in range(60)]
    spelled = [way(one) for way, one in zip(ways, CHURN, strict=True)]
    D, said = heard(written(tmp_path, frame=FRAME.assign(churn=spelled)))
    assert D.content_hash() == TRUTH.content_hash()
    assert said[0].startswith("labels that differ only in case or spaces are one: ")
    assert said[0].endswith("(3 rows); no_label_normalization=True keeps them apart")
    frame, keeps = FRAME.assign(churn=spelled), "no_label_normalization=True keeps them apart"
    assert heard(frame)[1][0].endswith(f"(11 rows); {keeps}")
    assert len(set(heard(written(tmp_path, frame=frame), no_label_normalization=True)[0].y)) > 2
    letters, said = heard(text(tmp_path, "a,churn\n1,a\n2,A\n"))
    assert (letters.y.tolist(), said) == (["a", "A"], [])


def together(tmp_path, *contents, **options):
    files = [text(tmp_path, content, f"{i}.csv") for i, content in enumerate(contents)]
    found = read_together(files, lead=0, **({"label": "y"} | options))
    assert sentences(found) == []
    return [one.data for one in found], [[str(note) for note in one.notes if not note.plain] for one in found]


def test_a_column_is_one_thing_in_all_files(tmp_path):
    zeros, none = "z,b,y\n01234,1,0\n54321,2,1\n", "z,b,y\n12345,1,0\n54321,2,1\n"
    (T, D), _ = together(tmp_path, zeros, none)
    assert (T.columns[0].categories, D.columns[0].categories) == (("01234", "54321"), ("12345", "54321"))
    (T, D), _ = together(tmp_path, none, zeros)
    assert (T.X[:, 0].tolist(), D.X[:, 0].tolist()) == ([12345, 54321], [1234, 54321])
    (T, D), notes = together(tmp_path, "a,c,y\n1,DE,0\n2,DE,1\n", "a,c,y\n1,DE,0\n2,FR,1\n")
    assert T.names == D.names == ("a",)
    assert notes == [["left out: 'c' (it is constant in the test set); features= uses it"]] * 2
    (T, D), _ = together(tmp_path, "a,c,y\n1,DE,0\n2,FR,1\n", "a,c,y\n1,DE,0\n2,DE,1\n")
    assert T.names == D.names == ("a", "c")
    columns = [Column("zip", "categorical", ("01234",)), Column("b", "numeric")]
    file = text(tmp_path, "zip,b,y\n12345,1,0\n54321,2,1\n")
    (found,) = read_together([file], columns=columns, label="y")
    assert [column.kind for column in found.data.columns] == ["categorical", "numeric"]
    dated = text(tmp_path, "b,y\n2021-04-03,0\n2021-04-04,1\n", "t.csv")
    (problem,) = sentences(read_together([dated, file], lead=0, label="y", features="b"))
    assert problem.startswith(f"{file}: column 'b' holds numbers, but dates elsewhere")


def test_the_test_set_never_follows_the_data(tmp_path):
    """What it leaves open is refused until somebody says; data that leave it open follow the test set."""
    opens, proves = 'a,y\n"1,234",0\n"5,678",1\n', 'a,y\n"58,20",0\n"1,234",1\n'
    (T, _), _ = together(tmp_path, opens, proves, decimal=",")
    assert T.X.tolist() == [[1.234], [5.678]]
    (_, D), _ = together(tmp_path, proves, opens)
    assert D.X.tolist() == [[1.234], [5.678]]
    days = "a,y\n03/04/2021,0\n03/05/2021,1\n", "a,y\n23/04/2021,0\n03/04/2021,1\n"
    (T, D), _ = together(tmp_path, *days, dayfirst=True)
    assert T.X[0, 0] == D.X[1, 0] == (datetime.date(2021, 4, 3) - datetime.date(1970, 1, 1)).days
    for contents, word in (((opens, proves), "decimal=','"), (days, "dayfirst=True")):
        files = [text(tmp_path, content, f"{i}.csv") for i, content in enumerate(contents)]
        (problem,) = sentences(read_together(files, lead=0, label="y"))
        assert problem.startswith(f"{files[0]}: ")
        assert word in problem


def test_frames_go_straight_into_measurements():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(160, 2)).round(3)).assign(churn=lambda f: (f[0] > 0).astype(int))
    data, test = frame[:100], frame[100:]
    plain = [dw.Dataset(part[[0, 1]], part["churn"]) for part in (data, test)]
    options = {"yardstick": dw.Yardstick.fit(plain[1], prior_variance=1.0), "ignore": "all"}
    expected = dw.score(*plain, **options)
    assert dw.score(data, test, label="churn", **options).value == expected.value
    polars = pl.DataFrame(data.set_axis(["0", "1", "churn"], axis=1))
    assert dw.score(polars, plain[1], label="churn", **options).value == expected.value
    numbered = frame.set_axis([0, 1, 2], axis=1)
    assert dw.score(numbered[:100], numbered[100:], label=2, **options).value == expected.value
    ranked = dw.rank({"all": data, "few": data[:20]}, test=test, label="churn", **options)
    assert {one.name: one.value for one in ranked}["all"] == pytest.approx(expected.value)
    assert "no label column 'chrun': did you mean 'churn'" in refusal(dw.score, data, test, label="chrun")
    assert "no option 'label' of score" in refusal(dw.score, *plain, label="churn")
    from sklearn.datasets import load_iris

    mixed = FRAME.assign(price=[str(p) if i % 3 else p for i, p in enumerate(PRICE)])
    assert "frame['price'].astype(str)" in refusal(dw.read, mixed, label="churn")
    assert heard(mixed.assign(price=mixed["price"].astype(str)))[0].content_hash() == TRUTH.content_hash()
    assert "collect() it" in refusal(dw.read, pl.LazyFrame(FRAME), label="churn")
    assert "as_frame=True" in refusal(dw.read, load_iris())
    assert read(load_iris(as_frame=True).frame).X.tolist() == load_iris().data.tolist()
    D, said = heard(FRAME.set_index(pd.Index(range(5, 65), name="when")))
    assert D.content_hash() == TRUTH.content_hash()
    assert said == ["the index 'when' of the frame is not used; frame.reset_index() makes it a column"]
    assert heard(FRAME[FRAME.price > 0])[1] == []


def test_a_sheet_of_a_workbook(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "a.xlsx"
    with pd.ExcelWriter(path) as book:
        FRAME.to_excel(book, sheet_name="data", index=False)
        FRAME[:5].to_excel(book, sheet_name="other", index=False)
    D, said = heard(path)
    assert D.content_hash() == TRUTH.content_hash()
    assert said == ["sheet 'data' is read, and not 'other'; sheet= changes that"]
    assert len(heard(path, sheet="other")[0]) == 5
    assert "there is no sheet 'x' among 'data', 'other'" in refusal(read, path, sheet="x")


def test_directories_shards_and_saved_datasets(tmp_path):
    for i in range(3):
        FRAME[20 * i : 20 * i + 20].to_csv(tmp_path / f"part-{i}.csv", index=False)
    for source in (tmp_path, tmp_path / "part-*.csv", str(tmp_path / "part-?.csv")):
        assert read(source, label="churn").content_hash() == TRUTH.content_hash()
    packed = tmp_path / "packed"
    packed.mkdir()
    (packed / "a.csv.gz").write_bytes(gzip.compress((tmp_path / "part-0.csv").read_bytes()))
    assert len(read(packed, label="churn")) == 20
    text(tmp_path, "price,churn\n1,yes\n", "part-9.csv")
    differ = "part-0.csv and part-9.csv differ in columns 'city', 'size'"
    assert differ in refusal(read, tmp_path / "part-*.csv", label="churn")
    assert "there is no such file" in refusal(read, tmp_path / "nothing-*.csv")
    saved(tmp_path / "one", FRAME)
    assert read(tmp_path / "one", label="churn").content_hash() == TRUTH.content_hash()
    for split in ("train", "test"):
        saved(tmp_path / "both" / split, FRAME)
        (tmp_path / "flat").mkdir(exist_ok=True)
        FRAME.to_parquet(tmp_path / "flat" / f"{split}-0.parquet")
    for place in ("both", "flat"):
        assert "of the splits test, train: name those of one" in refusal(dw.read, tmp_path / place)
    assert read(tmp_path / "both/train", label="churn").content_hash() == TRUTH.content_hash()


def saved(directory, frame):
    """As Dataset.save_to_disk writes it, with a cache beside it."""
    directory.mkdir(parents=True)
    for name, rows in (("data-00000-of-00001.arrow", frame), ("cache-1.arrow", frame[:5])):
        table = pa.Table.from_pandas(rows, preserve_index=False)
        with pa.OSFile(str(directory / name), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write(table)


def test_what_hugging_face_says_of_a_table_counts(tmp_path):
    features = {"label": {"names": ["neg", "pos"], "_type": "ClassLabel"}, "a": {"_type": "Value"}}
    table = pa.table({"a": [1, 2, 3], "label": [1, 0, 1]})
    table = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet").y.tolist() == ["pos", "neg", "pos"]
    unlabelled = table.set_column(1, "label", pa.array([1, -1, 7]))  # none, and one that has no name
    assert "the label column 'label' has 2 missing values" in refusal(dw.read, unlabelled)
    hugging_face = pytest.importorskip("datasets", reason="datasets is in the extra hf")
    table, rows = hugging_face.Dataset.from_pandas(FRAME, preserve_index=False), [3, 1, 2]
    assert read(table, label="churn").content_hash() == TRUTH.content_hash()
    assert read(table.select(rows), label="churn").content_hash() == TRUTH.take(rows).content_hash()
    both = hugging_face.DatasetDict(train=table.select(rows))
    assert len(read(both, label="churn")) == 3
    both["test"] = table
    assert "holds the splits 'train', 'test': give one" in refusal(read, both)


# What else stands for a missing value, because somebody says so

ROWS = 60
AGES = RNG.integers(18, 90, ROWS)
GONE = [3, 17, 40]


def marked(path, marker):
    """A file with three cells of a marker, one with a space; decimal commas beside it."""
    ages = [marker if i in GONE else str(age) for i, age in enumerate(AGES)]
    ages[17] = f" {marker}"
    lines = [f"{age};{i},25;{'jä' if i % 2 else 'nö'}" for i, age in enumerate(ages)]
    path.write_bytes("\n".join(["Alter;Wert;label", *lines, ""]).encode("latin-1"))
    return path


@pytest.mark.parametrize("marker", ["xx", "-999"])
@pytest.mark.parametrize("form", ["csv", "parquet", "pandas"])
def test_cells_that_are_the_marker_are_missing(tmp_path, marker, form):
    source = marked(tmp_path / "a.csv", marker)
    if form != "csv":
        source = pd.read_csv(source, sep=";", encoding="latin-1", decimal=",")
    if form == "parquet":
        source.to_parquet(tmp_path / "a.parquet")
        source = tmp_path / "a.parquet"
    told = describe(source, na_values=marker, impute=True)
    assert told.missing == {"Alter": 3}
    assert any(f"read as missing, as asked: 'Alter' ({marker!r}, 3 cells)" in note for note in told.notes)
    with warnings.catch_warnings(action="ignore", category=ReadingWarning):
        data = dw.read(source, na_values=["zz", marker], impute=True)
    found = data.X[:, data.names.index("Alter")]
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(found)), GONE)
    np.testing.assert_array_equal(np.delete(found, GONE), np.delete(AGES, GONE))
