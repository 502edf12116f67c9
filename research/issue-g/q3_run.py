"""Question 2+3, raw material: every change of changes.py on every set: block scores of before, after and all blind controls, tempered by
cross-fitting and fixed; the truth on fresh rows; judges. Saves out/q3_<set>_<split>.pkl; verdict rules are compared by q3_rules.py."""
import sys, time, pickle
import numpy as np
from threadpoolctl import threadpool_limits
import sets, proto
from audits import *
from changes import all_changes

def run(name, split, which, tag, n_data=300, most_truth=2000):
    (D, dy), (T, ty), (U, uy), (Xs, ys) = sets.draw(name, split, n_data=n_data, most_truth=most_truth)
    c0 = time.process_time()
    yard = proto.search(T, ty, seed=split); c1 = time.process_time()
    sc = Scorer(yard, T, ty, U, uy, seed=split)
    rng = np.random.default_rng([split, 41]); cache = {}; recs = []
    for cname, kind, truth, before, after, changed in all_changes(D, dy, Xs, ys, rng, which):
        c2 = time.process_time()
        key = (before[0].tobytes(), before[1].tobytes())
        if key not in cache:
            cache = {k: v for k, v in list(cache.items())[-2:]}
            M = Models(yard, *before)
            jl = lr_fit_loss(*before, np.vstack([T, U]), np.r_[ty, uy]); jb = boost_loss(*before, np.vstack([T, U]), np.r_[ty, uy])
            cache[key] = (M, sc.arm(M.F, before[1]), jl, jb)
        M, B, jl, jb = cache[key]
        arms = {"before": B, "after": sc.arm(yard.F(after[0]), after[1], after[2])}
        for k, (X, y, w) in controls(kind, M, before, after, changed, rng).items():
            arms[k] = sc.arm(yard.F(X), y, w)
        rise = arms["after"]["score"] - B["score"]
        if kind == "remove":
            for r in range(6):
                keep = np.sort(rng.permutation(len(before[1]))[: len(after[1])])
                arms[f"random {r}"] = sc.arm(M.F[keep], before[1][keep])
        c3 = time.process_time()
        al = lr_fit_loss(after[0], after[1], np.vstack([T, U]), np.r_[ty, uy], after[2]); ab = boost_loss(after[0], after[1], np.vstack([T, U]), np.r_[ty, uy], after[2])
        nT = len(ty); dl = al - jl; db = ab - jb
        recs.append({"set": name, "split": split, "change": cname, "kind": kind, "truth": truth, "cpu": c3 - c2,
            "arms": {k: {"score": a["score"], "loo": a["loo"], "fixed": a["fixed"], "r": a["r"], "acc": a["acc"].mean(), "u": a["u"].mean(), "uf": a["ufixed"].mean()} for k, a in arms.items()},
            "u_delta_se": float((arms["after"]["u"] - B["u"]).std() / np.sqrt(len(uy))),
            "lr_t": ttest(dl[:nT]), "lr_u": ttest(dl[nT:]), "boost_u": ttest(db[nT:]), "boost_t": ttest(db[:nT]), "m": sc.m, "spec": (yard.spec, yard.C, yard.w)})
    pickle.dump(recs, open(f"out/{tag}_{name}_{split}.pkl", "wb"))
    print(f"{name} {split}: yard {yard.spec} C={yard.C:.3g} w={yard.w} search {c1-c0:.1f}s cpu, {len(recs)} audits, {time.process_time()-c1:.0f}s cpu", flush=True)

if __name__ == "__main__":
    names = {"settling": sets.SETTLING, "reporting": sets.REPORTING}.get(sys.argv[1], sys.argv[1].split(","))
    tag = sys.argv[3] if len(sys.argv) > 3 else "q3"
    with threadpool_limits(1):
        for split in map(int, sys.argv[2].split(",")):
            for n in names:
                try: run(n, split, ("true", "blind", "blind noisy"), tag)
                except Exception as e:
                    import traceback; traceback.print_exc()
