"""True and blind changes of one draw. yields (name, kind, truth: 'true'|'blind'|'blind noisy', before(X,y), after(X,y,w), changed)."""
import numpy as np
from audits import boost, lr_fit_loss, conf
from core import ones, fit
from scipy.special import expit

def lr_proba(X, y, Q):
    mu, sd = X.mean(0), X.std(0) + 1e-9
    th, _, _ = fit(ones((X - mu) / sd), y, 0.1)
    return expit(ones(np.clip((Q - mu) / sd, -10, 10)) @ th)

def boost_proba(X, y, Q):
    return boost(1).fit(X, y).predict_proba(Q)[:, 1]

def crossfit(model, X, y, seed=3, folds=5):
    fold = np.random.default_rng(seed).permutation(len(y)) % folds; p = np.zeros(len(y))
    for f in range(folds):
        p[fold == f] = model(X[fold != f], y[fold != f], X[fold == f])
    return p

def spread_proba(X, y, Q):
    from sklearn.semi_supervised import LabelSpreading
    import warnings
    mu, sd = X.mean(0), X.std(0) + 1e-9
    A = np.clip((np.vstack([X, Q]) - mu) / sd, -5, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ls = LabelSpreading(kernel="knn", n_neighbors=10, alpha=0.2, max_iter=100).fit(A, np.r_[y, -np.ones(len(Q))].astype(int))
    return np.nan_to_num(ls.label_distributions_[len(y):, 1], nan=0.5)

def noisy(y, rate, rng):
    bad = np.sort(rng.permutation(len(y))[: round(rate * len(y))]); y2 = y.copy(); y2[bad] = 1 - y2[bad]
    return y2, bad

def all_changes(X, y, Xs, ys, rng, which=("true", "blind", "blind noisy")):
    n = len(y); all_ = np.arange(n)
    if "true" in which:
        for rate in (0.05, 0.10, 0.20):
            y2, bad = noisy(y, rate, rng); keep = np.setdiff1d(all_, bad)
            yield f"remove {rate:.0%}", "remove", "true", (X, y2), (X[keep], y2[keep], None), bad
            yield f"correct {rate:.0%}", "relabel", "true", (X, y2), (X, y, None), bad
        e = np.sort(rng.permutation(n)[: round(0.4 * n)]); X2 = X.copy()
        cols = rng.random((len(e), X.shape[1])) < 0.5
        X2[e] = np.where(cols, X[rng.integers(0, n, (len(e), X.shape[1])), np.arange(X.shape[1])], X[e])
        yield "repair cells", "edit", "true", (X2, y), (X, y, None), e
        for a, b in ((75, 75), (150, 75), (150, 150)):
            yield f"new {a}+{b}", "new", "true", (X[:a], y[:a]), (X[: a + b], y[: a + b], None), np.arange(a, a + b)
    if "blind" in which:
        yield "double", "weights", "blind", (X, y), (X, y, np.full(n, 2.0)), all_
        yield "double 40", "weights", "blind", (X[:40], y[:40]), (X[:40], y[:40], np.full(40, 2.0)), np.arange(40)
        half = np.sort(rng.permutation(n)[: n // 2]); yield "random half", "remove", "blind", (X, y), (X[half], y[half], None), np.setdiff1d(all_, half)
        for nm, model in (("lr", lr_proba), ("boost", boost_proba)):
            c = conf(crossfit(model, X, y), y)
            drop = np.argsort(c)[: n // 10]; keep = np.setdiff1d(all_, drop)
            yield f"filter {nm}", "remove", "blind", (X, y), (X[keep], y[keep], None), drop
            f = np.argsort(c)[: n // 20]; y2 = y.copy(); y2[f] = 1 - y2[f]
            yield f"relabel {nm}", "relabel", "blind", (X, y), (X, y2, None), f
            yield f"weights {nm}", "weights", "blind", (X, y), (X, y, 0.5 + c), all_
        b = np.argsort(np.abs(crossfit(lr_proba, X, y) - 0.5))[: n // 3]; w = np.ones(n); w[b] = 3
        yield "boundary x3", "weights", "blind", (X, y), (X, y, w), all_
        h = n // 2
        Xn = np.vstack([X[h:], Xs[:100]])
        for nm, model in (("lr", lr_proba), ("boost", boost_proba), ("spread", spread_proba)):
            lab = (model(X[:h], y[:h], Xn) > 0.5).astype(float)
            yield f"self-label {nm}", "new", "blind", (X[:h], y[:h]), (np.vstack([X[:h], Xn]), np.r_[y[:h], lab], None), np.arange(h, h + len(Xn))
        mu = X.mean(0)
        for c in (0.7, 1.4):
            yield f"rescale {c}", "edit", "blind", (X, y), (mu + c * (X - mu), y, None), all_
        cm = np.vstack([X[y == 0].mean(0), X[y == 1].mean(0)])[y.astype(int)]
        yield "shrink to class", "edit", "blind", (X, y), (X + 0.3 * (cm - X), y, None), all_
    if "blind noisy" in which:
        y2, bad = noisy(y, 0.20, rng)
        for nm, model in (("lr", lr_proba), ("boost", boost_proba), ("spread", spread_proba)):
            c = conf(crossfit(model, X, y2), y2); wrong = np.flatnonzero(c < 0.5); keep = np.setdiff1d(all_, wrong)
            yield f"noisy filter {nm}", "remove", "blind noisy", (X, y2), (X[keep], y2[keep], None), wrong
            y3 = y2.copy(); y3[wrong] = 1 - y3[wrong]
            yield f"noisy relabel {nm}", "relabel", "blind noisy", (X, y2), (X, y3, None), wrong
            lab = (model(X, y2, Xs[:150]) > 0.5).astype(float)
            yield f"noisy new {nm}", "new", "blind noisy", (X, y2), (np.vstack([X, Xs[:150]]), np.r_[y2, lab], None), np.arange(n, n + min(150, len(Xs)))
