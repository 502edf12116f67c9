"""Question 1, raw material: for each candidate map x C x w, held-out log-likelihood of rows of T at a ladder of sizes, and of fresh
rows given D of 40, 120, 300 rows. Saves out/q1_<set>_<split>.npz; rules are compared offline by q1_rules.py."""
import sys, time
import numpy as np, dataworth as dw
from threadpoolctl import threadpool_limits
from core import *; import sets

CS = 10.0 ** np.arange(-1, 3.6, 0.5)          # prior variance of f (features have E|phi|^2 = 1)
WS = np.array([0.25, 0.5, 1, 2, 4, 8])         # w: variance Sigma(C')/w; C' = w*C indexes the fits
SPLITS = 4

TAG = 'q1b'
def specs(b, n):
    out = []
    for s in ("each", "common", "rank"):
        r = b.rank(s); ks = sorted({min(k, r) for k in (3, 10, 40, 160)})
        for k in ks:
            for a in ((0.0, 0.5, 1.0) if k <= 40 else (0.5, 1.0)):
                out.append(("pca", s, k, a))
        for bw in (0.35, 0.7, 1.4):
            out.append(("rbf", s, bw, min(150, n // 2), 0))
        out.append(("lin+rbf", s, 0.7, min(100, n // 2), 0))
    return out

def ladder(n, rng):
    """[(train rows, test rows)] by size."""
    out = {}
    for _ in range(SPLITS):
        p = rng.permutation(n); h = n // 2
        for a, b in ((p[:h], p[h:]), (p[h:], p[:h])):
            for size in (h, h // 2, h // 4):
                out.setdefault(size, []).append((a[:size], b))
    return out

def run(name, split):
    (D, dy), (T, ty), (U, uy), _ = sets.draw(name, split, most_truth=2500)
    t0 = time.time()
    b = Basis(T); sp = specs(b, len(T)); lad = ladder(len(T), np.random.default_rng([split, 5]))
    sizes = sorted(lad); dn = [40, 120, len(D)]
    cv = np.full((len(sp), len(CS), len(WS), len(sizes), len(T)), np.nan, np.float32)
    truth = np.full((len(sp), len(CS), len(WS), len(dn)), np.nan)
    for i, s in enumerate(sp):
        m = b.map(s); FT, FD, FU = ones(m(T)), ones(m(D)), ones(m(U))
        # climb from C=10 outwards until the best (w=1.. any) at the largest size has fallen twice
        def at(c):
            for si, size in enumerate(sizes):
                acc = np.zeros((len(WS), len(T))); cnt = np.zeros(len(T))
                for a, o in lad[size]:
                    mean, var, _, _ = gauss_at(FT[a], ty[a], CS[c], FT[o])
                    acc[:, o] += row_logp(mean, var, ty[o], WS); cnt[o] += 1
                cv[i, c, :, si] = acc / cnt
            for di, n in enumerate(dn):
                mean, var, _, _ = gauss_at(FD[:n], dy[:n], CS[c], FU)
                truth[i, c, :, di] = row_logp(mean, var, uy, WS).mean(1)
            return cv[i, c, :, -1].mean(1).max()
        best, c0 = -np.inf, 4
        vals = {c0: at(c0)}
        for step in (1, -1):
            c, falls = c0 + step, 0
            while 0 <= c < len(CS) and falls < 2:
                vals[c] = at(c); falls = falls + 1 if vals[c] < max(vals.values()) - 1e-9 else 0; c += step
    secs = time.time() - t0
    # today's
    t0 = time.time(); y = dw.Yardstick.fit(dw.Dataset(T, ty)); ysec = time.time() - t0
    f = lambda X: ones(y.features(dw.Dataset(X, np.zeros(len(X)))))
    FD, FU = f(D), f(U); C = y.model.prior_variance
    base, base_rows = [], None
    for n in dn:
        mean, var, _, _ = gauss_at(FD[:n], dy[:n], C, FU); r = row_logp(mean, var, uy)[0]; base.append(r.mean())
    from sklearn.ensemble import HistGradientBoostingClassifier
    pb = np.clip(HistGradientBoostingClassifier(max_iter=60, learning_rate=0.07, early_stopping=False).fit(D, dy).predict_proba(U)[:, 1], 1e-4, 1 - 1e-4)
    boost = np.mean(np.where(uy > 0, np.log(pb), np.log(1 - pb)))
    np.savez_compressed(f"out/{TAG}_{name}_{split}.npz", cv=cv, truth=truth, specs=np.array([repr(s) for s in sp]), sizes=sizes, dn=dn, base=base, base_str=str(y), boost=boost, y=ty, null=np.mean(np.where(uy > 0, np.log(dy.mean()), np.log(1 - dy.mean()))))
    best = np.unravel_index(np.nanargmax(truth[..., -1]), truth[..., -1].shape)
    print(f"{name} {split}: {secs:.0f}s, yard {ysec:.1f}s; null {np.mean(np.where(uy>0,np.log(dy.mean()),np.log(1-dy.mean()))):.3f} today {base[-1]:.4f} best in hindsight {truth[...,-1][best]:.4f} {sp[best[0]]} C={CS[best[1]]:.3g} w={WS[best[2]]} boosting {boost:.4f} | {str(y)[:60]}", flush=True)

if __name__ == "__main__":
    which = {"settling": sets.SETTLING, "reporting": sets.REPORTING}.get(sys.argv[1], [sys.argv[1]])
    with threadpool_limits(1):
        for split in map(int, sys.argv[2].split(",")):
            for n in which:
                run(n, split)
