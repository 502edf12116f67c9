"""Question 1, rules: which selection from held-out likelihood on T gives the best likelihood of fresh rows given D?"""
import sys, glob, ast
import numpy as np, sets
from q1_grid import CS, WS
which = {"settling": sets.SETTLING, "reporting": sets.REPORTING}[sys.argv[1]]
W1 = list(WS).index(1.0)
TAG = sys.argv[2]; ARGS = sys.argv[3:]

def fam(spec):
    return ("" if spec[0] == "pca" else "rbf-") + spec[1]

def complexity(spec, c):
    return 0

def pick(cv, specs, sizes, families, ws, ladder, rule, today):
    """index (i, c, w)"""
    ok = np.array([fam(s) in families for s in specs])
    wi = [list(WS).index(w) for w in ws]
    L = cv[:, :, wi]                                   # cand, C, w, size, rows
    if ladder == "half": R = L[..., -1, :]
    elif ladder == "all": R = np.nanmean(L, axis=3) if False else L.mean(3)
    elif ladder == "top2": R = L[..., 1:, :].mean(3)
    elif ladder == "extrap": R = L[..., -1, :] + 0.58 * (L[..., -1, :] - L[..., -2, :])
    elif ladder == "half-extrap": R = L[..., -1, :] + 0.29 * (L[..., -1, :] - L[..., -2, :])
    M = R.mean(-1); M[~ok] = np.nan
    best = np.unravel_index(np.nanargmax(M), M.shape)
    if rule == "best":
        return best[0], best[1], wi[best[2]]
    # default: the best of the default family (today's kind: 'each' pca, w=1); leave it only if shown better by z s.e.
    z = float(rule.split("se")[0])
    d_ok = np.array([fam(s) == "each" for s in specs]); M0 = R.mean(-1).copy(); M0[~d_ok] = np.nan
    keepw = [k for k, w in enumerate(ws) if w == 1]; mask = np.ones(len(ws), bool); mask[keepw] = False; M0[:, :, mask] = np.nan
    d = np.unravel_index(np.nanargmax(M0), M0.shape)
    diff = R[best] - R[d]
    se = diff.std(ddof=1) / np.sqrt(len(diff))
    ch = best if diff.mean() > z * se else d
    return ch[0], ch[1], wi[ch[2]]

RULES = {}
FAMS = {"lin each": ("each",), "+common": ("each", "common"), "+rank": ("each", "common", "rank"), "+rbf": ("each", "common", "rbf-each", "rbf-common"), "all": ("each", "common", "rank", "rbf-each", "rbf-common", "rbf-rank"), "rbf only": ("rbf-each", "rbf-common", "rbf-rank"), "rbf each,rank": ("rbf-each", "rbf-rank"), "all rank": ("rank", "rbf-rank"), "no each": ("common", "rank", "rbf-common", "rbf-rank")}
for fname, fams in FAMS.items():
    for ws in ((1.0,), (1.0, 2.0, 4.0, 8.0), (4.0,), (0.5, 1.0, 2.0, 4.0, 8.0)):
        for lad in ("half", "top2", "all", "extrap", "half-extrap"):
            for rule in ("best", "1se") if fname == "all" and 1.0 in ws else ("best",):
                RULES[(fname, "w" + "/".join(f"{w:g}" for w in ws), lad, rule)] = (fams, ws, lad, rule)

def main():
    rows = {}
    names = []
    for n in which:
        for path in sorted(glob.glob(f"out/{TAG}_{n}_*.npz")):
            z = np.load(path); specs = [ast.literal_eval(s) for s in z["specs"]]; cv, truth = z["cv"].astype(float), z["truth"]
            names.append((n, float(z["null"]), z["base"], float(z["boost"])))
            hind = [np.nanmax(truth[..., k]) for k in range(truth.shape[-1])]
            rows.setdefault("hindsight", []).append(np.array(hind) - z["base"])
            for key, r in RULES.items():
                i, c, w = pick(cv, specs, z["sizes"], *r, None)
                rows.setdefault(key, []).append(truth[i, c, w] - z["base"])
    ns = np.array([n[0] for n in names])
    print("sets", list(dict.fromkeys(ns)))
    print("gain over today's, nats a fresh row, D=40 / 120 / 300: mean over sets, worst set mean, sets with >= .02 and with <= -.005 at 300")
    for key, v in rows.items():
        v = np.array(v); per = np.array([v[ns == n].mean(0) for n in dict.fromkeys(ns)])
        print(f"{str(key):60} mean {per.mean(0).round(4)}  worst {per.min(0).round(4)}  >=.02: {(per[:,2]>=.02).sum()}  <=-.005: {(per[:,2]<=-.005).sum()} at40 {(per[:,0]<=-.005).sum()}")
    if ARGS:
        for key in [k for k in rows if k != "hindsight" and all(a in str(k) for a in ARGS)] + ["hindsight"]:
            v = np.array(rows[key]); print(key)
            for n in dict.fromkeys(ns):
                b = [x for x in names if x[0] == n]
                print(f"   {n:14} null {b[0][1]:.3f} today {np.mean([x[2][-1] for x in b]):.3f} boost {np.mean([x[3] for x in b]):.3f}  gain {v[ns==n].mean(0).round(4)}  splits at 300: {v[ns==n][:,2].round(3)}")
main()
