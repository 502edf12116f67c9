"""The demo chapter on the new yardstick: the data's own cross-validated accuracy rises, information falls. Ten fresh seeds; tempered arms."""
import sys, numpy as np
from threadpoolctl import threadpool_limits
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from scipy.special import stdtrit
import proto
from audits import *
from changes import lr_proba, crossfit

def load(name):
    if name == "diabetes": d = load_diabetes(); return d.data, (d.target > np.median(d.target)).astype(float)
    if name == "breast cancer": d = load_breast_cancer(); return d.data, d.target.astype(float)
    d = load_digits(); return d.data, (d.target % 2).astype(float)

with threadpool_limits(1):
    for name in sys.argv[1].split(","):
        res = {}
        for seed in range(10):
            X, y = load(name); p = np.random.default_rng([2000 + seed]).permutation(len(y))[:1000]; X, y = X[p], y[p]; h = min(len(y) // 2, 400)
            D, dy, T, ty = X[:h], y[:h], X[h: 2 * h], y[h: 2 * h]
            yard = proto.search(T, ty, seed=seed); sc = Scorer(yard, T, ty, seed=seed); F = yard.F(D); B = sc.arm(F, dy)
            c = crossfit(lr_proba, D, dy); ok = (c > .5) == (dy > .5)
            cvacc = lambda X, y: np.mean((crossfit(lr_proba, X, y) > .5) == (y > .5)); tacc = lambda X, y: np.mean((lr_proba(X, y, T) > .5) == (ty > .5))
            for nm, (X2, y2) in {"drop rows that its own model gets wrong": (D[ok], dy[ok]), "relabel by its own model": (D, (c > .5).astype(float)), "drop the hardest third": (lambda k: (D[k], dy[k]))(np.argsort(-np.abs(c - .5))[: 2 * h // 3])}.items():
                a = sc.arm(yard.F(X2), y2); d = a["score"] - B["score"]; t = d.mean() / (d.std(ddof=1) / 20 ** .5)
                res.setdefault(nm, []).append((d.mean() / sc.m, t, cvacc(X2, y2) - cvacc(D, dy), tacc(X2, y2) - tacc(D, dy), a["acc"].mean() - B["acc"].mean()))
        for nm, r in res.items():
            r = np.array(r); print(f"{name:14} {nm:42} ΔPMI/row {r[:,0].mean():+.4f} (<0 in {np.sum(r[:,0]<0)}, shown down {np.sum(r[:,1]<-2.09)}, shown up {np.sum(r[:,1]>2.09)}) own CV accuracy {r[:,2].mean():+.3f} (up in {np.sum(r[:,2]>0)}) test accuracy LR {r[:,3].mean():+.3f} (up in {np.sum(r[:,3]>0)}), yardstick {r[:,4].mean():+.3f} (up in {np.sum(r[:,4]>0)})", flush=True)
