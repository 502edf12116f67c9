"""EP: its integrals, its fixed point and its evidence, against quadrature, many digits and sampling."""

import numpy as np
import pytest
from scipy.stats import norm

from cases import CASES, PRIOR_VARIANCES, WIDE_PRIORS, counts_of, geometries, hostile
from dataworth.inference import tilted as tilted_rules
from dataworth.inference.geometry import Primal
from dataworth.inference.logistic import Counts
from dataworth.inference.sites import AIM, SETTLED, TOLERANCE, Sites, condition, find_moments, marginals
from dataworth.inference.tilted import tilted_mode, tilted_moments
from dataworth.models import Linear, Logistic
from dataworth.models.gaussian import GaussianPrior
from dataworth.models.logistic import MANY
from golden.sentences import all_refused
from reference import (
    Gaussian,
    dense_laplace,
    ep_log_z,
    grid_log_z,
    isotropic,
    sampled_log_z,
    tilted,
    tilted_digits,
    tolerance,
    with_ones,
)

over_cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
over_priors = pytest.mark.parametrize("prior_variance", PRIOR_VARIANCES)
over_inferences = pytest.mark.parametrize("inference", ["laplace", "ep"])
EP = Logistic(1.0, "ep")


def problem(seed, n, d, sharpness=1.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=d) * sharpness + rng.logistic(size=n) > 0).astype(float)
    return X, y, rng


def cavities(kind, seed, size, log_mean=3.0, log_variance=6.0):
    """Cavities N(m, s²), s from 1e-3 to 1e3 and m to ±1e3 (on both sides), with counts of labels."""
    rng = np.random.default_rng(seed)
    mean = rng.choice([-1.0, 0.0, 1.0], size, p=[0.45, 0.1, 0.45]) * 10.0 ** rng.uniform(-1, log_mean, size)
    variance = 10.0 ** rng.uniform(-6, log_variance, size)
    if kind == "unit":
        one = np.ones(size)
    elif kind == "whole":
        one = rng.integers(2, 10, size).astype(float)
    else:
        one = 10.0 ** rng.uniform(*{"fractional": (-4, 0.7), "heavy": (0, 5), "both": (-2, 5)}[kind], size)
    other = 10.0 ** rng.uniform(-2, 5, size) if kind == "both" else np.zeros(size)
    turn = rng.random(size) < 0.5
    return mean, variance, Counts(np.where(turn, one, other), np.where(turn, other, one))


def errors(mean, variance, counts):
    """Errors of log Z, of the mean in s.d., and of the log variance, against quadrature."""
    got = tilted_moments(mean, variance, counts)
    truth = np.array([tilted(*row) for row in zip(mean, variance, *counts, strict=True)])
    spread = np.sqrt(truth[:, 2])
    return (
        np.abs(got.log_z - truth[:, 0]) / np.maximum(1.0, np.abs(truth[:, 0])),
        np.abs(got.mean - truth[:, 1]) / spread,
        np.abs(np.log(got.variance / truth[:, 2])),
    )


@pytest.mark.parametrize("kind", ["unit", "fractional", "both"])
def test_the_quadrature_of_these_tests_against_many_digits(kind):
    mean, variance, counts = cavities(kind, 3, 4)
    for row in zip(mean, variance, *counts, strict=True):
        truth, got = tilted_digits(*row), tilted(*row)
        assert got.log_z == pytest.approx(truth.log_z, rel=1e-10, abs=1e-10), row
        assert got.mean == pytest.approx(truth.mean, abs=1e-8 * np.sqrt(truth.variance), rel=1e-12), row
        assert got.variance == pytest.approx(truth.variance, rel=1e-8), row


@pytest.mark.parametrize("kind", ["unit", "whole", "fractional", "heavy", "both"])
@pytest.mark.parametrize(("log_mean", "log_variance"), [(3.0, 6.0), (6.0, 20.0)])
def test_moments_of_cavity_times_factor(kind, log_mean, log_variance):
    """Also s up to 1e10 and m up to ±1e6: wide priors on large features lead there."""
    log_z, mean, variance = errors(*cavities(kind, 1, 400, log_mean, log_variance))
    sharp = kind == "unit" and log_mean == 3.0
    assert log_z.max() < (1e-6 if sharp else 1e-5)
    assert mean.max() < (1e-6 if sharp else 1e-4)
    assert variance.max() < (1e-6 if sharp else 1e-4)


def test_the_mode_is_where_the_slope_changes_its_sign():
    """To a tenth of the integrand's own width; widths differ by ten decades."""
    mean, variance, counts = cavities("both", 4, 500, log_variance=16.0)
    mode = tilted_mode(mean, np.sqrt(variance), counts)

    def up(f):
        return 0.5 * (1.0 + np.tanh(0.5 * f))

    width = 1.0 / np.sqrt((counts.ones + counts.zeros) * up(mode) * up(-mode) + 1.0 / variance)
    for side in (-1.0, 1.0):
        f = mode + 0.1 * side * width
        assert (side * (counts.ones * up(-f) - counts.zeros * up(f) - (f - mean) / variance) < 0).all()


@pytest.mark.parametrize("count", [1.0, 4.0])
@pytest.mark.parametrize("spread", [1.0, 1.6, 30.0, 1e4])
def test_moments_are_continuous_where_the_rule_changes(spread, count):
    """Counts 1 and 4, the cavity's width 1.5 and its distance decide which nodes are taken."""
    mean = np.repeat(np.linspace(-12.0, 2.0, 29) * spread, 2)
    counts = Counts(count + np.tile([-1e-9, 1e-9], 29), np.zeros(58))
    got = tilted_moments(mean, np.full(58, spread**2), counts)
    assert (np.abs(np.diff(got.log_z)[::2]) < 2e-5 + 1e-8 * np.abs(got.log_z[::2])).all()
    assert np.diff(got.mean)[::2] == pytest.approx(0.0, abs=1e-4 * spread)


@pytest.mark.parametrize(
    ("count", "lowest", "error"),
    [(1, -29, 4e-8), (2, -29, 6e-7), (3, -29, 6e-6), (4, -10, 6e-5), (4, -29, 5e-3)],
)
def test_how_far_the_narrow_rule_is_off_is_what_it_says(count, lowest, error):
    """The numbers at `NARROW`, by the trapezoidal rule; each is the right order, not only a bound."""
    mean, spread = np.linspace(lowest, 10, 60), tilted_rules.NARROW
    u = np.linspace(-16, 16, 8001)
    f = mean[:, None] + spread * u
    log_value = -count * np.logaddexp(0.0, -f) - 0.5 * u * u
    value = np.exp(log_value - log_value.max(axis=1, keepdims=True))
    value /= value.sum(axis=1, keepdims=True)
    variance = (value * (f - (value * f).sum(axis=1, keepdims=True)) ** 2).sum(axis=1)
    counts = Counts(np.full(60, float(count)), np.zeros(60))
    worst = np.abs(tilted_moments(mean, np.full(60, spread**2), counts).variance - variance).max()
    assert error / 4 < worst < error


# the last: how far the rule itself is off, which is most where a sharp factor meets a cavity as wide as it
@pytest.mark.parametrize(
    ("mean", "variance", "count", "error"),
    [
        (0.3, 1.0, 1.0, 1e-11), (5.0, 1.0, 0.5, 1e-11), (-2.0, 2.2, 4.0, 1e-5), (0.0, 9.0, 1.0, 1e-8),
        (-20.0, 50.0, 2.0, 1e-6), (15.0, 400.0, 1.0, 1e-8),
    ],
)  # fmt: skip
def test_the_integrals_against_many_digits(mean, variance, count, error):
    """Both of its rules, narrow and wide."""
    counts = Counts(np.array([count]), np.zeros(1))
    log_z, centre, square = tilted_moments(np.array([mean]), np.array([variance]), counts)
    truth = tilted_digits(mean, variance, count, 0.0)
    assert log_z[0] == pytest.approx(truth.log_z, abs=error)
    assert centre[0] == pytest.approx(truth.mean, abs=error * truth.variance**0.5)
    assert square[0] == pytest.approx(truth.variance, rel=error)


@pytest.mark.parametrize(
    ("ones", "zeros"), [(1, 0), (0, 1), (3, 5), (0.3, 0.02), (0, 0.05), (1e4, 20), (700, 0)]
)
@pytest.mark.parametrize("prior_variance", [1e-4, 1.0, 30.0, 1e6])
@pytest.mark.parametrize("d", [1, 6])
def test_one_distinct_row_is_exact(d, prior_variance, ones, zeros):
    """log Z is then one integral over its linear predictor, N(0, C‖x‖²)."""
    x = np.linspace(0.5, 1.5, d)
    X, y, weights = np.vstack([x, x]), np.array([1.0, 0.0]), np.array([ones, zeros], dtype=float)
    posterior = Logistic(prior_variance, "ep", intercept=False).fit(X, y, weights)
    truth = tilted(0.0, prior_variance * (x @ x), ones, zeros)
    assert posterior.log_evidence == pytest.approx(truth.log_z, abs=1e-5, rel=1e-8)
    mean, variance = posterior.predictor(x[None])
    assert mean[0] == pytest.approx(truth.mean, abs=2e-3 * np.sqrt(truth.variance))
    assert variance[0] == pytest.approx(truth.variance, rel=2e-3)


@pytest.mark.parametrize("prior_variance", [0.1, 10.0, 1e4])
@pytest.mark.parametrize("extra", [0, 4])
def test_orthogonal_rows_are_exact(prior_variance, extra):
    """Rows at right angles are independent: log Z is a sum of one-dimensional integrals."""
    rng = np.random.default_rng(1)
    lengths = np.array([0.1, 0.7, 1.0, 5.0])
    axes = np.linalg.qr(rng.normal(size=(4 + extra, 4 + extra)))[0][:4]
    y, weights = np.array([1.0, 0.0, 0.0, 1.0]), np.array([1.0, 2.5, 0.3, 40.0])
    fit = Logistic(prior_variance, "ep", intercept=False).fit(lengths[:, None] * axes, y, weights)
    expected = sum(
        tilted(0.0, prior_variance * a * a, w * k, w * (1 - k)).log_z
        for a, w, k in zip(lengths, weights, y, strict=True)
    )
    assert fit.log_evidence == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("scale", [0.0, 1e-200, 1e-60])
def test_rows_of_zeros_are_coins(scale):
    """Without an intercept nothing can be learned from them; other rows are as if they were alone."""
    X, y, _ = problem(1, 6, 2)
    model = Logistic(2.0, "ep", intercept=False)
    alone = model.fit(X, y).log_evidence
    padded = model.fit(np.vstack([X, scale * X]), np.append(y, y))
    assert padded.log_evidence == pytest.approx(alone - 6 * np.log(2.0), abs=1e-6)
    assert np.isfinite(padded.mean).all()


@pytest.mark.parametrize("prior_variance", [1e-2, 1.0, 1e2])
@over_cases
def test_all_geometries_agree(case, prior_variance):
    X = with_ones(case.X)
    if X.shape[1] > 100 or prior_variance * (case.weights * (X**2).sum(axis=1)).max() > 1e5:
        pytest.skip("not all geometries apply")
    fits = {name: find_moments(g, counts_of(case)) for name, g in geometries(X, prior_variance).items()}
    best = find_moments(
        geometries(X, prior_variance)["n×n"], counts_of(case), fits["n×n"].sites, tolerance=SETTLED
    )
    for name, fit in fits.items():
        assert fit.converged, name
        assert fit.log_z == pytest.approx(best.log_z, abs=5e-6), name
        same = find_moments(geometries(X, prior_variance)[name], counts_of(case), best.sites)
        assert same.log_z == pytest.approx(best.log_z, abs=1e-7), name
        assert same.information_gain() == pytest.approx(best.information_gain(), abs=1e-5), name


@over_priors
@over_cases
def test_every_case_converges_cold_and_warm(case, prior_variance):
    """To one log Z from any start, without a warning (warnings are errors here) and below zero."""
    fitter = Logistic(prior_variance, "ep").bind(case.X, case.y)
    data, test = case.halves()
    both = np.concatenate([data, test])
    parts = tuple(fitter(rows, weights=case.weights[rows]) for rows in (data, test))
    cold, warm = fitter(both, weights=case.weights[both]), fitter(both, parts, weights=case.weights[both])
    for fit in (*parts, cold, warm):
        assert fit.state.solution.converged
        assert np.isfinite(fit.log_z)
        assert fit.log_z <= 0.0
    assert warm.log_z == pytest.approx(cold.log_z, abs=1e-5, rel=1e-8)


@pytest.mark.parametrize(("case", "prior_variance"), WIDE_PRIORS, ids=lambda v: getattr(v, "name", ""))
def test_wide_priors_match_a_fixed_point_of_many_digits(case, prior_variance):
    expected = ep_log_z(with_ones(case.X), case.y, case.weights, prior_variance)
    got = Logistic(prior_variance, "ep").fit(case.X, case.y, case.weights).log_evidence
    assert got == pytest.approx(expected, abs=1e-5, rel=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_random_hostile_problems_match_a_fixed_point_of_many_digits(seed):
    for X, y, weights, prior_variance in hostile(seed, 3, (2, 5), (1, 6), 3, -10, 2, (-4, 6)):
        expected = ep_log_z(with_ones(X), y, weights, prior_variance)
        got = Logistic(prior_variance, "ep").fit(X, y, weights).log_evidence
        assert got == pytest.approx(expected, abs=1e-5, rel=1e-8)


@pytest.mark.parametrize(("n", "d"), [(12, 2), (12, 30), (6, 6)])
@pytest.mark.parametrize("prior_variance", [0.1, 10.0, 1e3])
def test_moments_match_at_every_row(n, d, prior_variance):
    """Cavities recomputed from the sites with dense matrices, integrated by the tests' own quadrature.
    Fits stop at √TOLERANCE of where sites would stand still, log Z being of second order in that; settled
    sites match as well as the integrals are known."""
    X, y, rng = problem(5, n, d)
    counts = Counts(y * (w := rng.uniform(0.2, 3.0, n)), (1.0 - y) * w)
    for name, geometry in geometries(X, prior_variance).items():
        fit = find_moments(geometry, counts)
        settled = find_moments(geometry, counts, fit.sites, tolerance=SETTLED)
        check_moments(fit, X, prior_variance, counts, 1.1 * np.sqrt(TOLERANCE), name)
        check_moments(settled, X, prior_variance, counts, 1e-5, name)


def check_moments(fit, X, prior_variance, counts, bar, name):
    n, d = X.shape
    tau, nu = fit.sites
    covariance = np.linalg.inv(np.eye(d) / prior_variance + X.T @ (tau[:, None] * X))
    g, v = X @ covariance @ X.T @ nu, np.einsum("ij,jk,ik->i", X, covariance, X)
    log_z = 0.5 * (nu @ g - np.linalg.slogdet(np.eye(n) + prior_variance * X @ X.T * tau)[1])
    for i in range(n):
        precision, shift = 1.0 / v[i] - tau[i], g[i] / v[i] - nu[i]
        truth = tilted(shift / precision, 1.0 / precision, counts.ones[i], counts.zeros[i])
        assert abs(g[i] - truth.mean) < bar * np.sqrt(v[i]), name
        assert abs(np.log(v[i] / truth.variance)) < bar, name
        own = 0.5 * np.log(precision * v[i]) + 0.5 * (g[i] ** 2 / v[i] - shift**2 / precision)
        log_z += truth.log_z - own
    assert fit.log_z == pytest.approx(log_z, abs=1e-5), name
    assert fit.f == pytest.approx(g, abs=1e-6), name


def test_sites_condition_a_gaussian():
    """Against dense matrices, with sites of no precision and of much."""
    rng = np.random.default_rng(2)
    X, c = rng.normal(size=(7, 4)), 3.0
    sites = Sites(np.array([0.0, 1e-12, 0.3, 2.0, 50.0, 1e4, 1.0]), rng.normal(size=7))
    covariance = np.linalg.inv(np.eye(4) / c + X.T @ (sites.tau[:, None] * X))
    mean = covariance @ X.T @ sites.nu
    log_norm = 0.5 * (
        sites.nu @ X @ mean - np.linalg.slogdet(np.eye(4) + c * X.T @ (sites.tau[:, None] * X))[1]
    )
    variance = np.einsum("ij,jk,ik->i", X, covariance, X)
    for name, geometry in geometries(X, c).items():
        found = condition(geometry, sites)
        spread = marginals(geometry, sites, found.factor)
        assert found.mean == pytest.approx(X @ mean, rel=1e-8, abs=1e-8), name
        assert found.log_norm(sites) == pytest.approx(log_norm, rel=1e-10), name
        assert spread.variance == pytest.approx(variance, rel=1e-8), name
        assert spread.kept == pytest.approx(1.0 - sites.tau * variance, rel=1e-6), name


@pytest.mark.parametrize("prior_variance", [0.1, 100.0])
@pytest.mark.parametrize(("n", "d"), [(30, 3), (8, 20)])
@over_inferences
def test_information_gain_is_the_divergence_from_the_prior(inference, n, d, prior_variance):
    X, y, rng = problem(6, n, d)
    for prior in (None, GaussianPrior(rng.normal(size=d + 1), np.diag(rng.uniform(0.5, 2.0, d + 1)))):
        model = Logistic(prior_variance, inference)
        posterior = model.fit(X, y, prior=prior)
        expected = Gaussian(posterior.mean, posterior.precision).divergence(
            prior or isotropic(d + 1, prior_variance)
        )
        assert posterior.information_gain() == pytest.approx(expected, abs=1e-5)
        fitter = model.bind(X, y, prior)
        settled = fitter.settle(fitter(np.arange(n)))
        assert fitter.information_gain(settled) == pytest.approx(expected, abs=1e-5)


def test_closer_to_the_truth_than_laplace_in_two_dimensions():
    """Exact evidence on a grid; 16 problems, 4 to 34 rows, priors to 1."""
    gaps = {"laplace": [], "ep": []}
    for seed in range(16):
        X, y, rng = problem(seed, 4 + 2 * seed, 2, sharpness=3.0)
        c = 10.0 ** rng.uniform(-1, 0)
        truth = grid_log_z(X, y, np.ones(len(y)), np.zeros(2), np.eye(2) / c, points=201)
        for inference, gap in gaps.items():
            gap.append(Logistic(c, inference, intercept=False).fit(X, y).log_evidence - truth)
    assert np.abs(gaps["ep"]).max() < 0.05
    ep, laplace = (np.sqrt(np.mean(np.square(gaps[name]))) for name in ("ep", "laplace"))
    assert ep < 0.5 * laplace


@pytest.mark.parametrize(("d", "n", "c"), [(3, 20, 1.0), (5, 15, 0.3), (8, 12, 1.0)])
def test_close_to_importance_sampling(d, n, c):
    """0.05 nats and 4 s.e.; over 5 problems each nearer than Laplace in the mean square."""
    gaps = []
    for seed in range(5):
        X, y, rng = problem(100 + seed, n, d)
        truth = sampled_log_z(with_ones(X), y, c, rng, draws=20_000)
        assert truth.error < 0.02
        gaps.append([Logistic(c, i).fit(X, y).log_evidence - truth.log_z for i in ("ep", "laplace")])
        assert abs(gaps[-1][0]) < 0.05 + 4.0 * truth.error
    ep, laplace = np.sqrt(np.mean(np.square(gaps), axis=0))
    assert ep < 0.3 * laplace


def separable():
    X, _, _ = problem(3, 12, 2)
    return X, (X[:, 0] + 0.5 * X[:, 1] > 0).astype(float)


def test_separable_rows_at_a_wide_prior():
    """The likelihood has no mode of its own. Exact evidence on a grid, twice as fine for its own error."""
    X, y = separable()
    truth, coarse = (
        grid_log_z(X, y, np.ones(12), np.zeros(2), np.eye(2) / 100.0, points=points) for points in (401, 201)
    )
    assert truth == pytest.approx(coarse, abs=1e-6)
    ep, laplace = (Logistic(100.0, i, False).fit(X, y).log_evidence - truth for i in ("ep", "laplace"))
    assert abs(ep) < 0.5 * abs(laplace)


@pytest.mark.parametrize("prior_variance", [1e6, 1e10])
def test_separable_rows_under_no_prior_at_all(prior_variance):
    """Z tends to the share of directions that are right about every row: an angle over 2π."""
    X, y = separable()
    signed = (2.0 * y - 1.0)[:, None] * X
    angles = np.arctan2(signed[:, 1], signed[:, 0]) - np.arctan2(0.5, 1.0)  # about a direction that is right
    angles = (angles + np.pi) % (2.0 * np.pi) - np.pi
    truth = np.log((np.pi - np.ptp(angles)) / (2.0 * np.pi))
    ep, laplace = (
        Logistic(prior_variance, i, False).fit(X, y).log_evidence - truth for i in ("ep", "laplace")
    )
    assert abs(ep) < 0.25 * abs(laplace)
    assert abs(ep) < 0.3


@pytest.mark.parametrize("d", [1, 3])
def test_auto_is_ep_where_rows_are_few_and_laplace_where_they_are_many(d):
    """From `MANY` distinct rows per coefficient on; copies of a row are no more rows."""
    X, y, _ = problem(1, MANY * (d + 1), d, sharpness=1.0)
    auto, ep, laplace = (Logistic(1.0, inference).bind(X, y) for inference in ("auto", "ep", "laplace"))
    everything = np.arange(len(y))
    for rows, own, other in ((everything[:-1], ep, laplace), (everything, laplace, ep)):
        found = auto(rows).log_z
        assert found == own(rows).log_z
        assert found != other(rows).log_z
        assert found == pytest.approx(other(rows).log_z, abs=0.02)
    repeated = np.tile(everything[:-1], 2)
    assert auto(repeated).log_z == ep(repeated).log_z


@pytest.mark.parametrize("d", [1, 3, 9])
def test_blocks_under_laplaces_posterior_of_many_rows_are_those_under_eps(d):
    """Blocks of ten test rows, six worlds: 0.02 nats a block in the mean where Laplace begins."""
    n, m = MANY * (d + 1), 10
    blocks = [(np.arange(n + j * m, n + (j + 1) * m), None) for j in range(5)]
    gaps = []
    for seed in range(6):
        X, y, _ = problem(seed, n + 5 * m, d, sharpness=1.0)
        fitters = [Logistic(1.0, inference).bind(X, y) for inference in ("auto", "ep")]
        gaps.append(np.subtract(*(one.log_predictives(one(np.arange(n)), blocks) for one in fitters)))
    assert 1e-4 < np.abs(gaps).mean() < 0.02


def same(a, b):
    assert a == pytest.approx(b, abs=1e-5, rel=0)


def test_contradicting_labels_are_one_row_of_both():
    """A row with both labels is worth σ(f)σ(−f), one factor: exact for one row, and merged in any order."""
    X = np.array([[1.0, 2.0], [0.5, -1.0], [1.0, 2.0]])
    y = np.array([1.0, 1.0, 0.0])
    posterior = EP.fit(X, y)
    assert len(EP.bind(X, y)(np.arange(3)).state.ids) == 2
    same(EP.fit(X[[2, 1, 0]], y[[2, 1, 0]]).log_evidence, posterior.log_evidence)
    truth = ep_log_z_of_counts(with_ones(X[:2]), Counts(np.array([1.0, 1.0]), np.array([1.0, 0.0])))
    same(posterior.log_evidence, truth)


def ep_log_z_of_counts(X, counts):
    """The fixed point of rows that carry both labels, by the same reference."""
    weights = counts.ones + counts.zeros
    return ep_log_z(X, counts.ones / weights, weights, 1.0)


@pytest.mark.parametrize("weight", [1e-6, 0.3, 1.0, 4.0])
def test_weights_are_continuous(weight):
    """d log Z / dw = E log σ(±f) under the posterior: bounded, so a weight's last digits cannot matter."""
    X, y, _ = problem(9, 8, 2)
    third = np.arange(8) == 3
    below, above = (np.where(third, weight + h, 1.0) for h in (-1e-7, 1e-7))
    model = Logistic(100.0, "ep")
    same(model.fit(X, y, below).log_evidence, model.fit(X, y, above).log_evidence)
    nothing = EP.fit(X, y, np.where(third, 1e-9, 1.0)).log_evidence
    same(nothing, EP.fit(X[~third], y[~third]).log_evidence)


def random_prior(rng, d):
    root = rng.normal(size=(d, d))
    return GaussianPrior(rng.normal(size=d), root @ root.T / d + 0.3 * np.eye(d))


@over_inferences
@pytest.mark.parametrize(("n", "d"), [(15, 3), (6, 12)])
@pytest.mark.parametrize("c", [0.2, 5.0])
def test_an_isotropic_prior_is_its_variance(inference, n, d, c):
    X, y, rng = problem(11, n, d)
    weights = rng.uniform(0.1, 3.0, n)
    plain = Logistic(c, inference).fit(X, y, weights)
    prior = GaussianPrior(np.zeros(d + 1), np.eye(d + 1) / c)
    other = Logistic(123.0, inference).fit(X, y, weights, prior=prior)
    theta = rng.normal(size=d + 1)
    assert other.log_evidence == pytest.approx(plain.log_evidence, abs=1e-6)
    assert other.mean == pytest.approx(plain.mean, abs=1e-5)
    assert other.precision == pytest.approx(plain.precision, abs=1e-5)
    assert other.log_density(theta) == pytest.approx(plain.log_density(theta), abs=1e-4)
    assert other.predict_proba(X) == pytest.approx(plain.predict_proba(X), abs=1e-5)
    assert other.information_gain() == pytest.approx(plain.information_gain(), abs=1e-5)
    draws = [p.sample(np.random.default_rng(0), 5) for p in (plain, other)]
    assert draws[0] == pytest.approx(draws[1], abs=1e-4)


@over_inferences
def test_any_prior_against_a_grid(inference):
    """Two coefficients, dense precision, a mean far from zero. Laplace also against its dense formula."""
    for seed in range(6):
        X, y, rng = problem(seed, 10, 2)
        prior = random_prior(rng, 2)._replace(mean=3.0 * rng.normal(size=2))
        weights = rng.uniform(0.2, 2.0, 10)
        fit = Logistic(1.0, inference, intercept=False).fit(X, y, weights, prior=prior)
        truth = grid_log_z(X, y, weights, prior.mean, prior.precision)
        assert fit.log_evidence == pytest.approx(truth, abs=0.02 if inference == "ep" else 0.3)
        if inference == "laplace":
            root = np.linalg.cholesky(np.linalg.inv(prior.precision))
            dense = dense_laplace(X @ root, y, weights, 1.0, X @ prior.mean)
            assert fit.log_evidence == pytest.approx(dense.log_z, abs=tolerance(dense.log_z))
            assert fit.mean == pytest.approx(prior.mean + root @ dense.mean, abs=1e-5)
            assert np.linalg.inv(fit.precision) == pytest.approx(root @ dense.covariance @ root.T, abs=1e-5)


@over_inferences
def test_a_density_is_that_of_its_mean_and_precision(inference):
    X, y, rng = problem(12, 9, 4)
    fit = Logistic(1.0, inference).fit(X, y, prior=random_prior(rng, 5))
    theta, covariance = rng.normal(size=5), np.linalg.inv(fit.precision)
    expected = Gaussian(fit.mean, fit.precision).log_density(theta)
    assert fit.log_density(theta) == pytest.approx(expected, abs=1e-9)
    mean, variance = fit.predictor(X)
    assert mean == pytest.approx(with_ones(X) @ fit.mean, abs=1e-9)
    spread = np.diag(with_ones(X) @ covariance @ with_ones(X).T)
    assert variance == pytest.approx(spread, rel=1e-9)


@over_inferences
@pytest.mark.parametrize(("n", "d"), [(20, 3), (8, 12)])
def test_a_posterior_as_a_prior(inference, n, d):
    """`as_prior` is the Gaussian itself; what the fitter predicts of T is T's evidence under it."""
    X, y, _ = problem(13, n + 6, d)
    model = Logistic(2.0, inference)
    posterior = model.fit(X[:n], y[:n])
    prior = posterior.as_prior()
    assert np.array_equal(prior.mean, posterior.mean)
    assert np.array_equal(prior.precision, posterior.precision)
    then = model.fit(X[n:], y[n:], prior=prior)
    fitter = model.bind(X, y)
    known = fitter.settle(fitter(np.arange(n)))
    assert fitter.log_predictive(known, np.arange(n, n + 6)) == pytest.approx(then.log_evidence, abs=1e-5)
    # sites multiply: T's rows only add to the precision
    assert np.linalg.eigvalsh(then.precision - prior.precision).min() > -1e-9
    nothing = model.fit(X[:0], y[:0], prior=prior)
    assert (nothing.log_evidence, nothing.mean) == (0.0, pytest.approx(prior.mean, abs=1e-9))
    assert nothing.precision == pytest.approx(prior.precision, abs=1e-9)


@pytest.mark.parametrize(("n", "d"), [(20, 3), (5, 12)])
def test_the_chain_of_batches_is_exact_for_linear(n, d):
    """log p(T|D) is Gaussian: N(Xμ, XΣXᵀ + s²I) with D's posterior; weights are precisions of the noise."""
    rng = np.random.default_rng(14)
    X, y, weights = (
        rng.normal(size=(n + 4, d)),
        rng.normal(size=n + 4),
        rng.integers(1, 4, n + 4).astype(float),
    )
    model = Linear(1.5, 0.4)
    rows = np.repeat(np.arange(n, n + 4), weights[n:].astype(int))
    fitter = model.bind(X, y)
    known = fitter(np.arange(n), weights=weights[:n])
    posterior = model.fit(X[:n], y[:n], weights[:n])
    T = with_ones(X[rows])
    S = T @ np.linalg.inv(posterior.precision) @ T.T + 0.4 * np.eye(len(rows))
    r = y[rows] - T @ posterior.mean
    expected = -0.5 * (r @ np.linalg.solve(S, r) + np.linalg.slogdet(2.0 * np.pi * S)[1])
    got = fitter.log_predictive(known, np.arange(n, n + 4), weights=weights[n:])
    assert got == pytest.approx(expected, abs=1e-8)
    first, second = np.arange(n, n + 2), np.arange(n + 2, n + 4)
    further = fitter(np.arange(n + 2), weights=weights[: n + 2])
    chain = fitter.log_predictive(known, first, weights=weights[first])
    chain += fitter.log_predictive(further, second, weights=weights[second])
    assert chain == pytest.approx(expected, abs=1e-8)


PRIORS = [
    GaussianPrior(np.zeros(2), np.eye(3)), GaussianPrior(np.zeros(3), np.eye(2)),
    GaussianPrior(np.zeros(3), np.ones(3)), GaussianPrior(np.zeros(3), np.triu(np.ones((3, 3)))),
    GaussianPrior(np.zeros(3), np.diag([1.0, 1.0, -1.0])),
    GaussianPrior(np.zeros(3), np.diag([1.0, 1.0, 0.0])),
    GaussianPrior(np.array([0.0, np.nan, 0.0]), np.eye(3)),
    GaussianPrior(np.zeros(3), np.diag([1.0, np.inf, 1.0])),
]  # fmt: skip


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_rows_are_predicted_as_by_sites_in_their_last_digits(C):
    """Predictions depend on sites to first order, log Z to second: all of 200 rows together to 1e-4 nats."""
    rng = np.random.default_rng(0)
    X, others = rng.normal(size=(80, 5)), rng.normal(size=(200, 5))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(float)
    geometry, counts = Primal(X, C), Counts(y, 1.0 - y)
    told = []
    for aim in (AIM, SETTLED):
        fit = find_moments(geometry, counts, tolerance=aim)
        precision = np.eye(5) / C + X.T @ (fit.sites.tau[:, None] * X)
        mean, covariance = np.linalg.solve(precision, X.T @ fit.sites.nu), np.linalg.inv(precision)
        spread = np.sqrt(np.einsum("ij,jk,ik->i", others, covariance, others))
        told.append(norm.logcdf(others @ mean / np.sqrt(1.0 + spread**2)).sum())
    assert told[0] == pytest.approx(told[1], abs=1e-4)


def test_sentences():
    rows = np.ones((4, 2)), np.array([0.0, 1.0, 1.0, 0.0])
    all_refused("ep", [lambda prior=prior: Logistic().fit(*rows, prior=prior) for prior in PRIORS])
