"""The prototype scores a block under D's Gaussian posterior (sealed form, Laplace). Does the joint evidence log Z(D^w u T_j) - log Z(D^w) of the package agree? Time of both, and EP of the block."""
import time, sys, numpy as np, dataworth as dw
from threadpoolctl import threadpool_limits
import sets, proto
from core import *
from audits import Scorer
from changes import noisy
with threadpool_limits(1):
    for name in ("magic", "satimage", "spambase", "affairs"):
        for n in (40, 300):
            (D, dy), (T, ty), (U, uy), _ = sets.draw(name, 0, most_truth=100); D, dy = D[:n], dy[:n]
            yard = proto.search(T, ty, seed=0, sharpen=False); sc = Scorer(yard, T, ty, seed=0); F = yard.F(D)
            y2, bad = noisy(dy, .1, np.random.default_rng(1)); keep = np.setdiff1d(np.arange(n), bad); J, m = sc.J, sc.m
            c = time.process_time(); a = sc.at(F[keep], y2[keep], 1.0)[0] - sc.at(F, y2, 1.0)[0]; c1 = time.process_time()
            pool = np.vstack([F, sc.FT]); lab = np.r_[y2, sc.ty]; model = dw.Logistic(yard.C / yard.w, intercept=False); ft = model.bind(pool, lab)
            def joint(rows):
                d0 = ft(rows, weights=np.full(len(rows), yard.w))
                return np.array([ft(np.r_[rows, n + m * j + np.arange(m)], (d0,), weights=np.r_[np.full(len(rows), yard.w), np.ones(m)]).log_z - d0.log_z for j in range(J)])
            j2 = joint(keep); j1 = joint(np.arange(n)); c2 = time.process_time(); b = j2 - j1
            def ep(rows, y):
                th, cf, _ = fit(F[rows], y, yard.C); V = halves(cf, sc.FT); Vb = V.T.reshape(J, m, -1); return block_ep((sc.FT @ th).reshape(J, m), Vb @ Vb.transpose(0, 2, 1) / yard.w, sc.ty.reshape(J, m))
            e = ep(keep, y2[keep]) - ep(np.arange(n), y2); c3 = time.process_time()
            t = lambda d: d.mean() / (d.std(ddof=1) / J ** .5)
            print(f"{name:9} D={n:3} {yard.spec} w={yard.w:g}: Δ/t  prior form {a.mean():+.3f} t {t(a):.2f} ({c1-c:.2f}s) | joint Laplace {b.mean():+.3f} t {t(b):.2f} ({c2-c1:.2f}s) | prior form, block by EP {e.mean():+.3f} t {t(e):.2f} ({c3-c2:.2f}s); block corr {np.corrcoef(a,b)[0,1]:.4f}; level before: joint {j1.mean():.3f}", flush=True)
