"""Question 1, the answer: the searched yardstick against today's, mean log-likelihood of fresh rows given D (nats a row) at D = 40, 120, 300:
(a) plain, at the yardstick's own w; today's at w = 1; paired standard error over fresh rows."""
import sys, time, json
import numpy as np, dataworth as dw
from threadpoolctl import threadpool_limits
import sets, proto
from core import *

def run(name, split):
    (D, dy), (T, ty), (U, uy), _ = sets.draw(name, split, most_truth=3000)
    c = time.process_time(); old = dw.Yardstick.fit(dw.Dataset(T, ty)); c1 = time.process_time(); new = proto.search(T, ty, seed=split); c2 = time.process_time()
    fo = lambda X: ones(old.features(dw.Dataset(X, np.zeros(len(X)))))
    Fo, Uo, Fn, Un = fo(D), fo(U), new.F(D), new.F(U); row = {"set": name, "split": split, "old_cpu": c1 - c, "new_cpu": c2 - c1, "spec": str(new.spec), "C": float(new.C), "w": float(new.w), "probe": old.chosen.probe, "gain": {}, "old": {}}
    for n in (40, 120, len(D)):
        m, v, _, _ = gauss_at(Fo[:n], dy[:n], old.model.prior_variance, Uo); a = row_logp(m, v, uy)[0]
        m, v, _, _ = gauss_at(Fn[:n], dy[:n], new.C, Un); b = row_logp(m, v, uy, (new.w,))[0]
        row["gain"][n] = [float((b - a).mean()), float((b - a).std() / np.sqrt(len(a)))]; row["old"][n] = float(a.mean())
    s = " ".join(f"{n}: {row['old'][n]:.3f} {g:+.4f}±{e:.4f}" for n, (g, e) in row["gain"].items())
    print(f"{name:14} {split} | {s} | {row['spec']} C={row['C']:.3g} w={row['w']:g} | cpu {row['old_cpu']:.1f} -> {row['new_cpu']:.1f}", flush=True)
    return row

if __name__ == "__main__":
    names = {"settling": sets.SETTLING, "reporting": sets.REPORTING}[sys.argv[1]]; rows = []
    with threadpool_limits(1):
        for s in map(int, sys.argv[2].split(",")):
            rows += [run(n, s) for n in names]
    json.dump(rows, open(f"out/q1_report_{sys.argv[1]}.json", "w"))
    big = 0; below = 0
    for n in names:
        r = [x for x in rows if x["set"] == n]; ks = list(r[0]["gain"])
        g = [(np.mean([x["gain"][k][0] for x in r]), np.sqrt(np.sum([x["gain"][k][1] ** 2 for x in r])) / len(r)) for k in ks]
        big += g[-1][0] >= .02; below += g[-1][0] < -2 * g[-1][1]
        print(f"MEAN {n:14} " + "  ".join(f"{k}: {a:+.4f}±{b:.4f}" for k, (a, b) in zip(ks, g)))
    print(f"sets {len(names)}: gain >= .02 at D=300 in {big}; below beyond 2 s.e. in {below}")
