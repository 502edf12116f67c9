"""Slow, independent references: 40-digit arithmetic, importance sampling. Never the package's own code."""

from __future__ import annotations

import mpmath as mp


def laplace_log_z(X, y, weights, prior_variance, digits=40):
    """Laplace log evidence of Bayesian logistic regression by damped Newton in `digits`-digit arithmetic.

    The n×n form with distinct rows kept apart: in 40 digits nothing needs to be merged or rescaled.
    """
    with mp.workdps(digits):
        n = len(y)
        rows = [[mp.mpf(float(v)) for v in row] for row in X]
        c = mp.mpf(float(prior_variance))
        w = [mp.mpf(float(v)) for v in weights]
        t = [mp.mpf(int(v)) for v in y]
        K = mp.matrix(n, n)
        for i in range(n):
            for j in range(i + 1):
                K[i, j] = K[j, i] = c * mp.fdot(rows[i], rows[j])

        def log_sigmoid(v):
            return -mp.log1p(mp.exp(-v)) if v > 0 else v - mp.log1p(mp.exp(v))

        def objective(f, a):
            fit = mp.fsum(w[i] * log_sigmoid(f[i] if t[i] else -f[i]) for i in range(n))
            return fit - mp.fdot(a, f) / 2

        a, f = mp.matrix(n, 1), mp.matrix(n, 1)
        value = objective(f, a)
        for _ in range(500):
            p = [1 / (1 + mp.exp(-v)) for v in f]
            W = [w[i] * p[i] * (1 - p[i]) for i in range(n)]
            g = mp.matrix([w[i] * (t[i] - p[i]) for i in range(n)])
            A = mp.eye(n) + mp.matrix([[W[i] * K[i, j] for j in range(n)] for i in range(n)])
            step = mp.lu_solve(A, g - a)  # (I + W K) Δa = ∇ − a
            step_f = K * step
            scale = mp.mpf(1)
            while True:
                new_a, new_f = a + scale * step, f + scale * step_f
                new_value = objective(new_f, new_a)
                if new_value >= value or scale < mp.mpf(10) ** -30:
                    break
                scale /= 2
            change = max(abs(v) for v in step_f)
            a, f, value = new_a, new_f, new_value
            if change < mp.mpf(10) ** -14:
                break
        else:
            raise AssertionError("the reference did not converge")
        p = [1 / (1 + mp.exp(-v)) for v in f]
        A = mp.eye(n) + mp.matrix([[w[i] * p[i] * (1 - p[i]) * K[i, j] for j in range(n)] for i in range(n)])
        return float(value - mp.log(mp.det(A)) / 2)
