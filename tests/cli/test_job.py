"""A job: the options that Python would make, configurations refused in a sentence, runs that resume."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

import dataworth as dw
from dataworth.cli import measure
from dataworth.cli.app import app
from dataworth.cli.job import FILES, NOT_KEPT, Job
from dataworth.cli.options import Columns
from dataworth.errors import DataworthError
from dataworth.measure.options import TAKES, Options
from worlds import classes, yardstick


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    for name, data in (("a", classes(40, 1)), ("b", classes(40, 2)), ("test", classes(40, 3))):
        columns = {f"x{j}": column for j, column in enumerate(data.X.T)}
        pa.csv.write_csv(pa.table(columns | {"label": data.y}), folder / f"{name}.csv")
    test = dw.read(folder / "test.csv")
    dw.Yardstick.fit(test, prior_variance=1.0).save(folder / "y.json")
    dw.seal(dw.read(folder / "b.csv"), dw.Yardstick.load(folder / "y.json")).save(folder / "v.safetensors")
    return folder


@pytest.fixture
def inside(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


def call(*words):
    result = CliRunner().invoke(app, list(map(str, words)))
    return result.exit_code, result.stdout, result.stderr


BASE = {
    "score": {"data": "a.csv", "test": "test.csv", "yardstick": "y.json", "ignore": "all"},
    "audit": {
        "before": "a.csv",
        "after": "b.csv",
        "test": "test.csv",
        "yardstick": "y.json",
        "ignore": "all",
    },
    "rank": {"data": ["a.csv", "b.csv"], "test": "test.csv", "yardstick": "y.json", "ignore": "all"},
}

# The same options


WORDS = {
    "score": [
        ("", {}),
        (
            "--seed 3 --prior-variance 0.5 --inference ep --model logistic --thorough --ignore DW002",
            {
                "seed": 3,
                "prior_variance": 0.5,
                "inference": "ep",
                "model": "logistic",
                "thorough": True,
                "ignore": "DW002",
            },
        ),
        ("--pairs 7 --size 20,10 --truncate 4", {"pairs": 7, "size": (20, 10), "truncate": 4.0}),
        ("--size 20 --precision 0.5 --winsorize 3", {"size": 20, "precision": 0.5, "winsorise": 3.0}),
        ("--form eta --eta joint -j 2", {"form": "eta", "eta": "joint", "jobs": 2}),
        ("--form eta --eta 0 --design whole", {"form": "eta", "eta": 0, "design": "whole"}),
    ],
    "audit": [
        ("", {}),
        ("--design row --pairs 5 --size 12 --seed 1", {"design": "row", "pairs": 5, "size": 12, "seed": 1}),
        ("--design rate --precision 0.3", {"design": "rate", "precision": 0.3}),
    ],
    "rank": [("", {}), ("--seed 4 --form product --jobs 1", {"seed": 4, "form": "product", "jobs": 1})],
}


class Enough(DataworthError):
    """Raised in place of the measurement."""


@pytest.mark.parametrize(
    ("command", "words", "options"),
    [(command, *given) for command, cases in WORDS.items() for given in cases],
)
def test_the_command_line_makes_the_options_that_python_makes(inside, monkeypatch, command, words, options):
    """What reaches the library's function, by words, by a configuration, and by a stored one."""
    asked = []

    def record(**given):
        asked.append({n: v for n, v in given.items() if n in TAKES[command].__annotations__})
        raise Enough("enough")

    monkeypatch.setattr(measure, "FUNCTIONS", {command: record})
    files = {"score": ["a.csv"], "audit": ["a.csv", "b.csv"], "rank": ["a.csv", "b.csv"]}[command]
    assert "enough" in call(command, *files, "--test", "test.csv", *words.split(), "-q")[2]
    expected = Options.parse(command, options)
    assert Options.parse(command, asked[-1] | {"run_dir": None, "progress": None}) == expected

    named = {"data": files if command == "rank" else files[0], "test": "test.csv"}
    named = {"before": "a.csv", "after": "b.csv", "test": "test.csv"} if command == "audit" else named
    told = {n: v for n, v in options.items() if n not in NOT_KEPT}
    job = Job.from_config({"command": command, "options": {**named, **told}}, Path("c.json"), inside)
    wanted = Options.parse(command, told)
    assert job.parsed() == wanted
    stored = json.loads(json.dumps(job.to_config({})))
    assert Job.from_config(stored, Path("run")).parsed() == wanted


def test_a_stored_job_has_its_defaults_too(inside):
    """Another version may have others, and a difference is told as a change of values."""
    job = Job(
        command="score",
        files={"data": Path("a.csv"), "test": Path("test.csv")},
        columns=Columns(),
        options={},
    )
    stored = job.to_config({})["options"]
    for name in ("seed", "model", "inference", "form", "eta", "thorough"):
        assert stored[name] == getattr(Options(), name)
    assert stored["data"] == str(inside / "a.csv")
    assert not set(NOT_KEPT) & set(stored)


# Configurations that make no sense

KINDS = {"list": ["x"], "dict": {"a": 1}, "number": 7.5, "text": "text", "null": None, "empty": []}
COLUMNS = ("label", "group", "attribute", "id", "features", "exclude", "weights", "impute")
FIELDS = [
    *((("score", "options", name)) for name in TAKES["score"].__annotations__ if name not in NOT_KEPT),
    *((("score", "options", name)) for name in (*FILES["score"], *COLUMNS)),
    *((("audit", "options", name)) for name in ("before", "after", "test", "curate", "yardstick")),
    *((("rank", "options", name)) for name in ("data", "test", "yardstick")),
    *((("score", "about", name)) for name in ("fail_on", "strict", "python", "dataworth")),
    *((("score", None, name)) for name in ("command", "options", "inputs", "about")),
]
RIGHT = {
    "list": {"ignore"},
    "dict": {"inputs", "about"},
    "number": {"prior_variance", "truncate", "winsorise"},
}
"""Fields for which a kind makes sense. A text may name something, and no value is the default."""


@pytest.mark.parametrize(("command", "part", "name"), FIELDS)
def test_a_configuration_with_a_wrong_kind_of_value_is_refused_in_a_sentence(inside, command, part, name):
    for kind, value in KINDS.items():
        config = {"command": command, "options": dict(BASE[command])}
        if part is None:
            config[name] = value
        else:
            config.setdefault(part, {})[name] = value
        if name == "curate":
            config["options"].pop("after")
        Path("c.json").write_text(json.dumps(config))
        code, out, err = call("run", "c.json", "-q")
        assert code in (0, 2), (kind, err)
        assert "Traceback" not in err
        assert "bug" not in err
        if code == 2:
            assert (out, err.count("\n")) == ("", 1)
            assert err.startswith("dataworth: ")
        if kind in RIGHT and name not in (*RIGHT[kind], "python", "dataworth"):
            assert code == 2, (kind, value)


# Runs


def shorten(directory):
    """As if the run had been killed in the middle of a chunk."""
    log = directory / "chunks.jsonl"
    kept = log.read_text().splitlines(keepends=True)
    lines = len(kept) // 2
    assert 0 < lines < len(kept)
    log.write_text("".join(kept[:lines]) + kept[lines][:20])
    (directory / "result.json").unlink(missing_ok=True)
    return "".join(kept)


@pytest.mark.parametrize(
    "words",
    [
        ["score", "a.csv", "--size", "10", "--pairs", "12"],
        ["audit", "a.csv", "b.csv"],
        ["audit", "a.csv", "--curate", "random-subset:fraction=0.5", "--pairs", "8"],
        ["rank", "a.csv", "b.csv"],
        ["rank", "a.csv", "v.safetensors", "--yardstick", "y.json"],
    ],
    ids=["score", "audit", "method", "rank", "sealed"],
)
def test_a_command_resumes_to_the_byte(inside, tmp_path, monkeypatch, words):
    more = [] if "--yardstick" in words else ["--yardstick", inside / "y.json"]
    run = tmp_path / "run"
    code, once, _ = call(*words, "--test", "test.csv", *more, "--json", "--run-dir", run)
    assert code == 0
    result = (run / "result.json").read_bytes()
    log = shorten(run)
    monkeypatch.chdir(tmp_path)  # from its directory alone
    assert call("resume", run, "--json")[:2] == (0, once)
    assert (run / "result.json").read_bytes() == result
    assert (run / "chunks.jsonl").read_text() == log


@pytest.mark.parametrize("kind", ["score", "audit", "method", "rank", "sealed"])
def test_a_library_run_resumes_to_the_same_result(tmp_path, kind):
    data, test, yard = classes(60, 1), classes(60, 2), yardstick()
    sealed = dw.seal(data.take(range(40)), yard)
    options = {"yardstick": yard, "ignore": "all"}
    calls = {
        "score": lambda **o: dw.score(data, test, pairs=12, size=10, **options, **o),
        "audit": lambda **o: dw.audit(data, data.take(range(40)), test, **options, **o),
        "method": lambda **o: dw.audit(
            data,
            test=test,
            curate=lambda D, rng: D.take(rng.permutation(len(D))[:4]),
            pairs=8,
            **options,
            **o,
        ),
        "rank": lambda **o: dw.rank({"a": data, "b": data.take(range(40))}, test, **options, **o),
        "sealed": lambda **o: dw.rank({"a": data, "b": sealed}, test, **options, **o),
    }
    plain, once = calls[kind](), calls[kind](run_dir=tmp_path / "run")
    log = shorten(tmp_path / "run")
    again = calls[kind](run_dir=tmp_path / "run")
    assert (tmp_path / "run" / "chunks.jsonl").read_text() == log
    assert again.to_dict() == once.to_dict() == plain.to_dict()
    assert again.table.values.tobytes() == once.table.values.tobytes() == plain.table.values.tobytes()
    assert np.isfinite(again.table.pmi).all()
