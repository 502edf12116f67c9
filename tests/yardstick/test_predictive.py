"""Row-wise predictive probabilities, against models with weights, quadrature and draws."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, softmax
from scipy.stats import norm

import dataworth as dw
from dataworth.yardstick import predictive
from dataworth.yardstick.predictive import (
    Known,
    half_given_half,
    numeric,
    one_of_classes,
    two_classes,
)


def asked(n=40, d=3, classes=2, others=12, seed=0, numbers=False, weights=None):
    """Rows with an intercept, labels by a linear model, and others to predict."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n + others, d)) / np.sqrt(d), np.ones(n + others)])
    f = X @ rng.normal(size=(d + 1, classes))
    y = f[:, 0] if numbers else np.argmax(f + rng.gumbel(size=f.shape), axis=1).astype(float)
    if numbers:
        y = y + rng.normal(size=len(y))
    weights = np.ones(n) if weights is None else weights
    return Known(X[:n], y[:n], weights, X[n:], y[n:], classes)


def posterior(model, known, weights):
    return model.fit(known.rows[:, :-1], known.targets, weights)


@pytest.mark.parametrize("shape", [(40, 3), (6, 20)], ids=["more rows", "more features"])
@pytest.mark.parametrize("w", [1.0, 4.0])
def test_one_fit_serves_every_tempering(shape, w):
    """Rows counted w times under C = C′/w: the mode of C′ and 1/w of its covariance, by `Logistic` itself."""
    known = asked(*shape)
    own = posterior(dw.Logistic(4.0 / w), known, np.full(shape[0], w))
    (mean, variance), sign = own.predictor(known.others[:, :-1]), 2.0 * known.wanted - 1.0
    expected = [
        np.log(quad(lambda f, m=m, v=v, s=s: expit(s * f) * norm.pdf(f, m, np.sqrt(v)), m - 40, m + 40)[0])
        for m, v, s in zip(mean, variance, sign, strict=True)
    ]
    found = two_classes(known, 4.0, (1.0, 4.0)).log_p[(1.0, 4.0).index(w)]
    assert found == pytest.approx(expected, abs=1e-3)
    assert np.sqrt(variance.max()) < 3.0


@pytest.mark.parametrize(("spread", "error"), [(1.0, 1e-6), (3.0, 1e-3), (5.0, 0.03)])
def test_twenty_nodes_of_gauss_and_hermite(spread, error):
    """A row whose predictor is N(m, s²): nats from the integral, as the constant's words say."""
    mean = np.linspace(-2.0, 2.0, 9) * spread
    known = Known(np.zeros((0, 1)), np.zeros(0), np.zeros(0), np.ones((9, 1)), np.ones(9), 2)
    expected = [np.log(quad(lambda z, m=m: expit(m + spread * z) * norm.pdf(z), -12, 12)[0]) for m in mean]
    found = np.log(predictive._sigmoid(mean, np.full(9, spread**2), (1.0,))[0])
    assert np.abs(found - expected).max() < error
    # without rows the prior alone speaks: N(0, C)
    prior = two_classes(known, spread**2, (1.0,)).log_p[0]
    assert prior == pytest.approx(np.log(0.5), abs=1e-9)


def test_weights_count_as_repeats():
    weights = np.random.default_rng(3).integers(0, 4, 40).astype(float)
    known = asked(weights=weights)
    rows = np.repeat(np.arange(40), weights.astype(int))
    repeated = replace(known, rows=known.rows[rows], targets=known.targets[rows], weights=np.ones(len(rows)))
    for predict in (two_classes, predictive.softmax, numeric):
        ours, theirs = (predict(each, 3.0, (1.0, 4.0)).log_p for each in (known, repeated))
        assert ours == pytest.approx(theirs, abs=1e-5)
    known = asked(classes=3)
    each = (replace(known, targets=(known.targets == c) * 1.0, wanted=np.ones(12)) for c in range(3))
    p = np.stack([np.exp(two_classes(one, 5.0, (2.0,)).log_p[0]) for one in each], axis=1)
    right = known.wanted[:, None] == np.arange(3)
    assert one_of_classes(known, 5.0, (2.0,)).log_p[0] == pytest.approx(np.log(p[right] / p.sum(axis=1)))


@pytest.mark.parametrize("shape", [(30, 3), (6, 20)], ids=["more rows", "more features"])
def test_numeric_labels_have_the_exact_density(shape):
    """Σ log p(row | D) one at a time is what `pmi`'s chain rule says: log Z(D, row) − log Z(D)."""
    known = asked(*shape, numbers=True)
    for s in (0.3, 1.0):
        model = dw.Linear(prior_variance=5.0 * s, noise_variance=s)
        alone = posterior(model, known, None).log_evidence
        found = numeric(known, 5.0, (0.3, 1.0)).log_p[(0.3, 1.0).index(s)]
        for row, y, ours in zip(known.others, known.wanted, found, strict=True):
            both = model.fit(np.vstack([known.rows, row])[:, :-1], np.append(known.targets, y))
            assert ours == pytest.approx(both.log_evidence - alone, abs=1e-7)


@pytest.mark.parametrize("shape", [(40, 3), (6, 20)], ids=["more rows", "more features"])
def test_softmax_is_its_posteriors_mean_probability(shape):
    """Against 20,000 draws of `Softmax`'s own posterior with rows counted 4 times: 256 fixed draws of a row
    are within 0.15 nats of it, and within 0.03 on average."""
    known = asked(*shape, classes=3)
    model = posterior(dw.Softmax(5.0 / 4, classes=3), known, np.full(shape[0], 4.0))
    theta = model.sample(np.random.default_rng(0), 20_000).reshape(-1, 3, shape[1] + 1)
    p = np.array([softmax(theta @ row, axis=1).mean(axis=0) for row in known.others])
    expected = np.log(p[np.arange(12), known.wanted.astype(int)])
    found = predictive.softmax(known, 5.0, (4.0,)).log_p[0]
    assert np.abs(found - expected).max() < 0.15
    assert abs((found - expected).mean()) < 0.03
    assert predictive.DRAWS == 256


@pytest.mark.parametrize("model", [dw.Logistic(0.5), dw.Softmax(0.5, classes=2), dw.Linear(0.5, 0.3)])
def test_half_given_half_takes_the_models_own_prior(model):
    """C and w of a model are C′ = w·C (numeric labels: C/s²) of the predictive."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(float)
    splits = [(np.arange(20), np.arange(20, 40))]
    w = 1.0 if isinstance(model, dw.Linear) else 4.0
    rows = np.column_stack([X, np.ones(40)])
    expected = []
    for a, b in (splits[0], splits[0][::-1]):
        known = Known(rows[a], y[a], np.ones(20), rows[b], y[b], 2)
        if isinstance(model, dw.Linear):
            precision = rows[a].T @ rows[a] / 0.3 + np.eye(3) / 0.5
            mean = rows[b] @ np.linalg.solve(precision, rows[a].T @ y[a] / 0.3)
            variance = np.diag(rows[b] @ np.linalg.solve(precision, rows[b].T)) + 0.3
            expected.append(norm.logpdf(y[b], mean, np.sqrt(variance)).sum())
        else:
            kind = two_classes if isinstance(model, dw.Logistic) else predictive.softmax
            expected.append(kind(known, 2.0, (4.0,)).log_p.sum())
    assert half_given_half(model, w, X, y, splits) == pytest.approx(np.mean(expected))
