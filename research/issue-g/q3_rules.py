"""Verdicts from the raw numbers of q3_run.py, and the bars. python q3_rules.py settling|reporting [tag] [options]"""
import sys, glob, pickle, collections
import numpy as np
from scipy.special import stdtrit, stdtr
import sets

def est(d):
    n = len(d); m = d.mean(); se = d.std(ddof=1) / np.sqrt(n)
    return m, se, n - 1

def verdict(r, how="score", level=0.975, iut=True, small=0.5, margin=0.0, small_level=0.975, negligible=0.02):
    A = r["arms"]; q = stdtrit(19, level)
    b, a = A["before"][how], A["after"][how]
    m, se, df = est(a - b)
    ctl = [k for k in A if k not in ("before", "after") and not k.startswith("random")]
    if abs(m) < negligible or se == 0: return "inconclusive", m, se, None
    if m - q * se > 0:
        parts = {k: est(a - A[k][how]) for k in ctl + ["before"]}
        best = min(parts, key=lambda k: parts[k][0])          # the strongest control
        pm, pse, _ = parts[best]
        if iut: shown = all(p[0] - q * p[1] > 0 and p[1] > 0 for p in parts.values())
        else: shown = pm - q * pse > 0 and pse > 0
        rnd = [k for k in A if k.startswith("random")]
        if rnd:
            C = np.array([A[k][how] for k in rnd]); g = est(a - C.mean(0))
            shown = shown and g[0] - q * np.sqrt(g[1] ** 2 + C.mean(1).var(ddof=1) * (1 + 1 / len(rnd))) > 0
        if shown and pm > max(margin * m, negligible): return "informative", m, se, pm
        qs = stdtrit(19, small_level)
        if pm + qs * pse < small * m or pse == 0: return "recycled", m, se, pm
        return "improved", m, se, pm
    if m + q * se < 0:
        rnd = [k for k in A if k.startswith("random")] or []
        if not rnd:   # no removal: the random control is `before` itself
            q99 = stdtrit(19, 0.995)
            return ("harmful" if m + q99 * se < 0 else "costly"), m, se, None
        C = np.array([A[k][how] for k in rnd]); d = a - C.mean(0); pm, pse, _ = est(d)
        tot = np.sqrt(pse**2 + C.mean(1).var(ddof=1) * (1 + 1 / len(rnd)))
        dd = pm / tot
        return ("harmful" if dd < -stdtrit(19, 0.995) else "strategic" if dd > stdtrit(19, .995) and A["after"]["acc"] >= A["before"]["acc"] else "costly"), m, se, pm
    return "inconclusive", m, se, None

def true_part(r, key="u"):
    """rise and outsider's part on fresh rows, nats a row"""
    A = r["arms"]
    ctl = [k for k in A if k not in ("after",) and not k.startswith("random")]
    rise = A["after"][key] - A["before"][key]
    return rise, A["after"][key] - max(A[k][key] for k in ctl)

def load(which, tag):
    out = []
    for n in which:
        for f in sorted(glob.glob(f"out/{tag}_{n}_*.pkl")): out += pickle.load(open(f, "rb"))
    return out

RISE = ("informative", "improved", "recycled")

def report(recs, **opt):
    V = [verdict(r, **opt) for r in recs]
    T = [true_part(r, "uf" if opt.get("how") == "fixed" else "u") for r in recs]
    names = list(dict.fromkeys(r["change"] for r in recs))
    print(f"{'change':22} {'n':>3} | inform improv recycl inconc costly harmfl strat | mean Δ/row T  true Δ/row (med) boost Δ  | LR t-test shown")
    for c in names:
        I = [i for i, r in enumerate(recs) if r["change"] == c]
        cnt = collections.Counter(V[i][0] for i in I)
        lr = np.mean([recs[i]["lr_t"][0] > 1.966 * recs[i]["lr_t"][1] for i in I])
        print(f"{c:22} {len(I):3} | " + " ".join(f"{cnt[v]:6}" for v in ("informative", "improved", "recycled", "inconclusive", "costly", "harmful", "strategic")) +
              f" | {np.mean([V[i][1]/recs[i]['m'] for i in I]):+.4f} {np.mean([T[i][0] for i in I]):+.4f} ({np.median([T[i][0] for i in I]):+.4f}) part {np.mean([T[i][1] for i in I]):+.4f} {np.mean([recs[i]['boost_u'][0] for i in I]):+.4f} | {lr:.2f}")
    g = lambda t: [i for i, r in enumerate(recs) if r["truth"] == t]
    bl, bn, tr = g("blind"), g("blind noisy"), g("true")
    inf = lambda I: sum(V[i][0] == "informative" for i in I)
    print(f"blind clean informative {inf(bl)}/{len(bl)};  blind noisy informative {inf(bn)}/{len(bn)}; rise shown blind clean {sum(V[i][0] in RISE for i in bl)}")
    sh = lambda pat: (sum(V[i][0] in RISE for i in tr if recs[i]["change"] in pat), sum(recs[i]["change"] in pat for i in tr))
    print("rise shown: 10% removed/corrected", sh(("remove 10%", "correct 10%")), "5%", sh(("remove 5%", "correct 5%")), "20%", sh(("remove 20%", "correct 20%")))
    rc = [i for i in tr if recs[i]["change"] == "repair cells" and recs[i]["boost_u"][0] > 2 * recs[i]["boost_u"][1]]
    print("cells repaired where boosting gains:", sum(V[i][0] in RISE for i in rc), len(rc), " harmful true:", sum(V[i][0] == "harmful" for i in tr), len(tr))
    for lo, hi in ((.005, .02), (.02, .05), (.05, .1), (.1, 9)):
        for what in ("new", "remove", "correct", "repair"):
            I = [i for i in tr if recs[i]["change"].startswith(what) and lo <= recs[i]["lr_u"][0] < hi]
            if I: print(f"   {what:8} LR effect {lo}-{hi}: n {len(I)} rise shown {np.mean([V[i][0] in RISE for i in I]):.2f} informative {np.mean([V[i][0]=='informative' for i in I]):.2f} t-test LR {np.mean([recs[i]['lr_t'][0] > 1.966*recs[i]['lr_t'][1] for i in I]):.2f}")
    allI = range(len(recs))
    neg = [i for i in allI if T[i][1] <= 0]; pos = [i for i in allI if T[i][1] >= .02]
    print(f"outsider's part <= 0: informative {inf(neg)}/{len(neg)}; >= .02: informative {inf(pos)}/{len(pos)} = {inf(pos)/max(len(pos),1):.2f};  >=.02 and true: {inf([i for i in pos if recs[i]['truth']=='true'])}/{len([i for i in pos if recs[i]['truth']=='true'])}")
    rec = [i for i in allI if V[i][0] == "recycled"]; ok = [i for i in rec if T[i][1] < 0.25 * T[i][0]]
    print(f"recycled right (true part < 1/4 of true rise): {len(ok)}/{len(rec)}; recycled among true changes {sum(recs[i]['truth']=='true' for i in rec)}")
    I = [i for i in allI if V[i][0] == "informative"]
    w = [i for i in I if recs[i]["boost_u"][0] < -2 * recs[i]["boost_u"][1]]; w0 = [i for i in I if recs[i]["boost_u"][0] < 0]; l = [i for i in I if recs[i]["lr_u"][0] < -2 * recs[i]["lr_u"][1]]
    print(f"informative {len(I)}: boosting worse beyond 2se {len(w)}, worse at all {len(w0)}; LR worse beyond 2se {len(l)}")
    c = [i for i in allI]; z = np.array([(V[i][1] / recs[i]["m"] - T[i][0]) / np.hypot(max(V[i][2], 1e-9) / recs[i]["m"], recs[i]["u_delta_se"]) for i in c if V[i][2] > 1e-6])
    print(f"coverage of the 95% interval of the rise (truth's error allowed): {np.mean(np.abs(z) < stdtrit(19,.975)):.3f}, mean z {z.mean():+.2f}, mean cpu/audit {np.mean([r['cpu'] for r in recs]):.2f}s")
    return V, T

if __name__ == "__main__":
    which = {"settling": sets.SETTLING, "reporting": sets.REPORTING}[sys.argv[1]]
    tag = sys.argv[2] if len(sys.argv) > 2 else "q3"
    recs = load(which, tag)
    opt = dict(a.split("=") for a in sys.argv[3:])
    conv = {k: (v if k == "how" else (v == "True" if v in ("True", "False") else float(v))) for k, v in opt.items()}
    print(len(recs), "audits", opt, "sets", list(dict.fromkeys(r["set"] for r in recs)))
    V, T = report(recs, **conv)
