"""Texts and preference pairs from files to a verdict, with one command."""

import csv
import json

import numpy as np
import pyarrow.parquet as parquet
import pytest
from typer.testing import CliRunner

import dataworth as dw
from dataworth.cli.app import app
from dataworth.embed import language_model as template
from text_worlds import review, write_pairs
from tiny_models import save_language_model, save_text_encoder


def call(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, done.stdout, done.stderr


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    for name, n, seed in (("mails", 240, 1), ("test", 160, 2)):
        rng = np.random.default_rng(seed)
        with (folder / f"{name}.csv").open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["subject", "body", "label"])
            for _ in range(n):
                happy = rng.random() < 0.5
                rows.writerow(["your order", review(rng, happy), "praise" if happy else "blame"])
    write_pairs(folder / "before.jsonl", 240, 3, 0.3)
    write_pairs(folder / "after.jsonl", 240, 3, 0.3, keep=lambda wrong: not wrong)
    write_pairs(folder / "test.jsonl", 200, 4)
    return folder


def test_mails_reach_a_score(folder):
    code, out, told = call("score", folder / "mails.csv", "--test", folder / "test.csv", "--json", "-q")
    assert code == 0, told
    assert json.loads(out)["interval"][0] > 0
    _, out, _ = call("describe", folder / "mails.csv", "--json")
    roles = {role["column"]: role for role in json.loads(out)["roles"]}
    assert (roles["body"]["role"], roles["body"]["kind"]) == ("feature", "text")
    assert roles["subject"]["kind"] == "categorical"


def test_pairs_reach_a_verdict(folder):
    files = folder / "before.jsonl", folder / "after.jsonl"
    code, out, told = call("audit", *files, "--test", folder / "test.jsonl", "--json")
    assert code == 0, told
    assert "pairs of responses recognised by chosen and rejected in" in told
    assert json.loads(out)["interval"][0] > 0


def test_a_text_encoder_stands_in_for_ngrams(folder, tmp_path, monkeypatch):
    pytest.importorskip("sentence_transformers")
    monkeypatch.setenv("DATAWORTH_CACHE", str(tmp_path / "cache"))
    texts = [row["chosen"] + row["rejected"] for row in lines(folder / "test.jsonl")]
    encoder = save_text_encoder(tmp_path, texts)
    words = "score", folder / "after.jsonl", "--test", folder / "test.jsonl", "--json", "--ignore", "all"
    code, out, told = call(*words, "--text-encoder", encoder, "--prior-variance", "1")
    assert code == 0, told
    assert json.loads(out)["data_rows"] == len(lines(folder / "after.jsonl"))


def test_gradients_are_embedded_read_and_scored(folder, tmp_path):
    pytest.importorskip("torch")
    rows = lines(folder / "test.jsonl")
    texts = [template.TEMPLATE, *(text for row in rows for text in row.values())]
    model = save_language_model(tmp_path / "model", texts, blocks=2)
    words = "--gradients", "--model", model, "--numbers", 16, "--max-tokens", 160, "-q"
    (tmp_path / "some.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in [*rows[:60], {**rows[0], "rejected": rows[0]["chosen"]}])
    )
    out = tmp_path / "some.parquet"
    code, _, told = call("embed", tmp_path / "some.jsonl", *words, "-o", out)
    assert code == 0, told
    data, plain = dw.read(out), dw.read(tmp_path / "some.jsonl")
    assert (data.y == plain.y).all()
    assert (data.groups == plain.groups).all()
    assert (data.attributes == plain.attributes).all()
    assert {column.kind for column in data.columns} == {"difference"}
    both = np.load(tmp_path / "some.gradients" / "vectors.npy")
    signs = np.where(data.y == "first", 1, -1)[:, None]
    np.testing.assert_allclose(data.X, signs * (both[:, 0] - both[:, 1]), rtol=1e-6)
    assert (
        json.loads(parquet.read_schema(out).metadata[b"dataworth"])["gradients"]["projection"] == "tensorised"
    )
    assert dw.Yardstick.fit(data).model.intercept is False
    for wrong, sentence in (
        (("--loss", "hinge"), "--loss is 'hinge'"),
        (("--model", "efficientnet-lite0"), "--gradients needs a language model"),
    ):
        code, _, told = call("embed", tmp_path / "some.jsonl", *words, *wrong, "-o", out)
        assert (code, sentence in told) == (2, True)
    assert call("embed", tmp_path / "some.jsonl", *words, "-o", tmp_path / "a.npz")[0] == 2
