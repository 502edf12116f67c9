"""Texts and preference pairs from files to a verdict, with one command."""

import json

import numpy as np
import pyarrow.parquet as parquet
import pytest

import dataworth as dw
from commands import call, refused
from dataworth.data.io.preferences import read_preferences
from dataworth.embed import language_model as template
from dataworth.embed.gradients import embed_gradients
from text_worlds import write_pairs
from tiny_models import save_language_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    write_pairs(folder / "before.jsonl", 240, 3, 0.3)
    write_pairs(folder / "after.jsonl", 240, 3, 0.3, keep=lambda wrong: not wrong)
    write_pairs(folder / "test.jsonl", 200, 4)
    return folder


def test_pairs_reach_a_verdict(folder):
    files = folder / "before.jsonl", folder / "after.jsonl"
    code, out, told = call("audit", *files, "--test", folder / "test.jsonl", "--json")
    assert code == 0, told
    assert "pairs of responses recognised by chosen and rejected in" in told
    assert json.loads(out)["interval"][0] > 0


def test_gradients_are_embedded_read_and_scored(folder, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setenv("DATAWORTH_CACHE", str(tmp_path / "cache"))
    lines = (folder / "test.jsonl").read_text().splitlines()[:40]
    rows = [json.loads(line) for line in lines]
    texts = [template.TEMPLATE, *(text for row in rows for text in row.values())]
    model = save_language_model(tmp_path / "model", texts, blocks=2)
    words = "--gradients", "--model", model, "--numbers", 16, "--max-tokens", 160, "-q"
    twice = json.dumps({**rows[0], "rejected": rows[0]["chosen"]})
    (tmp_path / "some.jsonl").write_text("\n".join([*lines, twice]))
    out = tmp_path / "some.parquet"
    code, _, told = call("embed", tmp_path / "some.jsonl", *words, "-o", out)
    assert code == 0, told
    data, plain = dw.read(out), dw.read(tmp_path / "some.jsonl")
    for name in ("y", "groups", "attributes"):
        assert (getattr(data, name) == getattr(plain, name)).all()
    assert {column.kind for column in data.columns} == {"difference"}
    pairs = read_preferences(tmp_path / "some.jsonl").pairs
    both = embed_gradients(pairs, str(model), size=16, max_tokens=160).vectors()
    signs = np.where(data.y == "first", 1, -1)[:, None]
    np.testing.assert_allclose(data.X, signs * (both[:, 0] - both[:, 1]), rtol=1e-6)
    about = json.loads(parquet.read_schema(out).metadata[b"dataworth"])
    assert about["gradients"]["projection"] == "tensorised"
    assert dw.Yardstick.fit(data).model.intercept is False
    for wrong, sentence in (
        (("--loss", "hinge"), "--loss is 'hinge'"),
        (("--model", "efficientnet-lite0"), "--gradients needs a language model"),
        (("-o", tmp_path / "a.npz"), "vectors are written as .parquet"),
    ):
        assert sentence in refused(call("embed", tmp_path / "some.jsonl", *words, "-o", out, *wrong))


def test_prompts_that_stand_once_are_no_sources(tmp_path, monkeypatch):
    """Values of preference pairs: their prompts are groups, which nobody asked to compare."""
    monkeypatch.chdir(tmp_path)
    good, bad = ["alpha", "beta", "gamma", "delta"], ["epsilon", "zeta", "eta", "theta"]
    for name, first in (("pairs", 0), ("test", 500)):
        rows = [
            {
                "prompt": f"question {first + i}",
                "chosen": f"{good[i % 4]} {first + i}",
                "rejected": f"{bad[i % 4]} {first + i}",
            }
            for i in range(80)
        ]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(lines)
    words = ("pairs.jsonl", "--test", "test.jsonl", "--prior-variance", 1)
    code, out, err = call("values", *words, "-q")
    assert (code, "labels of 80 rows wrong" in out) == (0, True), err
    told = refused(call("values", *words, "-q", "--source", "prompt"))
    assert "--source prompt: the 80 groups have one row each" in told
