"""Tempered arms, blind controls from cross-fitted models of `before`, and the raw numbers from which verdicts are read."""
from __future__ import annotations
import numpy as np
from core import *
from proto import Yard

RS = 2.0 ** np.arange(-3, 4)      # tempering around the yardstick's own w: 1/8 ... 8
MID = 3
BLOCKS = 20

class Scorer:
    """Scores arms on blocks of T (and on fresh rows U, for the truth) at every tempering that is on the way uphill."""
    def __init__(self, yard, T, ty, U=None, uy=None, blocks=BLOCKS, seed=0):
        self.y = yard
        m = len(ty) // blocks
        p = np.random.default_rng([seed, 21]).permutation(len(ty))[: m * blocks]
        self.FT, self.ty, self.J, self.m = yard.F(T)[p], ty[p], blocks, m
        if U is not None: self.FU, self.uy = yard.F(U), uy
        else: self.FU = None

    def at(self, F, y, r, weights=None, start=None, truth=True):
        yd = self.y
        th, cf, _ = fit(F, y, yd.C * r, weights, start)
        V = halves(cf, self.FT); J, m = self.J, self.m
        Vb = V.T.reshape(J, m, -1)
        K = Vb @ Vb.transpose(0, 2, 1) / (r * yd.w)
        mean = (self.FT @ th).reshape(J, m)
        S = block_logz(mean, K, self.ty.reshape(J, m))
        acc = ((mean > 0) == (self.ty.reshape(J, m) > 0)).mean(1)
        u = np.nan
        if self.FU is not None and truth:
            VU = halves(cf, self.FU)
            u = row_logp(self.FU @ th, (VU * VU).sum(0), self.uy, (r * yd.w,))[0]
        return S, acc, u, th

    def arm(self, F, y, weights=None, temper=True):
        """dict: S (len(RS), J) with -inf where not visited; truth rows at the r that T prefers."""
        S = np.full((len(RS), self.J), -np.inf); accs = {}; us = {}; th = None
        def go(i):
            nonlocal th
            if 0 <= i < len(RS) and i not in us:
                S[i], accs[i], us[i], th = self.at(F, y, RS[i], weights, th)
        go(MID)
        if temper:
            c = MID; go(c + 1); go(c - 1)
            while True:
                nb = [k for k in (c - 1, c + 1) if 0 <= k < len(RS)]
                up = max(nb, key=lambda k: S[k].sum())
                if S[up].sum() <= S[c].sum(): break
                c = up; go(c - 1); go(c + 1)
        tot = S.sum(1)
        best = int(np.argmax(tot))
        others = tot[:, None] - np.where(np.isfinite(S), S, 0)       # sums over the other blocks
        pick = np.argmax(others, axis=0)
        win = [k for k in (best - 1, best, best + 1) if 0 <= k < len(RS) and np.isfinite(tot[k])]
        lse = lambda A: np.logaddexp.reduce(A, axis=0)
        bma = lse(np.repeat(tot[win][:, None], self.J, 1)) - lse(others[win])
        ubest = max(us, key=lambda k: np.mean(us[k])) if self.FU is not None else best
        return {"S": S, "fixed": S[MID], "loo": S[pick, np.arange(self.J)], "score": bma, "r": RS[best], "acc": accs[best],
                "u": us[best] if self.FU is not None else None, "ufixed": us[MID], "uopt": us[ubest] if self.FU is not None else None}

# ---------------------------------------------------------------- models of `before`
WIDE = 300
class Boost:
    """Boosting; on wide data on 40 principal axes of its training rows."""
    def __init__(self, seed=0): self.m = _hgb(seed); self.P = None
    def _z(self, X): return X if self.P is None else (X - self.c) @ self.P
    def fit(self, X, y, sample_weight=None):
        if X.shape[1] > WIDE:
            self.c = X.mean(0); _, _, v = np.linalg.svd(X - self.c, full_matrices=False); self.P = v[:40].T
        self.m.fit(self._z(X), y, sample_weight=sample_weight); return self
    def predict_proba(self, X): return self.m.predict_proba(self._z(X))

def boost(seed=0): return Boost(seed)

def _hgb(seed=0):
    from sklearn.ensemble import HistGradientBoostingClassifier
    return HistGradientBoostingClassifier(max_iter=40, learning_rate=0.1, max_leaf_nodes=15, early_stopping=False, random_state=seed)

def knn_proba(Z, y, Q, k=10):
    k = min(k, len(y)); d = _d2q(Q, Z); idx = np.argpartition(d, k - 1, axis=1)[:, :k]
    return (y[idx].sum(1) + 0.5) / (k + 1)

def _d2q(A, B):
    return (A * A).sum(1)[:, None] + (B * B).sum(1)[None] - 2 * A @ B.T

def lr_prob(X, y, Q, C=0.1):
    mu, sd = X.mean(0), X.std(0) + 1e-9
    A, B = ones(np.clip((X - mu) / sd, -6, 6)), ones(np.clip((Q - mu) / sd, -6, 6))
    m, _, th, _ = gauss_at(A, y, C, B); return expit(m)

class Models:
    """Probabilities of label 1 from models of `before`, cross-fitted for its own rows (two 5-fold divisions), and a second pass in which the rows that the
    first pass thinks wrong are left out of the training folds ('clean'); `new` labels other rows by the full models."""
    KINDS = ("yard", "boost", "knn", "lr")
    def __init__(self, yard, X, y, folds=5, repeats=2, seed=0):
        self.yard, self.X, self.yv = yard, X, y
        self.F = yard.F(X); n = len(y)
        self.p = {k: np.zeros(n) for k in self.KINDS}
        for rep in range(repeats):
            for k, v in self._cross(np.random.default_rng([seed, 31, rep]).permutation(n) % folds, np.ones(n, bool)).items(): self.p[k] += v / repeats
        self.p["mean"] = np.mean([self.p[k] for k in self.KINDS], axis=0)
        self.good = conf(self.p["mean"], y) >= 0.5
        q = self._cross(np.random.default_rng([seed, 32]).permutation(n) % folds, self.good)
        self.p["clean"] = np.mean([q[k] for k in self.KINDS], axis=0)
    def _all(self, a, F, X):
        y = self.yv[a]
        if len(np.unique(y)) < 2: return {k: np.full(len(F), y.mean() if len(y) else 0.5) for k in self.KINDS}
        return {"yard": self._yard(self.F[a], y, F), "boost": boost().fit(self.X[a], y).predict_proba(X)[:, 1], "knn": knn_proba(self.F[a], y, F), "lr": lr_prob(self.X[a], y, X)}
    def _cross(self, fold, use):
        out = {k: np.zeros(len(fold)) for k in self.KINDS}
        for f in np.unique(fold):
            o = fold == f
            for k, v in self._all((~o) & use, self.F[o], self.X[o]).items(): out[k][o] = v
        return out
    def _yard(self, F, y, Z):
        mean, var, _, _ = gauss_at(F, y, self.yard.C, Z)
        return np.exp(row_logp(mean, var / self.yard.w, np.ones(len(Z)))[0])
    def new(self, Xn):
        import warnings
        from sklearn.semi_supervised import LabelSpreading
        Fn = self.yard.F(Xn)
        out = self._all(np.ones(len(self.yv), bool), Fn, Xn)
        A = np.vstack([self.F, Fn])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ls = LabelSpreading(kernel="knn", n_neighbors=10, alpha=0.2, max_iter=50).fit(A, np.r_[self.yv, -np.ones(len(Fn))].astype(int))
        out["spread"] = np.nan_to_num(ls.label_distributions_[len(self.F):, 1], nan=0.5)
        out["mean"] = np.mean(list(out.values()), axis=0)
        out["clean"] = np.mean(list(self._all(self.good, Fn, Xn).values()), axis=0)
        del out["knn"]
        return out

def conf(p, y): return np.where(y > 0, p, 1 - p)

def controls(kind, M, before, after, changed, rng):
    """Blind controls of a kind of change: dict name -> (X, y, weights). `changed`: rows (before's index for removal/relabelling/edits;
    after's index of new rows)."""
    X, y = before; out = {}
    if kind in ("remove", "relabel"):
        k = len(changed)
        for m in ("yard", "boost", "mean", "clean"):
            order = np.argsort(conf(M.p[m], y))
            keep = np.setdiff1d(np.arange(len(y)), order[:k])
            if kind == "remove" or m == "clean":
                out[f"drop {m}"] = (X[keep], y[keep], None)
            if kind == "relabel":
                flip = order[:k]; flip = flip[conf(M.p[m], y)[flip] < 0.5]
                y2 = y.copy(); y2[flip] = 1 - y2[flip]
                out[f"flip {m}"] = (X, y2, None)
    elif kind == "new":
        Xa, ya, _ = after
        for m, p in M.new(Xa[changed]).items():
            y2 = ya.copy(); y2[changed] = (p > 0.5)
            out[f"label {m}"] = (Xa, y2, None)
    elif kind == "edit":
        Xa, ya, _ = after; e = changed
        d = np.abs(Xa[e] - X[e]) > 0
        X2 = X.copy(); X3 = X.copy()
        for j in np.flatnonzero(d.any(0)):
            i = e[d[:, j]]
            A = np.c_[np.ones(len(i)), y[i], X[i, j]]
            X2[i, j] = A @ np.linalg.lstsq(A, Xa[i, j], rcond=None)[0]
            X3[i, j] = A[:, [0, 2]] @ np.linalg.lstsq(A[:, [0, 2]], Xa[i, j], rcond=None)[0]
        out["affine by class"] = (X2, y, None); out["affine"] = (X3, y, None)
        sd = X.std(0) + 1e-12
        X4 = X.copy()
        for c in (0.0, 1.0):
            i = e[y[e] == c]
            if len(i) == 0: continue
            to = (X[y == c].mean(0) - X[i]) / sd * (np.abs(Xa[i] - X[i]) > 0)
            dist = np.sqrt((((Xa[i] - X[i]) / sd) ** 2).sum(1)); full = np.sqrt((to**2).sum(1)) + 1e-12
            X4[i] = X[i] + to * sd * np.minimum(dist / full, 1.0)[:, None]
        out["towards own class"] = (X4, y, None)
    elif kind == "weights":
        w = after[2]; s = np.sort(w)
        for m in ("yard", "boost"):
            o = np.argsort(conf(M.p[m], y))
            up = np.empty(len(w)); up[o] = s; dn = np.empty(len(w)); dn[o] = s[::-1]
            out[f"sure {m}"] = (X, y, up); out[f"unsure {m}"] = (X, y, dn)
        o = np.argsort(-np.abs(M.p["yard"] - 0.5)); bd = np.empty(len(w)); bd[o] = s
        out["boundary"] = (X, y, bd)
        out["permuted"] = (X, y, rng.permutation(w))
    return out

def ttest(d):
    """mean, s.e., n"""
    return float(d.mean()), float(d.std(ddof=1) / np.sqrt(len(d)))

def lr_fit_loss(X, y, Q, qy, weights=None):
    """Row log-loss of a logistic regression with C tuned by 4-fold (standardised columns)."""
    mu, sd = X.mean(0), X.std(0) + 1e-9
    A, B = ones((X - mu) / sd), ones(np.clip((Q - mu) / sd, -10, 10))
    if A.shape[1] > 200:
        _, _, v = np.linalg.svd(A[:, :-1], full_matrices=False); v = v[:60].T
        A, B = ones(A[:, :-1] @ v), ones(B[:, :-1] @ v)
    fold = np.random.default_rng(5).permutation(len(y)) % 4
    w = np.ones(len(y)) if weights is None else weights
    best = (-np.inf, None)
    for C in (0.003, 0.03, 0.3, 3.0):
        v = 0.0
        for f in range(4):
            a, o = fold != f, fold == f
            th, _, _ = fit(A[a], y[a], C, w[a]); v += w[o] @ log_expit((2 * y[o] - 1) * (A[o] @ th))
        if v > best[0]: best = (v, C)
    th, _, _ = fit(A, y, best[1], w)
    return log_expit((2 * qy - 1) * (B @ th))

def boost_loss(X, y, Q, qy, weights=None):
    if len(np.unique(y)) < 2: return np.full(len(qy), np.log(0.5))
    p = np.clip(boost().fit(X, y, sample_weight=weights).predict_proba(Q)[:, 1], 1e-3, 1 - 1e-3)
    return np.where(qy > 0, np.log(p), np.log(1 - p))
