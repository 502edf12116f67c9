"""Known-answer probes: what an audit could have seen, against audits of the same kind that are simulated."""

import numpy as np
import pytest
from scipy.stats import nct
from scipy.stats import t as student

import dataworth as dw
from dataworth.yardstick import probes
from dataworth.yardstick.probes import Gain, Sight, in_blocks, needed_t, sight


def rows(n, seed, noise=0.5, d=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + noise * rng.normal(size=n) > 0).astype(float)


def gains(*t, blocks=20):
    """Gains with these t-values, of standard deviation 1."""
    return {q: Gain(v / np.sqrt(blocks), 1.0) for q, v in zip(probes.PROPORTIONS, t, strict=True)}


def test_needed_is_shown_four_times_in_five():
    """The power of a t-test whose non-centrality is what is needed: 0.80, by the non-central t."""
    for degrees in (7, 19, 99):
        power = nct.sf(student.ppf(0.975, degrees), degrees, needed_t(degrees + 1))
        assert power == pytest.approx(0.8, abs=0.02)


def test_the_least_proportion_is_where_t_reaches_what_is_needed():
    need = needed_t(20)
    seen = Sight(20, 20, 200, gains(0.5, need - 1, need + 1, 9.0), Gain(0.0, 1.0))
    # half of the way from 5 % to 10 %, in logarithms
    assert seen.proportion == pytest.approx(np.sqrt(0.05 * 0.1))
    assert seen.rise == pytest.approx(need / np.sqrt(20))
    assert Sight(20, 20, 200, gains(9, 9, 9, 9), Gain(0.0, 1.0)).proportion == pytest.approx(0.02)


def test_rows_that_would_decide():
    """With J* blocks the same change has the t that is needed."""
    seen = Sight(20, 15, 200, {}, Gain(0.0, 1.0))
    blocks = seen.needed(0.3, 1.2) / 15
    assert 0.3 * np.sqrt(blocks) / 1.2 >= needed_t(20) > 0.3 * np.sqrt(blocks - 1) / 1.2
    assert seen.needed(-0.3, 1.2) == seen.needed(0.3, 1.2)
    assert seen.needed(0.0, 1.0) is None


@pytest.mark.parametrize(
    ("model", "tempering"),
    [(dw.Logistic(2.0), 4.0), (dw.Linear(1.0, 0.5), 1.0), (dw.Softmax(1.0, classes=3), 4.0)],
    ids=["two classes", "numeric", "three classes"],
)
def test_labels_that_matter_are_seen_and_labels_that_do_not_are_not(model, tempering):
    X, y = rows(160, 0)
    if isinstance(model, dw.Softmax):
        y = np.clip(np.round(X[:, 0]), -1, 1) + 1.0
    if isinstance(model, dw.Linear):
        y = X[:, 0] + 0.3 * np.random.default_rng(1).normal(size=160)
    both = y, np.random.default_rng(1).permutation(y)
    clear, nothing = (sight(model, tempering, X, labels, rows_a_block=8, blocks=20) for labels in both)
    assert clear.proportion <= 0.2
    assert clear.rise > 0
    assert nothing.proportion is None


def test_a_probe_is_the_evidence_of_each_row_with_rows_counted_as_often():
    """Growth by hand, on the first halving alone: log p(row | D) with D's rows counted w times."""
    X, y = rows(40, 0)
    model, w = dw.Logistic(2.0), 4.0
    score = probes.block_scorer(model, w, X, y)
    a, blocks = np.arange(20), in_blocks(np.arange(20, 40), 5)
    fitter = model.bind(X, y)
    alone = fitter(a, weights=np.full(20, w)).log_z
    joint = [fitter(np.r_[a, row], weights=np.r_[np.full(20, w), 1.0]).log_z for row in range(20, 40)]
    expected = (np.array(joint) - alone).reshape(4, 5).sum(axis=1)
    assert score(a, y[a], blocks) == pytest.approx(expected, abs=0.05)  # of five rows, by Laplace


def test_what_is_said_to_be_seen_is_seen():
    """Audits by hand, as the probes foretell: a third of the labels' proportion that is seen is shown less
    often than 3 times in 5, three times that proportion 4 times in 5. 40 audits each; the false-alarm rate
    was not computed."""
    X, y = rows(400, 0, noise=0.4)
    model, w = dw.Logistic(5.0), 2.0
    seen = sight(model, w, X, y, rows_a_block=10, blocks=20, size=100)
    assert 0.02 < seen.proportion < 0.15

    def shown(proportion, repeats=40):
        rng, hits = np.random.default_rng(7), 0
        for i in range(repeats):
            D, labels = rows(100, 100 + i, noise=0.4)
            T, truth = rows(200, 500 + i, noise=0.4)
            bad = rng.permutation(100)[: max(1, round(proportion * 100))]
            fitter = model.bind(np.vstack([D, T]), np.r_[labels, truth])
            told = labels.copy()
            told[bad] = 1 - told[bad]
            keep, blocks = np.setdiff1d(np.arange(100), bad), in_blocks(np.arange(100, 300), 10)
            arms = []
            for data, targets in ((np.arange(100), told), (keep, labels[keep])):
                fit = fitter(data, weights=np.full(len(data), w), targets=targets)
                arms.append(np.array(fitter.log_predictives(fit, [(b, None) for b in blocks])))
            gain = arms[1] - arms[0]
            hits += gain.mean() > student.ppf(0.975, 19) * gain.std(ddof=1) / np.sqrt(20)
        return hits / repeats

    assert shown(3 * seen.proportion) >= 0.8
    assert shown(seen.proportion / 3) <= 0.6
