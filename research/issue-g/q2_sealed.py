"""Sealed files: exaggerating (mean x 1.25, x 1.5; precision x 2) under (a) no tempering, (b) tempering in natural parameters L_r = L0 + r(L - L0), h_r = r h
(what counting rows r times does to Gaussian sites), (c) b and a scale s of the mean, mixture over a 3 x 3 window around the best, weights from the other blocks."""
import pickle, glob, numpy as np
from threadpoolctl import threadpool_limits
from scipy.special import stdtrit
import sets, proto
from core import *
from audits import Scorer

def block_scores(sc, th, P, s=1.0, r=1.0, C=1.0):
    d = len(th); L0 = np.eye(d) / C
    Pr = L0 + r * (P - L0); cf = np.linalg.cholesky(Pr); mu = cho_solve((cf, True), r * (P @ th)) * s
    V = halves(cf, sc.FT); Vb = V.T.reshape(sc.J, sc.m, -1)
    return block_logz((sc.FT @ mu).reshape(sc.J, sc.m), Vb @ Vb.transpose(0, 2, 1), sc.ty.reshape(sc.J, sc.m))

def mix(S):
    S = np.array(S); tot = S.sum(1); lse = lambda A: np.logaddexp.reduce(A, axis=0)
    return lse(np.repeat(tot[:, None], S.shape[1], 1)) - lse(tot[:, None] - S)

def score(sc, th, P, how, C):
    if how == "none": return block_scores(sc, th, P, C=C)
    rs = 2.0 ** np.arange(-3, 4); ss = 2.0 ** (np.arange(-3, 4) / 4) if how == "both" else np.array([1.0])
    i, j = 3, len(ss) // 2; seen = {}
    def at(i, j):
        if (i, j) not in seen: seen[i, j] = block_scores(sc, th, P, ss[j], rs[i], C)
        return seen[i, j].sum()
    while True:
        nb = [(a, b) for a, b in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)) if 0 <= a < len(rs) and 0 <= b < len(ss)]
        up = max(nb, key=lambda k: at(*k))
        if at(*up) <= at(i, j): break
        i, j = up
    win = [(a, b) for a in (i - 1, i, i + 1) for b in (j - 1, j, j + 1) if 0 <= a < len(rs) and 0 <= b < len(ss)]
    for k in win: at(*k)
    return mix([seen[k] for k in win])

with threadpool_limits(1):
    R = {}
    for name in ("magic", "satimage", "spambase", "affairs", "digits", "ring", "german"):
        f = sorted(glob.glob(f"out/q3c_{name}_0.pkl"))[0]; spec, C, w = pickle.load(open(f, "rb"))[0]["spec"]
        (D, dy), (T, ty), _, _ = sets.draw(name, 0); b = Basis(T); yard = proto.Yard(b.map(spec), spec, C, w); sc = Scorer(yard, T, ty, seed=0); F = yard.F(D)
        for n in (60, 300):
            th, cf, _ = fit(F[:n], dy[:n], C); P = cf @ cf.T * w; Cp = C / w
            for lie, (t2, P2) in {"mean x1.25": (1.25 * th, P), "mean x1.5": (1.5 * th, P), "precision x2": (th, 2 * P)}.items():
                for how in ("none", "r", "both"):
                    d = score(sc, t2, P2, how, Cp) - score(sc, th, P, how, Cp); R.setdefault((lie, n, how), []).append((d.mean(), d.mean() / max(d.std(ddof=1) / 20 ** .5, 1e-9)))
    for k, v in R.items():
        v = np.array(v); print(k, f"mean {v[:,0].mean():+.3f} max {v[:,0].max():+.3f} shown up {np.sum((v[:,1] > 2.09) & (v[:,0] > .02))}/{len(v)}")
