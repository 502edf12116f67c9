"""Scores of files that are read in passes: those of the same rows in memory, to a millionth of a nat."""

import json
import warnings

import numpy as np
import pyarrow as pa
import pytest

import dataworth as dw
from dataworth import limits
from dataworth.data import chance
from dataworth.data.io import align, files
from dataworth.data.io.notes import ReadingWarning
from dataworth.valuation import streamed
from streams import mixed, stream_of, two_classes, write
from worlds import refusal

pytestmark = pytest.mark.filterwarnings("ignore::dataworth.data.io.notes.ReadingWarning")


def agree(whole, passes):
    """The same score, but for rounding: features are kept in single precision."""
    assert passes.details.passes >= 3
    assert whole.details.passes is None
    assert passes.value == pytest.approx(whole.value, abs=1e-6)
    assert passes.interval == pytest.approx(whole.interval, abs=1e-6)
    assert np.allclose(passes.table.values, whole.table.values, rtol=1e-6, atol=1e-6, equal_nan=True)
    assert passes.table.tempering == whole.table.tempering
    assert passes.details.data_rows == whole.details.data_rows
    told = [note for note in passes.notes if "passes over the file" not in note]
    assert [one.partition(":")[0] for one in told] == [one.partition(":")[0] for one in whole.notes]


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numbers")
    rows, test = two_classes(700, 2), two_classes(160, 3)
    file = write(rows, folder / "rows.parquet", 300)
    _, yard = stream_of(two_classes(10, 2), folder / "few.parquet", test=two_classes(40, 1))
    asked = {"yardstick": yard}
    return file, rows, test, asked, dw.score(rows, test, **asked)


def test_numbers(numbers):
    file, _, test, asked, whole = numbers
    found = dw.score(file, test, stream=True, **asked)
    agree(whole, found)
    assert found.case is None
    seen = {check.code: check for check in found.checks}
    assert "a sample of the rows" in seen["DW003"].detail
    assert "not measured again" in seen["DW007"].detail
    assert json.loads(json.dumps(found.to_dict()))["passes"] == found.details.passes


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_directory_of_files(numbers, tmp_path, suffix):
    _, rows, test, asked, whole = numbers
    for i, (start, end) in enumerate([(0, 100), (100, 700)]):
        write(rows.slice(start, end - start), tmp_path / f"part-{i}{suffix}")
    agree(whole, dw.score(tmp_path, test, stream=True, **asked))


def test_numeric_labels(tmp_path):
    def of(table):
        return table.set_column(4, "label", [table["a0"].to_numpy() - table["a1"].to_numpy() ** 2])

    rows, test = of(two_classes(700, 2)), of(two_classes(160, 3))
    asked = {"prior_variance": 1.0, "ignore": "all"}
    file = write(rows, tmp_path / "a.csv")
    agree(dw.score(rows, test, **asked), dw.score(file, test, stream=True, **asked))


def test_what_does_not_fit_is_read_in_passes_without_being_asked(numbers, monkeypatch):
    file, _, test, asked, whole = numbers
    monkeypatch.setattr(limits, "free_memory", lambda: 50_000.0)
    monkeypatch.setattr(align, "SAMPLE", 300)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ReadingWarning)
        found = dw.score(file, dw.read(test), **asked)
    assert found.value == pytest.approx(whole.value, abs=1e-6)
    said = " ".join(str(one.message) for one in caught)
    assert "all rows are read, in several passes" in said
    assert "drawn at random" not in said
    # others cannot, and say what it would take
    assert "sample=" in refusal(dw.rank, {"a": file, "b": file}, dw.read(test))


def test_categories_texts_gaps_weights_and_copies_of_test_rows(tmp_path):
    rows, test = mixed(500, 4), mixed(150, 5)
    rows = pa.concat_tables([rows, test.slice(0, 4), rows.slice(0, 3)])
    asked = {"weights": "times", "impute": True}
    yard = dw.Yardstick.fit(dw.read(test, **asked), prior_variance=1.0, inference="laplace")
    asked |= {"yardstick": yard, "ignore": "all"}
    whole = dw.score(rows, test, **asked)
    assert any(note.startswith("4 test rows also in the data: 4 rows taken out") for note in whole.notes)
    for name in ("rows.parquet", "rows.csv"):
        agree(whole, dw.score(write(rows, tmp_path / name, 130), test, stream=True, **asked))


def test_ids_and_groups(tmp_path):
    """Three binary columns tell no row from another: ids do."""
    rng = np.random.default_rng(0)

    def table(n, first):
        X = rng.integers(0, 2, (n, 3))
        y = X @ [1, 1, -2] + rng.logistic(size=n) > 0
        columns = {f"a{j}": X[:, j] for j in range(3)}
        names = np.arange(first, first + n)
        return pa.table({**columns, "id": names, "who": names // 5, "label": y.astype(int)})

    rows, test = table(400, 0), table(160, 398)
    asked = {"group": "who", "ignore": "all", "prior_variance": 1.0, "inference": "laplace", "label": "label"}
    whole = dw.score(rows, test, **asked)
    assert whole.notes[0].startswith("2 test rows also in the data: 2 rows")
    found = dw.score(write(rows, tmp_path / "a.parquet", 90), test, stream=True, **asked)
    assert (found.value, found.details.data_rows) == (pytest.approx(whole.value, abs=1e-6), 398)
    assert found.notes[0].split(":")[0] == whole.notes[0].split(":")[0]
    groups = next(note for note in whole.notes if "of the test set" in note).split("; ")[-1]
    assert groups in found.notes[0]


def test_refusals(numbers, tmp_path, monkeypatch):
    """700 rows for five coefficients, 140 each."""
    _, rows, test, asked, _ = numbers
    file = write(pa.concat_tables([rows, test.slice(0, 9)]), tmp_path / "a.parquet")
    assert "9 of 160 test rows (6%) also stand in" in refusal(dw.score, file, test, stream=True, **asked)
    file, rows, test, asked, _ = numbers

    def of(**more):
        return refusal(dw.score, file, test, stream=True, **(asked | more))

    assert "drop one" in of(sample=10)
    assert "sample=" in of(form="product")
    assert "design whole" in of(pairs=20)
    assert "only score" in refusal(dw.audit, before=file, after=file, test=test, stream=True)
    several = rows.set_column(4, "label", [np.arange(len(rows)) % 3])
    tests = test.set_column(4, "label", [np.arange(len(test)) % 3])
    said = refusal(dw.score, write(several, tmp_path / "a.parquet"), tests, stream=True, prior_variance=1.0)
    assert "softmax" in said
    assert "sample=" in said
    assert "Parquet and text" in refusal(dw.score, rows, test, stream=True, **asked)
    gap = rows.set_column(0, "a0", [pa.array([None, *rows["a0"].to_pylist()[1:]], pa.float32())])
    said = refusal(dw.score, write(gap, tmp_path / "b.parquet"), test, stream=True, **asked)
    assert "missing values" in said
    file, _, test, asked, _ = numbers
    monkeypatch.setattr(streamed, "MANY", 141)
    assert "too few for passes" in refusal(dw.score, file, test, stream=True, **asked)


@pytest.mark.parametrize(("suffix", "where"), [(".csv", "rows 301 to 400"), (".parquet", "rows 281 to 400")])
def test_rows_are_counted_from_1_over_the_whole_file(tmp_path, monkeypatch, suffix, where):
    """Whatever parts it is read in: lines of a text a hundred at a time, row groups of 140."""
    rows, test = two_classes(400, 6), two_classes(100, 7)
    monkeypatch.setattr(align, "SAMPLE", 50)
    monkeypatch.setattr(files, "MAX_ROWS", 100 if suffix == ".csv" else 1000)

    def of(column, cell):
        cells = [str(value) for value in rows[column].to_pylist()]
        cells[389] = cell
        changed = rows.set_column(rows.column_names.index(column), column, [cells])
        path = write(changed, tmp_path / f"a{suffix}", 140)
        asked = {"stream": True, "prior_variance": 1.0, "ignore": "all"}
        return path, refusal(dw.score, path, test, **asked)

    path, said = of("a0", "blue")
    assert said.startswith(f"{path}, {where}: column 'a0' holds numbers, but 'blue' in data row 390:")
    path, said = of("label", "7")
    assert said.startswith(f"{path}, {where}: label '7' does not occur in the test set")


def test_different_rows_are_counted_without_keeping_them(monkeypatch):
    rng = np.random.default_rng(0)
    monkeypatch.setattr(chance, "SIZE", 2000)
    X = rng.standard_normal((30_000, 2))
    parts = np.split(np.vstack([X, X[:6000]]), 9)
    found = chance.Sketch.joined(chance.Sketch.of(dw.Dataset(p, np.zeros(len(p)))) for p in parts)
    # 2,000 of 30,000: 2.2 % standard error; beyond 4 of them once in 15,000 seeds
    assert found.full
    assert (found.rows, found.distinct) == (36_000, pytest.approx(30_000, rel=0.09))
    assert found.repeating == pytest.approx(12_000, rel=0.12)
    whole = np.arange(500.0)[:, None] % 100
    few = chance.Sketch.of(dw.Dataset(whole, np.zeros(500)))
    assert (few.distinct, few.repeating) == (100, 500)
