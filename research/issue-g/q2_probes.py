"""Question 2: null probes at D = 40, 120, 300, 1000: does doubling, rescaling, sharpening or self-labelling gain anything, scored at the
yardstick's own w (fixed) or at each arm's own tempering chosen on other blocks (cross-fitted)? And what do true changes keep of their t?
Variants of cross-fitting: leave one block out over 7 / 5 / 3 values of r; two halves of the blocks."""
import sys, time, pickle
import numpy as np
from threadpoolctl import threadpool_limits
import sets, proto
from audits import *
from changes import lr_proba, noisy

def crossfit(S, idx, folds=None):
    """S (R, J); idx the tempering values allowed; folds None = leave one out, else number of folds."""
    J = S.shape[1]; fold = np.arange(J) if folds is None else np.arange(J) % folds
    out = np.empty(J); S = S[idx]
    for f in np.unique(fold):
        o = fold == f; out[o] = S[np.argmax(np.where(np.isfinite(S), S, -1e9)[:, ~o].sum(1))][o]
    return out

def full(sc, F, y, w=None):
    S = np.empty((len(RS), sc.J)); th = None
    for i, r in enumerate(RS): S[i], _, _, th = sc.at(F, y, r, w, th, truth=False)
    return S

def run(name, split, out):
    X, Y = sets.load(name)
    p = np.random.default_rng([split, 77]).permutation(len(Y)); b = p[300:700]; rest = np.setdiff1d(p, b, assume_unique=True); rest = np.random.default_rng(split).permutation(rest)
    T, ty = X[b], Y[b]; yard = proto.search(T, ty, seed=split); sc = Scorer(yard, T, ty, seed=split)
    for n in (40, 120, 300, 1000):
        if n > len(rest) * 0.7: continue
        D, dy = X[rest[:n]], Y[rest[:n]]; Xs = X[rest[n: n + n // 2]]
        if dy.min() == dy.max(): continue
        F = yard.F(D); base = full(sc, F, dy); mu = D.mean(0)
        fam = {"double": (F, dy, np.full(n, 2.0)), "x4": (F, dy, np.full(n, 4.0)),
               "rescale 0.8": (yard.F(mu + 0.8 * (D - mu)), dy, None), "rescale 1.25": (yard.F(mu + 1.25 * (D - mu)), dy, None)}
        lab = (lr_proba(D, dy, Xs) > 0.5).astype(float); fam["self-label"] = (np.vstack([F, yard.F(Xs)]), np.r_[dy, lab], None)
        mean, _, _, _ = gauss_at(F, dy, yard.C, F)
        sure = np.argsort(-np.abs(mean))[: n // 2]; w = np.ones(n); w[sure] = 2; fam["sharpen (sure rows x2)"] = (F, dy, w)
        cm = np.vstack([D[dy == 0].mean(0), D[dy == 1].mean(0)])[dy.astype(int)]; fam["shrink-edit 0.2"] = (yard.F(D + 0.2 * (cm - D)), dy, None)
        for k, v in fam.items():
            out.append((name, split, n, k, base, full(sc, *v)))
        y2, bad = noisy(dy, 0.1, np.random.default_rng([split, 9])); keep = np.setdiff1d(np.arange(n), bad)
        nb = full(sc, F, y2); out.append((name, split, n, "TRUE remove 10%", nb, full(sc, F[keep], y2[keep]))); out.append((name, split, n, "TRUE correct 10%", nb, base))
        out.append((name, split, n, "TRUE half to whole", full(sc, F[: n // 2], dy[: n // 2]), base))
    print(name, split, time.process_time(), flush=True)

def bma(S, idx, window=None):
    """log p(T_j | the other blocks' verdict on r): mixture over r with posterior weights from the other blocks."""
    S = np.where(np.isfinite(S), S, -1e9)[idx]; tot = S.sum(1)
    if window is not None:
        b = int(np.argmax(tot)); S = S[max(0, b - window): b + window + 1]; tot = S.sum(1)
    lse = lambda A: np.logaddexp.reduce(A, axis=0)
    return lse(np.repeat(tot[:, None], S.shape[1], 1)) - lse(tot[:, None] - S)

VARIANTS = {"fixed": None, "loo 7": (slice(0, 7), None), "loo 5": (slice(1, 6), None), "loo 3": (slice(2, 5), None), "4 folds 5": (slice(1, 6), 4), "bma 7": ("bma", slice(0, 7), None), "bma win 1": ("bma", slice(0, 7), 1), "bma 3": ("bma", slice(2, 5), None)}

def summary(out):
    from scipy.special import stdtrit
    q = stdtrit(19, .975)
    sc = {}
    for name, split, n, k, A, B in out:
        for v, how in VARIANTS.items():
            d = (B[MID] - A[MID]) if how is None else (bma(B, *how[1:]) - bma(A, *how[1:]) if how[0] == "bma" else crossfit(B, *how) - crossfit(A, *how))
            se = d.std(ddof=1) / np.sqrt(len(d))
            sc.setdefault((k, n, v), []).append((d.mean(), d.mean() / se if se > 1e-9 else 0.0))
    print(f"{'probe':26}{'D':>5} " + " ".join(f"{v:>24}" for v in VARIANTS) + "   (mean nats a block, shown up / of, mean t)")
    for (k, n) in dict.fromkeys((k, n) for k, n, _ in sc):
        print(f"{k:26}{n:5} " + " ".join(f"{np.mean([m for m,_ in sc[k,n,v]]):+8.3f} {sum(t > q for _, t in sc[k,n,v]):3}/{len(sc[k,n,v]):<3} t{np.mean([t for _, t in sc[k,n,v]]):+5.1f}" for v in VARIANTS))

if __name__ == "__main__":
    which = {"settling": ["magic", "phoneme", "satimage", "spambase", "affairs", "digits", "cifar", "ring", "titanic"], "reporting": ["letter", "penbased", "texture", "banana", "marketing", "mnist10", "catsdogs", "twonorm", "chess"]}.get(sys.argv[1])
    out = []
    with threadpool_limits(1):
        for s in map(int, sys.argv[2].split(",")):
            for n in which: run(n, s, out)
    pickle.dump(out, open(f"out/q2_{sys.argv[1]}.pkl", "wb")); summary(out)
