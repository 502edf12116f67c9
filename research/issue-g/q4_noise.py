"""Question 4: a likelihood that knows of wrong labels, eps + (1 - 2 eps) sigma(f), for D's rows. Fisher scoring; eps and the tempering r chosen on T (mixture over both
from the other blocks). Fresh-row log-likelihood of noisy D, and what blind cleaning, removal and correction still gain."""
import sys, time, numpy as np
from threadpoolctl import threadpool_limits
from scipy.special import stdtrit
import sets, proto
from core import *
from audits import Scorer, RS, MID, Models, conf
from changes import noisy

EPS = (0.0, 0.05, 0.1, 0.2)

def fit_eps(X, y, C, eps, start=None, most=60):
    if eps == 0: return fit(X, y, C, None, start)[:2]
    n, d = X.shape; th = np.zeros(d) if start is None else start.copy()
    def obj(f, th):
        p = eps + (1 - 2 * eps) * expit(f); return np.where(y > 0, np.log(p), np.log1p(-p)).sum() - .5 * th @ th / C
    f = X @ th; o = obj(f, th)
    for _ in range(most):
        s = expit(f); p = eps + (1 - 2 * eps) * s; dp = (1 - 2 * eps) * s * (1 - s)
        g = X.T @ ((y - p) / (p * (1 - p)) * dp) - th / C
        W = dp * dp / (p * (1 - p)); H = (X * W[:, None]).T @ X; H.flat[:: d + 1] += 1 / C; cf = np.linalg.cholesky(H)
        st = cho_solve((cf, True), g, check_finite=False); dec = g @ st
        if dec < 1e-5: break
        t = 1.0; Xs = X @ st
        while t > 1e-3:
            o2 = obj(f + t * Xs, th + t * st)
            if o2 >= o: break
            t *= .5
        th = th + t * st; f = f + t * Xs
        if o2 - o < 1e-7: break
        o = o2
    return th, cf

class EpsScorer(Scorer):
    def both(self, F, y):
        yd = self.y; out = {}
        for e in EPS:
            th = None
            for r in (0.5, 1.0, 2.0):
                th, cf = fit_eps(F, y, yd.C * r, e, th)
                V = halves(cf, self.FT); Vb = V.T.reshape(self.J, self.m, -1)
                S = block_logz((self.FT @ th).reshape(self.J, self.m), Vb @ Vb.transpose(0, 2, 1) / (r * yd.w), self.ty.reshape(self.J, self.m))
                VU = halves(cf, self.FU); out[e, r] = (S, row_logp(self.FU @ th, (VU * VU).sum(0), self.uy, (r * yd.w,))[0].mean())
        def mix(keys):
            S = np.array([out[k][0] for k in keys]); tot = S.sum(1); lse = lambda A: np.logaddexp.reduce(A, axis=0)
            best = keys[int(np.argmax(tot))]
            return lse(np.repeat(tot[:, None], self.J, 1)) - lse(tot[:, None] - S), out[best][1], best
        return mix([k for k in out if k[0] == 0]), mix(list(out))

if __name__ == "__main__":
    tt = lambda d: d.mean() / (d.std(ddof=1) / len(d) ** .5); rows = []
    with threadpool_limits(1):
        for name in sets.SETTLING:
            (D, dy), (T, ty), (U, uy), _ = sets.draw(name, 0, most_truth=1500); yard = proto.search(T, ty, seed=0); sc = EpsScorer(yard, T, ty, U, uy, seed=0); F = yard.F(D); c = time.process_time()
            clean = sc.both(F, dy); y2, bad = noisy(dy, .2, np.random.default_rng(8)); keep = np.setdiff1d(np.arange(len(dy)), bad)
            nz = sc.both(F, y2); rem = sc.both(F[keep], y2[keep]); M = Models(yard, D, y2); o = np.argsort(conf(M.p["mean"], y2)); k2 = np.setdiff1d(np.arange(len(dy)), o[: len(bad)]); bl = sc.both(F[k2], y2[k2])
            row = []
            for i in (0, 1):
                row += [clean[i][1], nz[i][1], bl[i][1] - nz[i][1], rem[i][1] - nz[i][1], rem[i][1] - max(bl[i][1], nz[i][1]), tt(rem[i][0] - nz[i][0]), tt(rem[i][0] - bl[i][0])]
            rows.append(row)
            print(f"{name:10} plain: clean {row[0]:.3f} noisy {row[1]:.3f} blind gain {row[2]:+.3f} true gain {row[3]:+.3f} part {row[4]:+.3f} t {row[5]:.1f} part t {row[6]:.1f} | noise-aware: clean {row[7]:.3f} noisy {row[8]:.3f} (eps {nz[1][2][0]}; clean eps {clean[1][2][0]}) blind {row[9]:+.3f} true {row[10]:+.3f} part {row[11]:+.3f} t {row[12]:.1f} part t {row[13]:.1f} cpu {time.process_time()-c:.1f}", flush=True)
    print("mean", np.mean(rows, axis=0).round(3))
