"""What else stands for a missing value, because somebody says so."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import dataworth as dw
from dataworth.cli.app import app
from dataworth.data.io import describe
from dataworth.data.io.inputs import Reading, load_inputs
from dataworth.data.io.notes import ReadingWarning

RNG = np.random.default_rng(3)
ROWS = 60
AGES = RNG.integers(18, 90, ROWS)
GONE = [3, 17, 40]


def written(path, marker, sep=";", encoding="latin-1"):
    """A file with three cells of a marker, one with a space; decimal commas beside it."""
    ages = [marker if i in GONE else str(age) for i, age in enumerate(AGES)]
    ages[17] = f" {marker}"
    lines = [f"{age}{sep}{i + 0.25:.2f}{sep}{'jä' if i % 2 else 'nö'}" for i, age in enumerate(ages)]
    text = "\n".join([sep.join(("Alter", "Wert", "label")), *lines]) + "\n"
    path.write_bytes((text.replace(".", ",") if sep == ";" else text).encode(encoding))
    return path


def ages_of(data):
    return data.X[:, data.names.index("Alter")]


@pytest.mark.parametrize("marker", ["xx", "-999"])
@pytest.mark.parametrize("form", ["csv", "parquet", "pandas"])
def test_cells_that_are_the_marker_are_missing(tmp_path, marker, form):
    source = written(tmp_path / "a.csv", marker)
    if form != "csv":
        frame = pd.read_csv(source, sep=";", encoding="latin-1", decimal=",")
        source = frame
        if form == "parquet":
            source = tmp_path / "a.parquet"
            frame.to_parquet(source)
    told = describe(source, missing=marker, impute=True)
    assert told.missing == {"Alter": 3}
    assert any(f"read as missing, as asked: 'Alter' ({marker!r}, 3 cells)" in note for note in told.notes)
    with warnings.catch_warnings(action="ignore", category=ReadingWarning):
        found = ages_of(dw.read(source, missing=["zz", marker], impute=True))
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(found)), GONE)
    np.testing.assert_array_equal(np.delete(found, GONE), np.delete(AGES, GONE))


def test_a_number_stands_for_a_missing_value_in_every_entry(tmp_path):
    paths = [written(tmp_path / f"{name}.csv", "-999") for name in "at"]
    found = load_inputs(paths, paths[1], Reading(options={"missing": -999, "impute": True}))
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(ages_of(found(paths[0])))), GONE)
    assert found.remarks == ()


def test_a_text_among_numbers_is_told_with_the_option_that_solves_it(tmp_path):
    path = written(tmp_path / "a.csv", "xx")
    (problem,) = describe(path).problems
    assert "'xx' in data row 4 (and in 2 more)" in problem
    assert "missing='xx'" in problem
    said = CliRunner().invoke(app, ["describe", str(path)]).output
    assert "--missing xx" in " ".join(said.split())
    assert "missing=" not in said
    done = CliRunner().invoke(app, ["describe", str(path), "--missing", "xx", "--impute"])
    assert "Problem" not in done.output


@pytest.mark.parametrize(("cell", "told"), [("3+", False), ("nein", True)])
def test_a_text_that_says_something_is_not_called_missing(cell, told):
    table = pa.table({"a": ["0", "1", "2", cell] * 10, "label": [0, 1] * 20})
    (note,) = [note for note in describe(table).notes if "mixes" in note]
    assert ("reads as missing" in note) == told


def test_a_command_says_what_took_effect(tmp_path):
    path = written(tmp_path / "a.csv", "xx")
    words = ["commit", str(path), "--missing", "xx", "--impute", "--key", "k" * 16]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0
    lines = done.stderr.splitlines()
    assert "dataworth: read as missing, as asked: 'Alter' ('xx', 3 cells); --missing says what is" in lines
    assert CliRunner().invoke(app, [*words, "-q"]).stderr == ""
