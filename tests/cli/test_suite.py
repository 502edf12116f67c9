"""`dataworth check` and `dataworth init`: what is read, measured, known from before, and refused."""

import inspect
import json
import shutil
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from commands import call, refused
from dataworth.cli.suite.file import KNOWN, Suite, read_suite
from dataworth.cli.suite.init import written
from dataworth.cli.suite.run import Outcome, keep, load
from dataworth.cli.suite.thresholds import NO_VALUES, Thresholds, failures
from dataworth.cli.suite.told import MAX_COMMENT, as_markdown, write_junit
from dataworth.errors import DataworthError
from dataworth.measure import slices
from worlds import refusal

DEFAULTS = """
[defaults]
test = "test.csv"
label = "target"
yardstick = "y.json"
ignore = "all"
"""
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b")


@pytest.fixture
def here(folder, tmp_path, monkeypatch):
    """Files of our own, and a cache that is empty."""
    for name in ("raw.csv", "clean.csv", "half.csv", "test.csv", "y.json"):
        shutil.copy(folder / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATAWORTH_CACHE", str(tmp_path / ".cache"))
    return tmp_path


def commit(*words):
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "add", *words], check=True)
    subprocess.run([*GIT, "commit", "-qm", "x"], check=True)


def check(text, *words):
    """A suite run: exit code, and its JSON."""
    Path("dataworth.toml").write_text(DEFAULTS + text)
    code, out, err = call("check", "--json", *words)
    assert out, err
    return code, json.loads(out)


def told(found):
    return {one["name"]: (one["state"], one["how"]) for one in found["audits"]}


TWO = """
[audit.worse]
data = "raw.csv"
before = "clean.csv"
[audit.alone]
data = "clean.csv"
before = false
min_of_ceiling = 0.2
"""


def test_only_what_changed_is_measured(here):
    code, first = check(TWO)
    assert code == 1
    assert told(first) == {"worse": ("failed", "measured"), "alone": ("passed", "measured")}
    assert first["audits"][0]["reasons"] == ["the verdict is harmful"]
    code, second = check(TWO)
    assert told(second) == {"worse": ("failed", "cached"), "alone": ("passed", "cached")}
    assert second["audits"][0]["audit"] == first["audits"][0]["audit"]
    with Path("raw.csv").open("a") as file:
        file.write("0.1,0.2,0\n")
    assert told(check(TWO)[1]) == {"worse": ("failed", "measured"), "alone": ("passed", "cached")}
    # thresholds are judged anew; options are another measurement
    assert told(check(TWO + "min_rows = 10000")[1])["alone"] == ("failed", "cached")
    assert (
        told(check(TWO.replace("before = false", "before = false\nmetric = 'auc'"))[1])["alone"][1]
        == "measured"
    )
    assert told(check(TWO, "--no-cache")[1])["alone"][1] == "measured"


def test_results_of_others_are_none(here):
    keep("a" * 64, {"line": "mine"})
    assert load("a" * 64) == {"line": "mine"}
    (place,) = here.glob(".cache/checks/*.json")
    shutil.copy(place, place.with_name("b" * 64 + ".json"))
    assert load("b" * 64) is None, "a result of another audit"
    place.write_bytes(place.read_bytes().replace(b"mine", b"hers"))
    assert load("a" * 64) is None
    place.write_bytes(b"")
    assert load("a" * 64) is None


def test_the_base_revision_is_what_data_were_before(here):
    commit("raw.csv", "test.csv")
    Path("d").mkdir()
    one, two = "\n[audit.a]\ndata = 'raw.csv'\n", "\n[audit.new]\ndata = 'clean.csv'\n"
    code, found = check(one + two)
    assert (code, told(found)) == (0, {"a": ("passed", "unchanged"), "new": ("passed", "measured")})
    assert found["audits"][0]["line"] == "unchanged: the same in HEAD"
    assert found["audits"][1]["line"].startswith("new: not in HEAD; ")
    shutil.copy("clean.csv", "raw.csv")  # wrong rows are taken out
    (found,) = check(one)[1]["audits"]
    assert found["audit"]["verdict"] in ("informative", "improved", "recycled")
    assert found["audit"]["change"]["removed"] > 0
    code, found = check(one, "--base", "no-such")
    assert code == 2
    assert "there is no revision 'no-such' here" in found["audits"][0]["line"]


def test_what_git_cannot_know_is_no_new_file(here):
    """Else a gate would be weaker than it looks: only scored, and green."""
    Path(".gitignore").write_text("raw.csv\n")
    commit("test.csv", ".gitignore")
    suite = "\n[audit.a]\ndata = '{}'\n"
    for data, why in {
        "raw.csv": "raw.csv is ignored by git (DVC keeps it, say)",
        "*lean.csv": "*lean.csv is no single file or directory",
        "s3://bucket/a.parquet": "is no single file or directory",
        "../outside.csv": "git cannot say what the data were before",
    }.items():
        shutil.copy("clean.csv", "../outside.csv")
        code, found = check(suite.format(data))
        assert code == 2
        assert why in found["audits"][0]["line"]


def test_large_files_that_git_keeps_elsewhere(here):
    Path("raw.csv").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    commit("raw.csv", "test.csv")
    shutil.copy("clean.csv", "raw.csv")
    code, found = check("\n[audit.a]\ndata = 'raw.csv'\n")
    assert code == 2
    assert "raw.csv of HEAD is kept by git LFS and was not fetched" in found["audits"][0]["line"]


def test_a_directory_is_compared_with_itself(here):
    Path("d").mkdir()
    head, *rows = Path("clean.csv").read_text().splitlines(keepends=True)
    Path("d/1.csv").write_text(head + "".join(rows[:70]))
    Path("d/2.csv").write_text(head + "".join(rows[70:]))
    commit("d", "test.csv")
    suite = "\n[audit.a]\ndata = 'd'\n"
    assert told(check(suite)[1])["a"] == ("passed", "unchanged")
    Path("d/2.csv").unlink()
    (found,) = check(suite)[1]["audits"]
    assert found["audit"]["before_rows"] == len(rows)
    assert found["audit"]["after_rows"] == 70


def test_what_is_not_there_is_an_error(here):
    Path("dataworth.toml").write_text(DEFAULTS + "\n[audit.a]\ndata = 'claen.csv'\n")
    code, out, err = call("check")
    assert code == 2
    assert "a  ERROR   claen.csv: there is no such file: did you mean 'clean.csv'?" in out
    assert err == "dataworth: a cannot be checked\n"
    code, found = check("\n[audit.a]\ndata = 'clean.csv'\n")
    assert code == 2
    assert "git cannot say what the data were before" in found["audits"][0]["line"]
    code, found = check("\n[audit.a]\ndata = 'clean.csv'\nbefore = 'none.csv'\n")
    assert "none.csv: there is no such file" in found["audits"][0]["line"]
    # an audit that cannot be made stops no other
    two = "\n[audit.a]\ndata = 'test.csv'\nbefore = false\n[audit.b]\ndata = 'half.csv'\nbefore = false\n"
    code, found = check(two)
    assert (code, [one["state"] for one in found["audits"]]) == (2, ["error", "passed"])
    assert "test rows (100%) also stand in" in found["audits"][0]["line"]


BAD = {
    "x = 1": "has the key 'x', which means nothing",
    "[audit.a]\ndata = 'a.csv'": "[audit.a] has test = None; give the path of a file",
    "[audit.a]\nlable = 'y'": "the key 'lable', which means nothing: did you mean 'label'?",
    "[defaults]\nmin_rows = -1\n[audit.a]\ndata='a'\ntest='b'": "min_rows is -1; give a whole number of rows",
    "[audit.a]\ndata='a'\ntest='b'\nfail_on='bad'": "fail_on 'bad' is no verdict; the verdicts are",
    "[audit.a]\ndata='a'\ntest='b'\nmin_of_ceiling=40": "min_of_ceiling is 40; give a proportion",
    "[audit.a]\ndata='a'\ntest='b'\nslices=3": "slices is 3; give a list of texts",
    "[audit.a]\ndata='a'\ntest='b'\npairs='x'": "Invalid value for '--pairs'",
    "[audit.a]\ndata='a'\ntest='b'\nlabel={}": "label is {}; give a text, a number, true or false, or a list",
    "[audit.a]\ndata='a'\ntest='b'\nmodel='my:Model'": "names the model 'my:Model', which may run code",
    "[audit.a]\ndata='a'\ntest='b'\nladder='../l.json'": "would write ladder to",
    "[audit.a]\ndata='a'\ntest='b'\nbefore=true": "before = True; give the path of a file, or false",
    "base = '--output=x'\n[audit.a]": "base is '--output=x'; give a revision of git",
    "[audit.a]\ndata='a'\ntest='b'\nrun_dir='r'": "the key 'run_dir', which means nothing",
    "audit = 3": "audit is 3; it must be a table",
    "": "has no audit: add a table [audit.NAME]",
    "a = [": "is not TOML",
    f"a = {'[' * 5000}": "it is nested too deeply",
}


@pytest.mark.parametrize("text", BAD)
def test_a_suite_that_means_nothing_is_refused(tmp_path, text, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("dataworth.toml").write_text(text)
    assert BAD[text] in refused(call("check"))


def test_other_refusals(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "dataworth.toml: there is no suite here: 'dataworth init' writes one" in refused(call("check"))
    Path("dataworth.toml").write_text("[audit.abc]\ndata = 'a'\ntest = 'b'\n")
    assert "has no audit 'abd': did you mean 'abc'?" in refused(call("check", "abd"))
    assert "there is no directory" in refused(call("check", "--junit", "no/j.xml"))
    assert "dataworth.toml exists already" in refused(call("init"))
    Path("dataworth.toml").unlink()
    assert "there are no data files in" in refused(call("init"))
    Path("a.csv").write_text("x,label\n1,0\n")
    assert "is named like a test set (test, holdout, eval) among a.csv. It is a file of" in refused(
        call("init")
    )
    Path("test.csv").write_text("z,label\n1,0\n")
    assert "no file beside test.csv has the same columns" in refused(call("init"))
    assert "is no directory" in refused(call("init", "no"))


def test_code_is_trusted_where_that_is_said(tmp_path):
    path = tmp_path / "dataworth.toml"
    path.write_text("[audit.a]\ndata = 'a'\ntest = 'b'\nmodel = 'my:Model'\n")
    assert "may run code" in refusal(read_suite, path)
    assert read_suite(path, allow_code=True).entries[0].options["model"] == "my:Model"


def test_every_option_of_a_suite_is_one_of_audits():
    assert {"label", "group", "attribute", "seed", "metric", "values", "ignore", "slow_checks"} <= set(KNOWN)
    assert not {"jobs", "engine", "address", "run_dir", "key", "report", "csv", "stream", "keep_data"} & set(
        KNOWN
    )


# --- thresholds --------------------------------------------------------------------------------------------


CHANGE = {"kept": 80, "removed": 20, "new": 0}
SLICE = {"column": "site", "value": "north", "rows": 9, "change": -0.3, "change_interval": [-0.5, -0.1]}
CHECK = {"code": "DW003", "name": "leaks", "failed": True, "meaning": "test rows stand in the data"}
AUDIT = {"verdict": "costly", "change": CHANGE, "slices": [SLICE], "checks": [CHECK]}
RECORD = {"audit": AUDIT, "words": ["costly"], "rows": 80}


def kept(record=RECORD, **wanted):
    return list(failures(Thresholds.parse(wanted, "x"), record))


def with_change(**counts):
    return {**RECORD, "audit": {**AUDIT, "change": {**CHANGE, **counts}}}


def test_costly_fails_beyond_a_fifth_of_the_rows():
    assert kept() == []  # exactly a fifth
    assert kept(with_change(kept=79, removed=21)) == [
        "the change is costly, and 21% of the rows are gone, more than 20% (max_rows_lost)"
    ]
    assert len(kept(with_change(kept=79, removed=21, new=50))) == 1  # rows in their place are others
    assert kept(with_change(kept=51, removed=49), max_rows_lost=0.5) == []
    assert kept(fail_on=["costly"]) == ["the verdict is costly"]
    other = {**with_change(kept=1, removed=99)}
    other["audit"] = {**other["audit"], "verdict": "improved"}
    assert kept({**other, "words": ["improved"]}) == [], "fewer and better rows"


def test_harmful_and_strategic_fail_unless_another_list_is_given():
    for verdict in ("harmful", "strategic"):
        found = {**RECORD, "audit": {**AUDIT, "verdict": verdict}, "words": [verdict]}
        assert kept(found) == [f"the verdict is {verdict}"]
        assert kept(found, fail_on=["costly"]) == []
    both = {**RECORD, "words": ["improved", "strategic"]}  # improved, but strategic for a column
    assert kept(both) == ["the verdict is strategic"]


def test_rows_ceiling_slices_and_checks():
    assert kept(min_rows=80) == []
    assert kept(min_rows=81) == ["the data have 80 rows, fewer than 81 (min_rows)"]
    worth = {"score": {"ladder": {"of_ceiling": 0.4}, "checks": []}, "rows": 80}
    assert kept(worth, min_of_ceiling=0.4) == []
    assert kept(worth, min_of_ceiling=0.41) == [
        "the data reach 40.0% of the ceiling; at least 41% are wanted (min_of_ceiling)"
    ]
    no_ceiling = {**worth, "score": {"ladder": {"of_ceiling": None}, "checks": []}}
    assert "does not show a ceiling" in kept(no_ceiling, min_of_ceiling=0.1)[0]
    assert kept(slices=["site"]) == ["the slice site: north loses information (-0.3 nats a row [-0.5, -0.1])"]
    assert kept(slices=["age"]) == []
    unsure = {**RECORD, "audit": {**AUDIT, "slices": [{**SLICE, "change_interval": [-0.5, 0.1]}]}}
    assert kept(unsure, slices=["site"]) == []
    fires = ["check DW003 leaks failed: test rows stand in the data"]
    assert kept(checks=["DW003"]) == kept(checks=["leaks"]) == kept(checks=["all"]) == fires
    assert kept(checks=[]) == []
    assert kept(checks=["DW099"]) == ["there is no check 'DW099' here; those that were made: DW003"]


# --- what is written ---------------------------------------------------------------------------------------


NASTY = "a|b <script>@all\n`x` \x1b[2J\ufffe"


def outcome(state="failed", name="a", **more):
    return Outcome(name=name, data="d.csv", state=state, line=NASTY, reasons=(NASTY,), **more)


def test_junit_and_markdown_hold_texts_of_others(tmp_path):
    suite = Suite(path=Path("dataworth.toml"), base="HEAD", entries=())
    write_junit(tmp_path / "j.xml", suite, [outcome(), outcome("error"), outcome("passed")], 1.0)
    (cases,) = ElementTree.parse(tmp_path / "j.xml").getroot()
    assert [cases.get(name) for name in ("tests", "failures", "errors")] == ["3", "1", "1"]
    assert [one[0].tag for one in cases] == ["failure", "error", "system-out"]
    told = as_markdown(suite, NASTY, [outcome(name=NASTY)])
    assert "<script>" not in told
    assert "@all" not in told
    assert "a\\|b" in told
    many = [outcome(name=f"n{i}") for i in range(300)]
    assert len(as_markdown(suite, "HEAD", many)) < MAX_COMMENT
    assert "260 more audits left out here" in as_markdown(suite, "HEAD", many)


def test_lines_and_quiet(here):
    Path("dataworth.toml").write_text(DEFAULTS + TWO)
    code, out, err = call("check")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[0].startswith("worse  FAILED  harmful: ΔPMI −")
    assert lines[1].strip() == "the verdict is harmful"
    assert lines[2].startswith("alone  PASSED  ")
    assert lines[3].startswith("1 passed, 1 failed in ")
    code, out, err = call("check", "alone", "-q", "--junit", "j.xml", "--markdown", "c.md")
    assert (code, out.count("\n"), err) == (0, 1, "")
    assert "(1 cached)" in out
    assert Path("c.md").read_text().startswith("## 🟢 dataworth: the audit passed")


def test_reports_show_rows_unless_told_not_to(here):
    Path("dataworth.toml").write_text(DEFAULTS + TWO)
    for words, shown in ([["--no-rows"], False], [[], True]):
        call("check", "worse", "--reports", "r", "--markdown", "c.md", *words)
        assert ("New rows" in Path("r/worse-audit.html").read_text()) is shown
        assert ("New rows" in Path("c.md").read_text()) is shown


# --- init --------------------------------------------------------------------------------------------------


def test_init_finds_data_test_sets_and_what_they_were_made_from(here):
    for name in ("a/reviews_train", "a/reviews_test", "a/val"):
        Path(name).parent.mkdir(exist_ok=True)
        shutil.copy("test.csv" if "test" in name else "half.csv", f"{name}.csv")
    Path("clean.csv").rename("curated.csv")
    Path("half.csv").unlink()
    Path(".hidden").mkdir()
    shutil.copy("raw.csv", ".hidden/train.csv")
    code, out, _ = call("init")
    assert code == 0
    assert "reviews_train, curated" in out
    found = tomllib.loads(Path("dataworth.toml").read_text())
    assert found["defaults"]["label"] == "target"
    assert found["audit"] == {
        "curated": {"data": "curated.csv", "before": "raw.csv", "test": "test.csv", "min_rows": 84},
        "reviews_train": {"data": "a/reviews_train.csv", "test": "a/reviews_test.csv", "min_rows": 64},
    }
    assert [one.name for one in read_suite(Path("dataworth.toml")).entries] == ["reviews_train", "curated"]


def test_names_of_files_stay_texts(here):
    from dataworth.cli.suite.init import Found

    odd = Path('we"ird\\ \x07é.csv')
    one = Found("a", odd, odd, None, 10, 'la"bel')
    two = replace(one, name="b", label=None, likely=("x\n[audit.c]", "y\n[audit.d]"), id="z\n[audit.c]")
    found = tomllib.loads(written([one, two]))
    assert set(found["audit"]) == {"a", "b"}
    assert found["audit"]["a"]["data"] == found["defaults"]["test"] == str(odd)
    assert found["audit"]["a"]["label"] == 'la"bel'
    assert found["audit"]["a"]["min_rows"] == 8


# --- pytest ------------------------------------------------------------------------------------------------


def test_audits_are_tests_of_pytest(here):
    Path("dataworth.toml").write_text(DEFAULTS + TWO)
    words = ["-p", "dataworth.cli.pytest_plugin", "-p", "no:cacheprovider", "-q", "--rootdir", "."]
    import sys

    from commands import ENVIRONMENT

    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "dataworth.toml"],
        env=ENVIRONMENT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 1, ran.stderr
    assert "1 failed, 1 passed" in ran.stdout
    assert "the verdict is harmful" in ran.stdout
    assert "Traceback" not in ran.stdout


def test_slices_that_are_no_values_are_called_so_where_they_are_made():
    assert all(f'"{name}"' in inspect.getsource(slices) for name in NO_VALUES)


def test_errors_are_of_one_kind():
    with pytest.raises(DataworthError):
        Thresholds.parse({"min_rows": True}, "x")
