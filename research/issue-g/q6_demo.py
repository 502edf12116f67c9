"""Question 6: constructions on scikit-learn's embedded data where a metric that users trust rises and information falls; ten seeds, none tuned.
Scored with today's package (dw.audit, design whole), test accuracy as the audit reports it."""
import sys, time
import numpy as np, dataworth as dw
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.model_selection import cross_val_predict
from threadpoolctl import threadpool_limits

def lr(): return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))

def load(name):
    if name == "diabetes": d = load_diabetes(); return d.data, (d.target > np.median(d.target)).astype(int)
    if name == "diabetes top quarter": d = load_diabetes(); return d.data, (d.target > np.quantile(d.target, .75)).astype(int)
    if name == "digits odd": d = load_digits(); return d.data, d.target % 2
    if name == "breast cancer": d = load_breast_cancer(); return d.data, d.target

def constructions(X, y, rng):
    """name, before, after, extra metric (own cross-validated accuracy before, after)"""
    n = len(y); cv = lambda X, y: cross_val_predict(lr(), X, y, cv=5)
    p = cv(X, y); ok = p == y
    yield "drop the rows that the data's own model gets wrong", (X, y), (X[ok], y[ok])
    pr = cross_val_predict(lr(), X, y, cv=5, method="predict_proba"); c = pr.max(1); hard = np.argsort(c)[: n // 3]; keep = np.setdiff1d(np.arange(n), hard)
    yield "drop the third that is hardest (nearest the boundary)", (X, y), (X[keep], y[keep])
    yield "relabel rows by the data's own model (self-training)", (X, y), (X, p)
    major = int(y.mean() > .5); rare = np.flatnonzero(y != major)
    keep = np.setdiff1d(np.arange(n), rng.permutation(rare)[: round(.8 * len(rare))]); yield "drop four fifths of the rarer class", (X, y), (X[keep], y[keep])
    keep = np.setdiff1d(np.arange(n), rng.permutation(rare)[: round(.5 * len(rare))]); yield "drop half of the rarer class", (X, y), (X[keep], y[keep])
    bal = np.r_[np.flatnonzero(y == major), rng.choice(rare, (y == major).sum())]; yield "oversample the rarer class to balance", (X, y), (X[bal], y[bal])

if __name__ == "__main__":
    with threadpool_limits(1):
        for name in sys.argv[1].split(","):
            res = {}; t0 = time.process_time()
            for seed in range(int(sys.argv[2])):
                rng = np.random.default_rng([1000 + seed]); X, y = load(name); q = rng.permutation(len(y)); X, y = X[q], y[q]
                for skew in (("as is", "test 3:1") if name in ("diabetes", "digits odd") else ("as is",)):
                    n = len(y) // 2; D, dy, T, ty = X[:n], y[:n], X[n:], y[n:]
                    if skew == "test 3:1":  # the deployment sees three of class 0 for one of class 1; D as is
                        one = np.flatnonzero(ty == 1); zero = np.flatnonzero(ty == 0); one = one[: len(zero) // 3]; i = np.sort(np.r_[zero, one]); T, ty = T[i], ty[i]
                    test = dw.Dataset(T, ty); yard = dw.Yardstick.fit(test, seed=seed)
                    for cname, b, a in constructions(D, dy, rng):
                        if len(np.unique(a[1])) < 2: continue
                        au = dw.audit(dw.Dataset(*b), dw.Dataset(*a), test, yardstick=yard, seed=seed, jobs=1, ignore="all")
                        own = [np.mean(cross_val_predict(lr(), *z, cv=5) == z[1]) for z in (b, a)]
                        la = [lr().fit(*z).score(T, ty) for z in (b, a)]
                        res.setdefault((skew, cname), []).append((au.delta, au.verdict, au.accuracy_delta, la[1] - la[0], own[1] - own[0]))
            for (skew, cname), r in res.items():
                d = np.array([[x[0], x[2], x[3], x[4]] for x in r]); v = [x[1] for x in r]
                both = np.sum((d[:, 0] < 0) & (d[:, 2] > 0))
                print(f"{name:20} {skew:9} {cname:55} ΔPMI {d[:,0].mean():+.2f} (<0 in {np.sum(d[:,0]<0)}) shown down {sum(x in ('harmful','costly','strategic') for x in v)} | Δacc test: yardstick {d[:,1].mean():+.3f} (>0 {np.sum(d[:,1]>0)}) LR {d[:,2].mean():+.3f} (>0 {np.sum(d[:,2]>0)}) | own CV accuracy {d[:,3].mean():+.3f} (>0 {np.sum(d[:,3]>0)}) | both {both} of {len(r)}  {dict((k, v.count(k)) for k in set(v))}", flush=True)
            print(name, "cpu", time.process_time() - t0)
