"""What commands print, read and write, on files as people have them."""

import csv
import json
import re
import sys
import types

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import dataworth as dw
from commands import MEASURING, call, measured, process, refused, run
from dataworth.valuation.demo import Chapter, Demo


def test_score_in_a_process(folder):
    code, out, err = run("score", "clean.csv", "--test", "test.csv", "--json", cwd=folder)
    assert code == 0
    result = json.loads(out)
    assert result["schema"] == "dataworth/score/1"
    assert result["interval"][0] < result["value"] < result["interval"][1]
    assert result["stderr"] > 0
    assert [line for line in err.splitlines() if not line.endswith("…")] == [
        'dataworth: label column "target" guessed in clean.csv, test.csv; say --label to choose',
    ]


def test_audit_in_a_process_shows_the_rise_and_what_it_is_made_of(folder):
    code, out, _ = run(
        "audit", "raw.csv", "clean.csv", "--test", "test.csv", "--yardstick", "y.json", cwd=folder
    )
    assert code == 0
    assert out.startswith("recycled: "), "a threshold on one column: its own models find every wrong label"
    assert "106 kept, 54 removed" in out
    assert "of it, the data's own models, nats" in out
    assert "of it, only from outside, nats" in out
    assert "more probability on the right answer" in " ".join(out.split())
    assert "\x1b" not in out, "colours in a pipe"
    assert all(len(line) <= 80 for line in out.splitlines())


@pytest.mark.parametrize("command", ["score", "audit", "rank"])
def test_clipping(inside, tmp_path, command):
    """The result is of clipped values and says so, the table of raw ones."""
    files = ["clean.csv"] if command == "score" else ["raw.csv", "clean.csv"]
    words = (command, *files, "--winsorise", "0.5", "--csv", tmp_path / "rows.csv", "--json")
    code, out, _ = measured(*words)
    result = json.loads(out)
    assert code == 0
    assert (result["clipping"]["rule"], result["clipping"]["bound"]) == ("winsorise", 0.5)
    with (tmp_path / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    beyond = sum(abs(float(row["pmi"])) > 0.5 for row in rows)
    assert 0 < beyond == result["clipping"]["changed"]
    assert any(n.startswith(f"winsorised at ±0.5 nats: {beyond} of {len(rows)}") for n in result["notes"])
    # as folded by a terminal of 80 columns
    assert "truncated at ±0.5 nats" in " ".join(measured(command, *files, "--truncate", "0.5")[1].split())


def test_describe_shows_what_cannot_be_used(inside, tmp_path):
    table = pa.csv.read_csv("clean.csv")
    raw = pa.array([b"k"] * len(table))
    pa.parquet.write_table(table.append_column("raw", raw), tmp_path / "d.parquet")
    code, out, _ = call("describe", tmp_path / "d.parquet")
    assert code == 0
    assert re.search(r"raw +unusable +binary +a feature is", out)
    assert "1 unusable, 1 problem." in " ".join(out.split())
    assert "--exclude raw" in " ".join(out.split())
    assert "(binary) cannot be a feature: leave it out with --exclude raw" in refused(
        measured("score", tmp_path / "d.parquet")
    )
    assert measured("score", tmp_path / "d.parquet", "-q", "--exclude", "raw") == measured(
        "score", "clean.csv", "-q"
    ), "the test set need not have the column"
    assert "--exclude 'wen' is no column of any file" in refused(
        measured("score", "clean.csv", "--exclude", "wen")
    )


def test_demo_tells_its_chapters(inside, monkeypatch, tmp_path):
    before, after, test = (dw.read(inside / f"{name}.csv") for name in ("raw", "clean", "test"))
    audit = dw.audit(before, after, test, yardstick=dw.Yardstick.load(inside / "y.json"))
    told = Demo((Chapter("filter", "wrong labels go", audit),), 0)
    module = types.ModuleType("dataworth.valuation.demo")
    module.demo = lambda seed, progress: told
    monkeypatch.setitem(sys.modules, "dataworth.valuation.demo", module)
    code, out, err = call("demo", "--plot", tmp_path / "demo.png")
    assert (code, err) == (0, f"dataworth: picture written to {tmp_path / 'demo.png'}\n")
    assert "recycled" in out
    assert "wrong labels go" in out
    assert (tmp_path / "demo.png").stat().st_size > 0
    assert json.loads(call("demo", "--json")[1]) == json.loads(json.dumps(told.to_dict()))
    assert call("demo", "-q")[1] == "filter: recycled\n"


def test_explain_adds_parts(inside):
    code, out, _ = measured("audit", *MEASURING["audit"], "--explain", "--ignore", "all")
    assert code == 0
    assert "confidence gained" in out
    told = json.loads(measured("score", "raw.csv", "--explain", "--json", "--ignore", "all")[1])
    assert told["parts"]["value"]["value"] == pytest.approx(told["value"])
    assert "parts" not in json.loads(measured("score", "raw.csv", "--json", "--ignore", "all")[1])


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
    assert numbered == plain
    assert plain[0] == 0


def test_all_problems_of_all_files_are_told_before_the_work(inside, tmp_path):
    (tmp_path / "d.csv").write_text("a,b,target\n1,,0\n2,3,1\n")
    code, out, err = call(
        "score", tmp_path / "d.csv", "--test", "no.csv", "--group", "g", "--label", "target"
    )
    assert (code, out) == (2, "")
    assert [
        line.partition(": ")[2].removeprefix(f"{tmp_path / 'd.csv'}: ")[:30] for line in err.splitlines()
    ] == [
        "there is no group column 'g': ",
        "1 of 2 rows have missing value",
        "no.csv: there is no such file:",
    ]


def test_either_spelling_and_a_hint_for_others(inside):
    first, second = (measured("score", "clean.csv", "--json", f"--winsori{c}e", "0.5") for c in "sz")
    assert first[0] == 0
    assert first == second
    code, _, err = measured("score", "clean.csv", "--winsorse", "0.5")
    assert code == 2
    assert "No such option: --winsorse" in err
    assert "--winsorise" in err.replace("--winsorse", "")


@pytest.mark.parametrize("habit", ["--na", "--na-values"])
def test_options_of_other_tools_lead_to_ours(habit):
    code, _, err = call("describe", "no.csv", habit, "-999")
    assert code == 2
    assert f"There is no {habit}: --missing says which text stands" in " ".join(err.replace("│", " ").split())


def with_columns(path, **columns):
    """The clean data with columns added, replaced, or (None) left out."""
    table = pa.csv.read_csv("clean.csv")
    data = {**table.to_pydict(), **{name: make and make(len(table)) for name, make in columns.items()}}
    pa.csv.write_csv(pa.table({name: values for name, values in data.items() if values is not None}), path)
    return path


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"b": None}, "{path}: the rows lack column 'b', which {other} has"),
        ({"b": lambda n: ["u", "v"] * (n // 2)}, "{path}: column 'b' is categorical, but numeric in {other}"),
        ({"target": lambda n: [0, 7] * (n // 2)}, "label '7'"),
    ],
)
@pytest.mark.parametrize("other", ["the test set", "the yardstick"])
def test_refusals_of_columns_and_labels_name_the_file(inside, tmp_path, columns, words, other):
    path = with_columns(tmp_path / "d.csv", **columns)
    more = ["--yardstick", "y.json"] if other == "the yardstick" else []
    outcome = call("audit", "raw.csv", path, "--test", "test.csv", "--label", "target", *more)
    sentence = refused(outcome)
    assert words.format(path=path, other=other) in sentence
    assert sentence.startswith(f"dataworth: {path}")
    assert other in sentence


def test_columns_that_the_test_set_lacks_are_noted(inside, tmp_path):
    path = with_columns(tmp_path / "d.csv", extra=lambda n: [i * i % 7 for i in range(n)])
    code, _, err = measured("score", path)
    assert (code, err) == (0, f"dataworth: {path}: column 'extra' is not in the yardstick and is ignored\n")
    assert measured("score", path, "-q")[2] == ""


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
    assert told == made
    assert call("yardstick", "test.csv", "--verify", saved, "-q")[0] == 0
    assert "cannot be written, for there is no directory" in refused(call(*words, "-o", "no/y.json"))
    outcome = call("score", "clean.csv", "--test", "test.csv", "--yardstick", "raw.csv", "--label", "target")
    assert "'raw.csv' is not a yardstick" in refused(outcome)


@pytest.mark.parametrize(
    ("command", "suffix", "magic"),
    [
        ("score", "png", b"\x89PNG"),
        ("audit", "svg", b"<?xml"),
        ("rank", "pdf", b"%PDF"),
    ],
)
def test_plots(inside, tmp_path, command, suffix, magic):
    code, _, err = measured(command, *MEASURING[command], "--plot", tmp_path / f"p.{suffix}", "-q")
    assert (code, err) == (0, "")
    assert (tmp_path / f"p.{suffix}").read_bytes().startswith(magic)


def test_the_test_sets_labels_and_all_that_does_not_fit_are_named_by_file(inside, tmp_path):
    path = with_columns(tmp_path / "t.csv", target=lambda n: [1] * n)
    assert f"dataworth: {path}: " in refused(call("score", "raw.csv", "--test", path, "--label", "target"))
    path = with_columns(tmp_path / "d.csv", b=None, target=lambda n: [0, 7] * (n // 2))
    code, _, err = measured("score", path)
    assert (code, err.count("\n")) == (2, 2)
    assert "lack column 'b'" in err
    assert "label '7'" in err
