"""The command line: the main paths as real processes, the rest in this one."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import dataworth as dw
from dataworth.cli.app import app
from dataworth.cli.files import names_of
from dataworth.cli.progress import Bar, Lines, estimate
from dataworth.cli.show import finite
from dataworth.errors import DataworthError
from dataworth.measure.intervals import Estimate
from dataworth.report.text.audit import line as audit_line
from dataworth.valuation.audit.verdict import VERDICTS, decide
from dataworth.valuation.demo import Chapter, Demo

COMMANDS = ("score", "audit", "rank", "describe", "yardstick", "run", "resume", "demo")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src"), "PYTHONUNBUFFERED": "1"}


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """raw (a third of its labels wrong), clean (without those rows), half, test; and test's yardstick."""
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(260, 2))
    y = (X[:, 0] + 0.2 * rng.normal(size=260) > 0).astype(int)
    wrong = np.arange(160) % 3 == 0
    labels = np.where(wrong, 1 - y[:160], y[:160])
    for name, rows, target in (
        ("raw", np.arange(160), labels),
        ("clean", np.flatnonzero(~wrong), y[:160][~wrong]),
        ("half", np.arange(80), y[:80]),
        ("test", np.arange(160, 260), y[160:]),
    ):
        table = pa.table({"a": X[rows, 0], "b": X[rows, 1], "target": target})
        pa.csv.write_csv(table, folder / f"{name}.csv")
    test = dw.read(folder / "test.csv")
    dw.Yardstick.fit(test, prior_variance=1.0).save(folder / "y.json")
    return folder


@pytest.fixture
def inside(folder, monkeypatch):
    """The folder as the working directory."""
    monkeypatch.chdir(folder)
    return folder


def process(*words, cwd, **settings):
    """A real `dataworth`, in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "dataworth", *map(str, words)],
        cwd=cwd,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **settings,
    )


def run(*words, cwd):
    child = process(*words, cwd=cwd)
    out, err = child.communicate(timeout=120)
    return child.returncode, out, err


def call(*words):
    """The command in this process: exit code, stdout, stderr."""
    result = CliRunner().invoke(app, list(map(str, words)))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def measured(command, *words):
    """A quick call of a measuring command on the fixture's files."""
    return call(command, *words, "--test", "test.csv", "--yardstick", "y.json", "--label", "target")


def refused(outcome):
    """The one sentence of a refusal."""
    code, out, err = outcome
    assert (code, out) == (2, "")
    assert err.startswith("dataworth: ")
    assert err.count("\n") == 1
    return err


# --- the main paths ----------------------------------------------------------------------------------------


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


def test_rank(inside):
    code, out, _ = call("rank", "raw.csv", "clean.csv", "half.csv", "--test", "test.csv", "--json")
    ranking = json.loads(out)["ranking"]
    assert code == 0
    assert {one["name"] for one in ranking} == {"raw", "clean", "half"}
    assert [one["value"] for one in ranking] == sorted((one["value"] for one in ranking), reverse=True)
    assert ranking[-1]["name"] == "raw"


def test_yardstick_is_the_librarys(inside, tmp_path):
    saved = tmp_path / "y.json"
    code, out, _ = call("yardstick", "test.csv", "-o", saved, "--prior-variance", "1")
    assert code == 0
    assert "Held out" in out
    made, told = (json.loads(path.read_text()) for path in (inside / "y.json", saved))
    for name in ("test_hash", "checksum"):
        assert told.pop(name) != made.pop(name)  # under a key of its own
    assert told == made


def test_help_imports_nothing_heavy():
    code = "import sys; sys.argv=['dataworth','--help']\n"
    code += "from dataworth.cli import main\ntry: main()\nexcept SystemExit: pass\n"
    code += (
        "print([m for m in ('numpy','scipy','sklearn','matplotlib','pyarrow','joblib') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().endswith("[]")
    assert "audit" in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command):
    code, out, _ = call(command, "--help")
    assert code == 0
    assert f"Example: dataworth {command}" in out


def test_version():
    assert call("--version") == (0, f"{dw.__version__}\n", "")


# --- what is printed ---------------------------------------------------------------------------------------


def test_score_table(inside):
    code, out, err = measured("score", "clean.csv", "-v")
    assert (code, err) == (0, "")
    for part in (
        "nats per block of 5 test rows",
        "per test row",
        "test accuracy, %",
        "information gain",
        "Digest",
    ):
        assert part in out


def test_quiet_is_one_line(inside):
    for command, files, pattern in (
        ("score", ["clean.csv"], r"−?\d+\.\d+ nats \[.+, .+\]\n"),
        ("audit", ["raw.csv", "clean.csv"], r"recycled: ΔPMI \+\d+\.\d+ nats \[.+, .+\]\n"),
        ("rank", ["raw.csv", "clean.csv"], r"best: clean, \d+\.\d+ nats \[.+, .+\]\n"),
    ):
        code, out, err = call(command, *files, "--test", "test.csv", "--yardstick", "y.json", "-q")
        assert (code, err) == (0, "")
        assert re.fullmatch(pattern, out), out


def test_the_line_says_why_a_rise_is_inconclusive(inside):
    audit = dw.audit(dw.read("raw.csv"), dw.read("clean.csv"), dw.read("test.csv"))
    assert audit_line(audit).startswith("recycled: ΔPMI +")
    rose, unsure = Estimate(2.0, 0.5, (1.0, 3.0)), Estimate(1.0, 1.0, (-1.0, 3.0))
    for delta, word in (
        (rose, "improved: ΔPMI +"),
        (Estimate(5e-4, 1e-5, (4e-4, 6e-4)), "inconclusive (nothing changed that could be measured): ΔPMI +"),
        (Estimate(0.5, 0.5, (-0.5, 1.5)), "inconclusive: ΔPMI +"),
    ):
        verdict, reason = decide(delta, unsure, Estimate(0.0, 0.1, (-0.2, 0.2)), [unsure], 20)
        changed = replace(audit, verdict=verdict, reason=reason, delta=delta.value, interval=delta.interval)
        assert audit_line(changed).startswith(word)


def test_bits(inside):
    nats, bits = (
        json.loads(measured("score", "clean.csv", "--json", *more)[1]) for more in ((), ("--bits",))
    )
    assert bits["unit"] == "bits"
    assert bits["value"] == pytest.approx(nats["value"] / np.log(2))


def test_audit_json_has_the_keys_that_scripts_rely_on(inside):
    result = json.loads(measured("audit", "raw.csv", "clean.csv", "--json")[1])
    assert {"schema", "verdict", "delta", "interval", "accuracy_delta", "control", "change"} <= set(result)
    assert result["verdict"] in VERDICTS


def test_pairs_design_takes_two_sizes(inside):
    code, out, _ = measured("score", "clean.csv", "--pairs", 5, "--size", "12,10", "--json")
    assert code == 0
    assert json.loads(out)["size"] == [12, 10]
    assert json.loads(out)["design"] == "pairs"


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


def test_help_says_that_the_table_stays_raw():
    shown = " ".join(call("rank", "--help")[1].replace("│", " ").split())
    for rule in ("--truncate", "--winsorise"):
        assert "(tables stay raw)" in shown[shown.index(rule) :][:200]


def test_describe(inside):
    code, out, _ = call("describe", "raw.csv")
    assert code == 0
    for part in ("160 rows", "guessed from its name", "feature", "Labels"):
        assert part in out
    described = json.loads(call("describe", "raw.csv", "--json")[1])
    assert described["schema"] == "dataworth/description/1"
    assert described["rows"] == 160
    assert call("describe", "raw.csv", "-q")[1] == "raw.csv: 160 rows, 2 feature columns, label 'target'\n"


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


def test_describe_with_impute_does_not_ask_for_it(tmp_path):
    (tmp_path / "d.csv").write_text("a,label\n1,0\n,1\n2,1\n")
    assert "--impute" in call("describe", tmp_path / "d.csv")[1]
    assert "--impute" not in call("describe", tmp_path / "d.csv", "--impute")[1]


def test_a_yardstick_that_is_not_saved_says_so(inside, tmp_path):
    words = ("yardstick", "test.csv", "--label", "target", "--prior-variance", 1)
    assert call(*words)[2] == "dataworth: nothing was saved: -o FILE saves the yardstick\n"
    assert call(*words, "-q")[2] == ""
    assert call(*words, "-o", tmp_path / "y.json")[2] == (
        f"dataworth: yardstick written to {tmp_path / 'y.json'}\n"
        f"dataworth: its key, which stays with you, written to {tmp_path / 'y.key.json'}\n"
    )


def test_help_names_no_type_for_flags():
    out = call("score", "--help")[1]
    assert not [line for line in out.splitlines() if "<bool>" in line and "--help" not in line]


def test_yardstick_json(inside):
    code, out, _ = call("yardstick", "test.csv", "--prior-variance", 1, "--json")
    assert code == 0
    saved = json.loads((inside / "y.json").read_text())
    assert {**json.loads(out), "checksum": saved["checksum"]} == saved


def test_nothing_that_json_lacks_is_printed():
    assert finite({"a": [float("nan"), 1.5, (float("inf"),)]}) == {"a": [None, 1.5, [None]]}


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
    assert json.loads(call("demo", "--json")[1]) == json.loads(json.dumps(finite(told.to_dict())))
    assert call("demo", "-q")[1] == "filter: recycled\n"


# --- files in ----------------------------------------------------------------------------------------------


def write_as(table, path):
    """The table in the format of the path's suffix."""
    if path.suffix == ".csv":
        pa.csv.write_csv(table, path)
    elif path.suffix == ".tsv":
        pa.csv.write_csv(table, path, pa.csv.WriteOptions(delimiter="\t"))
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    elif path.suffix == ".parquet":
        pa.parquet.write_table(table, path)
    elif path.suffix == ".feather":
        pa.feather.write_feather(table, path)
    else:
        X = np.column_stack([table["a"].to_numpy(), table["b"].to_numpy()])
        np.savez(path, X=X, y=table["target"].to_numpy(), names=np.array(["a", "b"]))


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "feather", "npz"])
def test_every_format_gives_the_same_score(inside, tmp_path, suffix):
    path = tmp_path / f"clean.{suffix}"
    write_as(pa.csv.read_csv("clean.csv"), path)
    code, out, err = call("score", path, "--test", "test.csv", "--yardstick", "y.json", "--json")
    assert code == 0
    expected = json.loads(measured("score", "clean.csv", "--json")[1])
    assert json.loads(out)["value"] == expected["value"]
    assert (str(path) in err) == (suffix != "npz"), "an npz names its label: nothing is guessed"


def test_a_guess_is_said_once_for_all_files(inside):
    _, _, err = call("audit", "raw.csv", "raw.csv", "--test", "test.csv", "--yardstick", "y.json", "--json")
    assert err == 'dataworth: label column "target" guessed in raw.csv, test.csv; say --label to choose\n'


def test_a_guessed_id_is_said(inside, tmp_path):
    table = pa.csv.read_csv("clean.csv")
    pa.csv.write_csv(table.append_column("id", pa.array(range(len(table)))), tmp_path / "named.csv")
    _, _, err = measured("score", tmp_path / "named.csv", "--json")
    assert f'id column "id" guessed in {tmp_path / "named.csv"}; say --id to choose' in err


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


def test_names_of_candidates():
    assert names_of([Path("a.csv"), Path("b.parquet")]) == ["a", "b"]
    assert names_of([Path("x/a.csv"), Path("y/a.npz"), Path("b.csv")]) == ["x/a.csv", "y/a.npz", "b"]


# --- files out ---------------------------------------------------------------------------------------------


def test_csv_holds_every_block_and_arm(inside, tmp_path):
    code, out, err = measured("rank", "raw.csv", "clean.csv", "--csv", tmp_path / "rows.csv", "--json")
    assert (code, err) == (0, f"dataworth: table written to {tmp_path / 'rows.csv'}\n")
    with (tmp_path / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["arm"] for row in rows} == {"raw", "clean"}
    values = [float(row["pmi"]) for row in rows if row["arm"] == "clean"]
    assert np.mean(values) == pytest.approx(json.loads(out)["ranking"][0]["value"])
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"], "a temporary file is left"


@pytest.mark.parametrize(
    ("command", "suffix", "magic"),
    [("score", "png", b"\x89PNG"), ("audit", "svg", b"<?xml"), ("rank", "pdf", b"%PDF")],
)
def test_plots(inside, tmp_path, command, suffix, magic):
    files = ["clean.csv"] if command == "score" else ["raw.csv", "clean.csv"]
    code, _, err = measured(command, *files, "--plot", tmp_path / f"p.{suffix}", "-q")
    assert (code, err) == (0, "")
    assert (tmp_path / f"p.{suffix}").read_bytes().startswith(magic)


def test_a_device_is_written_to_and_not_replaced(folder):
    words = (
        "score",
        "clean.csv",
        "--test",
        "test.csv",
        "--yardstick",
        "y.json",
        "-q",
        "--csv",
        "/dev/stdout",
    )
    code, out, _ = run(*words, cwd=folder)
    assert code == 0
    assert "\npair,arm,pmi" in out
    assert Path("/dev/stdout").is_symlink()


# --- refusals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["score", "no.csv"], "no.csv: there is no such file"),
        (["score", "clean.csv", "--plot", "p.jpg"], "p.jpg: a plot is one of .png .svg .pdf"),
        (["score", "clean.csv", "--plot", "no/p.png"], "for there is no directory"),
        (["score", "clean.csv", "--csv", "."], "is a directory, but a file is to be written"),
        (["score", "clean.csv", "--size", "x"], "size is 'x'; give N, or N,M"),
        (["score", "clean.csv", "--jobs", "0"], "jobs is 0"),
        (["score", "clean.csv", "--engine", "moon"], "no engine 'moon'"),
        (["score", "clean.csv", "--design", "row"], "design is 'row'; known designs here: whole, pairs"),
        (["score", "clean.csv", "--form", "x"], "form is 'x'"),
        (["score", "clean.csv", "--seed", "-1"], "seed is -1"),
        (["score", "clean.csv", "--truncate", "0"], "truncate (in nats) is 0.0; it must be a positive"),
        (["rank", "clean.csv", "--winsorise", "-1"], "winsorise (in nats) is -1.0"),
        (["score", "clean.csv", "--truncate", "1", "--winsorise", "1"], "beyond it: give one of them"),
        (["audit", "raw.csv", "clean.csv", "--fail-on", "bad"], f"the verdicts are {', '.join(VERDICTS)}"),
        (["audit", "raw.csv", "clean.csv", "--fail-on", "harmful", "--design", "size"], "gives no verdict"),
        (["rank", "raw.csv", "raw.csv"], "raw.csv is given more than once"),
        (["score", "clean.csv", "--group", "g"], "clean.csv, test.csv: there is no group column 'g'"),
        (["score", "test.csv"], "test rows (100%) also stand in the data"),
    ],
)
def test_refusals_of_measurements(inside, words, part):
    assert part in refused(measured(*words))


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--form", "x"], "form is 'x'"),
        (["--form", "eta", "--eta", "x"], "eta is 'x'"),
        (["--truncate", "0"], "truncate (in nats) is 0.0"),
        (["--winsorize", "0"], "winsorise (in nats) is 0.0"),
        (["--pairs", "1"], "pairs is 1"),
        (["--size", "0"], "size is 0"),
        (["--size", "3,x"], "size is '3,x'"),
        (["--precision", "-1"], "precision (in nats) is -1.0"),
        (["--design", "x"], "design is 'x'; known designs here: whole"),
        (["--design", "whole", "--pairs", "9"], "the design whole uses all rows"),
        (["--seed", "-1"], "seed is -1"),
        (["--model", "x"], "model is 'x'"),
        (["--inference", "x"], "inference is 'x'"),
        (["--prior-variance", "0"], "prior_variance is 0.0"),
        (["--ignore", "nonsense"], "there is no check 'nonsense'"),
    ],
)
@pytest.mark.parametrize("command", [["score", "no.csv"], ["audit", "no.csv", "no2.csv"]])
def test_senseless_options_are_refused_before_files_are_read(command, words, part):
    assert part in refused(call(*command, "--test", "no3.csv", *words))


def test_designs_of_an_audit_by_a_named_curation_are_its_own():
    words = ("audit", "no.csv", "--curate", "match-groups", "--test", "no3.csv", "--design")
    assert "known designs here: method, whole, pairs" in refused(call(*words, "row"))
    assert "no.csv, no3.csv: there is no such file" in refused(call(*words, "method"))


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


def test_describe_offers_nothing_that_changes_nothing():
    """What is described is a sample of a large file: --stream would read it no otherwise."""
    for flag in ("--stream", "--text-encoder"):
        assert "No such option" in call("describe", "no.csv", flag)[2]


def test_ep_for_numeric_labels_is_noted(inside, tmp_path):
    path = tmp_path / "numeric labels.csv"
    rng = np.random.default_rng(0)
    pa.csv.write_csv(pa.table({"a": rng.normal(size=60), "target": rng.normal(size=60)}), path)
    words = ("yardstick", path, "--label", "target", "--prior-variance", "1", "--inference")
    note = "exact for numeric labels: inference ep changes nothing"
    code, _, err = call(*words, "ep")
    assert code == 0
    assert note in err
    assert note not in call(*words, "ep", "-q")[2]
    assert note not in call(*words, "laplace")[2]


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


def test_refusal_of_the_test_sets_labels_names_the_file(inside, tmp_path):
    path = with_columns(tmp_path / "t.csv", target=lambda n: [1] * n)
    outcome = call("score", "raw.csv", "--test", path, "--label", "target")
    assert f"dataworth: {path}: " in refused(outcome)


def test_columns_that_the_test_set_lacks_are_noted(inside, tmp_path):
    path = with_columns(tmp_path / "d.csv", extra=lambda n: [i * i % 7 for i in range(n)])
    code, _, err = measured("score", path)
    assert (code, err) == (0, f"dataworth: {path}: column 'extra' is not in the yardstick and is ignored\n")
    assert measured("score", path, "-q")[2] == ""


def test_refusal_of_a_file_that_is_no_yardstick(inside):
    outcome = call("score", "clean.csv", "--test", "test.csv", "--yardstick", "raw.csv", "--label", "target")
    assert "'raw.csv' is not a yardstick" in refused(outcome)


def test_refusal_of_an_unwritable_yardstick_comes_before_the_work(inside):
    assert "cannot be written, for there is no directory" in refused(
        call("yardstick", "test.csv", "-o", "no/y.json")
    )


def test_refusal_of_a_directory_that_cannot_be_written_to(inside, monkeypatch):
    def deny(path, *args, **kwargs):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "touch", deny)
    assert "out.csv cannot be written (Permission denied)" in refused(
        measured("score", "clean.csv", "--csv", "out.csv")
    )


def test_errors_of_the_operating_system_are_sentences(inside, monkeypatch):
    def deny(path):
        raise PermissionError(13, "Permission denied", str(path))

    (inside / "denied.json").touch()
    monkeypatch.setattr(Path, "read_bytes", deny)
    assert refused(call("run", "denied.json")) == "dataworth: denied.json: Permission denied\n"


def test_usage_errors_exit_with_2(inside):
    for words in (["score"], ["score", "clean.csv"], ["nonsense"], ["score", "clean.csv", "--nonsense"]):
        code, out, err = call(*words)
        assert (code, out) == (2, "")
        assert "Traceback" not in err


def test_bugs_ask_to_be_reported(inside, monkeypatch):
    def fail(*args, **kwargs):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(dw, "score", fail)
    code, out, err = measured("score", "clean.csv")
    assert (code, out) == (70, "")
    sentence = "this is a bug, please report it (-v shows where): ZeroDivisionError: division by zero"
    assert err == f"dataworth: {sentence}\n"
    assert "Traceback" in measured("score", "clean.csv", "-v")[2]


def test_lack_of_memory_is_a_sentence(inside, monkeypatch):
    def fail(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr(dw, "score", fail)
    assert "not enough memory" in refused(measured("score", "clean.csv"))


def test_a_reader_who_leaves_is_no_error(folder):
    child = process("score", "clean.csv", "--test", "test.csv", "--yardstick", "y.json", cwd=folder)
    child.stdout.close()
    err = child.stderr.read()
    child.stderr.close()
    assert child.wait(timeout=60) == 141
    assert "Error" not in err


# --- exit codes of verdicts --------------------------------------------------------------------------------


def test_fail_on(inside):
    assert measured("audit", "raw.csv", "clean.csv", "-q", "--fail-on", "improved,recycled")[0] == 1
    assert measured("audit", "raw.csv", "clean.csv", "-q", "--fail-on", "strategic, harmful")[0] == 0
    code, out, _ = measured("audit", "clean.csv", "raw.csv", "-q", "--fail-on", "strategic,harmful")
    assert (code, out.split(":")[0]) == (1, "harmful"), "wrong rows are added"


# --- runs --------------------------------------------------------------------------------------------------

LONG_AUDIT = (
    "audit",
    "raw.csv",
    "clean.csv",
    "--test",
    "test.csv",
    "--yardstick",
    "y.json",
    "--pairs",
    "128",
)


def wait_for_chunks(child, directory, count):
    """Until the run has done some of its work."""
    log = directory / "chunks.jsonl"
    while child.poll() is None and not (log.exists() and log.read_bytes().count(b"\n") >= count):
        time.sleep(0.01)
    assert child.poll() is None, "the run ended too early to be interrupted"


def test_killed_and_resumed_is_as_never_interrupted(inside, tmp_path, monkeypatch):
    code, whole, _ = call(*LONG_AUDIT, "--json", "--jobs", "1", "--run-dir", tmp_path / "a")
    assert code == 0
    child = process(
        *LONG_AUDIT, "--fail-on", "informative", "--jobs", "1", "--run-dir", tmp_path / "b", cwd=inside
    )
    wait_for_chunks(child, tmp_path / "b", 3)
    child.kill()
    child.communicate()
    assert not (tmp_path / "b/result.json").exists()
    monkeypatch.chdir(tmp_path)  # from another directory
    code, resumed, _ = call("resume", tmp_path / "b", "--json", "--jobs", "1")
    assert code == 1, "the original's --fail-on"
    assert resumed == whole
    assert (tmp_path / "a/result.json").read_bytes() == (tmp_path / "b/result.json").read_bytes()


def test_ctrl_c(folder, tmp_path):
    child = process(*LONG_AUDIT, "--jobs", "2", "--run-dir", tmp_path / "run", cwd=folder)
    wait_for_chunks(child, tmp_path / "run", 2)
    os.killpg(child.pid, signal.SIGINT)  # as a terminal does: to the workers too
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert out == ""
    assert err.splitlines()[-1] == f"interrupted; continue with: dataworth resume {tmp_path / 'run'}"
    assert "Traceback" not in err


def test_ctrl_c_without_a_run_directory(inside, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(dw, "score", interrupt)
    assert measured("score", "clean.csv") == (
        130,
        "",
        "interrupted; nothing was kept (--run-dir keeps finished work)\n",
    )


def test_the_same_command_again_prints_the_same(inside, tmp_path):
    words = ("score", "clean.csv", "--json", "--run-dir", tmp_path / "run")
    assert measured(*words) == measured(*words)
    told = json.loads(measured(*words)[1])
    kept = json.loads((tmp_path / "run/result.json").read_text())
    assert kept == told


def test_another_configuration_is_refused(inside, tmp_path):
    measured("score", "clean.csv", "-q", "--run-dir", tmp_path / "run")
    outcome = measured("score", "clean.csv", "-q", "--seed", "1", "--run-dir", tmp_path / "run")
    assert "has another configuration (seed: 0 → 1)" in refused(outcome)
    outcome = measured("score", "half.csv", "-q", "--run-dir", tmp_path / "run")
    assert "has another configuration (data: clean.csv → half.csv)" in refused(outcome)


def test_clipping_belongs_to_a_run_and_only_if_it_is_used(inside, tmp_path):
    """Runs from before there was clipping do not mention it, and are resumed."""
    plain, clipped = tmp_path / "plain", tmp_path / "clipped"
    measured("score", "clean.csv", "-q", "--run-dir", plain)
    assert not {"truncate", "winsorise"} & set(json.loads((plain / "config.json").read_text())["options"])
    assert measured("score", "clean.csv", "-q", "--run-dir", plain)[0] == 0
    outcome = measured("score", "clean.csv", "-q", "--winsorise", "0.5", "--run-dir", plain)
    assert "has another configuration" in refused(outcome)
    first = measured("score", "clean.csv", "--json", "--winsorise", "0.5", "--run-dir", clipped)
    assert json.loads(call("resume", clipped, "--json")[1]) == json.loads(first[1])
    assert json.loads(first[1])["clipping"]["bound"] == 0.5
    kept = json.loads((clipped / "result.json").read_text())
    assert kept == json.loads(first[1])


def test_what_only_shows_the_result_may_differ(inside, tmp_path):
    measured("score", "clean.csv", "-q", "--run-dir", tmp_path / "run")
    assert measured("score", "clean.csv", "--bits", "--jobs", "1", "--run-dir", tmp_path / "run")[0] == 0


def test_an_impossible_request_leaves_no_run(inside, tmp_path):
    refused(measured("score", "clean.csv", "--size", "500", "--run-dir", tmp_path / "run"))
    assert (
        measured("score", "clean.csv", "-q", "--size", "12", "--pairs", "4", "--run-dir", tmp_path / "run")[0]
        == 0
    )


def test_the_environment_is_recorded(inside, tmp_path):
    measured("score", "clean.csv", "-q", "--run-dir", tmp_path / "run")
    config = json.loads((tmp_path / "run/config.json").read_text())
    assert set(config) == {"dataworth_run", "command", "inputs", "options", "about"}
    assert {"dataworth", "python", "numpy", "scipy"} <= set(config["about"])
    assert config["inputs"][str(inside / "clean.csv")] == dw.read(inside / "clean.csv").content_hash()


def test_resume_refuses_changed_and_missing_inputs(inside, tmp_path):
    data = tmp_path / "data.csv"
    data.write_bytes((inside / "clean.csv").read_bytes())
    measured("score", data, "-q", "--run-dir", tmp_path / "run")
    data.write_bytes((inside / "half.csv").read_bytes())
    assert refused(call("resume", tmp_path / "run")).startswith(f"dataworth: {data} has changed since")
    data.unlink()
    assert f"{data}: there is no such file" in refused(call("resume", tmp_path / "run"))


def test_resume_refuses_what_is_no_run(tmp_path):
    assert "does not exist" in refused(call("resume", tmp_path / "no"))


def test_run_replays_the_configuration_of_a_run(inside, tmp_path):
    words = ("rank", "raw.csv", "clean.csv", "--json", "--seed", "3")
    _, expected, _ = measured(*words, "--run-dir", tmp_path / "run")
    assert call("run", tmp_path / "run/config.json", "--json") == (0, expected, "")


def test_run_takes_a_configuration_written_by_hand(inside, tmp_path):
    (tmp_path / "y.json").write_bytes((inside / "y.json").read_bytes())
    options = {"data": str(inside / "clean.csv"), "test": str(inside / "test.csv"), "yardstick": "y.json"}
    options |= {"label": "target", "size": [12, 10], "pairs": 4, "features": ["a", "b"], "impute": True}
    (tmp_path / "c.json").write_text(json.dumps({"command": "score", "options": options}))
    code, out, _ = call("run", tmp_path / "c.json", "--json")
    assert code == 0
    assert json.loads(out)["size"] == [12, 10]


@pytest.mark.parametrize(
    ("config", "part"),
    [
        ("{", "is not JSON"),
        ("[]", "is no configuration"),
        ('{"command": "score", "option": {}}', "has the key 'option'"),
        ('{"command": "demo"}', "has the command 'demo'; it must be one of 'score', 'audit', 'rank'"),
        ('{"command": "score", "options": []}', "has options that are no JSON object"),
        (
            '{"command": "score", "options": {"sed": 1}}',
            "score has no option 'sed'; its options are data, test",
        ),
        (
            '{"command": "score", "options": {"data": "a.csv", "test": "t.csv", "seed": "x"}}',
            "seed is 'x'; it must be a whole number, 0 or more",
        ),
        ('{"command": "score", "options": {"data": "a.csv"}}', "score needs the file 'test'"),
        ('{"command": "score", "options": {"curate": "duplicate"}}', "score has no option 'curate'"),
        ('{"command": "rank", "options": {"precision": 0.1}}', "rank has no option 'precision'"),
        (
            '{"command": "score", "options": {"data": "a.csv", "test": "t.csv"}}',
            "there is no such file",
        ),
    ],
)
def test_refusals_of_configurations(tmp_path, config, part):
    (tmp_path / "c.json").write_text(config)
    assert part in refused(call("run", tmp_path / "c.json"))


def test_refusal_of_a_configuration_that_is_missing(tmp_path):
    assert "No such file" in refused(call("run", tmp_path / "c.json"))


def test_a_configuration_can_pin_its_inputs(inside, tmp_path):
    options = {"data": str(inside / "clean.csv"), "test": str(inside / "test.csv")}
    config = {"command": "score", "options": options, "inputs": {options["data"]: "another hash"}}
    (tmp_path / "c.json").write_text(json.dumps(config))
    code, _, err = call("run", tmp_path / "c.json")
    assert code == 2
    assert f"{options['data']} has changed since the run was configured" in err


# --- progress ----------------------------------------------------------------------------------------------


def test_a_log_gets_a_line_now_and_then(monkeypatch):
    now, lines = [0.0], []
    monkeypatch.setattr("dataworth.cli.progress.time.monotonic", lambda: now[0])
    progress = Lines(jobs=2, write=lines.append)
    progress.expect(59)
    progress.expect(180)
    for second in range(41):
        now[0] = float(second)
        progress.update(second, 40)
    assert lines == [
        "about 3 min on 2 cores",
        "5% done, about 38 s left",  # after two seconds, then every ten
        "30% done, about 28 s left",
        "55% done, about 18 s left",
        "80% done, about 8 s left",
    ]


def test_a_second_file_is_timed_by_itself(monkeypatch):
    now, lines = [0.0], []
    monkeypatch.setattr("dataworth.cli.progress.time.monotonic", lambda: now[0])
    progress = Lines(write=lines.append)
    for total, begun in ((40, 0), (40, 1000), (80, 2000)):
        lines.clear()
        for second in range(11):
            now[0] = float(begun + second)
            progress.update(second, total)
        assert lines == [f"{2 / total:.0%} done, about {total - 2} s left"]


class Clock:
    """In place of a timer: it goes off when it is told to."""

    def __init__(self, seconds, function, arguments):
        self.ring = lambda: None if self.cancelled else function(*arguments)
        self.cancelled = False
        CLOCKS.append(self)

    def start(self):
        pass

    def cancel(self):
        self.cancelled = True


CLOCKS = []


@pytest.mark.parametrize("done", ["nothing", "expect", "update", "close"])
def test_a_log_hears_what_lasts_before_the_work(monkeypatch, done):
    lines = []
    monkeypatch.setattr("dataworth.cli.progress.threading.Timer", Clock)
    progress = Lines(write=lines.append)
    progress.preparing("fitting the yardstick…")
    {
        "nothing": lambda: None,
        "expect": lambda: progress.expect(1.0),
        "update": lambda: progress.update(1, 2),
        "close": progress.close,
    }[done]()
    for clock in CLOCKS:
        clock.ring()
    CLOCKS.clear()
    # work that was expected to be short, and of which no part is done yet, is told as well
    assert lines == {"nothing": ["fitting the yardstick…"], "expect": ["measuring…"]}.get(done, [])


def test_checks_by_code():
    code, out, _ = call("checks", "dw002", "DW010")
    assert code == 0
    told = " ".join(out.split())
    assert "What to do: keep one of each" in told
    assert "DW003" not in told
    assert [c["code"] for c in json.loads(call("checks", "DW010", "--json")[1])["checks"]] == ["DW010"]
    assert "no check 'x'" in refused(call("checks", "x"))


def test_senseless_priors_are_refused_before_files_are_read():
    words = ("sensitivity", "no.csv", "--test", "no2.csv", "--priors")
    assert "a prior variance is 0.0; it must be a positive number" in refused(call(*words, "1,0"))


def test_ignored_checks_are_counted(inside):
    _, out, _ = measured("score", "clean.csv", "--ignore", "DW002", "-v")
    told = " ".join(out.split())
    assert ", 1 ignored, " in told
    assert "ignored" not in measured("score", "clean.csv")[1]
    assert re.search(r"converged: passed; all of \d+ fits converged", told)
    assert not re.search(r": passed [\d−]", told)  # no number without what it counts


def test_estimates_name_the_cores():
    assert estimate(7200, 1, continued=True) == "about 2.0 h on 1 core, less what is already done"
    assert estimate(70, -1, continued=False).endswith(f"on {os.cpu_count()} core{'s' * (os.cpu_count() > 1)}")


def test_a_bar_appears_only_for_work_that_lasts(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("dataworth.cli.progress.time.monotonic", lambda: now[0])
    bar = Bar()
    bar.expect(0.5)
    bar.update(0, 4)
    assert bar._task is None
    now[0] = 3.0
    bar.update(2, 4)
    assert bar._task is not None
    bar.close()
    bar.expect(30.0)
    assert bar._task is not None
    bar.close()
    assert bar._task is None


def test_quiet_hears_nothing():
    from dataworth.cli.progress import listen

    with listen(quiet=True) as nobody:
        assert nobody is None


def test_what_to_ignore_is_codes(inside):
    data, test = dw.read("clean.csv"), dw.read("test.csv")
    with pytest.raises(DataworthError, match="ignore is 3; give codes"):
        dw.score(data, test, ignore=3)
    assert len(dw.score(data, test, yardstick=dw.Yardstick.load("y.json"), ignore="").checks) == 14


def test_library_errors_stay_errors_in_the_library():
    with pytest.raises(DataworthError):
        names_of([Path("a.csv"), Path("a.csv")])


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


# --- data as people have it ---------------------------------------------------------------------------------


def test_notes_are_said_once_for_all_files_and_stand_in_json(inside, tmp_path):
    files = {}
    for name in ("clean", "test"):
        table = pa.csv.read_csv(f"{name}.csv")
        table = table.append_column("user_id", pa.array([7 * (i // 2) for i in range(len(table))]))
        files[name] = tmp_path / f"{name}.csv"
        pa.csv.write_csv(table, files[name], pa.csv.WriteOptions(delimiter=";"))
    words = ("score", files["clean"], "--test", files["test"], "--yardstick", "y.json", "--label", "target")
    _, out, err = call(*words, "--json")
    both = f"{files['clean']}, {files['test']}"
    separated = f"columns are separated by ';' in {both}; --sep changes that"
    short = "left out: 'user_id' (named like an id); --features names what to use"
    assert err.splitlines() == [f"dataworth: {note}" for note in (separated, short)]
    notes = [
        separated,
        f"column 'user_id' is named like an id and is left out in {both}; --features uses it,"
        " --id user_id or --group user_id says what it is",
    ]
    told = json.loads(out)
    read = told["reading"]
    assert [f"{one['what']} in {', '.join(one['files'])}; {one['choice']}" for one in read] == notes
    assert told["value"] == json.loads(measured("score", "clean.csv", "--json")[1])["value"]
    assert call(*words, "-q", "--sep", "semicolon", "--exclude", "user_id")[2] == ""


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


def test_labels_and_columns_that_do_not_fit_are_told_together(inside, tmp_path):
    path = with_columns(tmp_path / "d.csv", b=None, target=lambda n: [0, 7] * (n // 2))
    code, _, err = measured("score", path)
    assert (code, err.count("\n")) == (2, 2)
    assert "lack column 'b'" in err
    assert "label '7'" in err


def test_describe_without_a_label(tmp_path):
    (tmp_path / "d.csv").write_text("a,b\n1,2\n2,3\n")
    code, out, _ = call("describe", tmp_path / "d.csv")
    assert code == 0
    assert "label not known, 1 problem." in " ".join(out.split())
    assert "name it with --label" in " ".join(out.split())


# --- ends ---------------------------------------------------------------------------------------------------


def test_sigterm_ends_as_ctrl_c_does(folder, tmp_path):
    child = process(*LONG_AUDIT, "--jobs", "1", "--run-dir", tmp_path / "run", cwd=folder)
    wait_for_chunks(child, tmp_path / "run", 2)
    child.send_signal(signal.SIGTERM)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (143, "")
    assert err.splitlines()[-1] == f"terminated; continue with: dataworth resume {tmp_path / 'run'}"


def test_a_full_disk_names_the_file_and_keeps_the_verdict(inside):
    code, out, err = measured("score", "clean.csv", "-q", "--csv", "/dev/full")
    assert code == 2
    assert out == measured("score", "clean.csv", "-q")[1]
    assert err.startswith("dataworth: /dev/full cannot be written (No space left on device): make room")


def test_a_full_disk_under_a_run_directory_keeps_the_verdict(inside, tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dataworth.parallel.runs.Run.finish", full)
    code, out, err = measured("score", "clean.csv", "-q", "--run-dir", tmp_path / "run")
    assert (code, out) == (0, measured("score", "clean.csv", "-q")[1])
    assert f"{tmp_path / 'run'}: the result cannot be kept (No space left on device)" in err


def test_strict_names_the_check_even_if_quiet(inside, monkeypatch):
    def fires(*args, **kwargs):
        found = dw.score(*args, **kwargs)
        return replace(found, checks=(replace(found.checks[0], fires=True), *found.checks[1:]))

    monkeypatch.setattr(dw, "score", fires)
    code, out, err = measured("score", "clean.csv", "-q", "--strict", "--ignore", "DW002")
    first = json.loads(measured("score", "clean.csv", "--json", "--ignore", "DW002")[1])["checks"][0]
    assert code == 3
    assert f"fired: {first['code']}" in out
    assert f"dataworth: --strict: {first['code']} {first['name']}" in err


def test_help_tells_the_exit_codes():
    shown = " ".join(call("--help")[1].split())
    for code in (0, 1, 2, 3, 70, 130, 141, 143):
        assert re.search(rf"\b{code} ", shown)
    assert "143 terminated (SIGTERM)" in shown


def test_shells_complete_commands_and_options(folder):
    def completed(words, position):
        about = {"_DATAWORTH_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(position)}
        found = subprocess.run(
            [sys.executable, "-m", "dataworth"], env={**ENVIRONMENT, **about}, capture_output=True, text=True
        )
        return found.stdout.split()

    assert completed("dataworth des", 1) == ["describe"]
    assert "--exact-labels" in completed("dataworth describe --ex", 2)
