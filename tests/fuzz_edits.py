"""Edits of every kind, made at random in small tables, to be audited: one `Case` is pure in (seed, i).

A case makes one kind of edit, and up to three others, in the data after curation, and at times in those
before. Whatever comes out is audited in Python, with options at random, or by the command line.
"""

import json
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

import dataworth as dw
from fuzz_outcome import Case

N, TESTED = 48, 60
KINDS = ("two classes", "three classes", "numbers", "mixed", "grouped", "one column")


@cache
def world(kind: str):
    """Data, a test set and its yardstick, as frames with the label, ids and groups as columns."""
    rng = np.random.default_rng([KINDS.index(kind), 0xED1])
    X = rng.normal(size=(N + TESTED, 1 if kind == "one column" else 4)).round(3)
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    score = X[:, 0] - X[:, -1] / 2 + 0.5 * rng.normal(size=len(X))
    table["label"] = score.round(3) if kind == "numbers" else np.where(score > 0, "yes", "no")
    if kind == "three classes":
        table["label"] = np.digitize(score, [-0.5, 0.5])
    if kind == "mixed":
        table["city"] = np.where(rng.random(len(X)) < 0.2, None, rng.choice(["Ulm", "Bonn", "Köln"], len(X)))
        table.loc[rng.random(len(X)) < 0.1, "x1"] = np.nan
    table["id"] = [f"r{i}" for i in range(len(X))]
    table["group"] = np.arange(len(X)) // (3 if kind == "grouped" else 1)
    data, test = table[:N], table[N:].reset_index(drop=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return data, test, dw.Yardstick.fit(dataset(test, False, kind == "grouped"), prior_variance=1.0)


def dataset(table: pd.DataFrame, ids: bool, groups: bool) -> dw.Dataset:
    """As `dw.read` makes it; weights are a column, too, if there are any."""
    roles = {"label": "label"} | ({"id": "id"} if ids and "id" in table else {})
    roles |= {"group": "group"} if groups and "group" in table else {}
    roles |= {"weights": "weight"} if "weight" in table else {}
    unused = ",".join(name for name in ("id", "group") if name in table and name not in roles.values())
    return dw.read(table, impute=True, exclude=unused or None, **roles)


def columns(table):
    return [name for name in table if name[0] == "x" and table[name].dtype.kind in "fi"]


def some(table, rng):
    part = rng.choice([0.05, 0.2, 0.5, 1.0])
    return rng.permutation(len(table))[: max(1, round(part * len(table)))] if len(table) else np.zeros(0, int)


def relabelled(table, rng):
    rows = some(table, rng)
    labels = table["label"].to_numpy(copy=True)
    labels[rows] = rng.permutation(labels)[: len(rows)]
    return table.assign(label=labels)


def strange_label(table, rng):
    labels = table["label"].astype(object).to_numpy(copy=True)
    labels[some(table, rng)] = rng.choice(["maybe", "YES ", "1", "-3.5", "1e300"])
    return table.assign(label=labels)


def weighted(table, rng):
    kinds = [np.ones, np.zeros, lambda n: rng.random(n), lambda n: 10.0 ** rng.uniform(-12, 12, n)]
    kinds += [lambda n: (np.arange(n) == 0) * 1.0, lambda n: rng.integers(0, 3, n) * 1.0]
    return table.assign(weight=kinds[rng.integers(len(kinds))](len(table)))


def rescaled(table, rng):
    names = columns(table)
    factor = rng.choice([2.54, -1.0, 0.0, 1e-9, 1e9, 1e200, 1e-200, 1.0 + 1e-7])
    chosen = names if rng.random() < 0.6 else names[:1]
    rows = np.zeros(len(table), bool)
    rows[some(table, rng)] = True
    made = {
        one: np.where(rows, table[one] * factor + rng.choice([0.0, 1.0, 1e6]), table[one]) for one in chosen
    }
    return table.assign(**made)


def shaken(table, rng):
    size = rng.choice([1e-12, 1e-5, 0.1, 10.0])
    names = columns(table)
    return table.assign(**{name: table[name] + size * rng.normal(size=len(table)) for name in names})


def permuted(table, rng):
    """Cells of a column, or of all of them, among the rows."""
    names = columns(table)[: 1 if rng.random() < 0.5 else None]
    return table.assign(**{name: table[name].to_numpy()[rng.permutation(len(table))] for name in names})


def missing(table, rng):
    table = table.copy()
    for name in columns(table)[: rng.integers(1, 5)]:
        values = table[name].to_numpy(dtype=float, copy=True)
        values[some(table, rng)] = np.nan
        table[name] = values
    return table


def categories(table, rng):
    name = "city" if "city" in table else columns(table)[-1] if columns(table) else "x0"
    cells = (
        table[name].astype(object).to_numpy(copy=True) if name in table else np.full(len(table), "a", object)
    )
    cells[some(table, rng)] = rng.choice(["Rom", "", "ulm", "7"])
    return table.assign(**{name: cells})


def named_anew(table, rng):
    ids = [
        lambda n: [f"n{i}" for i in range(n)],
        lambda n: table["id"].to_numpy()[rng.permutation(n)] if "id" in table else np.arange(n),
        lambda n: ["same"] * n, lambda n: np.arange(n), lambda n: np.arange(n) // 2,
    ]  # fmt: skip
    return table.assign(id=ids[rng.integers(len(ids))](len(table)))


def added(table, rng):
    """Rows of other values, or such as stand in the test set."""
    more = table.iloc[rng.integers(0, max(len(table), 1), 30 if len(table) else 0)]
    more = shaken(more, rng)
    return pd.concat([table, more.assign(id=[f"a{i}" for i in range(len(more))]) if "id" in more else more])


def replaced(table, rng):
    made = shaken(relabelled(table, rng), rng)
    return made.assign(id=[f"b{i}" for i in range(len(made))])


def other_columns(table, rng):
    names = columns(table)
    if not names:
        return table
    ways = [lambda: table.drop(columns=names[0]), lambda: table.rename(columns={names[0]: "other"})]
    ways += [lambda: table.assign(extra=rng.normal(size=len(table))), lambda: table[table.columns[::-1]]]
    return ways[rng.integers(len(ways))]()


def curved(table, rng):
    curve = [np.exp, np.cbrt, np.floor, np.sign, lambda x: x.rank(), lambda x: x.clip(-1, 1)][rng.integers(6)]
    return table.assign(**{name: curve(table[name]) for name in columns(table)})


def constant(table, rng):
    names = columns(table)[: 1 if rng.random() < 0.5 else None]
    return table.assign(**dict.fromkeys(names, rng.choice([0.0, 7.0, -1e30])))


def grouped_anew(table, rng):
    groups = [np.zeros, np.arange, lambda n: rng.integers(0, 3, n)][rng.integers(3)]
    return table.assign(group=groups(len(table)))


MADE = {
    "dropped": lambda t, rng: t.drop(t.index[some(t, rng)]),
    "almost emptied": lambda t, rng: t.iloc[: rng.integers(0, 4)],
    "duplicated": lambda t, rng: pd.concat([t, *[t.iloc[some(t, rng)]] * int(rng.integers(1, 4))]),
    "shuffled": lambda t, rng: t.iloc[rng.permutation(len(t))],
    "relabelled": relabelled,
    "one class": lambda t, rng: t.assign(label=t["label"].iloc[0]) if len(t) else t,
    "class gone": lambda t, rng: t[t["label"] != t["label"].iloc[0]] if len(t) else t,
    "strange label": strange_label, "weighted": weighted, "rescaled": rescaled, "curved": curved,
    "shaken": shaken, "permuted": permuted, "missing": missing, "constant": constant,
    "categories": categories, "named anew": named_anew, "grouped anew": grouped_anew, "added": added,
    "replaced": replaced,
    "leaked": lambda t, rng: pd.concat([t, world("two classes")[1].iloc[: rng.integers(1, 6)]], join="inner"),
    "other columns": other_columns,
    "text numbers": lambda t, rng: t.assign(**{name: t[name].astype(str) for name in columns(t)[:1]}),
    "left alone": lambda t, rng: t,
}  # fmt: skip
EDITS, MAKERS = tuple(MADE.values()), [(edit, name) for name, edit in MADE.items()]


def case(seed: int, i: int, seeds: Path, folder: Path) -> Case:
    """The i-th case; its tables are put into `folder` if the command line reads them."""
    rng = np.random.default_rng([seed, i, 0xED17])
    edit, name = MAKERS[i % len(MAKERS)]
    kind = KINDS[rng.integers(len(KINDS))]
    before, test, yard = world(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if rng.random() < 0.25:
            before = EDITS[rng.integers(len(EDITS))](before, rng).reset_index(drop=True)
        after = edit(before, rng)
        for _ in range(rng.integers(0, 4)):
            after = EDITS[rng.integers(len(EDITS))](after.reset_index(drop=True), rng)
    roles = {"ids": bool(rng.random() < 0.6), "groups": kind == "grouped" or bool(rng.random() < 0.1)}
    options = options_of(rng)
    if rng.random() < 0.3:
        for part, table in (("before", before), ("after", after), ("test", test)):
            table.to_csv(folder / f"{part}.csv", index=False)
        return Case(name, words_of(roles, options, after))
    return Case(name, [kind, str(options)], lambda: audited(before, after, test, yard, roles, options))


def options_of(rng: np.random.Generator) -> dict:
    options: dict = {"ignore": "all"} if rng.random() < 0.6 else {}
    if rng.random() < 0.25:
        options |= {
            "design": str(rng.choice(["matched", "proportional", "equal-size"])),
            "pairs": 12,
            "size": int(rng.integers(3, 13)),
        }
    if rng.random() < 0.15:
        options["slices"] = "auto"
    if rng.random() < 0.1:
        options["metric"] = str(rng.choice(["auc", "balanced_accuracy", "log_loss"]))
    if rng.random() < 0.1:
        options["winsorise"] = 1.0
    return options


def words_of(roles: dict, options: dict, after: pd.DataFrame) -> list[str]:
    words = [
        "audit", "before.csv", "after.csv", "--test", "test.csv", "--label", "label", "--prior-variance", "1",
    ]  # fmt: skip
    words += ["--impute", "--json"] + (["--id", "id"] if roles["ids"] else ["--exclude", "id"])
    words += ["--group", "group"] if roles["groups"] else []
    words += ["--weights", "weight"] if "weight" in after else []
    for name, value in options.items():
        words += [f"--{'slice' if name == 'slices' else name}", str(value)]
    return words


def audited(before, after, test, yard, roles: dict, options: dict) -> None:
    given = [dataset(part, **roles) for part in (before, after)]
    tested = dataset(test, False, roles["groups"])
    found = dw.audit(*given, tested, yardstick=yard, **options)
    json.dumps(found.to_dict())
    found.text(verbose=True)
