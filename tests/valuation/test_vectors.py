"""Prompts with responses and other vectors, measured as labelled rows are; values against refits."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import dataworth as dw
from commands import call
from dataworth.measure.labels_alone import LabelsAlone
from dataworth.models import MultiLinear
from dataworth.valuation.audit.verdict import UP
from dataworth.valuation.values.rows import Part, Table
from dataworth.valuation.values.vectors import VectorFits, densities
from pair_worlds import mismatched, pairs, write
from worlds import refusal

seeds = st.integers(0, 2**32 - 1)


# --- leave-one-out in closed form, against fits without the rows


@given(seeds, st.integers(1, 6), st.integers(1, 3), st.floats(0.3, 3.0))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_values_are_differences_of_evidences(seed, d, q, weight):
    """ℓ_i(D∪T) − ℓ_i(D), M_ij and log p(y_i | all others), each from as many fits without rows."""
    rng = np.random.default_rng(seed)
    n, m = 7, 5
    X, y = rng.normal(size=(n + m, d)), rng.normal(size=(n + m, q))
    weights = np.concatenate([np.full(n, weight), np.ones(m)])
    model = MultiLinear(0.7, 2.0, 1.2, intercept=False)
    fitter, i, j = model.bind(X, y), 3, n + 2

    def log_z(rows, *without):
        kept = np.setdiff1d(rows, without)
        return fitter(kept, weights=weights[kept]).log_z

    D, S = np.arange(n), np.arange(n + m)
    parts = Part(D, y[:n], weights[:n]), Part(S[n:], y[n:], weights[n:])
    fits = VectorFits.of(Table(X, 0.7, weight, *parts, None), model)
    value = (log_z(S) - log_z(S, i)) - (log_z(D) - log_z(D, i))
    assert fits.value[i] == pytest.approx(value, abs=1e-8)
    told = log_z(S) - log_z(S, j) - (log_z(S, i) - log_z(S, i, j))
    assert fits.pointwise(np.array([i]), np.array([j - n]))[0, 0] == pytest.approx(told, abs=1e-8)
    kept = np.setdiff1d(S, [i])
    alone = fitter.row_predictives(fitter(kept, weights=weights[kept]), np.array([i]), np.ones(1))
    assert densities(X, y, weights, model)[i] == pytest.approx(alone[0], abs=1e-8)


@given(seeds, st.integers(1, 3))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_the_zero_is_mean_and_spread_of_the_other_units(seed, q):
    """Regression on a free intercept alone, fitted to the rows of all other units."""
    rng = np.random.default_rng(seed)
    y, units = rng.normal(size=(12, q)) + 3.0, np.repeat(np.arange(6), 2)
    weights = rng.uniform(0.5, 2.0, 12)
    told = LabelsAlone("vectors", y, weights).log_p(y, weights, units)
    model = MultiLinear(prior_variance=1e8)
    fitter = model.bind(np.zeros((12, 0)), y)
    for unit in range(6):
        own, kept = np.flatnonzero(units == unit), np.flatnonzero(units != unit)
        fit = fitter(kept, weights=weights[kept])
        free = weights[own] * fitter.row_predictives(fit, own, np.ones(2))
        assert told[own] == pytest.approx(free, abs=1e-4)


# --- vectors as they are


def world(n, seed=0):
    rng = np.random.default_rng([seed, 2])
    X, B = rng.normal(size=(n, 4)), np.random.default_rng(3).normal(size=(4, 6))
    return dw.Dataset(X, X @ B + 2.0 * rng.normal(size=(n, 6)))


def test_vectors_go_through_every_measure():
    D, T = world(200), world(120, seed=1)
    yard = dw.Yardstick.fit(T)
    options = {"yardstick": yard, "ignore": "all"}
    score = dw.score(D, T, **options)
    assert score.interval[0] > 0
    again = dw.score(D.take(np.random.default_rng(0).permutation(200)), T, **options)
    assert again.value == pytest.approx(score.value, abs=1e-8)
    doubled = dw.audit(D, D.take(np.tile(np.arange(200), 2)), T, **options)
    assert doubled.verdict == "unchanged"
    assert doubled.delta == pytest.approx(0.0, abs=1e-9)
    half = dw.audit(D, D.take(np.arange(100)), T, **options)
    assert half.delta < 0
    assert half.verdict == "costly"
    ranked = dw.rank({"half": D.take(np.arange(100)), "all": D}, test=T, **options)
    assert ranked[0].name == "all"
    shuffled = D.with_outputs(D.outputs[np.random.default_rng(0).permutation(200)])
    assert dw.score(shuffled, T, **options).value < 0.2 * score.value
    pairs_of = dw.score(D, T, pairs=20, size=30, **options)
    assert pairs_of.design == "pairs"
    assert pairs_of.value > 0
    told = dw.contributions({"a": D, "b": D}, test=T, yardstick=yard)
    assert told.to_dict()["schema"] == "dataworth/contributions/1"
    assert dw.forecast(D, T, rows=100, yardstick=yard).to_dict()["schema"] == "dataworth/forecast/1"


def test_what_vectors_do_not_have_is_refused():
    D, T = world(80), world(60, seed=1)
    yard = dw.Yardstick.fit(T, prior_variance=1.0)
    assert "cannot be sealed" in refusal(dw.seal, D, yard)
    assert "labels are no vectors" in refusal(dw.score, dw.Dataset(D.X, D.X[:, 0] > 0), T, yardstick=yard)
    assert "benchmark is R²" in refusal(dw.score, D, T, yardstick=yard, metric="auc")


# --- files of conversations, from the command line to the report


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A fifth of 300 responses mismatched; these removed; a test set of 160 others; its yardstick."""
    folder = tmp_path_factory.mktemp("pairs")
    noisy, wrong = mismatched(pairs(1, 300), 1)
    write(folder / "raw.jsonl", noisy)
    write(folder / "clean.jsonl", [row for row, bad in zip(noisy, wrong, strict=True) if not bad])
    write(folder / "test.jsonl", pairs(2, 160))
    dw.Yardstick.fit(dw.read(folder / "test.jsonl")).save(folder / "yard.json")
    return folder, wrong


def test_mismatched_responses_removed_are_a_rise(files, monkeypatch):
    """A rise, with a report and JSON; topics are so plain here that the data's own models do as much."""
    folder, _ = files
    monkeypatch.chdir(folder)
    audit = "audit raw.jsonl clean.jsonl --test test.jsonl --yardstick yard.json"
    code, out, err = call(*audit.split(), "--json", "--report", "out.html")
    assert code == 0, err
    told = json.loads(out)
    assert told["interval"][0] > 0
    assert told["verdict"] in UP
    assert told["change"]["removed"] == 60
    (line,) = (line for line in err.splitlines() if "prompts with responses" in line)
    assert "--task says otherwise" in line
    page = (folder / "out.html").read_text()
    assert "test R²" in page
    assert "mismatched responses" in page


def test_mismatched_responses_are_found(files):
    """AUROC above 0.85; one in eight mismatched responses speaks of the right topic by chance."""
    folder, wrong = files
    yard = dw.Yardstick.load(folder / "yard.json")
    found = dw.values(folder / "raw.jsonl", folder / "test.jsonl", yardstick=yard).rows
    assert roc_auc_score(wrong, found.p_mislabeled) > 0.85


def test_blind_changes_of_clean_pairs_are_not_informative(files, tmp_path):
    """Half, shortest dropped, doubled: nothing rises."""
    folder, _ = files
    yard, clean = dw.Yardstick.load(folder / "yard.json"), dw.read(folder / "clean.jsonl")
    test = dw.read(folder / "test.jsonl")
    n = len(clean)
    for rows in (np.arange(n // 2), np.argsort(clean.X[:, 1])[n // 5 :], np.tile(np.arange(n), 2)):
        made = dw.audit(clean, clean.take(rows), test, yardstick=yard, ignore="all")
        assert made.delta < 1e-6
        assert made.verdict not in ("informative", "improved", "recycled")


def test_blind_baselines_of_pairs(files):
    """Length and shared words are asked; learners of classes are not."""
    folder, _ = files
    yard = dw.Yardstick.load(folder / "yard.json")
    made = dw.audit(folder / "raw.jsonl", folder / "clean.jsonl", folder / "test.jsonl", yardstick=yard)
    names = {str(arm.name) for arm in made.table.arms if arm.role == "own"}
    assert {"drop, least length", "drop, most length", "drop, least words shared with the prompt"} <= names
    assert {"yardstick", "linear"} & names
    assert "ensemble" in names
    assert not {"boosting", "gaussian_process", "affine_labels"} & names


def test_own_rows_are_measured_as_fresh_ones(files):
    """A test set scores fresh rows alike on either side: own outputs are drawn in, those of data are not."""
    folder, _ = files
    yard, test = dw.Yardstick.load(folder / "yard.json"), dw.read(folder / "test.jsonl")
    own, other = (yard.numbered(test, own=flag).outputs for flag in (True, False))
    assert (
        np.abs((own - yard.labels.centre) @ yard.labels.axes)
        <= np.abs((other - yard.labels.centre) @ yard.labels.axes) + 1e-9
    ).all()
    again = yard.numbered(yard.numbered(test, own=True), own=True)
    assert np.array_equal(again.outputs, own)
