"""The paper's curation study: the score is to rise when bad labels go, and to fall when rows go to match T.

Filtering: a tenth of the labels is flipped, then those rows are removed. Removal: rows are removed until
attribute × label groups stand in the test set's ratios. Both are measured over many draws, in groups of
draws with pools of their own; the spread between groups is the error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dataworth import Dataset, DataworthError, Logistic, Yardstick
from dataworth.arrays import Array, Rows
from dataworth.checks import check_attribute, check_doubling
from dataworth.evidence.forms import Form
from dataworth.measure.evaluate import Scores, evaluate
from dataworth.parallel import Engine

from .cells import Cells, Record, digest
from .draws import METHODS, GroupDraws, Setting, compact
from .features import features as make_features
from .sets import ImageSet, load_set

POOL_TRAIN, POOL_TEST = 2600, 1400
"""Images that a group of draws takes from: together few enough for one Gram matrix, and others each time."""
BOTH = ("filtering", "filtering to equal size", "removal", "removal, noisy labels", "random removal")


@dataclass(frozen=True)
class Plan:
    """What is run on one set: settings, the paper's priors and intercept, draws of a group, and groups."""

    settings: tuple[Setting, ...]
    priors: tuple[float, ...]
    intercept: bool
    repetitions: int = 1000
    groups: int = 10
    forms: int = 20
    ep: int = 5
    """Draws of each group for the paper's forms and for EP, which cost more and are there to be compared."""


def _by_size(rows: int) -> tuple[Setting, Setting]:
    """Cats and dogs of the paper: filtering against a balanced test set, removal against 1:3:3:1."""
    quarter, eighth = rows // 4, rows // 8
    even = (quarter,) * 4
    skewed = (eighth, 3 * eighth, 3 * eighth, eighth)
    filtering = Setting(even, even, ("filtering", "filtering to equal size"), target=skewed)
    return filtering, Setting(even, skewed, ("removal", "removal, noisy labels", "random removal"))


PLANS = {
    "digits": Plan((Setting((25,) * 4, (15, 45, 45, 15), BOTH),), (0.1, 1.0), False, 20, 4),
    "colored-mnist": Plan(
        (
            Setting((100,) * 4, (50, 100, 100, 50), BOTH),
            Setting((150,) * 4, (50, 150, 150, 50), BOTH),
        ),
        (10.0, 20.0, 50.0, 100.0, 200.0),
        False,
        forms=5,
        ep=0,  # 700 rows of hardly any doubt: EP takes minutes a pair, and need not converge
    ),
    "corrupted-cifar": Plan(
        (Setting((30,) * 4, (20, 60, 60, 20), BOTH), Setting((30,) * 4, (30, 60, 60, 30), BOTH)),
        (1e4, 2e4, 3e4, 5e4, 1e5),
        True,
    ),
    "stylized-catsdogs": Plan(
        tuple(setting for rows in range(80, 481, 80) for setting in _by_size(rows)),
        (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0),
        True,
        200,
        12,
        forms=2,
        ep=1,
    ),
}


@dataclass(frozen=True)
class Study:
    """Every cell of one set: a setting on a yardstick, by one form, with its groups of draws."""

    set_name: str
    records: list[Record]

    def rows(self, equal_size: bool = False) -> list[Record]:
        """One row a method and cell: means over groups, with their standard errors and spread.

        With `equal_size`, filtering is shown only where it ends at removal's size, as in the paper's summary.
        """
        made = []
        for record in self.records:
            about = {name: value for name, value in record.items() if name not in ("key", "groups")}
            for method in record["groups"][0]["methods"]:
                if equal_size and method == "filtering":
                    continue
                made.append({**about, "method": method, **over_groups(record["groups"], method)})
        return made


def over_groups(groups: list[Record], method: str) -> Record:
    """Means of a method over groups of draws; of changes their spread and standard error too."""
    means: Record = {}
    for column in groups[0]["methods"][method]:
        values = np.array([group["methods"][method][column] for group in groups])
        means[column] = float(values.mean())
        if len(values) > 1 and column.startswith("delta"):
            means[f"{column}_sd"] = float(values.std(ddof=1))
            means[f"{column}_se"] = float(values.std(ddof=1) / np.sqrt(len(values)))
    return means


def study(
    set_name: str,
    data: Path | None = None,
    out: Path | None = None,
    *,
    features: str | None = None,
    repetitions: int | None = None,
    groups: int | None = None,
    seed: int = 0,
    engine: Engine,
    progress: Callable[[int, int], None] | None = None,
) -> Study:
    """Run a set's plan; cells that `out` already holds are not computed again."""
    if set_name not in PLANS:
        raise DataworthError(f"set is {set_name!r}; known sets: {', '.join(PLANS)}.")
    plan = PLANS[set_name]
    repetitions = plan.repetitions if repetitions is None else repetitions
    groups = plan.groups if groups is None else groups
    if repetitions < 1 or groups < 2:
        raise DataworthError(
            "give one repetition or more, and two groups or more: their spread is the error."
        )
    pictures = load_set(set_name, data, seed)
    lab = Laboratory(pictures, features or pictures.features, seed)
    cells = Cells.of(out, set_name)
    jobs = list(_jobs(plan, repetitions))
    records = []
    for done, (setting, prior, inference, form, draws) in enumerate(jobs):
        key = {
            "set": set_name,
            "features": lab.features,
            "input": lab.input,
            "setting": [setting.data, setting.test, setting.methods],
            "prior": prior,
            "inference": inference,
            "form": form,
            "repetitions": draws,
            "groups": groups,
            "seed": seed,
        }
        yard = lab.yardstick(setting) if prior is None else None
        if yard is None:
            model = Logistic(prior or 1.0, inference, plan.intercept)
        else:  # EP on the same features under the same prior, so that inference alone differs
            model = Logistic(yard.model.prior_variance, inference, yard.model.intercept)
        compute = Cell(lab, setting, model, yard, Form.parse(form), draws, groups, engine)
        records.append(cells.get(key, compute))
        if progress is not None:
            progress(done + 1, len(jobs))
    return Study(set_name, records)


def _jobs(plan: Plan, repetitions: int) -> Iterator[tuple[Setting, float | None, str, str, int]]:
    """Evidence by Laplace for every prior and for our yardstick; the paper's forms on fewer draws, EP on
    still fewer, and for the yardstick and one prior only.
    """
    for setting in plan.settings:
        for prior in (None, *plan.priors):
            yield setting, prior, "laplace", "evidence", repetitions
            yield setting, prior, "laplace", "eta", min(repetitions, plan.forms)
            yield setting, prior, "laplace", "product", min(repetitions, plan.forms)
            if plan.ep and prior in (None, plan.priors[0]):
                yield setting, prior, "ep", "evidence", min(repetitions, plan.ep)


class Laboratory:
    """The images of a set, embedded, and pools of them to draw from."""

    def __init__(self, pictures: ImageSet, features: str, seed: int) -> None:
        self.pictures = pictures
        self.features = features
        self.seed = seed
        self.X = make_features(pictures, features)
        self.input = digest(*self.X, pictures.train.group, pictures.test.group)
        self._yardsticks: dict[tuple[float, ...], Yardstick] = {}

    def yardstick(self, setting: Setting) -> Yardstick:
        """Fitted to test images in the setting's ratios."""
        ratios = tuple(m / sum(setting.test) for m in setting.test)
        if ratios not in self._yardsticks:
            self._yardsticks[ratios] = Yardstick.fit(self.test_set(setting), seed=self.seed)
        return self._yardsticks[ratios]

    def test_set(self, setting: Setting) -> Dataset:
        """As many test images as there are in the setting's ratios."""
        rng = np.random.default_rng([self.seed, 0x7E5])
        group = self.pictures.test.group
        have = np.array([(group == g).sum() for g in range(4)])
        most = min(have[g] / setting.test[g] for g in range(4) if setting.test[g])
        rows = np.concatenate(
            [
                rng.permutation(np.flatnonzero(group == g))[: int(most * setting.test[g] + 1e-9)]
                for g in range(4)
            ]
        )
        part = self.pictures.test
        return Dataset(
            self.X[1][rows], part.label[rows], attributes=np.array(self.pictures.values)[part.attribute[rows]]
        )

    def pool(self, group: int) -> tuple[Rows, Rows]:
        """Train and test images that one group of draws takes from."""
        rng = np.random.default_rng([self.seed, 0x9001, group])
        train, test = len(self.pictures.train), len(self.pictures.test)
        return rng.permutation(train)[:POOL_TRAIN], rng.permutation(test)[:POOL_TEST]


@dataclass(frozen=True)
class Cell:
    """One cell: a setting measured with one model and form, over groups of draws."""

    lab: Laboratory
    setting: Setting
    model: Logistic
    yard: Yardstick | None
    form: Form
    repetitions: int
    groups: int
    engine: Engine

    def __call__(self) -> Record:
        """All groups, and what the checks say."""
        lab, setting = self.lab, self.setting
        checks = self.checks() if self.form.name == "evidence" and self.model.inference == "laplace" else {}
        return {
            "set": lab.pictures.name,
            "features": lab.features if self.yard is None else f"yardstick of {lab.features}",
            "setting": setting.name,
            "C": self.model.prior_variance,
            "yardstick": None if self.yard is None else self.yard.summary(),
            "inference": self.model.inference,
            "form": self.form.name,
            "repetitions": self.repetitions,
            "seed": lab.seed,
            **checks,
            "groups": [self.group(g) for g in range(self.groups)],
        }

    def checks(self) -> Record:
        """What the two checks say of the test set, before any data are seen."""
        held, size = self.lab.test_set(self.setting), sum(self.setting.test)
        X, y = self.measure(held.X), held.y.astype(float)
        attribute = np.asarray(held.attributes == self.lab.pictures.values[1], dtype=float)
        told = check_attribute(self.model, X, y, attribute, size=size, seed=self.lab.seed)
        some = np.random.default_rng([self.lab.seed, 0xD0]).permutation(len(y))[: 2 * size]
        probe = check_doubling(self.model, X[some], y[some], seed=self.lab.seed)
        return {
            "attribute_check": told.value,
            "attribute_check_se": told.stderr,
            "doubling_check": probe.value,
            "doubling_check_se": probe.stderr,
        }

    def measure(self, X: Array) -> Array:
        """Features as the cell's model sees them."""
        if self.yard is None:
            return X
        return self.yard.features(Dataset(X, np.arange(len(X)) % 2).select(self.yard.recipe.columns))

    def group(self, g: int) -> Record:
        """Means over the draws of one group."""
        lab = self.lab
        train, test = lab.pool(g)
        design = GroupDraws.of(
            self.setting, lab.pictures.train.group[train], lab.pictures.test.group[test], lab.seed * 1000 + g
        )
        rows, drawn = compact([design.draw(i) for i in range(self.repetitions)])
        images = np.concatenate([train, train, test])[rows]
        held = rows >= design.held
        X = np.empty((len(rows), lab.X[0].shape[1]))
        X[~held], X[held] = lab.X[0][images[~held]], lab.X[1][images[held]]
        label, held_label = lab.pictures.train.label[train], lab.pictures.test.label[test]
        y = np.concatenate([label, 1 - label, held_label])[rows].astype(float)
        fitter = self.model.bind(self.measure(X), y)
        table = evaluate(drawn, fitter, self.repetitions, self.engine, visit=Scores(self.form))
        methods = {}
        for method in self.setting.methods:
            before, after = METHODS[method]
            methods[method] = {
                "before": float(table.column("pmi", before).mean()),
                "accuracy": float(table.column("accuracy", before).mean()),
                "delta": float(table.change("pmi", after, before).mean()),
                "delta_accuracy": float(table.change("accuracy", after, before).mean()),
                "delta_gain": float(table.change("information_gain", after, before).mean()),
            }
        return {"methods": methods}
