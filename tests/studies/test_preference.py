"""The preference study on a tiny language model, on real code paths."""

import gzip
import json

import numpy as np
import pytest

from commands import call
from dataworth.data.io.preferences import read_preferences
from dataworth.embed.language_model import TEMPLATE, LanguageModel
from dataworth_studies.preference import PLANS, SOURCES, _swapped, split
from dataworth_studies.rewards import Activations, RewardModel, Training
from text_worlds import write_pairs
from tiny_models import save_language_model

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files of the study, and a model that knows their words."""
    folder = tmp_path_factory.mktemp("preferences")
    texts = [TEMPLATE]
    for seed, name in enumerate(SOURCES.values()):
        plain = folder / "plain.jsonl"
        write_pairs(plain, 140, seed)
        texts += [text for line in plain.read_text().splitlines() for text in json.loads(line).values()]
        (folder / name).write_bytes(gzip.compress(plain.read_bytes()))
    save_language_model(folder / "model", texts)
    return folder


def test_a_quick_study_runs_and_goes_on_where_it_stopped(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("dataworth_studies.preference_tables.BOOTSTRAP", 20)
    words = ("--data", folder, "--out", tmp_path, "--model", folder / "model", "--quick", "-q")
    code, _, err = call("study", "preference", *words)
    assert code == 0, err
    kept = {name: tmp_path / name for name in ("preference.md", "cells/preference.jsonl")}
    page, cells = (path.read_text() for path in kept.values())
    for name in ("distribution smoothing", "pmi_evidence", "score (n-grams)", "reward_outside", "Examples"):
        assert name in page
    assert (tmp_path / "preference.svg").exists()
    assert call("study", "preference", *words)[0] == 0
    assert [path.read_text() for path in kept.values()] == [page, cells]


def test_no_prompt_is_in_pool_and_test_and_a_coin_swaps_the_halves(folder):
    plan = PLANS["quick"]
    pairs, pool, test = split(read_preferences(folder / SOURCES["pool"]), plan, 0)
    assert (len(pool), len(test)) == (plan.pool, plan.test)
    assert not {pairs.prompts[i] for i in pool} & {pairs.prompts[i] for i in test}
    vectors = np.arange(40.0).reshape(10, 2, 2)
    made = _swapped(vectors, np.arange(10), np.random.default_rng(0))
    for x, y, pair in zip(made.X, made.y, vectors, strict=True):
        assert x.tolist() == [*pair[y], *pair[1 - y]]


@pytest.mark.parametrize("training", [Training(blocks=1), Training(blocks=None), Training(blocks=2, lora=2)])
def test_reward_models_learn_what_is_preferred(folder, training):
    """Good words are preferred to bad ones; changes of rank 2 learn that too, but more slowly."""
    if training.lora:
        pytest.importorskip("peft")
    lm = LanguageModel(str(folder / "model"))
    pairs = read_preferences(folder / SOURCES["pool"])
    seen = Activations(lm, pairs, training, 160)
    fast = Training(training.blocks, training.lora, epochs=6, rate=5e-3)
    before = [p.clone() for p in lm.model.parameters()]
    model = RewardModel(lm, fast, seed=0)
    assert model.accuracy(seen, range(100, 140)) == 0.5  # a head of zeros says nothing
    model.train(seen, np.arange(100))
    assert np.logaddexp(0.0, -model.margins(seen, range(100))).mean() < np.log(2) - 0.05
    assert training.lora or model.accuracy(seen, range(100, 140)) > 0.75
    assert all((a == b).all() for a, b in zip(before, lm.model.parameters(), strict=True))
