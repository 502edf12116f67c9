"""A job: the options that Python would make, configurations refused in a sentence, runs that resume."""

import json
import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import dataworth as dw
from commands import MEASURING, call, measured, process, refused
from dataworth.cli.job import NOT_KEPT, as_words
from dataworth.measure.options import PARSED, Options
from dataworth.valuation.entry import parse_options
from golden.sentences import all_recorded
from worlds import classes, yardstick

WORDS = [
    ("score", "", {}),
    (
        "score",
        "--seed 3 --prior-variance 0.5 --inference ep --model logistic --slow-checks --ignore DW002",
        {"seed": 3, "prior_variance": 0.5, "inference": "ep", "model": "logistic", "slow_checks": True}
        | {"ignore": "DW002"},
    ),
    ("score", "--pairs 7 --size 20,10 --truncate 4", {"pairs": 7, "size": (20, 10), "truncate": 4.0}),
    ("score", "--size 20 --precision 0.5 --winsorize 3", {"size": 20, "precision": 0.5, "winsorise": 3.0}),
    ("score", "--form eta --eta joint -j 2", {"form": "eta", "eta": "joint", "jobs": 2}),
    ("audit", "--design matched --pairs 5 --size 12", {"design": "matched", "pairs": 5, "size": 12}),
    ("rank", "--seed 4 --form product --jobs 1", {"seed": 4, "form": "product", "jobs": 1}),
    ("values", "--seed 4 --prior-variance 2", {"seed": 4, "prior_variance": 2.0}),
    ("forecast", "--model logistic", {"model": "logistic"}),
]


def named(command):
    files = MEASURING[command]
    if command == "audit":
        return {"before": files[0], "after": files[1], "test": "test.csv"}
    return {"data": files if command in ("rank", "contributions") else files[0], "test": "test.csv"}


@pytest.mark.parametrize(("command", "words", "options"), WORDS)
def test_the_command_line_makes_the_options_that_python_makes(inside, monkeypatch, command, words, options):
    """What reaches the library's function, by words and by a configuration; parsed once."""
    asked, parsed = [], []

    def record(*args, **given):
        asked.append(given[PARSED])
        raise dw.DataworthError("enough")

    parse = Options.parse
    monkeypatch.setattr(Options, "parse", lambda *given: parsed.append(given) or parse(*given))
    monkeypatch.setattr(dw, command, record)
    assert "enough" in call(command, *MEASURING[command], "--test", "test.csv", *words.split(), "-q")[2]
    assert len(parsed) == 1
    assert replace(asked[-1], run_dir=None, progress=None, cache=False) == parse_options(command, options)

    told = {n: v for n, v in options.items() if n not in NOT_KEPT}
    Path("c.json").write_text(json.dumps({"command": command, "options": {**named(command), **told}}))
    assert "enough" in call("run", "c.json", "-q")[2]
    assert replace(asked[-1], run_dir=None, progress=None, cache=False) == parse_options(command, told)


WRONG = {
    "score": [("label", ["x"]), ("impute", "yes"), ("seed", 7.5), ("seed", "text")],
    "audit": [("before", ["x"]), ("after", {"a": 1}), ("curate", 7.5), ("slow_checks", ["x"])],
    "rank": [("data", {"a": 1}), ("model", {"a": 1}), ("prior_variance", "text")],
    "values": [("source", ["x"]), ("cross_fit", 7.5)], "contributions": [("ignore", {"a": 1})],
    "forecast": [("target", ["x"])], "sensitivity": [("priors", "text")],
}  # fmt: skip


@pytest.mark.parametrize(
    ("command", "name", "value"), [(c, *one) for c, many in WRONG.items() for one in many]
)
def test_a_configuration_with_a_wrong_kind_of_value_is_refused_in_a_sentence(inside, command, name, value):
    config = {"command": command, "options": {**named(command), name: value}}
    Path("c.json").write_text(json.dumps(config))
    assert "bug" not in refused(call("run", "c.json", "-q"))


CONFIGURED = [
    "{", "[]", '{"command": "score", "option": {}}', '{"command": "demo"}',
    '{"command": "score", "options": []}', '{"command": "score", "options": {"data": "a.csv"}}',
    '{"command": "rank", "options": {"precision": 0.1}}',
    '{"command": "score", "options": {"data": "a.csv", "test": "t.csv"}}',
]  # fmt: skip


def test_run_takes_a_configuration_written_by_hand(inside, tmp_path):
    (tmp_path / "y.json").write_bytes((inside / "y.json").read_bytes())
    options = {"data": str(inside / "clean.csv"), "test": str(inside / "test.csv"), "yardstick": "y.json"}
    options |= {"label": "target", "size": [12, 10], "pairs": 4, "features": ["a", "b"], "impute": True}
    (tmp_path / "c.json").write_text(json.dumps({"command": "score", "options": options}))
    code, out, _ = call("run", tmp_path / "c.json", "--json")
    assert (code, json.loads(out)["size"]) == (0, [12, 10])
    pinned = {"command": "score", "options": options, "inputs": {options["data"]: "another hash"}}
    (tmp_path / "c.json").write_text(json.dumps(pinned))
    told = refused(call("run", tmp_path / "c.json", "-q"))
    assert f"{options['data']} has changed since the run was configured" in told


EVIL = "import pathlib\npathlib.Path('ran').touch()\nimport dataworth\nm = dataworth.Logistic(1.0)\n"


def config_of(**more):
    config = {"command": "score", "options": {**named("score"), "yardstick": "y.json", **more}}
    Path("c.json").write_text(json.dumps(config))
    return "run", "c.json", "-q"


def test_a_configuration_runs_no_code_unless_that_is_allowed(inside):
    Path("evil.py").write_text(EVIL)
    words = config_of(model="evil:m")
    assert "c.json names the model 'evil:m', which may run code" in refused(call(*words))
    for more in ({"text_encoder": "dir"}, {"engine": "ray"}, {"address": "ray://elsewhere:10001"}):
        (name,) = more
        assert f"names the {name}" in refused(call(*config_of(**more)))
    assert not Path("ran").exists()
    for trusted in ("--allow-code", "--model=evil:m"):
        assert call(*config_of(model="evil:m"), trusted)[0] == 0
        assert Path("ran").exists()
        Path("ran").unlink()
        del sys.modules["evil"]


@pytest.mark.parametrize("name", ["ladder", "run_dir", "csv", "plot", "report"])
def test_a_configuration_writes_in_its_own_directory_only(inside, tmp_path, name):
    """Nowhere else, by no link, and nothing hidden; the command line may say where."""
    (inside / "link").unlink(missing_ok=True)
    (inside / "link").symlink_to(tmp_path)
    for path in (tmp_path / "x.md", "../x.md", "link/x.md", ".x.md", ".", "a/../../x.md"):
        told = refused(call(*config_of(**{name: str(path)})))
        assert f"c.json would write {name} to " in told
        assert f"give --{name.replace('_', '-')} on the command line" in told
    assert list(tmp_path.iterdir()) == []
    suffix = ".svg" if name == "plot" else ".md"
    (inside / "own").mkdir(exist_ok=True)
    words = config_of(**{name: f"own/{name}{suffix}"})
    assert call(*words)[0] == 0
    assert (inside / "own" / f"{name}{suffix}").exists()
    words = config_of(**{name: str(tmp_path / "x.md")})
    assert call(*words, f"--{name.replace('_', '-')}", tmp_path / f"x{suffix}")[0] == 0
    assert (tmp_path / f"x{suffix}").exists()


def test_files_of_a_configuration_are_texts(inside):
    for value in (5, {"a": 1}, ["a", 2]):
        assert "give the path of a file, as a text" in refused(call(*config_of(ladder=value)))


def test_a_run_with_a_ladder_elsewhere_is_resumed_by_naming_it(inside, tmp_path):
    run, book = tmp_path / "run", tmp_path / "ladder.json"
    assert measured("score", "clean.csv", "-q", "--run-dir", run, "--ladder", book)[0] == 0
    shorten(run)
    assert "give --ladder on the command line" in refused(call("resume", run, "-q"))
    assert call("resume", run, "-q", "--ladder", book)[0] == 0


def test_public_answers_are_counted_and_lie_beside_nothing_else(inside, tmp_path):
    words = ("audit", "raw.csv", "clean.csv", "--public", "--json", "--strict", "-v")
    book = tmp_path / "ladder.json"
    assert "--public needs --ladder FILE" in refused(measured(*words))
    assert "--public goes without --run-dir" in refused(
        measured(*words, "--ladder", book, "--run-dir", tmp_path / "run")
    )
    assert not list(tmp_path.iterdir())
    reports = [tmp_path / f"a.{ending}" for ending in ("html", "md", "json", "csv", "svg")]
    flags = ("--report", "--report", "--report", "--csv", "--plot")
    files = [word for pair in zip(flags, reports, strict=True) for word in pair]
    code, out, err = measured(*words, "--ladder", book, *files)
    assert code in (0, 3)
    told, exact = json.loads(out), json.loads(measured("audit", "raw.csv", "clean.csv", "--json")[1])
    assert (told["schema"], told["answer"]) == ("dataworth/public/1", exact["verdict"])
    secrets = [f"{exact[name]:.4g}" for name in ("delta", "before", "after", "accuracy_delta")]
    secrets += [exact["replay"]["test"]["sha256"], exact["yardstick"]["digest"], "DW0"]
    for text in (out, err, *(path.read_text() for path in reports)):
        assert not [secret for secret in secrets if secret in text]
    assert reports[3].read_text().count("\n") == 2  # a header, and the change


def test_words_of_a_configuration_are_shown_only_if_a_shell_runs_nothing_else(inside, tmp_path):
    """Anybody can compute the digest that says whose words they are."""
    run = tmp_path / "run"
    measured("score", "clean.csv", "--run-dir", run)
    config = json.loads((run / "config.json").read_text())
    for words in ("score 'a; reboot'", "score a; reboot", "score $(reboot)", "audit reboot", "score 'reboot"):
        config["about"]["words"] = f"dataworth {words}"
        (run / "config.json").write_text(json.dumps(config))
        assert ("reboot" in call("resume", run, "--json")[1]) == (words == "score 'a; reboot'")


def shorten(directory):
    """As if the run had been killed in the middle of a chunk."""
    log = directory / "chunks.jsonl"
    kept = log.read_text()
    log.write_text(kept[: kept.index("\n", len(kept) // 2) - 20])
    (directory / "result.json").unlink(missing_ok=True)
    return kept


RUNS = {name: [name, *files] for name, files in MEASURING.items()}
RUNS["audit"] += ["--ignore", "all"]
RUNS["score"] += ["--size", "10", "--pairs", "12"]
RUNS |= {
    "method": ["audit", "raw.csv", "--curate", "self-label:rows=half.csv", "--design=method", "--pairs=8"],
    "sealed": ["rank", "clean.csv", "v.safetensors"],
    "sources": ["values", "vendors.csv", "--source", "vendor"],
    "audited": ["sensitivity", "raw.csv", "clean.csv", "--priors", "0.1,10"],
}


@pytest.mark.parametrize("name", RUNS)
def test_a_command_resumes_to_the_byte_and_is_replayed(inside, tmp_path, monkeypatch, name):
    run = tmp_path / "run"
    code, once, _ = measured(*RUNS[name], "--json", "--run-dir", run)
    assert code == 0
    result = (run / "result.json").read_bytes()
    log = shorten(run)
    monkeypatch.chdir(tmp_path)  # from its directory alone
    assert call("resume", run, "--json")[:2] == (0, once)
    assert ((run / "result.json").read_bytes(), (run / "chunks.jsonl").read_text()) == (result, log)
    assert call("run", run / "config.json", "--json")[:2] == (0, once)


@pytest.mark.parametrize("kind", ["method", "values"])
def test_a_library_run_resumes_to_the_same_result(tmp_path, kind):
    data, test = classes(60, 1), classes(60, 2)
    grouped = dw.Dataset(data.X, data.y, groups=["x", "y"] * 30)

    def few(data, rng):
        return data.take(rng.permutation(len(data))[:4])

    def call(**more):
        if kind == "values":
            return dw.values(grouped, test, cross_fit=2, yardstick=yardstick(), **more)
        quick = {"pairs": 8, "ignore": "all", "yardstick": yardstick()}
        return dw.audit(data, test=test, curate=few, **quick, **more)

    plain, once = call(), call(run_dir=tmp_path / "run")
    log = shorten(tmp_path / "run")
    again = call(run_dir=tmp_path / "run")
    assert (tmp_path / "run" / "chunks.jsonl").read_text() == log
    assert again.to_dict() == once.to_dict() == plain.to_dict()


LONG_AUDIT = ["audit", "raw.csv", "clean.csv", "--test", "test.csv", "--yardstick", "y.json"]
LONG_AUDIT += ["--pairs", "64", "--ignore", "all"]


def wait_for_chunks(child, directory, count):
    log = directory / "chunks.jsonl"
    while child.poll() is None and not (log.exists() and log.read_bytes().count(b"\n") >= count):
        time.sleep(0.01)
    assert child.poll() is None, "the run ended too early to be interrupted"


def test_killed_and_resumed_is_as_never_interrupted(inside, tmp_path, monkeypatch):
    code, whole, _ = call(*LONG_AUDIT, "--json", "--jobs", "1", "--run-dir", tmp_path / "a")
    assert code == 0
    fail = "--fail-on=informative,improved,recycled,inconclusive"
    child = process(*LONG_AUDIT, fail, "--jobs", "1", "--run-dir", tmp_path / "b", cwd=inside)
    wait_for_chunks(child, tmp_path / "b", 3)
    child.kill()
    child.communicate()
    assert not (tmp_path / "b/result.json").exists()
    monkeypatch.chdir(tmp_path)  # from another directory
    code, resumed, _ = call("resume", tmp_path / "b", "--json", "--jobs", "1")
    assert code == 1, "the original's --fail-on"
    assert resumed == whole
    assert (tmp_path / "a/result.json").read_bytes() == (tmp_path / "b/result.json").read_bytes()


@pytest.mark.parametrize(("jobs", "code", "word"), [(2, 130, "interrupted"), (1, 143, "terminated")])
def test_ctrl_c_and_sigterm(folder, tmp_path, jobs, code, word):
    child = process(*LONG_AUDIT, "--jobs", jobs, "--run-dir", tmp_path / "run", cwd=folder)
    wait_for_chunks(child, tmp_path / "run", 2)
    if code == 130:
        os.killpg(child.pid, signal.SIGINT)  # as a terminal does: to the workers too
    else:
        child.send_signal(signal.SIGTERM)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (code, "")
    assert err.splitlines()[-1] == f"{word}; continue with: dataworth resume {tmp_path / 'run'}"
    assert "Traceback" not in err


@pytest.mark.parametrize("given", [True, False, None])
def test_a_switch_of_which_no_says_something_is_kept(given):
    words = {True: ["--dayfirst"], False: ["--no-dayfirst"], None: []}
    assert as_words({"dayfirst": given, "impute": False}) == words[given]


def test_a_run_belongs_to_one_configuration(inside, tmp_path):
    """What only shows the result may differ; clipping is not mentioned where it is not used."""
    run, words = tmp_path / "run", ("score", "clean.csv", "--json", "--run-dir", tmp_path / "run")
    refused(measured(*words, "--size", "500"))  # an impossible request leaves no run
    first = measured(*words)
    assert measured(*words) == first
    assert json.loads((run / "result.json").read_text()) == json.loads(first[1])
    assert measured("score", "clean.csv", "--bits", "--jobs", "1", "--run-dir", run)[0] == 0
    config = json.loads((run / "config.json").read_text())
    assert set(config) == {"dataworth_run", "command", "inputs", "options", "about"}
    assert {"dataworth", "python", "numpy", "scipy"} <= set(config["about"])
    assert config["inputs"][str(inside / "clean.csv")] == dw.read(inside / "clean.csv").content_hash()
    assert not {"truncate", "winsorise"} & set(config["options"])
    for others, told in (
        (["clean.csv", "--seed", "1"], "(seed: 0 → 1"),
        (["half.csv"], "(data: clean.csv → half.csv"),
        (["clean.csv", "--winsorise", "0.5"], "(winsorise"),
    ):
        outcome = measured("score", *others, "-q", "--run-dir", run)
        assert f"has another configuration {told}" in refused(outcome)


def test_resume_refuses_changed_and_missing_inputs(inside, tmp_path):
    data = tmp_path / "data.csv"
    data.write_bytes((inside / "clean.csv").read_bytes())
    measured("score", data, "-q", "--run-dir", tmp_path / "run")
    data.write_bytes((inside / "half.csv").read_bytes())
    assert refused(call("resume", tmp_path / "run")).startswith(f"dataworth: {data} has changed since")
    data.unlink()
    assert f"{data}: there is no such file" in refused(call("resume", tmp_path / "run"))
    assert "does not exist" in refused(call("resume", tmp_path / "no"))


def test_sentences(tmp_path):
    for config in CONFIGURED:
        (tmp_path / f"{CONFIGURED.index(config)}.json").write_text(config)
    said = [refused(call("run", tmp_path / f"{i}.json")) for i in range(len(CONFIGURED))]
    all_recorded("job", said, tmp_path)
