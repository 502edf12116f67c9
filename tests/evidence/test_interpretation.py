"""Parts of a score: against dense Gaussians, Dirichlet closed forms, the paper's theorem in its limit."""

import json
import pickle
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import digamma, gammaln, log_expit, logsumexp
from scipy.stats import multivariate_normal, norm

from dataworth import Dataset, pmi
from dataworth.evidence.interpretation import SHOWN, parts_given, parts_of
from dataworth.evidence.pair import bind_pair
from dataworth.inference.logistic import mean_softplus
from dataworth.models import Categorical, InverseGamma, Linear, Logistic, Softmax
from dataworth.models.gaussian import GaussianPrior
from reference import Gaussian, dense_laplace, dense_linear, isotropic, with_ones
from user_models import Coin
from worlds import classes, numeric_labels

# --- against dense Gaussians -------------------------------------------------------------------------------


def nielsen(p, q):
    """Dual skew G-Jensen–Shannon divergence at α = ½: Nielsen 2019, Corollary 1, as the paper prints it."""
    (m1, P1), (m2, P2) = p, q
    sigma = 2.0 * np.linalg.inv(P1 + P2)
    mean = 0.5 * sigma @ (P1 @ m1 + P2 @ m2)
    square = m1 @ P1 @ m1 + m2 @ P2 @ m2 - 2.0 * mean @ np.linalg.solve(sigma, mean)
    log_dets = -np.linalg.slogdet(P1)[1] - np.linalg.slogdet(P2)[1] - 2.0 * np.linalg.slogdet(sigma)[1]
    return 0.25 * (square + log_dets)


@pytest.mark.parametrize("by_rows", [True, False], ids=["of both sets' rows", "of D's Gaussian and T's rows"])
@pytest.mark.parametrize(
    ("n", "m", "d", "prior_variance", "noise"),
    [(10, 6, 3, 1.0, 0.3), (4, 3, 20, 2.0, 1.0), (40, 30, 2, 100.0, 0.1), (3, 2, 8, 0.01, 0.5)],
)
def test_linear_parts_are_those_of_dense_gaussians(n, m, d, prior_variance, noise, by_rows):
    """More rows than features and fewer; wide priors and narrow ones; rows with weights."""
    D, T = numeric_labels(n, 1, d=d), numeric_labels(m, 2, d=d)
    D, T = (Dataset(s.X, s.y, weights=np.linspace(0.5, 2.5, len(s))) for s in (D, T))
    data, test = (dense_linear(with_ones(s.X), s.y, s.weights, prior_variance, noise) for s in (D, T))
    prior = isotropic(d + 1, prior_variance)
    precision = data.precision + test.precision - prior.precision
    shift = data.precision @ data.mean + test.precision @ test.mean
    joint = Gaussian(np.linalg.solve(precision, shift), precision)
    p = pmi(D, T, Linear(prior_variance, noise))
    parts = p.parts
    if not by_rows:
        parts = parts_given(Linear(prior_variance, noise), GaussianPrior(*data), (T.X, T.y, T.weights))
        assert parts.value == pytest.approx(p.value, abs=1e-7)
    log_dets = np.linalg.slogdet(precision)[1] - np.linalg.slogdet(prior.precision)[1]
    truth = {
        "confidence": joint.divergence(prior), "against_data": joint.divergence(data),
        "against_test": joint.divergence(test), "divergence": nielsen(data, test),
        "variance_reduction": 0.5 * log_dets,
    }  # fmt: skip
    for name, value in truth.items():
        assert getattr(parts, name) == pytest.approx(value, rel=1e-9 if by_rows else 1e-6, abs=1e-8), name
    assert (parts.coefficients, parts.unexplained) == (d + 1, pytest.approx(0.0, abs=1e-8))
    assert parts.stderr == {}


@pytest.mark.parametrize("inference", ["laplace", "ep"])
def test_parts_of_a_logistic_model_under_the_datas_gaussian_add_up(inference):
    """To log Z_T[N_D] − log Z_T[prior], whatever approximates J; EP's parts are near those of the pair."""
    D, T, model = classes(60, 1), classes(10, 2), Logistic(3.0, inference)
    posterior = model.fit(D.X, D.y.astype(float))
    prior = posterior.as_prior()
    test = T.X, T.y.astype(float), None
    value = model.fit(*test, prior=prior).log_evidence - model.fit(*test).log_evidence
    parts = parts_given(model, prior, test)
    assert parts.value == pytest.approx(value, abs=1e-6)
    assert parts.confidence - parts.against_data - parts.against_test == pytest.approx(value, abs=1e-6)
    if inference == "ep":
        pair = pmi(D, T, model).parts
        for name in ("confidence", "against_data", "against_test", "divergence"):
            assert getattr(parts, name) == pytest.approx(getattr(pair, name), abs=0.1), name


def sampled_parts(D, T, prior_variance, draws=200_000):
    """Confidence and both disagreements of a logistic model by importance sampling, with the effective
    draws. The proposal is the mixture of Laplace's three Gaussians, widened by half; likelihoods go row by
    row."""
    rng = np.random.default_rng(0)
    both = Dataset.concat([D, T])
    fits = [dense_laplace(with_ones(p.X), p.y, np.ones(len(p)), prior_variance) for p in (D, T, both)]
    normals = [multivariate_normal(fit[0], 2.25 * fit[1]) for fit in fits]
    theta = np.concatenate([normal.rvs(draws // 3, random_state=rng) for normal in normals])
    log_q = logsumexp([normal.logpdf(theta) for normal in normals], axis=0) - np.log(3.0)
    prior = multivariate_normal(np.zeros(theta.shape[1]), prior_variance).logpdf(theta)
    heard = [log_expit((2 * p.y - 1) * (theta @ with_ones(p.X).T)).sum(axis=1) for p in (D, T)]
    log_z = [logsumexp(prior + one - log_q) - np.log(len(theta)) for one in (*heard, heard[0] + heard[1])]
    weights = np.exp(prior + heard[0] + heard[1] - log_q)
    weights /= weights.sum()
    gains = [weights @ one - z for one, z in zip((*heard, heard[0] + heard[1]), log_z, strict=True)]
    return gains[2], gains[2] - gains[0], gains[2] - gains[1], 1.0 / (weights @ weights)


@pytest.mark.parametrize(("n", "m", "prior_variance"), [(30, 10, 1.0), (60, 10, 3.0), (20, 20, 1.0)])
def test_logistic_parts_by_ep_are_the_true_ones(n, m, prior_variance):
    """Within EP's own error of the truth, which is 0.1 nats at most here; Laplace's modes are farther off.
    The truth's own error is below 0.01: 30,000 effective draws of numbers whose spread is below two."""
    D, T = classes(n, 1), classes(m, 2)
    *truth, effective = sampled_parts(D, T, prior_variance)
    assert effective > 30_000
    names = ("confidence", "against_data", "against_test")
    errors = {}
    for inference in ("laplace", "ep"):
        parts = pmi(D, T, Logistic(prior_variance, inference)).parts
        errors[inference] = [getattr(parts, name) - true for name, true in zip(names, truth, strict=True)]
        assert parts.unexplained == pytest.approx(0.0, abs=1e-5)
    assert np.abs(errors["ep"]).max() < 0.1
    assert np.abs(errors["laplace"]).max() > np.abs(errors["ep"]).max()


def test_the_gaussian_side_of_logistic_parts_is_that_of_dense_laplace():
    """Divergence and variance, which are of the Gaussians themselves, against d×d matrices."""
    D, T, C = classes(30, 1), classes(20, 2), 2.0
    both = Dataset.concat([D, T])
    fits = [dense_laplace(with_ones(part.X), part.y, np.ones(len(part)), C) for part in (D, T, both)]
    data, test, joint = (fit.gaussian() for fit in fits)
    parts = pmi(D, T, Logistic(C)).parts
    assert parts.divergence == pytest.approx(nielsen(data, test), rel=1e-6)
    log_dets = np.linalg.slogdet(joint.precision)[1] + 4 * np.log(C)
    assert parts.variance_reduction == pytest.approx(0.5 * log_dets, rel=1e-6)
    D, T = classes(30, 1), classes(20, 2)
    evidence, other = pmi(D, T), pmi(D, T, form="eta")
    assert other.parts.unexplained == pytest.approx(other.value - evidence.value, abs=1e-6)


@pytest.mark.parametrize("spread", [0.0, 0.3, 0.999, 1.0, 4.0, 60.0])
@pytest.mark.parametrize("mean", [-50.0, -2.0, 0.0, 0.7, 30.0])
def test_mean_softplus_by_quadrature(mean, spread):
    """Against adaptive quadrature split at zero and at the mean."""
    if spread == 0.0:
        truth = np.logaddexp(0.0, mean)
    else:
        ends = sorted(
            {mean - 12 * spread, mean, mean + 12 * spread, *([0.0] if abs(mean) < 12 * spread else [])}
        )
        pieces = [
            quad(lambda f: np.logaddexp(0.0, f) * norm.pdf(f, mean, spread), a, b, epsabs=1e-12, limit=500)[0]
            for a, b in pairwise(ends)
        ]
        truth = sum(pieces)
    assert mean_softplus(np.array([mean]), np.array([spread]))[0] == pytest.approx(truth, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("model", [Logistic(1.0), Logistic(1.0, "ep"), Linear(1.0, 0.5)])
def test_invariances(model):
    """Swapping D and T swaps their parts; the order of rows and a rotation of features change nothing."""
    make = numeric_labels if isinstance(model, Linear) else classes
    D, T = make(25, 3), make(15, 4)
    parts, swapped = pmi(D, T, model).parts, pmi(T, D, model).parts
    for one, other in (("against_data", "against_test"), ("information_data", "information_test")):
        assert getattr(parts, one) == pytest.approx(getattr(swapped, other), abs=1e-6)
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    moved = pmi(Dataset(D.X[::-1] @ rotation, D.y[::-1]), Dataset(T.X @ rotation, T.y), model).parts
    for name in SHOWN:
        assert getattr(moved, name) == pytest.approx(getattr(parts, name), abs=1e-6), name
    assert swapped.divergence == pytest.approx(parts.divergence, abs=1e-6)


@pytest.mark.parametrize("model", [Logistic(1.0), Linear(1.0, 0.5), Softmax(1.0), Categorical()])
def test_parts_add_up_in_both_readings(model):
    """U = confidence − disagreements + unexplained = PI(D) + PI(T) − PI(D∪T), the confidence."""
    make = numeric_labels if isinstance(model, Linear) else classes
    p = pmi(make(20, 5), make(12, 6), model)
    parts = p.parts
    explained = p.value - parts.unexplained
    assert parts.confidence - parts.against_data - parts.against_test == pytest.approx(explained)
    shared = parts.information_data + parts.information_test - parts.confidence
    assert shared == pytest.approx(explained)


def test_parts_are_lazy_and_travel():
    """Nothing is computed before it is asked for; a PMI can be sent and written."""
    D, T = numeric_labels(0, 1), numeric_labels(12, 2)
    parts = pmi(D, T, Linear(1.0, 0.5)).parts
    assert parts.confidence == pytest.approx(parts.against_data)  # J is T's posterior, D's the prior
    assert [parts.against_test, parts.value, parts.information_data] == pytest.approx([0.0] * 3, abs=1e-9)
    p = pmi(classes(10, 1), classes(10, 2))
    assert "parts" not in vars(p)
    again = pickle.loads(pickle.dumps(p))
    assert (again, again.parts) == (p, p.parts)
    assert "explain" not in json.dumps(p.to_dict())
    assert set(SHOWN) <= set(json.loads(json.dumps(p.parts.to_dict())))


def dirichlet_kl(a, b):
    """KL(Dirichlet(a) ‖ Dirichlet(b))."""
    log_beta = [gammaln(one).sum() - gammaln(one.sum()) for one in (a, b)]
    return log_beta[1] - log_beta[0] + (a - b) @ (digamma(a) - digamma(a.sum()))


def dirichlet_divergence(a, b):
    """−log ∫ √(pq) = ½ log B(a) + ½ log B(b) − log B((a + b)/2)."""

    def log_beta(one):
        return gammaln(one).sum() - gammaln(one.sum())

    return 0.5 * (log_beta(a) + log_beta(b)) - log_beta(0.5 * (a + b))


@pytest.mark.parametrize(
    ("data", "test", "concentration"),
    [((5, 2), (1, 3), 1.0), ((30, 10, 2), (4, 5, 6), 0.5), ((0, 9, 1, 1), (3, 0, 0, 3), 2.0)],
)
def test_sampled_parts_of_dirichlets_within_their_errors(data, test, concentration):
    """Each of twelve estimates lies within 4 standard errors: false alarms below 12 · 6.4e-5 = 8e-4 in
    all. The sum is exact here: the draws are shared, and their errors cancel."""
    D, T = (Dataset(np.zeros((sum(n), 1)), np.repeat(np.arange(len(n)), n)) for n in (data, test))
    p = pmi(D, T, Categorical(concentration, classes=len(data)))
    prior = np.full(len(data), concentration)
    a, b = prior + data, prior + test
    joint = a + test
    truth = {
        "confidence": dirichlet_kl(joint, prior), "against_data": dirichlet_kl(joint, a),
        "against_test": dirichlet_kl(joint, b), "divergence": dirichlet_divergence(a, b),
    }  # fmt: skip
    for name, value in truth.items():
        assert 0 < p.parts.stderr[name] < 0.1
        assert abs(getattr(p.parts, name) - value) < 4.0 * p.parts.stderr[name], name
    assert p.parts.unexplained == pytest.approx(0.0, abs=1e-9)
    assert p.parts.uninformative is None


def test_stated_errors_of_sampled_parts_are_true():
    """Over 200 seeds the spread of the estimates is the standard error they state. A ratio of standard
    deviations from 200 draws has a relative error of 1/√400 = 5 %; 20 % is 4 of those. A posterior that
    knows no normaliser: Beta densities as a user's model, against the closed form. 4 standard errors:
    false alarms 6.4e-5."""
    D, T = (Dataset(np.zeros((sum(n), 1)), np.repeat([0, 1], n)) for n in ((8, 3), (2, 4)))
    pair = bind_pair(D, T, Categorical())
    runs = [parts_of(pair, draws=200, seed=seed) for seed in range(200)]
    for name in ("confidence", "against_data", "against_test"):
        spread = np.std([getattr(run, name) for run in runs], ddof=1)
        stated = np.mean([run.stderr[name] for run in runs])
        assert spread == pytest.approx(stated, rel=0.2), name
    D, T = (Dataset(np.zeros((sum(n), 1)), np.repeat([0, 1], n)) for n in ((2, 9), (5, 3)))
    parts = parts_of(bind_pair(D, T, Coin(1.0, 1.0)), 0.0, draws=1000)
    truth = dirichlet_divergence(np.array([3.0, 10.0]), np.array([6.0, 4.0]))
    assert 0 < parts.stderr["divergence"] < 0.05
    assert abs(parts.divergence - truth) < 4.0 * parts.stderr["divergence"]


@pytest.mark.parametrize("model", [Softmax(0.5), Linear(1.0, InverseGamma(3.0, 1.0))])
def test_sampled_confidence_is_the_information_gain(model):
    """KL(J ‖ prior) is known to the model in closed form; 4 standard errors, false alarms 1.3e-4 in two."""
    make = numeric_labels if isinstance(model, Linear) else classes
    D, T = make(12, 8), make(8, 9)
    parts = pmi(D, T, model).parts
    both = Dataset.concat([D, T])
    gain = model.fit(both.X, both.y.astype(float)).information_gain()
    assert abs(parts.confidence - gain) < 4.0 * parts.stderr["confidence"]


def test_two_classes_by_softmax_are_logistic():
    """Softmax(v/2) is Logistic(v) and a prior: the sum of its parts is the form kl, known to Logistic. 4
    standard errors of the part that varies most: false alarms below 1e-4."""
    D, T = classes(15, 1), classes(10, 2)
    p, kl = pmi(D, T, Softmax(0.5)), pmi(D, T, Logistic(1.0), form="kl").value
    assert abs(p.value - p.parts.unexplained - kl) < 4.0 * max(p.parts.stderr.values())
    error = abs(p.parts.divergence - pmi(D, T, Logistic(1.0)).parts.divergence)
    assert error < 4.0 * p.parts.stderr["divergence"]


def theorem(prior_variance, D, T, noise=0.5):
    """The score, and what the theorem says of it."""
    p = pmi(D, T, Linear(prior_variance, noise))
    return p.value, p.parts.uninformative


def test_the_uninformative_prior_theorem_in_its_limit():
    """Gaussians under an uninformative prior: U(d,t) = ½ log |Σ_0|/|Σ̃| − 2 JS(p(θ|d) ‖ p(θ|t)) − k log 2.
    It is approached at a known rate. With P the precision that d and t add, h = Pθ̂ and N(0, C·I) the
    prior, everything but log det(P + I/C) − log det(P + 2I/C) + ½ hᵀ[(P + 2I/C)⁻¹ − (P + I/C)⁻¹] h cancels
    in theorem − U, and so C·(U − theorem) → tr P⁻¹ + ½|θ̂|². The theorem's value lies below U for every C."""
    D, T, noise = numeric_labels(30, 1), numeric_labels(20, 2), 0.5
    both = Dataset.concat([D, T])
    X = with_ones(both.X)
    P = X.T @ X / noise
    estimate = np.linalg.solve(P, X.T @ both.y / noise)
    rate = np.trace(np.linalg.inv(P)) + 0.5 * estimate @ estimate
    gaps = []
    for C in (1e1, 1e2, 1e3, 1e4):
        value, limit = theorem(C, D, T)
        gaps.append(value - limit)
        assert gaps[-1] > 0
        assert C * gaps[-1] == pytest.approx(rate, rel=4.0 / C)
    assert gaps[-1] < 1e-3
    # the value itself grows without bound: the theorem is not about small numbers
    assert theorem(1e4, D, T)[0] > 15.0


def test_the_theorem_fails_where_it_must():
    """A narrow prior: U → C h_Dᵀh_T → 0 (h = Xᵀy/s²), but the theorem says −k log 2. It errs by log 2,
    too, for every coefficient that no row sees, however wide the prior."""
    D, T = numeric_labels(30, 1), numeric_labels(20, 2)
    value, limit = theorem(1e-6, D, T)
    pull = [with_ones(part.X).T @ part.y / 0.5 for part in (D, T)]
    assert value == pytest.approx(1e-6 * pull[0] @ pull[1], rel=1e-2)
    assert limit == pytest.approx(-4.0 * np.log(2.0), abs=1e-2)
    unseen = [Dataset(np.column_stack([part.X, np.zeros((len(part), 2))]), part.y) for part in (D, T)]
    value, limit = theorem(1e4, *unseen)
    assert value - limit == pytest.approx(2.0 * np.log(2.0), abs=1e-2)
