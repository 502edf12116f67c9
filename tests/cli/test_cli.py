"""What commands print, read and write, on files as people have them."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import dataworth as dw
from commands import call, measured, process, refused, run
from dataworth.valuation.values.guard import save_values


def test_a_pipe_gets_no_colours_and_eighty_columns(folder):
    """And a threshold on one column is recycled: the data's own models find every wrong label."""
    words = ("--test", "test.csv", "--yardstick", "y.json", "--ignore", "all")
    code, out, _ = run("audit", "raw.csv", "clean.csv", *words, cwd=folder)
    assert (code, out.partition(":")[0], "\x1b" in out) == (0, "recycled", False)
    assert all(len(line) <= 80 for line in out.splitlines())


def test_row_numbers_are_said_once_for_all_files(inside, tmp_path):
    for name in ("clean", "test"):
        table = pa.csv.read_csv(f"{name}.csv")
        numbers = pa.array(range(1, len(table) + 1))
        pa.csv.write_csv(table.append_column("rownames", numbers), tmp_path / f"{name}.csv")
    files = [str(tmp_path / f"{name}.csv") for name in ("clean", "test")]
    words = ("score", files[0], "--test", files[1], "--yardstick", "y.json", "--label", "target", "--json")
    _, out, err = call(*words)
    numbered = f'column "rownames" only numbers the rows in {", ".join(files)}'
    assert err == f"dataworth: {numbered}; say --features to use it\n"
    assert json.loads(out)["value"] == json.loads(measured("score", "clean.csv", "--json")[1])["value"]


def test_a_column_that_numbers_the_rows_of_one_file_is_left_out_of_all(inside, tmp_path):
    """The data are rows 1 … n of a table, the test set rows after them: a number is no feature in either."""
    paths = tmp_path / "d.csv", tmp_path / "t.csv"
    for path, source, start in zip(paths, ("clean.csv", "test.csv"), (1, 500), strict=True):
        table = pa.csv.read_csv(source)
        numbers = pa.array(range(start, start + len(table)))
        pa.csv.write_csv(table.append_column("row", numbers), path)
    numbered, plain = (
        call("score", data, "--test", test, "--label", "target", "-q", "--ignore", "all")
        for data, test in (paths, ("clean.csv", "test.csv"))
    )
    assert (numbered, plain[0]) == (plain, 0)


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("b", [], "the rows lack column 'b', which the test set has"),
        ("b", ["u", "v"], "column 'b' is categorical, but numeric in the test set"),
        ("target", [0, 7], "label '7'"),
    ],
)
def test_refusals_of_columns_and_labels_name_the_file(inside, tmp_path, name, values, words):
    table, path = pa.csv.read_csv("clean.csv").drop_columns(name), tmp_path / "d.csv"
    if values:
        table = table.append_column(name, pa.array(values * (len(table) // 2)))
    pa.csv.write_csv(table, path)
    sentence = refused(call("audit", "raw.csv", path, "--test", "test.csv", "--label", "target"))
    assert sentence.startswith(f"dataworth: {path}")
    assert words in sentence
    assert "the test set" in sentence


def test_a_reader_who_leaves_is_no_error(folder):
    child = process("score", "clean.csv", "--test", "test.csv", "--yardstick", "y.json", cwd=folder)
    child.stdout.close()
    err = child.stderr.read()
    child.stderr.close()
    assert child.wait(timeout=60) == 141
    assert "Error" not in err


def test_a_yardstick_is_the_librarys_and_says_where_it_is(inside, tmp_path):
    saved, words = tmp_path / "y.json", ("yardstick", "test.csv", "--label", "target", "--prior-variance", 1)
    assert call(*words)[2] == "dataworth: nothing was saved: -o FILE saves the yardstick\n"
    code, out, err = call(*words, "-o", saved)
    assert code == 0
    assert "Held out" in out
    assert f"yardstick written to {saved}" in err
    assert f"its key, which stays with you, written to {tmp_path / 'y.key.json'}" in err
    made, told = (json.loads(path.read_text()) for path in (inside / "y.json", saved))
    for name in ("test_hash", "checksum"):
        assert told.pop(name) != made.pop(name)  # under a key of its own
    assert (told, call("yardstick", "test.csv", "--verify", saved, "-q")[0]) == (made, 0)
    assert "cannot be written, for there is no directory" in refused(call(*words, "-o", "no/y.json"))
    outcome = call("score", "clean.csv", "--test", "test.csv", "--yardstick", "raw.csv", "--label", "target")
    assert "'raw.csv' is not a yardstick" in refused(outcome)


def test_a_spreadsheet_runs_no_name_of_a_file_or_row(inside, tmp_path, monkeypatch):
    lines = Path("raw.csv").read_text().splitlines()
    lines = [f"{line},{'who' if i == 0 else f'=cmd({i})'}" for i, line in enumerate(lines)]
    (tmp_path / "=cmd().csv").write_text("\n".join(lines) + "\n")
    words = ("--test", inside / "test.csv", "--yardstick", inside / "y.json", "--label", "target", "-q")
    monkeypatch.chdir(tmp_path)
    ranked = call("rank", "=cmd().csv", inside / "half.csv", *words, "--exclude", "who", "--csv", "r.csv")
    assert ranked[0] == 0
    arms = [line.split(",")[1] for line in Path("r.csv").read_text().splitlines()[1:]]
    assert {*arms} == {"'=cmd()", "half"}
    data = dw.read("=cmd().csv", label="target", id="who")
    found = dw.values(data, dw.read(inside / "test.csv", label="target"), prior_variance=1.0)
    save_values(found, tmp_path / "v.csv")
    assert "\n1,'=cmd(1)," in Path("v.csv").read_text()


def test_an_audit_finds_the_file_of_values_beside_the_data(inside, tmp_path, monkeypatch):
    for name in ("raw.csv", "test.csv"):
        (tmp_path / name).write_bytes((inside / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    words = ("--test", "test.csv", "--yardstick", inside / "y.json", "--label", "target", "-q")
    assert call("values", "raw.csv", *words, "-o", "values.parquet")[0] == 0
    table = pyarrow.parquet.read_table("values.parquet")
    told = ["row", "label", "suggested"]
    assert table.column_names == [*told, "value", "stderr", "loo_log_likelihood", "p_mislabeled", "harmful"]
    wrong = table.column("p_mislabeled").to_pylist()
    kept = sorted(sorted(range(len(wrong)), key=lambda i: wrong[i])[:-12])
    pyarrow.csv.write_csv(pyarrow.csv.read_csv("raw.csv").take(kept), "fewer.csv")
    code, _, err = call("audit", "raw.csv", "fewer.csv", *words)
    assert code == 2
    assert "values.parquet more than chance explains" in err
    assert "--sample-splitting, which leaves half" in err
    assert call("values", "raw.csv", *words, "--sample-splitting", "-o", "values.parquet")[0] == 0
    code, out, _ = call("audit", "raw.csv", "fewer.csv", *words[:-1], "--values", "values.parquet", "--json")
    assert code == 0
    assert "test rows that had no say in" in " ".join(json.loads(out)["notes"])
