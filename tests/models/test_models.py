"""Every model against the truth, and every model through the one protocol."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import multivariate_normal, norm

from cases import CASES, PRIOR_VARIANCES
from dataworth import Dataset, pmi
from dataworth.evidence.forms import Form, Pair
from dataworth.models import (
    Categorical,
    InverseGamma,
    Linear,
    Logistic,
    Posterior,
    Softmax,
    bind,
)
from dataworth.models.gaussian import GaussianPrior
from golden.sentences import all_refused
from reference import (
    dense_laplace,
    dense_linear,
    gaussian_posterior,
    isotropic,
    tolerance,
    with_ones,
)
from user_models import Coin
from worlds import refusal

BY_NAME = {case.name: case for case in CASES}
over_cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


MODELS = {
    "logistic": Logistic(), "logistic by EP": Logistic(inference="ep"),
    "logistic, wide": Logistic(prior_variance=100.0),
    "logistic, no intercept": Logistic(prior_variance=0.5, intercept=False),
    "linear": Linear(prior_variance=0.7, noise_variance=0.3), "linear, no intercept": Linear(intercept=False),
    "linear, unknown noise": Linear(noise_variance=InverseGamma(2.0, 0.7)), "categorical": Categorical(),
    "softmax": Softmax(prior_variance=0.5), "a user's": Coin(),
}  # fmt: skip
over_models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def targets_of(case, model):
    return case.numeric_labels if isinstance(model, Linear) else case.y


def too_wide(case, model):
    return case.X.shape[1] > 1000 or (case.X.shape[1] == 0 and not getattr(model, "intercept", True))


@over_models
@over_cases
def test_every_model_keeps_the_protocol_on_every_case(case, model):
    if too_wide(case, model):
        pytest.skip("a d×d covariance of 4,000, or no parameters at all")
    y = targets_of(case, model)
    posterior = model.fit(case.X, y, case.weights)
    assert isinstance(posterior, Posterior)
    assert np.isfinite(posterior.log_evidence)
    if case.X.shape[1] and not isinstance(model, Coin):  # a list of empty rows has no width
        listed = model.fit(case.X.tolist(), y.tolist(), case.weights.tolist())
        assert listed.log_evidence == posterior.log_evidence
    draws = posterior.sample(np.random.default_rng(0), 3)
    assert draws.shape[0] == 3
    assert np.isfinite([posterior.log_density(theta) for theta in draws]).all()
    again = posterior.sample(np.random.default_rng(0), 3)
    assert np.array_equal(draws, again)
    forecast = posterior.predict_proba(case.X)
    travelled, back = pickle.loads(pickle.dumps((model, posterior)))
    assert travelled == model
    assert (back.log_evidence, back.log_density(draws[0])) == (
        posterior.log_evidence,
        posterior.log_density(draws[0]),
    )
    assert np.array_equal(back.predict_proba(case.X), forecast)
    if isinstance(model, Linear):
        assert forecast.shape == (len(y),)
        assert np.isfinite(forecast).all()
    else:
        assert forecast.shape == (len(y), 2)
        assert ((forecast >= 0) & (forecast <= 1)).all()
        assert np.allclose(forecast.sum(axis=1), 1.0, atol=1e-12)


@over_models
@over_cases
def test_a_bound_model_fits_rows_as_the_model_fits_their_slice(case, model):
    """Weights 1, 2, 0 … against rows named once, twice, not at all."""
    if too_wide(case, model) and case.X.shape[1] == 0:
        pytest.skip("no parameters")
    y = targets_of(case, model)
    fitter = bind(model, case.X, y)
    rows = np.random.default_rng(1).permutation(len(y))[: max(1, len(y) // 2)]
    alone = model.fit(case.X[rows], y[rows], case.weights[rows])
    bound = fitter(rows, weights=case.weights[rows])
    assert bound.log_z == pytest.approx(alone.log_evidence, abs=2 * tolerance(bound.log_z))
    assert np.array_equal(fitter.y, y)
    counts = np.resize([1, 2, 0], len(y))
    weighted = fitter(np.arange(len(y)), weights=counts.astype(float))
    repeated = fitter(np.repeat(np.arange(len(y)), counts))
    assert weighted.log_z == pytest.approx(repeated.log_z, abs=2 * tolerance(weighted.log_z))


@over_models
def test_targets_stand_in_for_those_of_the_pool(model):
    case = BY_NAME["noisy"]
    y = targets_of(case, model)
    other = np.roll(y, 1)
    rows = np.array([0, 3, 4, 7, 8])
    replaced = bind(model, case.X, y)(rows, targets=other[rows])
    assert replaced.log_z == pytest.approx(bind(model, case.X, other)(rows).log_z, abs=1e-6)
    assert abs(replaced.log_z - bind(model, case.X, y)(rows).log_z) > 1e-3


@over_models
def test_predictions_and_benchmark_score_of_a_fit(model):
    case = BY_NAME["noisy"]
    y = targets_of(case, model)
    fitter = bind(model, case.X, y)
    rows, test = np.arange(8), np.arange(8, 12)
    fit = fitter(rows)
    forecast = model.fit(case.X[rows], y[rows]).predict_proba(case.X[test])
    if isinstance(model, Linear):
        assert fitter.predict(fit, test) == pytest.approx(forecast, abs=1e-9)
        expected = 1.0 - np.mean((y[test] - forecast) ** 2)  # a yardstick's unit: variance 1 in the test set
    else:
        assert fitter.predict(fit, test).tolist() == (forecast[:, 1] > 0.5).astype(float).tolist()
        expected = np.mean((forecast[:, 1] > 0.5) == (y[test] > 0.5))
    assert fitter.accuracy(fit, test) == pytest.approx(expected, abs=1e-9)
    twice = np.concatenate([test, test[:2]])
    assert fitter.accuracy(fit, test, np.array([2.0, 2.0, 1.0, 1.0])) == pytest.approx(
        fitter.accuracy(fit, twice)
    )
    assert np.isnan(fitter.accuracy(fit, np.arange(0)))
    assert np.isnan(fitter.accuracy(fit, test, np.zeros(4)))


@pytest.mark.parametrize("model", [Logistic(2.0, intercept=False), Linear(2.0, 0.5, intercept=False)])
def test_log_density_integrates_to_one(model):
    case = BY_NAME["one feature"]
    posterior = model.fit(case.X, targets_of(case, model))
    draws = posterior.sample(np.random.default_rng(0), 200)
    middle, spread = float(draws.mean()), float(draws.std())
    thetas = np.linspace(max(middle - 12 * spread, -8.0), min(middle + 12 * spread, 8.0), 20_001)
    density = np.exp([posterior.log_density(np.array([t])) for t in thetas])
    assert np.trapezoid(density, thetas) == pytest.approx(1.0, abs=1e-4)


# in log σ² an inverse gamma falls faster than any Gaussian: test_noise.py has a test of its own
@pytest.mark.parametrize("model", [m for name, m in MODELS.items() if "noise" not in name], ids=str)
@pytest.mark.parametrize("name", ["noisy", "fractional weights", "separable"])
def test_samples_follow_the_log_density(name, model):
    """E[g(θ)/p(θ)] = 1 over draws from p, for a narrower Gaussian g; 5 s.e.: false alarm < 1e-5 in all."""
    case = BY_NAME[name]
    posterior = model.fit(case.X, targets_of(case, model), case.weights)
    draws = posterior.sample(np.random.default_rng(7), 4000)
    inner = multivariate_normal(draws[:2000].mean(axis=0), 0.5 * np.cov(draws[:2000].T))
    fresh = draws[2000:]
    ratio = np.exp(np.atleast_1d(inner.logpdf(fresh)) - [posterior.log_density(theta) for theta in fresh])
    assert abs(ratio.mean() - 1.0) < 5.0 * ratio.std(ddof=1) / np.sqrt(len(ratio))


@pytest.mark.parametrize("name", ["noisy", "wide", "collinear", "zero weights"])
@pytest.mark.parametrize("model", [Logistic(0.5), Linear(0.5, 0.2)], ids=["logistic", "linear"])
def test_samples_have_the_dense_mean_and_covariance(name, model):
    """Whitened draws have mean 0 and covariance 1: each entry within 5 s.e., false alarm < 1e-3 in all."""
    case = BY_NAME[name]
    X = with_ones(case.X)
    posterior = model.fit(case.X, targets_of(case, model), case.weights)
    if isinstance(model, Linear):
        mean, precision = dense_linear(X, case.numeric_labels, case.weights, 0.5, 0.2)
        covariance = np.linalg.inv(precision)
    else:
        mean, covariance, _ = dense_laplace(X, case.y, case.weights, 0.5)
    assert posterior.mean == pytest.approx(mean, abs=1e-6)
    new = np.random.default_rng(4).normal(size=(5, case.X.shape[1]))
    f, variance = posterior.predictor(new)
    assert f == pytest.approx(with_ones(new) @ mean, abs=1e-5)
    assert variance == pytest.approx(
        np.einsum("ij,jk,ik->i", with_ones(new), covariance, with_ones(new)), rel=1e-5
    )
    theta = mean + 0.1 * np.ones(len(mean))
    assert posterior.log_density(theta) == pytest.approx(
        multivariate_normal(mean, covariance).logpdf(theta), abs=1e-4
    )
    m = 20_000
    draws = posterior.sample(np.random.default_rng(6), m)
    white = np.linalg.solve(np.linalg.cholesky(covariance), (draws - mean).T)
    assert np.abs(white.mean(axis=1)).max() < 5.0 / np.sqrt(m)
    assert np.abs(np.cov(white) - np.eye(len(mean))).max() < 5.0 * np.sqrt(2.0 / m)


def test_sentences():
    """A prior is a positive number, or one that the model takes as such; a density is of one θ."""
    makes = Logistic, Linear, Categorical, Softmax, lambda v: Linear(noise_variance=v)
    cases = [(make, v) for v in (0, -1.0, np.nan, np.inf, "auto", None, [1.0], True) for make in makes]
    posterior = Logistic().fit(np.ones((2, 1)), np.array([0.0, 1.0]))
    cases += [(posterior.log_density, np.zeros(shape)) for shape in ((5, 2), (1,), (), (3,))]
    prior, X, y = prior_and_rows()
    cases += [lambda p=p: Linear().fit(X, y, prior=p) for p in (2.0, GaussianPrior([0.0], [[1.0]]))]
    D = Dataset(X, y)
    cases += [(pmi, D, D, prior), (pmi, D.with_labels((y > 3).astype(int)), D, prior), (pmi, D, D, 3.0)]
    all_refused("models", cases)


def test_a_model_that_does_not_know_its_information_gain_has_none():
    fitter = bind(Coin(), np.ones((2, 1)), np.array([0.0, 1.0]))
    assert np.isnan(fitter.information_gain(fitter(np.arange(2))))


NOISE = InverseGamma(shape=2.0, scale=0.7)
EXACT = [Categorical(a, classes) for a in (0.3, 4.0) for classes in (2, 3, 4)] + [Linear(0.7, NOISE)]


def rows_of(model, n, d=2, seed=0):
    """Rows with targets far from the prior, in units of a noise that is far from 1; or with classes."""
    rng = np.random.default_rng([seed, n, d])
    X = rng.normal(size=(n, d))
    if isinstance(model, Linear):
        return X, 0.1 * rng.normal(size=n) + 2.0 * X[:, 0] - 3.0
    return X, rng.integers(0, model.classes, n).astype(float)


@pytest.mark.parametrize("model", EXACT, ids=str)
@pytest.mark.parametrize(("d", "n", "m"), [(1, 5, 3), (3, 1, 9), (2, 8, 8)])
def test_all_forms_are_one_number(model, d, n, m):
    """Evidence, eta at any η, kl and integral agree; kl has no Monte Carlo error."""
    fitter, D, T = bind(model, *rows_of(model, n + m, d)), np.arange(n), np.arange(n, n + m)
    pair = Pair(fitter, fitter(D), fitter(T), lambda: fitter(np.r_[D, T]), T, None)
    value = Form("evidence").of(pair).value
    linear = isinstance(model, Linear)
    width, close = (d + 2, 1e-8) if linear else (model.classes - 1, 1e-9)
    for eta in (0, np.random.default_rng(d).normal(size=width)):
        assert Form("eta", eta).of(pair).value == pytest.approx(value, abs=close)
    assert Form("kl").of(pair) == pytest.approx((value, 0.0), abs=1e-7 if linear else close)
    assert Form("integral").of(pair) == pytest.approx((value, 0.0), abs=close)
    for form in ("product", "sealed"):
        assert "Gaussian posteriors" in refusal(Form(form).of, pair)


@pytest.mark.parametrize("model", [Categorical(0.8, 3), Linear(0.9, NOISE)], ids=str)
@pytest.mark.parametrize("n", [0, 1, 4, 30])
def test_information_gain_is_the_mean_log_ratio_of_densities(model, n):
    """KL(posterior ‖ prior) by 4,000 draws, within 4.5 standard errors (false alarm 1e-5 each)."""
    X, y = rows_of(model, n)
    posterior, prior = model.fit(X, y), model.fit(X[:0], y[:0])
    draws = posterior.sample(np.random.default_rng(3), 4000)
    ratios = np.array([posterior.log_density(t) - prior.log_density(t) for t in draws])
    slack = 1e-9 if isinstance(model, Linear) else 1e-12
    assert abs(posterior.information_gain() - ratios.mean()) <= 4.5 * ratios.std() / np.sqrt(4000) + slack
    assert (posterior.information_gain() > 0.05) == (n > 0)


@pytest.mark.parametrize("noise_variance", [1e-4, 1.0])
@pytest.mark.parametrize("prior_variance", PRIOR_VARIANCES)
@over_cases
def test_linear_matches_many_digits(case, prior_variance, noise_variance):
    if case.X.shape[1] > 1000 and (prior_variance, noise_variance) != (1.0, 1.0):
        pytest.skip("4,000 variances in 60 digits: once is enough")
    X = with_ones(case.X)
    truth = gaussian_posterior(X, case.numeric_labels, case.weights, prior_variance, noise_variance)
    model = Linear(prior_variance, noise_variance)
    posterior = model.fit(case.X, case.numeric_labels, case.weights)
    assert posterior.log_evidence == pytest.approx(truth.log_z, abs=tolerance(truth.log_z), rel=0)
    errors = np.abs(posterior.mean - truth.mean) / np.sqrt(truth.variance)
    benign = prior_variance / noise_variance * (case.weights @ (X**2).sum(axis=1)) < 1e12
    assert errors.max() < (1e-6 if benign else 1e-3)  # of a posterior standard deviation


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 12),
    d=st.integers(1, 12),
    log_c=st.floats(-4, 4),
    log_s=st.floats(-3, 3),
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_linear_evidence_is_a_gaussian_density(seed, n, d, log_c, log_s):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, d)), rng.normal(size=n)
    if d > 1:
        X[:, 0] = 3.0 * X[:, -1]
    covariance = 10.0**log_c * X @ X.T + 10.0**log_s * np.eye(n)
    expected = multivariate_normal(np.zeros(n), covariance, allow_singular=False).logpdf(y)
    posterior = Linear(10.0**log_c, 10.0**log_s, intercept=False).fit(X, y)
    assert posterior.log_evidence == pytest.approx(expected, rel=1e-7, abs=1e-6)


def test_linear_information_gain_is_the_divergence_from_the_prior():
    case = BY_NAME["fractional weights"]
    dense = dense_linear(with_ones(case.X), case.numeric_labels, case.weights, 2.0, 0.3)
    expected = dense.divergence(isotropic(4, 2.0))
    model = Linear(2.0, 0.3)
    fitter = bind(model, case.X, case.numeric_labels)
    fit = fitter(np.arange(12), weights=case.weights)
    assert fitter.information_gain(fit) == pytest.approx(expected, abs=1e-9)
    assert model.fit(case.X, case.numeric_labels, case.weights).information_gain() == pytest.approx(
        expected, abs=1e-9
    )


@pytest.mark.parametrize("prior_variance", [1e-2, 1.0, 10.0])
@pytest.mark.parametrize("name", ["noisy", "separable", "all ones"])
def test_logistic_predictions_average_over_the_posterior(name, prior_variance):
    """Against trapezoidal integration of σ over the dense Gaussian of the linear predictor."""
    case = BY_NAME[name]
    mean, covariance, _ = dense_laplace(with_ones(case.X), case.y, case.weights, prior_variance)
    new = np.vstack([case.X[:4], 0.3 * np.ones((1, 3)), np.zeros((1, 3))])
    z = np.linspace(-10.0, 10.0, 20_001)
    expected = []
    for row in with_ones(new):
        f, s = row @ mean, np.sqrt(row @ covariance @ row)
        expected.append(np.trapezoid(expit(f + s * z) * norm.pdf(z), z))
    got = Logistic(prior_variance).fit(case.X, case.y, case.weights).predict_proba(new)
    assert got[:, 1] == pytest.approx(expected, abs=1e-3)
    if prior_variance <= 1.0:
        assert got[:, 1] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("prior_variance", [1e2, 1e4, 1e8])
def test_logistic_predictions_average_over_wide_posteriors(prior_variance):
    """The predictor's s.d. is 10 to 10,000 here: nearly Φ(mean/s.d.), by integration on pieces."""
    case = BY_NAME["separable"]
    posterior = Logistic(prior_variance).fit(case.X, case.y)
    new = case.X[:4] + 0.2
    mean, variance = posterior.predictor(new)
    expected = []
    for m, s in zip(mean, np.sqrt(variance), strict=True):
        f = np.linspace(-40.0, 40.0, 200_001)
        step = np.trapezoid((expit(f) - (f > 0)) * norm.pdf(f, m, s), f)
        expected.append(norm.cdf(m / s) + step)
    assert posterior.predict_proba(new)[:, 1] == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("name", ["constant columns", "wide"])
def test_predictive_variances_at_wide_priors_match_many_digits(name):
    case = BY_NAME[name]
    truth = gaussian_posterior(with_ones(case.X), case.numeric_labels, case.weights, 1e8, 1e-4)
    posterior = Linear(1e8, 1e-4).fit(case.X, case.numeric_labels, case.weights)
    at_zero = posterior.predictor(np.zeros((1, case.X.shape[1])))[1][0]  # the intercept's own variance
    assert at_zero == pytest.approx(truth.variance[-1], rel=1e-6)


def prior_and_rows(n=12, d=3):
    """A Gaussian prior with a mean and correlations, and rows."""
    rng = np.random.default_rng([n, d])
    root = rng.normal(size=(d + 1, d + 1))
    prior = GaussianPrior(rng.normal(size=d + 1), root @ root.T + np.eye(d + 1))
    return prior, rng.normal(size=(n, d)), 3.0 + rng.normal(size=n)


@pytest.mark.parametrize("n", [2, 12])
def test_linear_under_any_gaussian_is_exact(n):
    """y ~ N(Xm, s²I + XP⁻¹Xᵀ); the posterior's precision is P + XᵀX/s², its mean that of Bayes' rule."""
    prior, X, y = prior_and_rows(n)
    posterior = Linear(noise_variance=0.5).fit(X, y, prior=prior)
    rows = with_ones(X)
    covariance = 0.5 * np.eye(n) + rows @ np.linalg.solve(prior.precision, rows.T)
    truth = multivariate_normal.logpdf(y, rows @ prior.mean, covariance)
    assert posterior.log_evidence == pytest.approx(truth, abs=1e-9)
    precision = prior.precision + rows.T @ rows / 0.5
    assert posterior.precision == pytest.approx(precision, rel=1e-9, abs=1e-9)
    mean = np.linalg.solve(precision, prior.precision @ prior.mean + rows.T @ y / 0.5)
    assert posterior.mean == pytest.approx(mean, abs=1e-9)
    assert posterior.predict_proba(X) == pytest.approx(rows @ mean, abs=1e-9)
    assert posterior.log_density(mean) == pytest.approx(
        multivariate_normal.logpdf(mean, mean, np.linalg.inv(precision)), abs=1e-8
    )
    fitter = Linear(noise_variance=0.5).bind(X, y, prior)
    fit = fitter(np.arange(n))
    assert fitter.predict(fit, np.arange(n)) == pytest.approx(rows @ mean, abs=1e-9)
    half = fitter(np.arange(n // 2))
    rest = fitter.log_predictive(half, np.arange(n // 2, n))
    assert half.log_z + rest == pytest.approx(truth, abs=1e-9)
