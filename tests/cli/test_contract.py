"""What every command keeps: JSON alone on stdout, silence under -q, exit codes, a sentence, no traceback."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import dataworth as dw
from commands import ENVIRONMENT, MEASURING, TOOLS, call, measured, on_files, refused, run
from golden.sentences import all_recorded

EVERY = [*MEASURING, *TOOLS]
NAMED = [*EVERY, "run", "resume", "demo", "embed", "check", "init"]


@pytest.mark.parametrize("command", EVERY)
def test_json_is_alone_on_stdout_and_quiet_is_one_line(inside, command):
    code, out, err = on_files(command, "--json")
    assert code == 0
    assert re.fullmatch(r"dataworth/[a-z]+/\d+", json.loads(out)["schema"])
    assert all(line.startswith("dataworth: ") for line in err.splitlines())
    code, out, err = on_files(command, "-q")
    assert (code, out.count("\n"), err) == (0, 1, "")


@pytest.mark.parametrize("command", [*MEASURING, "describe", "yardstick", "commit"])
def test_a_file_that_is_missing_is_named(inside, command):
    words = ["no.csv"] if command in TOOLS else ["no.csv", *MEASURING[command][1:], "--test", "test.csv"]
    assert "no.csv: there is no such file" in refused(call(command, *words))


@pytest.mark.parametrize("command", NAMED)
def test_help_has_an_example_and_all_options_are_one_word_further(command):
    code, out, err = call(command, "--nonsense")
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    code, out, _ = call(command, "--help")
    assert code == 0
    assert f"Example: dataworth {command}" in out
    assert not [line for line in out.splitlines() if "<bool>" in line and "--help" not in line]
    if "--help-all" in out:
        code, more, _ = call(command, "--help-all")
        flags, others = (set(re.findall(r"--[a-z-]+", text)) for text in (out, more))
        assert code == 0
        assert flags < others


def raising(error):
    def fail(*args, **kwargs):
        raise error

    return fail


def test_every_end_has_its_code_and_at_most_a_sentence(inside, monkeypatch):
    def ended(error, *words):
        monkeypatch.setattr(dw, "score", raising(error))
        return on_files("score", *words)

    code, out, err = ended(ZeroDivisionError("division by zero"))
    assert (code, out, err.count("\n")) == (70, "", 1)
    assert "this is a bug, please report it (-v shows where): ZeroDivisionError" in err
    assert "Traceback" in ended(ZeroDivisionError(), "-v")[2]
    assert "not enough memory" in refused(ended(MemoryError()))
    nothing = "interrupted; nothing was kept (--run-dir keeps finished work)\n"
    assert ended(KeyboardInterrupt()) == (130, "", nothing)
    wrong = dw.DataworthError("that is wrong: do this")
    assert refused(ended(wrong)) == "dataworth: that is wrong: do this\n"


SENSELESS = """
    audit --form eta --eta x | audit --truncate 1 --winsorise 1 | score --winsorize 0 | rank --winsorise -1
    score --size 3,x | audit --design x | audit --ignore nonsense | audit --csv . | audit --fail-on bad
    audit --fail-on harmful --design equal-size | sensitivity --priors 1,0 | values -o v.txt
    values --sample 20 | rank --stream
"""
OF_ALL = ("--seed -1", "--engine moon", "--jobs 0", "--plot p.jpg", "--plot no/p.png")
NOT_ALLOWED = """
    rank raw.csv raw.csv | contributions raw.csv | forecast clean.csv --rows 0 | values clean.csv --source who
    values v.safetensors | audit v.safetensors clean.csv | score v.safetensors --pairs 9
    score clean.csv --group g | score clean.csv --exclude wen | score test.csv
"""


def calls(text):
    return [one.split() for one in text.strip().replace("\n", "|").split("|")]


def test_sentences(inside):
    """Senseless options are refused before files are read; and what files do not allow."""
    senseless = [*calls(SENSELESS), *([one, *words.split()] for one in MEASURING for words in OF_ALL)]
    said = []
    for command, *given in senseless:
        files = [f"no{i}.csv" for i in range(len(MEASURING[command]))]
        said.append(refused(call(command, *files, "--test", "none.csv", *given)))
    all_recorded("commands", said + [refused(measured(*words)) for words in calls(NOT_ALLOWED)], inside)


def test_verdicts_and_checks_have_exit_codes(inside, monkeypatch):
    files = MEASURING["audit"]
    assert measured("audit", *files, "-q", "--fail-on", "improved,recycled")[0] == 1
    assert measured("audit", *files, "-q", "--fail-on", "strategic, harmful")[0] == 0
    code, out, _ = measured("audit", *files[::-1], "-q", "--fail-on", "strategic,harmful")
    assert (code, out.split(":")[0]) == (1, "harmful"), "wrong rows are added"
    score = dw.score

    def fires(*args, **kwargs):
        found = score(*args, **kwargs)
        return replace(found, checks=(replace(found.checks[0], failed=True), *found.checks[1:]))

    monkeypatch.setattr(dw, "score", fires)
    code, out, err = measured("score", "clean.csv", "-q", "--strict", "--ignore", "DW002")
    assert code == 3
    assert "failed: DW001" in out
    assert "dataworth: --strict: DW001 doubling" in err


def test_help_tells_the_exit_codes_and_imports_nothing_heavy():
    code = "import sys; sys.argv=['dataworth','--help']\n"
    code += "from dataworth.cli import main\ntry: main()\nexcept SystemExit: pass\n"
    code += "print({'numpy','scipy','sklearn','matplotlib','pyarrow','joblib'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().endswith("set()")
    shown = " ".join(done.stdout.split())
    for number in (0, 1, 2, 3, 70, 130, 141, 143):
        assert re.search(rf"\b{number} ", shown)


def test_a_device_is_written_to_and_not_replaced(folder):
    words = ("score", "clean.csv", "--test", "test.csv", "--yardstick", "y.json", "-q")
    code, out, _ = run(*words, "--csv", "/dev/stdout", cwd=folder)
    assert code == 0
    assert "\npair,arm,pmi" in out
    assert Path("/dev/stdout").is_symlink()


def test_outputs_and_files_that_fail_are_sentences(inside, tmp_path, monkeypatch):
    code, out, err = measured("score", "clean.csv", "-q", "--csv", "/dev/full")
    expected = measured("score", "clean.csv", "-q")[1]
    assert (code, out) == (2, expected)
    assert err.startswith("dataworth: /dev/full cannot be written (No space left on device): make room")
    monkeypatch.setattr("dataworth.parallel.runs.Run.finish", raising(OSError(28, "No space left on device")))
    code, out, err = measured("score", "clean.csv", "-q", "--run-dir", tmp_path / "run")
    assert (code, out) == (0, expected)
    assert f"{tmp_path / 'run'}: the result cannot be kept (No space left on device)" in err
    denied = PermissionError(13, "Permission denied", "denied.json")
    (inside / "denied.json").touch()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", raising(denied))
        assert refused(call("run", "denied.json")) == "dataworth: denied.json: Permission denied\n"
    monkeypatch.setattr(Path, "touch", raising(denied))
    sentence = refused(measured("score", "clean.csv", "--csv", "out.csv"))
    assert "out.csv cannot be written (Permission denied)" in sentence


def test_a_term_is_explained_and_an_unknown_one_is_refused_with_those_close_to_it():
    code, out, _ = call("explain", "BLIND", "baseline", "-q")
    assert (code, out.partition(":")[0]) == (0, "Blind baseline")
    assert "close to it: blind baseline" in refused(call("explain", "baseline"))
    assert "'dataworth explain' lists all" in refused(call("explain", "xyzzy"))
