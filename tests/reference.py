"""Slow, independent references: many-digit arithmetic, importance sampling, dense textbook formulas.

Never the package's own code.
"""

import decimal
from decimal import Decimal
from typing import NamedTuple

import mpmath as mp
import numpy as np
from scipy.special import expit, log_expit, logsumexp

DIGITS = 60
TWO_PI = Decimal("6.283185307179586476925286766559005768394338798750211641949889184615632812572417997256070")
LOG_2_PI = float(np.log(2.0 * np.pi))


def tolerance(*log_z: float) -> float:
    """The bar for a log evidence, or for a difference of some: 1e-6 + 1e-8·|log Z|."""
    return 1e-6 + 1e-8 * max(abs(z) for z in log_z)


def with_ones(X):
    return np.column_stack([X, np.ones(len(X))])


def laplace_log_z(X, y, weights, prior_variance):
    """Laplace log evidence of Bayesian logistic regression by damped Newton in 60-digit arithmetic. The
    n×n form f = K a, (I + W K) Δa = ∇ − a, by Gaussian elimination with pivoting. Rows are neither merged
    nor rescaled: at this precision nothing needs to be."""
    if len(y) == 0:
        return 0.0
    with decimal.localcontext(_context()):
        rows, t, w = _decimals(X), _decimals(y), _decimals(weights)
        K = _inner(rows, rows) * Decimal(float(prior_variance))
        one = Decimal(1)

        def sigmoid(f):
            return np.array([one / (one + (-v).exp()) for v in f], dtype=object)

        def objective(f, a):
            losses = [(one + (-v if k else v).exp()).ln() for v, k in zip(f, t, strict=True)]
            return -(w * np.array(losses, dtype=object)).sum() - (a * f).sum() / 2

        def curvature(f):
            p = sigmoid(f)
            return _plus_diagonal((w * p * (one - p))[:, None] * K, one)

        a = f = _decimals(np.zeros(len(t)))
        value = objective(f, a)
        for _ in range(500):
            step = _eliminate(curvature(f), w * (t - sigmoid(f)) - a)[0]
            step_f = K.dot(step)
            size = one
            while (moved := objective(f + size * step_f, a + size * step)) < value and size > Decimal(
                "1e-30"
            ):
                size /= 2
            a, f, value = a + size * step, f + size * step_f, max(moved, value)
            if max(abs(v) for v in step_f) < Decimal("1e-14"):
                break
        else:
            raise AssertionError("the reference did not converge")
        return float(value - _eliminate(curvature(f), a)[1].ln() / 2)


class GaussianReference(NamedTuple):
    """Log evidence, posterior mean and posterior variances of Bayesian linear regression."""

    log_z: float
    mean: np.ndarray
    variance: np.ndarray


def gaussian_posterior(X, y, weights, prior_variance, noise_variance):
    """Bayesian linear regression in 60-digit arithmetic; a row of weight w counts as w rows. Bishop 2006,
    equations 3.53, 3.54 and 3.86, through the n×n matrix C·XXᵀ + s²·diag(1/w)."""
    keep = np.asarray(weights) > 0
    with decimal.localcontext(_context()):
        rows, t, w = _decimals(X[keep]), _decimals(y[keep]), _decimals(np.asarray(weights)[keep])
        c, s2 = Decimal(float(prior_variance)), Decimal(float(noise_variance))
        K = c * _inner(rows, rows)
        A = _plus_diagonal(K, s2 / w)
        mean = c * rows.T.dot(_eliminate(A, t)[0])
        variance = [c - c * c * (column * _eliminate(A, column)[0]).sum() for column in rows.T]
        determinant = _eliminate(_plus_diagonal(K * (w / s2)[:, None], Decimal(1)), t)[1]
        residual = t - rows.dot(mean)
        misfit = (w * residual * residual).sum() / s2 + (mean * mean).sum() / c
        log_z = -(w.sum() * (TWO_PI * s2).ln() + determinant.ln() + misfit) / 2
        return GaussianReference(float(log_z), mean.astype(float), np.array(variance, dtype=float))


def _context():
    return decimal.Context(
        prec=DIGITS, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[decimal.InvalidOperation]
    )


def _decimals(values):
    values = np.asarray(values, dtype=float)
    flat = np.empty(values.size, dtype=object)
    flat[:] = [Decimal(v) for v in values.ravel().tolist()]
    return flat.reshape(values.shape)


def _inner(a, b):
    return a.dot(b.T) if a.shape[1] else _decimals(np.zeros((len(a), len(b))))


def _plus_diagonal(A, diagonal):
    A = A.copy()
    A[np.diag_indices(len(A))] += diagonal
    return A


def _eliminate(A, b):
    """Solution of A x = b, and |det A|, by Gaussian elimination with partial pivoting."""
    A, b, n = A.copy(), b.copy(), len(b)
    determinant = Decimal(1)
    for k in range(n):
        pivot = k + max(range(n - k), key=lambda i: abs(A[k + i, k]))
        A[[k, pivot]], b[[k, pivot]] = A[[pivot, k]], b[[pivot, k]]
        determinant *= A[k, k]
        factors = A[k + 1 :, k] / A[k, k]
        A[k + 1 :, k:] -= factors[:, None] * A[k, k:]
        b[k + 1 :] -= factors * b[k]
    for k in reversed(range(n)):
        b[k] = (b[k] - (A[k, k + 1 :] * b[k + 1 :]).sum()) / A[k, k]
    return b, abs(determinant)


class Gaussian(NamedTuple):
    """N(mean, precision⁻¹), dense."""

    mean: np.ndarray
    precision: np.ndarray

    def log_density(self, theta):
        off = theta - self.mean
        return 0.5 * (np.linalg.slogdet(self.precision)[1] - len(off) * LOG_2_PI - off @ self.precision @ off)

    def divergence(self, other):
        """KL(self ‖ other), by the textbook."""
        off = self.mean - other.mean
        ratio = np.linalg.slogdet(self.precision)[1] - np.linalg.slogdet(other.precision)[1]
        trace = np.trace(other.precision @ np.linalg.inv(self.precision))
        return 0.5 * (trace - len(off) + off @ other.precision @ off + ratio)


def isotropic(d, prior_variance):
    return Gaussian(np.zeros(d), np.eye(d) / prior_variance)


def dense_linear(X, y, weights, prior_variance, noise_variance):
    precision = np.eye(X.shape[1]) / prior_variance + (X.T * weights) @ X / noise_variance
    return Gaussian(np.linalg.solve(precision, X.T @ (weights * y) / noise_variance), precision)


def sequential_log_p(alpha, labels):
    """Log probability of labels one after the other: P(next = c) = (α_c + n_c)/(Σα + n)."""
    counts, total = np.array(alpha, dtype=float), 0.0
    for label in np.asarray(labels, dtype=int):
        total += np.log(counts[label] / counts.sum())
        counts[label] += 1
    return total


class DenseLaplace(NamedTuple):
    """Laplace's Gaussian in plain dense matrices."""

    mean: np.ndarray
    covariance: np.ndarray
    log_z: float

    def gaussian(self):
        return Gaussian(self.mean, np.linalg.inv(self.covariance))

    def information_gain(self, prior_variance: float) -> float:
        """KL(N(μ, Σ) ‖ N(0, C·I))."""
        return self.gaussian().divergence(isotropic(len(self.mean), prior_variance))


def dense_laplace(X, y, weights, prior_variance, offset=0.0):
    """Laplace's method by plain d×d Newton steps with halving; for well-conditioned problems only."""
    d = X.shape[1]

    def objective(theta):
        fit = logistic_log_likelihood(theta[None], X, y, weights, offset)[0]
        return fit - 0.5 * theta @ theta / prior_variance

    theta = np.zeros(d)
    for _ in range(200):
        p = expit(X @ theta + offset)
        precision = X.T @ ((weights * p * (1 - p))[:, None] * X) + np.eye(d) / prior_variance
        step = np.linalg.solve(precision, X.T @ (weights * (y - p)) - theta / prior_variance)
        size = 1.0
        while objective(theta + size * step) < objective(theta) and size > 1e-12:
            size /= 2
        theta = theta + size * step
        if np.abs(step).max(initial=0.0) < 1e-13 * (1.0 + np.abs(theta).max(initial=0.0)):
            break
    log_det = np.linalg.slogdet(precision)[1] + d * np.log(prior_variance)
    return DenseLaplace(theta, np.linalg.inv(precision), float(objective(theta) - 0.5 * log_det))


def logistic_log_likelihood(theta, X, y, weights, offset=0.0):
    """Log-likelihood of each θ (one a row)."""
    f = theta @ X.T + offset
    return (weights * np.where(y > 0.5, log_expit(f), log_expit(-f))).sum(axis=1)


class Evidence(NamedTuple):
    log_z: float
    error: float


def sampled_log_z(X, y, prior_variance, rng, draws=10_000, degrees=5.0):
    """Exact log evidence of logistic regression by importance sampling from a Student t at the mode."""
    d = X.shape[1]
    laplace = dense_laplace(X, y, np.ones(len(y)), prior_variance)
    root = np.linalg.cholesky(laplace.covariance)
    z = rng.standard_normal((draws, d))
    u = rng.chisquare(degrees, draws) / degrees
    t = z / np.sqrt(u)[:, None]
    theta = laplace.mean + t @ root.T
    from scipy.special import gammaln

    log_q = (
        gammaln((degrees + d) / 2)
        - gammaln(degrees / 2)
        - 0.5 * d * np.log(degrees * np.pi)
        - np.log(np.diagonal(root)).sum()
        - 0.5 * (degrees + d) * np.log1p((t**2).sum(axis=1) / degrees)
    )
    log_prior = -0.5 * (theta**2).sum(axis=1) / prior_variance - 0.5 * d * (LOG_2_PI + np.log(prior_variance))
    log_w = logistic_log_likelihood(theta, X, y, np.ones(len(y))) + log_prior - log_q
    log_z = float(logsumexp(log_w) - np.log(draws))
    relative = np.exp(log_w - log_z)
    return Evidence(log_z, float(relative.std(ddof=1) / np.sqrt(draws)))


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


class Tilted(NamedTuple):
    """Log integral, mean and variance of N(f; m, s²) σ(f)^w₁ σ(−f)^w₀."""

    log_z: float
    mean: float
    variance: float


def tilted(mean, variance, ones, zeros):
    """By 24 Gauss–Legendre nodes on each of many pieces. They end at falls of a few nats on both sides of
    the mode, and double in length away from wherever the logistic function bends."""
    m, v, a, b = (float(x) for x in (mean, variance, ones, zeros))

    def log_value(f):
        return a * log_expit(f) + b * log_expit(-f) - 0.5 * (f - m) ** 2 / v

    mode = _bisect(lambda f: a * expit(-f) - b * expit(f) - (f - m) / v, m - v * b, m + v * a, 200)
    top = log_value(mode)
    ends = [mode]
    for fall in (1.0, 4.0, 9.0, 16.0, 25.0, 36.0, 50.0):
        for sign in (-1.0, 1.0):
            far = np.sqrt(2.0 * fall * v)
            ends.append(
                mode + sign * _bisect(lambda u, s=sign, t=top - fall: log_value(mode + s * u) - t, 0, far, 60)
            )
    first, last = min(ends), max(ends)
    doubling = 2.0 ** np.arange(44)
    for centre in (0.0, np.log(max(a, 1.0)), -np.log(max(b, 1.0))):
        ends += [e for e in (centre, *(centre - doubling), *(centre + doubling)) if first < e < last]
    ends = np.unique(ends) - mode  # digits of u = f − mode are kept where f is huge
    half, centre = np.diff(ends) / 2, (ends[1:] + ends[:-1]) / 2
    u, weights = (centre[:, None] + half[:, None] * _NODES).ravel(), (half[:, None] * _WEIGHTS).ravel()
    rise = a * (log_expit(mode + u) - log_expit(mode)) + b * (log_expit(-mode - u) - log_expit(-mode))
    value = weights * np.exp(rise - u * (u + 2.0 * (mode - m)) / (2.0 * v))
    total = value.sum()
    shift = value @ u / total
    log_z = top + np.log(total) - 0.5 * (LOG_2_PI + np.log(v))
    return Tilted(float(log_z), float(mode + shift), float(value @ (u - shift) ** 2 / total))


def tilted_digits(mean, variance, ones, zeros, digits=30):
    """The same by mpmath's adaptive Gauss–Legendre rule with 30 digits; for ordinary sizes."""
    with mp.workdps(digits):
        m, v, a, b = (mp.mpf(float(x)) for x in (mean, variance, ones, zeros))

        def log_value(f):
            return -a * mp.log1p(mp.exp(-f)) - b * mp.log1p(mp.exp(f)) - (f - m) ** 2 / (2 * v)

        def slope(f):
            return a / (1 + mp.exp(f)) - b / (1 + mp.exp(-f)) - (f - m) / v

        mode = _bisect(slope, m - v * b, m + v * a, 100)
        top = log_value(mode)

        def reach(fall, sign):
            far = mp.sqrt(2 * fall * v)
            return mode + sign * _bisect(
                lambda u: log_value(mode + sign * u) - top + fall, mp.mpf(0), far, 20
            )

        falls = [reach(mp.mpf(fall), sign) for fall in (2, 10, 70) for sign in (-1, 1)]
        steps = [mp.mpf(k) for k in (-40, -8, 0, 8, 40) if min(falls) < k < max(falls)]
        ends = sorted([mode, *falls, *steps])

        def moment(power):
            return mp.quad(
                lambda f: (f - mode) ** power * mp.exp(log_value(f) - top), ends, method="gauss-legendre"
            )

        total = moment(0)
        shift = moment(1) / total
        log_z = top + mp.log(total) - mp.log(2 * mp.pi * v) / 2
        return Tilted(float(log_z), float(mode + shift), float(moment(2) / total - shift**2))


def _bisect(falling, low, high, steps):
    """Where a falling function changes its sign."""
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2


def ep_log_z(X, y, weights, prior_variance, digits=60, rounds=400):
    """EP's fixed point with dense matrices of 60 digits, each cavity integrated by `tilted`. One site per
    row: give rows that differ. Parallel updates with damping ½; stops where no site moves."""
    ones, zeros = weights * y, weights * (1.0 - y)
    n = len(y)
    with mp.workdps(digits):
        rows = mp.matrix(X.tolist())
        K = mp.mpf(float(prior_variance)) * (rows * rows.T)
        tau, nu = [mp.mpf(0)] * n, [mp.mpf(0)] * n
        for _ in range(rounds):
            # Σ = K − K (K + S)⁻¹ K with S = diag(1/τ), written without dividing by τ: Σ = (I + K T)⁻¹ K
            B = mp.eye(n) + K * mp.diag(tau)
            Sigma = mp.inverse(B) * K
            g = Sigma * mp.matrix(nu)
            log_z = (mp.fdot(nu, g) - mp.log(mp.det(B))) / 2
            moved = mp.mpf(0)
            for i in range(n):
                v = Sigma[i, i]
                kept = 1 - tau[i] * v
                cavity, centre = v / kept, (g[i] - v * nu[i]) / kept
                t = tilted(centre, cavity, ones[i], zeros[i])
                own = nu[i] ** 2 * cavity + 2 * nu[i] * centre - tau[i] * centre**2
                log_z += t.log_z - (mp.log(kept) + kept * own) / 2
                new_tau = max(1 / mp.mpf(t.variance) - 1 / cavity, mp.mpf(0))
                new_nu = mp.mpf(t.mean) / t.variance - centre / cavity
                moved = max(moved, abs(new_tau - tau[i]) * v, abs(new_nu - nu[i]) * mp.sqrt(v))
                tau[i], nu[i] = (tau[i] + new_tau) / 2, (nu[i] + new_nu) / 2
            if moved < 1e-8:
                return float(log_z)
    raise AssertionError("the reference did not converge")


def grid_log_z(X, y, weights, mean, precision, points=301, reach=9.0):
    """Exact log evidence in two dimensions under N(mean, precision⁻¹), by the trapezoidal rule on a grid.
    The grid is along the axes of Laplace's Gaussian, ± 9 of the prior's or 3·9 of its own s.d., whichever
    is less: the integrand is analytic and vanishes at the ends, so the rule converges exponentially. For
    priors that are not so wide that the likelihood looks like steps."""
    root = np.linalg.cholesky(np.linalg.inv(precision))
    laplace = dense_laplace(X @ root, y, weights, 1.0, X @ mean)
    square, axes = np.linalg.eigh(laplace.covariance)
    lengths = reach * np.minimum(3.0 * np.sqrt(square), 1.0)
    steps = [np.linspace(-length, length, points) for length in lengths]
    u = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 2)
    z = laplace.mean + u @ axes.T
    log_value = (
        logistic_log_likelihood(z, X @ root, y, weights, X @ mean) - 0.5 * (z**2).sum(axis=1) - LOG_2_PI
    )
    return float(logsumexp(log_value) + sum(np.log(s[1] - s[0]) for s in steps))


def mixed(scores, blocks=None):
    """Blocks' scores by the mixture over temperings, from rows' scores on a grid (an axis a direction).
    Each row is predicted by the temperings in a window about the best, weighted by what they say of the
    other blocks (lists of rows; by default each row is one). The walk to the best starts in the middle of
    the grid and takes steps of 0.01 or more."""
    totals = scores.sum(axis=-1)
    best = tuple(n // 2 for n in totals.shape)
    while True:
        around = [tuple(np.add(best, step)) for i in np.eye(len(best), dtype=int) for step in (i, -i)]
        up = max((place for place in around), key=lambda place: totals[place])
        if totals[up] <= totals[best] + 0.01:
            break
        best = up
    window = scores[tuple(slice(max(k - 1, 0), k + 2) for k in best)].reshape(-1, scores.shape[-1])
    found = []
    for rows in np.arange(window.shape[1])[:, None] if blocks is None else blocks:
        others = np.delete(window, rows, axis=1).sum(axis=1)
        weights = np.exp(others - logsumexp(others))
        found.append(sum(np.log(weights @ np.exp(window[:, row])) for row in rows))
    return np.array(found)
