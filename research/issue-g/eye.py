"""Does the signal-to-noise of known-answer probes on T predict the t-value of real audits, across near-best maps?"""
import sys, time, numpy as np
from threadpoolctl import threadpool_limits
import sets, proto
from core import *
from audits import Scorer, lr_fit_loss
from changes import noisy
from q5_mde import mde
with threadpool_limits(1):
    P=[]
    for name in (sets.SETTLING if len(sys.argv)<2 else sys.argv[1].split(",")):
        (D, dy), (T, ty), (U, uy), _ = sets.draw(name, 0, most_truth=2000); c=time.process_time()
        yard = proto.search(T, ty, seed=0); L=[]
        lr=[]
        for s in range(3):
            y2,bad=noisy(dy,.1,np.random.default_rng([s,1])); keep=np.setdiff1d(np.arange(len(dy)),bad)
            d=lr_fit_loss(D[keep],y2[keep],T,ty)-lr_fit_loss(D,y2,T,ty); lr.append(d.mean()/(d.std()/len(d)**.5))
        print(name, f"LR t {np.mean(lr):.1f}")
        for yd, loss, se in yard.near:
            tab, grow = mde(yd, T, ty, seed=0, reps=2); pred = np.mean([m/s*20**.5 for q,(m,s) in tab.items() if q>=.05])
            sc = Scorer(yd, T, ty, U, uy, seed=0); ts=[]; F=yd.F(D)
            for s in range(3):
                y2,bad=noisy(dy,.1,np.random.default_rng([s,1])); keep=np.setdiff1d(np.arange(len(dy)),bad)
                d=sc.arm(F[keep],y2[keep])["score"]-sc.arm(F,y2)["score"]; ts.append(d.mean()/(d.std(ddof=1)/20**.5))
            a=sc.arm(F,dy)
            L.append((pred,np.mean(ts))); print(f"   {str(yd.spec):34} C={yd.C:7.3g} w={yd.w:g} held loss {loss:.4f}±{se:.4f} truth {a['u'].mean():.4f} probe t {pred:.1f} audit t {np.mean(ts):.1f}  grow t {grow[0]/grow[1]*20**.5:.1f}",flush=True)
        L=np.array(L); P.append((L[0,1],L[np.argmax(L[:,0]),1],L[:,1].max()))
    print("audit t: first / sharpest by probe / best in hindsight", np.mean(P,axis=0), "cpu", time.process_time())
