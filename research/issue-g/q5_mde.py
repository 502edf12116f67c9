"""Question 5: what an audit with this T could see, from T alone. Known-answer probes on halves of T: wrong labels injected into one half and removed,
scored on blocks of the other; mean m(q) and spread s(q) over blocks of as many rows as the audit's. Detectable 4 times in 5 with J blocks: m(q) sqrt(J) / s(q) >= t_.975 + t_.80.
Validated against how often audits with 5, 10, 20 % wrong labels removed were shown to rise."""
import sys, time, pickle, glob
import numpy as np
from scipy.special import stdtrit, stdtr
from threadpoolctl import threadpool_limits
import sets, proto
from core import *
from audits import Scorer, RS, MID

SHARES = (0.02, 0.05, 0.1, 0.2)

def mde(yard, T, ty, J=20, size=None, reps=4, seed=0):
    """{share: (mean, sd) nats a block of len(T)/J rows}, for D as large as half of T (or `size` if smaller)."""
    rng = np.random.default_rng([seed, 51]); n = len(ty); h = n // 2; m = n // J; F = yard.F(T)
    out = {q: [] for q in SHARES}; grow = []
    for rep in range(reps):
        p = rng.permutation(n)
        for a, b in ((p[:h], p[h:]), (p[h:], p[:h])):
            d = a[: size or h]; Jb = len(b) // m; b = b[: Jb * m]
            def score(rows, y):
                th, cf, _ = fit(F[rows], y, yard.C); V = halves(cf, F[b]); Vb = V.T.reshape(Jb, m, -1)
                return block_logz((F[b] @ th).reshape(Jb, m), Vb @ Vb.transpose(0, 2, 1) / yard.w, ty[b].reshape(Jb, m))
            order = rng.permutation(len(d)); base = None
            for q in SHARES:
                k = max(1, round(q * len(d))); bad = order[:k]; y = ty[d].copy(); y[bad] = 1 - y[bad]; keep = order[k:]
                out[q].append(score(d[keep], ty[d[keep]]) - score(d, y))
            whole = score(d, ty[d]); grow.append(whole - score(d[: len(d) // 2], ty[d[: len(d) // 2]]))
    stat = lambda L: (float(np.mean(L)), float(np.sqrt(np.mean([x.var(ddof=1) for x in L]))))
    return {q: stat(v) for q, v in out.items()}, stat(grow)

def seen(table, J=20):
    """Smallest share seen 4 times in 5, and the rise there, by interpolating t(q) in log q."""
    need = stdtrit(J - 1, .975) + stdtrit(J - 1, .80)
    q = np.array(list(table)); t = np.array([m / s * np.sqrt(J) for m, s in table.values()]); m = np.array([v[0] for v in table.values()])
    if t.max() < need: return None, None
    i = int(np.argmax(t >= need))
    if i == 0: return q[0], m[0]
    f = (need - t[i - 1]) / (t[i] - t[i - 1]); return float(np.exp(np.log(q[i - 1]) + f * np.log(q[i] / q[i - 1]))), float(m[i - 1] + f * (m[i] - m[i - 1]))

if __name__ == "__main__":
    names = {"settling": sets.SETTLING, "reporting": sets.REPORTING}[sys.argv[1]]; pairs = []
    with threadpool_limits(1):
        for n in names:
            for f in sorted(glob.glob(f"out/q3c_{n}_*.pkl")):
                split = int(f.split("_")[-1][:-4]); recs = pickle.load(open(f, "rb"))
                (D, dy), (T, ty), _, _ = sets.draw(n, split); c = time.process_time()
                spec, C, w = recs[0]["spec"]; b = Basis(T); yard = proto.Yard(b.map(spec), spec, C, w)
                tab, grow = mde(yard, T, ty, seed=split); cpu = time.process_time() - c
                q, rise = seen(tab); text = "nothing up to 20 %" if q is None else f"{q:.1%} of labels, a rise of {rise:.2f} nats a block"
                for r in recs:
                    if r["change"].startswith(("remove", "correct")):
                        d = r["arms"]["after"]["score"] - r["arms"]["before"]["score"]; t = d.mean() / (d.std(ddof=1) / np.sqrt(len(d)))
                        share = float(r["change"].split()[1].strip("%")) / 100; m_, s_ = tab[share]
                        power = 1 - stdtr(19, stdtrit(19, .975) - m_ / s_ * np.sqrt(20)); pairs.append((power, t > stdtrit(19, .975)))
                print(f"{n:12} {split} sees {text}; t at 2/5/10/20 %: {[round(m/s*np.sqrt(20),1) for m,s in tab.values()]} cpu {cpu:.2f}", flush=True)
    P = np.array(pairs, float)
    for lo, hi in ((0, .3), (.3, .6), (.6, .85), (.85, .97), (.97, 1.01)):
        s = (P[:, 0] >= lo) & (P[:, 0] < hi)
        if s.any(): print(f"predicted power {lo}-{hi}: n {s.sum()}, mean predicted {P[s,0].mean():.2f}, shown {P[s,1].mean():.2f}")
