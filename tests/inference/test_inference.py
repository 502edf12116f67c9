"""Numerics on arrays: every evidence against many-digit arithmetic, every identity over hostile shapes."""

from functools import cache

import mpmath as mp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cases import CASES, PRIOR_VARIANCES, WIDE_PRIORS, counts_of, geometries, hostile
from dataworth.inference.geometry import (
    GATHERED,
    SLAB,
    Dual,
    Primal,
    choose_geometry,
    graded_features,
    gram_factor,
    root_factor,
)
from dataworth.inference.logistic import Counts, terms
from dataworth.inference.newton import LONGEST_STEP, find_mode, line_search
from dataworth.models import Logistic
from dataworth.models.logistic import distinct_rows
from reference import dense_laplace, laplace_log_z, tolerance, with_ones

BY_NAME = {case.name: case for case in CASES}
over_cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
over_priors = pytest.mark.parametrize("prior_variance", PRIOR_VARIANCES)


@cache
def exact(name: str, part: str, prior_variance: float, intercept: bool = True) -> float:
    """The 60-digit log evidence of D, of T or of both."""
    case = BY_NAME[name]
    data, test = case.halves()
    rows = {"D": data, "T": test, "both": np.concatenate([data, test])}[part]
    X = with_ones(case.X) if intercept else case.X
    return laplace_log_z(X[rows], case.y[rows], case.weights[rows], prior_variance)


def fit_rows(model, case, rows, start=(), fitter=None):
    fitter = model.bind(case.X, case.y) if fitter is None else fitter
    return fitter(rows, start, weights=case.weights[rows])


@over_priors
@over_cases
def test_evidence_and_pmi_match_many_digits_cold_and_warm(case, prior_variance):
    fitter = Logistic(prior_variance).bind(case.X, case.y)
    data, test = case.halves()
    both = np.concatenate([data, test])
    parts = [fit_rows(None, case, rows, fitter=fitter) for rows in (data, test) if len(rows)]
    truth = [exact(case.name, part, prior_variance) for part in ("D", "T", "both")]
    for fit, expected in zip(parts, truth, strict=False):
        assert fit.log_z == pytest.approx(expected, abs=tolerance(expected), rel=0)
    cold = fit_rows(None, case, both, fitter=fitter)
    warm = fit_rows(None, case, both, tuple(parts), fitter)
    assert cold.log_z == pytest.approx(truth[2], abs=tolerance(truth[2]), rel=0)
    assert warm.log_z == pytest.approx(truth[2], abs=tolerance(truth[2]), rel=0)
    value = warm.log_z - sum(fit.log_z for fit in parts)
    assert value == pytest.approx(truth[2] - truth[0] - truth[1], abs=tolerance(*truth), rel=0)
    assert all(fit.state.solution.converged for fit in (*parts, cold, warm))


@over_cases
def test_evidence_without_intercept_matches_many_digits(case):
    if case.X.shape[1] == 0:
        pytest.skip("nothing is left without the intercept; see test_no_parameters")
    rows = np.concatenate(case.halves())
    fit = fit_rows(Logistic(1.0, intercept=False), case, rows)
    expected = exact(case.name, "both", 1.0, intercept=False)
    assert fit.log_z == pytest.approx(expected, abs=tolerance(expected), rel=0)
    assert fit.state.solution.converged


@given(seed=st.integers(0, 2**32 - 1), start_rows=st.integers(0, 12))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_any_start_leads_to_the_same_evidence(seed, start_rows):
    """A start may come from other rows, from rows that are not part of the fit, or from none at all."""
    rng = np.random.default_rng(seed)
    d = int(rng.choice([1, 3, 30]))
    X, y = rng.normal(size=(12, d)), (rng.random(12) < 0.5).astype(float)
    fitter = Logistic(10.0 ** rng.uniform(-3, 3)).bind(X, y)
    rows = rng.choice(12, rng.integers(1, 13), replace=False)
    start = tuple(
        fitter(rng.choice(12, start_rows), targets=(rng.random(start_rows) < 0.5).astype(float))
        for _ in range(2)
        if start_rows
    )
    cold, warm = fitter(rows), fitter(rows, start)
    assert warm.log_z == pytest.approx(cold.log_z, abs=tolerance(cold.log_z), rel=0)
    assert warm.state.solution.converged


@pytest.mark.parametrize("repeats", [False, True])
def test_a_large_joint_fit_starts_at_its_parts(repeats):
    """Few rows beside many: the same evidence as without a start, or from one that is no part."""
    rng = np.random.default_rng(3)
    n, d, new = GATHERED + 1000, 5, 300
    X = rng.normal(size=(n + new, d))
    if repeats:
        X[-new // 2 :] = X[: new // 2]  # rows that are seen again, with labels of their own
    y = (rng.random(n + new) < 1 / (1 + np.exp(-X @ rng.normal(size=d)))).astype(float)
    fitter = Logistic(1.0).bind(X, y)
    everything = np.arange(n + new)
    start = fitter(np.arange(n)), fitter(np.arange(n, n + new))
    warm, cold = fitter(everything, start), fitter(everything)
    other = fitter(everything, (fitter(np.arange(n), targets=1.0 - y[:n]),))
    part, whole = (dense_laplace(with_ones(X[:k]), y[:k], np.ones(k), 1.0) for k in (n, n + new))
    for fit, dense in ((start[0], part), (warm, whole), (cold, whole), (other, whole)):
        assert fit.log_z == pytest.approx(dense.log_z, abs=tolerance(dense.log_z), rel=0)
        assert np.allclose(fit.state.solution.coef, dense.mean, atol=1e-5)
        assert fit.state.solution.converged
    assert warm.state.solution.iterations == 2 < cold.state.solution.iterations  # one to go, one to check


@pytest.mark.parametrize(("case", "prior_variance"), WIDE_PRIORS, ids=lambda v: getattr(v, "name", ""))
def test_wide_priors_match_many_digits(case, prior_variance):
    expected = laplace_log_z(with_ones(case.X), case.y, case.weights, prior_variance)
    fit = fit_rows(Logistic(prior_variance), case, np.arange(len(case.y)))
    assert fit.state.solution.converged
    assert fit.log_z == pytest.approx(expected, abs=tolerance(expected), rel=0)


@pytest.mark.parametrize("seed", range(4))
def test_random_hostile_problems_match_many_digits(seed):
    for X, y, weights, prior_variance in hostile(seed, 12, (1, 7), (1, 9), 4, -12, 3, (-6, 8)):
        expected = laplace_log_z(with_ones(X), y, weights, prior_variance)
        fit = Logistic(prior_variance).bind(X, y)(np.arange(len(y)), weights=weights)
        assert fit.state.solution.converged
        assert fit.log_z == pytest.approx(expected, abs=tolerance(expected), rel=0)


@pytest.mark.parametrize("prior_variance", [1e-2, 1.0, 1e3])
@over_cases
def test_all_geometries_agree(case, prior_variance):
    """Wherever C·w‖x‖² leaves every geometry its digits; a d×d matrix of 4,000 is left out for time."""
    X = with_ones(case.X)
    if X.shape[1] > 100 or prior_variance * (case.weights * (X**2).sum(axis=1)).max() > 1e5:
        pytest.skip("not all geometries apply")
    counts = counts_of(case)
    dense = dense_laplace(X, case.y, case.weights, prior_variance)
    expected = exact(case.name, "both", prior_variance)
    for name, geometry in geometries(X, prior_variance).items():
        mode = find_mode(geometry, counts)
        assert mode.converged, name
        assert mode.log_z == pytest.approx(expected, abs=tolerance(expected), rel=0), name
        assert mode.f == pytest.approx(X @ dense.mean, abs=1e-5), name
        assert mode.penalty == pytest.approx(dense.mean @ dense.mean / prior_variance, abs=1e-5), name
        gain = dense.information_gain(prior_variance)
        assert mode.information_gain() == pytest.approx(gain, abs=1e-5), name


@over_cases
def test_graded_features_keep_the_gram_matrix(case):
    X = with_ones(case.X)
    Z, Q = graded_features(X)
    assert np.abs(Z @ Q.T - X).max() <= 1e-13 * np.abs(X).max()
    assert Z.shape == (len(X), min(X.shape))
    lengths = np.linalg.norm(X, axis=1)
    assert np.abs(Z @ Z.T - X @ X.T).max() <= 1e-13 * lengths.max() ** 2


def test_the_geometry_follows_shape_and_scale():
    tall, wide = np.ones((10, 2)), np.ones((2, 10))
    assert isinstance(choose_geometry(wide, 1.0), Dual)
    assert isinstance(choose_geometry(tall, 1.0), Primal)
    assert not choose_geometry(tall, 1.0).root
    for X in (tall, wide):
        assert choose_geometry(X, 1e12).root
        assert choose_geometry(np.vstack([X, 1e9 * X]), 1.0, np.arange(len(X)), square=1e18).root
    few = choose_geometry(np.ones((100, 10)), 1.0, np.arange(5))
    assert isinstance(few, Dual)
    assert few.degrees == 5


@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (3, 7)])
@pytest.mark.parametrize("factorise", [gram_factor, root_factor])
def test_factors_against_dense_algebra(shape, factorise):
    rng = np.random.default_rng(0)
    X, w, b = rng.normal(size=shape), rng.uniform(0, 3, shape[0]), rng.normal(size=shape[1])
    A = np.eye(shape[1]) + X.T @ np.diag(w) @ X
    factor = factorise(X, w)
    assert factor.solve(b) == pytest.approx(np.linalg.solve(A, b), rel=1e-10)
    assert factor.log_det() == pytest.approx(np.linalg.slogdet(A)[1], rel=1e-10)
    assert factor.trace_defect() == pytest.approx(np.trace(np.linalg.inv(A)) - shape[1], rel=1e-10)


def test_square_root_factor_keeps_digits_that_the_product_loses():
    """C‖x‖² = 1e14 along one direction, 1 along the other."""
    X = np.array([[1.1e7, 1.3e7], [0.7, 0.3]])
    with mp.workdps(50):
        rows = mp.matrix(X.tolist())
        expected = float(mp.log(mp.det(mp.eye(2) + rows.T * rows)))
    assert root_factor(X, np.ones(2)).log_det() == pytest.approx(expected, abs=1e-9)
    assert abs(gram_factor(X, np.ones(2)).log_det() - expected) > 1e-6  # why there are two


@pytest.mark.parametrize("rows", [None, slice(None, None, 7), slice(100, 17_000), slice(None)])
def test_primal_steps_over_slabs_of_chosen_rows(rows):
    """One Newton step from θ against dense matrices: more rows than a slab, than a copy, and all of them."""
    rng = np.random.default_rng(1)
    X, theta, c = rng.normal(size=(20_000, 3)), rng.normal(size=3), 0.7
    assert 17_000 - 100 > GATHERED > SLAB
    chosen = np.arange(len(X)) if rows is None else np.arange(len(X))[rows]
    gradient, curvature = rng.normal(size=len(chosen)), rng.uniform(0, 2, len(chosen))
    geometry = Primal(X, c, None if rows is None else chosen)
    own = X[chosen]
    normal = np.eye(3) + c * own.T @ (curvature[:, None] * own)
    factor = geometry.factorise(curvature)
    step = geometry.step(factor, curvature, theta, gradient)
    assert len(geometry) == len(chosen)
    assert geometry.predictor(theta) == pytest.approx(own @ theta, rel=1e-10)
    assert step.coef == pytest.approx(np.linalg.solve(normal, c * own.T @ gradient - theta), rel=1e-8)
    assert step.f == pytest.approx(own @ step.coef, rel=1e-8)
    assert factor.log_det() == pytest.approx(np.linalg.slogdet(normal)[1], rel=1e-10)


@pytest.mark.parametrize("f", [0.0, -0.0, 1e-9, 0.3, -2.0, 30.0, -36.8, 400.0, -700.0, 745.0])
def test_likelihood_terms_in_both_tails_against_many_digits(f):
    ones, zeros = 1.25, 0.5
    got = terms(np.array([f]), Counts(np.array([ones]), np.array([zeros])))
    with mp.workdps(400):
        up, down = 1 / (1 + mp.exp(-mp.mpf(f))), 1 / (1 + mp.exp(mp.mpf(f)))
        expected = [
            ones * mp.log(up) + zeros * mp.log(down), ones * down - zeros * up, (ones + zeros) * up * down,
            mp.tanh(mp.mpf(f) / 2),
        ]  # fmt: skip
    actual = [got.value, got.gradient[0], got.curvature[0]]
    assert actual == pytest.approx([float(e) for e in expected[:3]], rel=1e-13, abs=1e-322)
    assert got.tanh_half[0] == pytest.approx(float(expected[3]), rel=1e-13, abs=1e-15)  # serves a bound only


def test_likelihood_terms_never_overflow():
    got = terms(np.array([1e300, -1e300]), Counts(np.ones(2), np.zeros(2)))
    assert (got.value, got.gradient.tolist()) == (-1e300, [0.0, 1.0])
    assert got.curvature.tolist() == [0.0, 0.0]


@given(seed=st.integers(0, 2**32 - 1), scale=st.floats(-3, 3))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_line_search_finds_the_maximum(seed, scale):
    """The slope that is left is at most 2 % of the slope at the start."""
    rng = np.random.default_rng(seed)
    n = 6
    f, direction = rng.normal(size=n), 10.0**scale * rng.normal(size=n)
    counts = Counts(rng.uniform(0, 2, n), rng.uniform(0, 2, n))
    square = float(direction @ direction) * 10.0 ** rng.uniform(-6, 0)
    gradient = terms(f, counts).gradient
    decrement = abs(rng.normal()) * abs(
        float(gradient @ direction)
    )  # uphill at the start, as every Newton step
    s = line_search(counts, f, direction, gradient, decrement, square)
    fall = float((terms(f + s * direction, counts).gradient - gradient) @ direction) - s * square
    assert 0 < s <= LONGEST_STEP
    assert decrement + fall >= -0.02 * decrement - 1e-12
    if s < LONGEST_STEP:  # or cut short while still rising
        assert decrement + fall <= 0.02 * decrement + 1e-12


def test_line_search_at_its_longest_step_is_not_beyond_the_maximum():
    """A slope that is even from 4 steps on, and at 50 a wall: 64 steps lead down by 1,300 nats."""
    f, direction = np.array([0.0, -80.0, -50.0]), np.array([3.236, 1.0, 1.0])
    counts = Counts(np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, 100.0]))
    gradient = terms(f, counts).gradient
    slope = float(gradient @ direction)
    s = line_search(counts, f, direction, gradient, slope, 0.0)
    assert abs(terms(f + s * direction, counts).gradient @ direction) <= 0.02 * slope


@pytest.mark.parametrize("name", ["noisy", "separable", "fractional weights", "wide", "zero weights"])
def test_offset_is_a_shift_of_the_predictor(name):
    """Mode and evidence of p(y | Xθ + o) against dense matrices; o = Xm is a prior with mean m."""
    case = BY_NAME[name]
    X = with_ones(case.X)
    rng = np.random.default_rng(5)
    counts = counts_of(case)
    for offset in (X @ rng.normal(size=X.shape[1]), 3.0 * rng.normal(size=len(X))):
        dense = dense_laplace(X, case.y, case.weights, 2.0, offset)
        for label, geometry in geometries(X, 2.0).items():
            mode = find_mode(geometry, counts, offset=offset)
            assert mode.converged, label
            assert mode.log_z == pytest.approx(dense.log_z, abs=tolerance(dense.log_z)), label
            assert mode.f == pytest.approx(X @ dense.mean + offset, abs=1e-5), label


@pytest.mark.parametrize("prior_variance", [1e-2, 1e4])
@over_cases
def test_information_gain_is_the_divergence_from_the_prior(case, prior_variance):
    X = with_ones(case.X)
    if X.shape[1] > 100 or prior_variance * (case.weights * (X**2).sum(axis=1)).max() > 1e6:
        pytest.skip("dense matrices lose their digits")
    model = Logistic(prior_variance)
    expected = dense_laplace(X, case.y, case.weights, prior_variance).information_gain(prior_variance)
    posterior = model.fit(case.X, case.y, case.weights)
    fitter = model.bind(case.X, case.y)
    fit = fit_rows(model, case, np.arange(len(case.y)), fitter=fitter)
    for found in (fitter.information_gain(fit), posterior.information_gain()):
        assert found == pytest.approx(expected, abs=1e-5, rel=1e-5)


class Problem:
    """Rows with scales, labels, whole weights and a prior, of any size; milder ones for EP."""

    def __init__(self, seed, n, d, exponents, log_c, inference):
        rng = np.random.default_rng(seed)
        self.rng, self.inference = rng, inference
        if inference == "ep":
            exponents, log_c = [rng.uniform(-1, 1)] * d, np.clip(log_c, -3, 4)
        self.X = rng.normal(size=(n, d)) * 10.0 ** np.array(exponents[:d])
        self.X[:, rng.random(d) < 0.1] = 1.0
        if d > 1 and rng.random() < 0.2:
            self.X[:, 0] = -2.0 * self.X[:, 1]
        labels = [rng.random(n) < 0.5, self.X[:, -1] > np.median(self.X[:, -1]), np.ones(n)]
        self.y = labels[rng.integers(3)].astype(float)
        self.weights = rng.integers(0, 4, n).astype(float)
        self.model = Logistic(10.0**log_c, inference, intercept=bool(rng.integers(2)))

    def log_z(self, X=None, y=None, weights=None, model=None):
        X, y = self.X if X is None else X, self.y if y is None else y
        fit = (model or self.model).bind(X, y)(np.arange(len(y)), weights=weights)
        assert fit.state.solution.converged
        return fit.log_z

    def same(self, a, b):
        assert a == pytest.approx(b, abs=2 * tolerance(a, b) if self.inference == "laplace" else 1e-5, rel=0)


def problems(inference, scales=6):
    """Problems whose columns have a scale each, or one in common."""
    exponents = st.lists(st.floats(-8, 8), min_size=scales, max_size=scales).map(lambda e: (e * 6)[:6])
    seed, n, d = st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 6)
    inferences = st.just(inference)
    return st.builds(Problem, seed, n, d, exponents, st.floats(-6, 8), inferences)


over_inferences = pytest.mark.parametrize("inference", ["laplace", "ep"])
slow_checks = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


@over_inferences
@given(data=st.data())
@slow_checks
def test_names_and_order_of_rows_classes_and_features_do_not_matter(inference, data):
    p = data.draw(problems(inference))
    n, d = p.X.shape
    order, columns = p.rng.permutation(n), p.X[:, p.rng.permutation(d)] * p.rng.choice([-1.0, 1.0], d)
    expected = p.log_z(weights=p.weights)
    p.same(p.log_z(p.X[order], p.y[order], p.weights[order]), expected)
    p.same(p.log_z(y=1.0 - p.y, weights=p.weights), expected)
    p.same(p.log_z(columns, weights=p.weights), expected)


@over_inferences
@given(data=st.data())
@slow_checks
def test_weights_are_repeats_and_rotations_and_scales_of_priors_do_not_matter(inference, data):
    """One scale for all columns: a rotation would mix 1e8 into 1e-8 and lose the latter by itself."""
    p = data.draw(problems(inference, scales=1))
    rotation = np.linalg.qr(p.rng.normal(size=(p.X.shape[1],) * 2))[0]
    p.same(p.log_z(), p.log_z(p.X @ rotation))
    wide, narrow = (Logistic(p.model.prior_variance / c, inference, intercept=False) for c in (1.0, 64.0))
    p.same(p.log_z(model=wide), p.log_z(8.0 * p.X, model=narrow))
    p = data.draw(problems(inference))
    repeats = np.repeat(np.arange(len(p.y)), p.weights.astype(int))
    if len(repeats) == 0:
        p.weights[0], repeats = 1.0, np.array([0])
    p.same(p.log_z(weights=p.weights), p.log_z(p.X[repeats], p.y[repeats]))


@over_inferences
@pytest.mark.parametrize("d", [0, 1, 20])
def test_nothing_has_no_evidence_and_no_parameters_are_coins(inference, d):
    """Without features or intercept each label is a coin: log Z = −n log 2."""
    model = Logistic(1.0, inference, intercept=bool(d))
    fitter, rows = model.bind(np.ones((6, d)), np.ones(6)), np.arange(6)
    for nothing in (fitter(rows[:0]), fitter(rows, weights=np.zeros(6))):
        assert nothing.log_z == 0.0
        assert nothing.state.solution.converged
    if not d:
        assert fitter(rows).log_z == pytest.approx(-6 * np.log(2.0), abs=1e-7)


def test_rows_that_differ_in_one_column_are_told_apart():
    X = np.zeros((6, 100))
    X[:, 99] = [1.0, 2.0, 1.0, 3.0, 2.0, 4.0]
    assert distinct_rows(X)[1].tolist() == [0, 1, 0, 2, 1, 3]
    X[:, 13] = np.arange(6)
    assert distinct_rows(X)[0] is X  # all are distinct: no copy


@given(
    rows=st.lists(
        st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e-300, 1e300, 0.1]), min_size=2, max_size=2),
        min_size=1,
        max_size=20,
    )
)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_distinct_rows_are_numbered_in_order_of_appearance(rows):
    X = np.array(rows)
    seen: dict[tuple, int] = {}
    expected = [seen.setdefault(tuple(row + 0.0), len(seen)) for row in X]
    distinct, ids = distinct_rows(X)
    assert ids.tolist() == expected
    assert np.array_equal(distinct[ids], X)
    assert len(distinct) == len(seen)
