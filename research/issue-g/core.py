"""Numerics of the prototype: tempered Bayesian logistic posteriors as Gaussians, and what they say of rows and blocks.

A posterior at (C, w): prior N(0, C I), rows of D counted w times. Its mode depends on w*C alone and its covariance is
Sigma(w*C)/w, so one fit serves every (C, w) with the same product.
"""
from __future__ import annotations
import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.special import expit, log_expit, ndtri

KNOTS = 40

GH_X, GH_W = np.polynomial.hermite_e.hermegauss(20)
GH_W = GH_W / GH_W.sum()


class Post:
    """N(mu, Sigma) in a form that gives mean and covariance of the predictor at rows."""
    __slots__ = ("kind", "mu", "L", "X", "C", "sw", "log_z", "extra")

    def mean_half(self, Z):
        """mean of f at rows Z, and matrix H with Cov = prior part handled inside (H^T H = Cov)."""
        raise NotImplementedError


def fit(X, y, C, weights=None, start=None, tol=1e-6, most=60):
    """Mode of sum_i w_i log sigma(+-x theta) - |theta|^2/2C in the primal; X has its intercept column.

    Returns theta, lower Cholesky factor of the precision H, log Z (Laplace)."""
    n, d = X.shape
    s = 2.0 * y - 1.0
    w = np.ones(n) if weights is None else weights
    th = np.zeros(d) if start is None else start.copy()
    f = X @ th
    obj = w @ log_expit(s * f) - 0.5 * th @ th / C
    for _ in range(most):
        p = expit(f)
        g = X.T @ (w * (y - p)) - th / C
        W = w * p * (1 - p)
        H = (X * W[:, None]).T @ X
        H.flat[:: d + 1] += 1.0 / C
        cf = np.linalg.cholesky(H)
        step = cho_solve((cf, True), g, check_finite=False)
        dec = g @ step
        if dec < tol:
            break
        t, Xs = 1.0, X @ step
        while True:
            th2, f2 = th + t * step, f + t * Xs
            obj2 = w @ log_expit(s * f2) - 0.5 * th2 @ th2 / C
            if obj2 >= obj + 1e-4 * t * dec or t < 1e-4:
                break
            t *= 0.5
        th, f, obj = th2, f2, obj2
    log_z = obj - np.log(np.diag(cf)).sum() - 0.5 * d * np.log(C)
    return th, cf, log_z


def halves(cf, Z):
    """V with V^T V = Z Sigma Z^T."""
    return solve_triangular(cf, Z.T, lower=True, check_finite=False)


def row_logp(mean, var, y, ws=(1.0,)):
    """log E sigma(s f), f ~ N(mean, var/w): (len(ws), n)."""
    s = 2.0 * y - 1.0
    out = np.empty((len(ws), len(mean)))
    for i, w in enumerate(ws):
        f = (s * mean)[:, None] + np.sqrt(var / w)[:, None] * GH_X
        out[i] = np.log(np.maximum(expit(f) @ GH_W, 1e-300))
    return out


def block_logz(mean, K, y, most=30):
    """log evidence of blocks: f_j ~ N(mean_j, K_j); mean (J,m), K (J,m,m), y (J,m). Laplace, batched."""
    J, m = mean.shape
    s = 2.0 * y - 1.0
    a = np.zeros((J, m)); f = mean.copy()
    ll = log_expit(s * f).sum(1); obj = ll.copy()
    eye = np.eye(m)
    for _ in range(most):
        p = expit(f); g = y - p; W = p * (1 - p); sw = np.sqrt(W)
        B = eye + sw[:, :, None] * K * sw[:, None, :]
        b = W * (f - mean) + g
        Kb = np.einsum("jab,jb->ja", K, b)
        a2 = b - sw * np.linalg.solve(B, (sw * Kb)[..., None])[..., 0]
        da = a2 - a; df = np.einsum("jab,jb->ja", K, da)
        t = np.ones((J, 1))
        for _ in range(12):
            an, fn = a + t * da, f + t * df
            on = log_expit(s * fn).sum(1) - 0.5 * (an * (fn - mean)).sum(1)
            bad = on < obj - 1e-9
            if not bad.any():
                break
            t[bad] *= 0.5
        gain = np.abs(on - obj).max()
        a, f, obj = an, fn, on
        if gain < 1e-7:
            break
    p = expit(f); sw = np.sqrt(p * (1 - p))
    B = eye + sw[:, :, None] * K * sw[:, None, :]
    return obj - 0.5 * np.linalg.slogdet(B)[1]


def block_ep(mean, K, y, rounds=40, tol=1e-6):
    """The same by EP (parallel, damping 0.8, Gauss-Hermite tilted moments)."""
    J, m = mean.shape
    s = 2.0 * y - 1.0
    tau = np.zeros((J, m)); nu = np.zeros((J, m)); eye = np.eye(m)
    last = np.full(J, np.inf)
    gx, gw = np.polynomial.hermite_e.hermegauss(32); gw = gw / gw.sum()
    for r in range(rounds):
        st = np.sqrt(tau)
        B = eye + st[:, :, None] * K * st[:, None, :]
        BK = np.linalg.solve(B, st[:, :, None] * K)
        S = K - np.einsum("jba,jbc->jac", st[:, :, None] * K, BK)
        g = np.einsum("jab,jb->ja", S, nu - 0.0) - np.einsum("jab,jb->ja", S, tau * mean)  # mean of f - prior mean
        v = np.einsum("jaa->ja", S)
        mu = g + mean
        kept = 1 - tau * v
        cv = v / kept; cm = (mu - v * nu) / kept
        f = cm[..., None] + np.sqrt(cv)[..., None] * gx
        e = expit(s[..., None] * f)
        z = e @ gw
        m1 = (f * e) @ gw / z; m2 = ((f - m1[..., None]) ** 2 * e) @ gw / z
        # log Z
        own = 0.5 * np.log(kept) + 0.5 * kept * (nu * nu * cv + 2 * nu * cm - tau * cm**2)
        h = nu - tau * mean
        G = -0.5 * np.linalg.slogdet(B)[1] + 0.5 * np.einsum("ja,jab,jb->j", h, S, h) + (nu * mean - 0.5 * tau * mean**2).sum(1)
        lz = (np.log(z) - own).sum(1) + G
        if np.abs(lz - last).max() < tol:
            break
        last = lz
        nt = np.maximum(1 / m2 - 1 / cv, 0); nn = m1 / m2 - cm / cv
        nn = np.where(nt > 0, nn, (m1 - cm) / cv)
        tau += 0.8 * (nt - tau); nu += 0.8 * (nn - nu)
    return lz


def ones(F):
    return np.hstack([F, np.ones((len(F), 1))])


class Map:
    """A feature map learned from test rows; E|phi|^2 = 1 over them, so that the intercept has the prior variance of f.

    kind 'pca': scale each/common, k axes, exponent alpha.  kind 'rbf': bandwidth b x median distance, landmarks from T.
    """
    def __init__(self, spec):
        self.spec = spec

    def __repr__(self):
        return str(self.spec)


class Basis:
    """Standardised test rows under both column scales, their axes; maps are cut from it."""
    def __init__(self, X):
        self.center = X.mean(0)
        sd = X.std(0); ok = sd > 1e-12 * np.maximum(np.abs(X).max(0), 1e-300)
        self.inv = {"each": np.where(ok, 1 / np.where(ok, sd, 1), 0.0)}
        common = np.sqrt((sd[ok] ** 2).mean()) if ok.any() else 1.0
        self.inv["common"] = np.where(ok, 1 / common, 0.0)
        self.axes, self.var, self.Z = {}, {}, {}
        q = (np.arange(KNOTS) + 0.5) / KNOTS
        self.knots = np.quantile(X, q, axis=0).T            # d x KNOTS
        self.scores = ndtri(q)
        self.rank_center = np.zeros(X.shape[1]); self.rank_center = self._ranks(X).mean(0)
        for s in ("each", "common", "rank"):
            Z = self.std(X, s)
            if Z.shape[1] > 2 * len(Z):
                val, vec = np.linalg.eigh(Z @ Z.T); val, vec = val[::-1], vec[:, ::-1]
                r = (val > 1e-10 * val[0]).sum(); sv = np.sqrt(val[:r]); ax = (vec[:, :r].T @ Z) / sv[:, None]
            else:
                _, sv, ax = np.linalg.svd(Z, full_matrices=False)
                r = (sv > 1e-6 * sv[0]).sum(); sv, ax = sv[:r], ax[:r]
            self.axes[s], self.var[s], self.Z[s] = ax, sv**2 / len(Z), Z

    def _ranks(self, X):
        """Normal scores of each column by T's quantiles, ties in the middle; beyond the ends constant."""
        out = np.empty(X.shape)
        for j, k in enumerate(self.knots):
            u, first = np.unique(k, return_index=True)
            last = len(k) - 1 - np.unique(k[::-1], return_index=True)[1]
            out[:, j] = np.interp(X[:, j], u, 0.5 * (self.scores[first] + self.scores[last]))
        return out - self.rank_center

    def std(self, X, s):
        return self._ranks(X) if s == "rank" else (X - self.center) * self.inv[s]

    def map(self, spec):
        """x -> phi(x)"""
        kind = spec[0]
        if kind == "pca":
            _, s, k, alpha = spec
            v = self.var[s][:k]; P = self.axes[s][:k].T * np.sqrt(v**alpha / v / (v**alpha).sum())
            return lambda X: self.std(X, s) @ P
        if kind in ("rbf", "lin+rbf"):
            _, s, b, m, seed = spec
            Z = self.Z[s]
            idx = np.random.default_rng([seed, 3]).permutation(len(Z))[:m]
            A = Z[idx]
            sub = Z[np.random.default_rng([seed, 4]).permutation(len(Z))[:300]]
            d2 = _d2(sub, sub); med = np.median(d2[np.triu_indices(len(sub), 1)])
            g = 0.5 / (b * b * max(med, 1e-12))
            Kmm = np.exp(-g * _d2(A, A))
            val, vec = np.linalg.eigh(Kmm); keep = val > 1e-6 * val[-1]
            P = vec[:, keep] / np.sqrt(val[keep])
            raw0 = lambda S: np.exp(-g * _d2(S, A)) @ P
            raw = lambda X: raw0(self.std(X, s))
            R = raw0(Z)
            mean = R.mean(0); size = np.sqrt(((R - mean) ** 2).sum(1).mean())
            rb = lambda X: (raw(X) - mean) / size
            if kind == "rbf":
                return rb
            lin = self.map(("pca", s, min(160, len(self.var[s])), 1.0))
            return lambda X: np.hstack([lin(X), rb(X)]) / np.sqrt(2)
        raise KeyError(kind)

    def rank(self, s):
        return len(self.var[s])


def _d2(A, B):
    return np.maximum((A * A).sum(1)[:, None] + (B * B).sum(1)[None] - 2 * A @ B.T, 0)


def posterior(F, y, C, weights=None, start=None):
    """F with intercept. Dual when there are fewer rows than features: features are rotated into the row space first."""
    return fit(F, y, C, weights, start)


def gauss_at(F, y, C, Z, weights=None, start=None):
    """Mean and variance of f at rows Z given rows F (both with intercept); also theta for warm starts (primal)."""
    n, d = F.shape
    if n + 1 < d:  # work in the span of the rows: exact, d -> n
        Q, R = np.linalg.qr(F.T, mode="reduced")  # F = R^T Q^T
        A = R.T; th, cf, lz = fit(A, y, C, weights)
        ZQ = Z @ Q
        mean = ZQ @ th
        V = halves(cf, ZQ)
        var = (V * V).sum(0) + C * np.maximum((Z * Z).sum(1) - (ZQ * ZQ).sum(1), 0)
        return mean, var, None, lz
    th, cf, lz = fit(F, y, C, weights, start)
    V = halves(cf, Z)
    return Z @ th, (V * V).sum(0), th, lz
