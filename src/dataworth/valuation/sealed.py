"""Sealed scoring: a vendor sends N(μ, P⁻¹), the posterior of the yardstick's coefficients, and no rows.

The buyer takes it as the prior of every row of the test set (`measure.tempered`), as they would take the
posterior of the rows themselves: exact for numbers, EP for two classes.

What can be checked without the rows is. For n rows of total weight w, and d coefficients:

    P ⪰ I/C                                        a likelihood that is log-concave only ever adds
    rank(P − I/C) ≤ n                              each row adds one direction
    P_dd − 1/C ≤ w/4    (numeric labels: = w/s²)   the intercept's feature is 1; no row has a site above ¼
    ‖μ‖ ≤ √C (√(2 w log 2) + √min(n, d))           two classes: how far the mode, and the mean from it, can be
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..data.dataset import Dataset, label_keys
from ..data.keys import commit, opens
from ..data.labels import Classes
from ..data.sealed import SUFFIX, Contents, is_sealed, read_sealed, write_sealed
from ..errors import DataworthError
from ..evidence.tempering import repeats
from ..inference.gaussian import divergence_from_prior
from ..measure import (
    DATA,
    Arm,
    ArmPosterior,
    Case,
    Options,
    PairTable,
    Plan,
    Pool,
    Sample,
    check_datasets,
    measure,
    weights_of,
    whole_plan,
)
from ..measure.prepare import prepare
from ..models import GaussianPrior, Linear, Logistic
from ..models.gaussian import distinct_rows
from ..parallel.threads import one_thread
from ..wording import counted, option
from ..yardstick.yardstick import Yardstick

SLACK = 1e-11
"""Share of the largest eigenvalue by which rounding may move the others."""
LARGEST = 1e13
"""Precision in units of the prior's, and squared mean in units of its variance, that can be computed with."""
UNLIKELY = 1e-3
"""Probability under the yardstick's model from which a claim is doubted."""


@dataclass(frozen=True, eq=False)
class Sealed:
    """A dataset as its posterior on a yardstick; `seal` makes one, `load` reads one.

    `key` opens the commitment to the rows; it stays with who sealed them and is never written. `weight` is
    that of all rows, where each distinct one counts once.
    """

    has_rows: ClassVar[bool] = False
    mean: Array = field(repr=False)
    precision: Array = field(repr=False)
    yardstick: str
    rows: int
    weight: float
    counts: dict[str, int] | None
    version: str
    commitment: str
    key: str | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return self.rows

    @classmethod
    def load(cls, path: str | Path) -> Sealed:
        """Read a file, which may be hostile: it is checked before anything is done with it."""
        mean, precision, facts = read_sealed(path)
        return cls(mean, precision, **facts)

    def save(self, path: str | Path) -> None:
        """Write as safetensors, without the key."""
        if not is_sealed(Path(path)):
            raise DataworthError(f"{path}: sealed data are written as {SUFFIX}: give such a name.")
        write_sealed(path, Contents(self.mean, self.precision, self.facts()))

    def facts(self) -> dict[str, Any]:
        """What a file says beside its arrays."""
        names = ("yardstick", "rows", "weight", "counts", "version", "commitment")
        return {name: getattr(self, name) for name in names}

    def content_hash(self) -> str:
        """SHA-256 of all content but the key."""
        digest = hashlib.sha256(repr(self.facts()).encode())
        digest.update(self.mean.astype("<f8").tobytes() + self.precision.astype("<f8").tobytes())
        return digest.hexdigest()

    def is_of(self, data: Dataset, key: str) -> bool:
        """Whether these are the rows that were sealed, in this order; the key is the vendor's."""
        return opens(data.content_hash(), self.commitment, key)


def seal(data: Dataset, yardstick: Yardstick, *, key: str | None = None) -> Sealed:
    """The posterior of a dataset on a yardstick, to be sent instead of its rows.

    `key` (16 characters or more; by default random) hides the commitment to the rows (`data.keys.commit`)
    from a reader who would guess them.

    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> data = Dataset(X, (X[:, 0] > 0).astype(int))
    >>> yard = Yardstick.fit(data.take(range(30)))
    >>> sealed = seal(data.take(range(30, 60)), yard)
    >>> sealed.rows, sealed.counts, len(sealed.mean) == yard.recipe.width + 1
    (30, {'0': 13, '1': 17}, True)
    """
    if not isinstance(yardstick, Yardstick):
        raise DataworthError(
            f"yardstick is a {type(yardstick).__name__}; give a Yardstick: dw.Yardstick.load(path) reads one."
        )
    made = commit(data, key)
    return replace(seal_with(data, yardstick), commitment=made.hash, key=made.key)


def seal_with(data: Dataset, yardstick: Yardstick) -> Sealed:
    """The posterior alone, without a commitment."""
    check_datasets({"the data": data})
    model = sealing_model(yardstick)
    X, y = yardstick.features(data), yardstick.targets(data)
    weights = weights_of(Sample(np.arange(len(data)), data.weights))
    weights = weights / repeats(distinct_rows(X)[1], y, weights)
    with one_thread():  # the last bits depend on the number of threads
        posterior: Any = model.fit(X, y, weights)
        mean, precision = np.asarray(posterior.mean, dtype=float), posterior.precision
    counts, keys = None, label_keys(data.y)
    if isinstance(yardstick.labels, Classes):
        counts = {name: int((keys == name).sum()) for name in yardstick.labels.names}
    return Sealed(
        mean,
        0.5 * (precision + precision.T),
        yardstick.digest,
        rows=len(data),
        weight=float(weights.sum()),
        counts=counts,
        version=version("dataworth"),
        commitment="",
    )


def sealing_model(yardstick: Yardstick) -> Logistic | Linear:
    """The yardstick's model, if its posterior is one Gaussian, which can be sealed."""
    model = yardstick.model
    if isinstance(model, Logistic):
        return model
    if isinstance(model, Linear) and isinstance(model.noise_variance, int | float):
        return model
    raise DataworthError(
        f"the yardstick's model is {model!r}, whose posterior cannot be sealed: "
        "use two classes, or numeric labels with a known noise_variance."
    )


def check_sealed(sealed: Sealed, yardstick: Yardstick, name: str) -> Array:
    """Refuse what no dataset's posterior can be; return the eigenvalues of C·P, ascending."""
    model = sealing_model(yardstick)
    if sealed.yardstick != yardstick.digest:
        raise DataworthError(
            f"{name} was sealed on the yardstick {sealed.yardstick[:12]}, this is {yardstick.digest[:12]}: "
            f"give the one that was sent to its vendor, with {option('yardstick')}."
        )
    d = yardstick.recipe.width + int(model.intercept)
    if sealed.mean.shape != (d,) or sealed.precision.shape != (d, d):
        raise DataworthError(
            f"{name} has {len(sealed.mean)} coefficients, but its yardstick has {d}: ask for a file made by "
            "'dataworth seal'."
        )
    names = yardstick.labels.names if isinstance(yardstick.labels, Classes) else None
    if (None if sealed.counts is None else {*sealed.counts}) != (None if names is None else {*names}):
        raise impossible(name, "its classes are not those of its yardstick")
    C, rows = model.prior_variance, counted(sealed.rows, "row")
    with np.errstate(all="ignore"):
        square = float(sealed.mean @ sealed.mean) / C
        size = C * float(np.abs(sealed.precision).max())
    if not (square <= LARGEST and size <= LARGEST):
        raise impossible(name, "its numbers are larger than can be computed with")
    with one_thread():
        spectrum = np.asarray(np.linalg.eigvalsh(C * sealed.precision), dtype=float)
    slack = SLACK * max(1.0, float(spectrum[-1]))
    if spectrum[0] < 1.0 - slack or spectrum[0] <= 0.0:
        raise impossible(name, "it knows less than the prior, and data can only add")
    if sealed.rows < d and spectrum[d - sealed.rows - 1] > 1.0 + slack:
        raise impossible(name, f"its precision has more directions than its {rows}")
    if model.intercept:  # its feature is known to be 1, so that its precision follows from the rows' weight
        added = C * float(sealed.precision[-1, -1]) - 1.0
        heaviest = C * sealed.weight * most_precision(model)
        rounding = slack + 1e-6 * heaviest
        if added > heaviest + rounding or (isinstance(model, Linear) and added < heaviest - rounding):
            raise impossible(name, f"its intercept is not as precise as {rows} make it")
    most = np.sqrt(2.0 * sealed.weight * np.log(2.0)) + np.sqrt(min(sealed.rows, d))
    if isinstance(model, Logistic) and square > most**2:
        raise impossible(name, f"its mean is farther from 0 than {rows} can move it")
    return spectrum


def impossible(name: str, why: str) -> DataworthError:
    """The sentence that refuses such a file."""
    return DataworthError(
        f"{name} cannot be the posterior of a dataset ({why}): ask for a file made by 'dataworth seal'."
    )


def doubts(sealed: Sealed, yardstick: Yardstick, spectrum: Array, test: Array, name: str) -> list[str]:
    """What is possible but not to be expected, as notes.

    n labels of two classes hold n log 2 nats: under the yardstick's own model a posterior gains more than
    that plus log 1/δ with probability δ at most. Rows like the test set's add at most ¼ max‖x‖² each.
    """
    model = sealing_model(yardstick)
    notes = []
    labels = sealed.weight * np.log(2.0)
    gain = divergence_from_prior(spectrum, sealed.mean, model.prior_variance)
    if isinstance(model, Logistic) and gain > labels - np.log(UNLIKELY):
        notes.append(
            f"{name} claims {gain:.0f} nats of information, its {counted(sealed.rows, 'label')} hold "
            f"{labels:.0f}: doubt it"
        )
    largest = float((test * test).sum(axis=1).max()) + float(model.intercept)
    added = float(spectrum.sum() - len(spectrum)) / model.prior_variance
    if added > most_precision(model) * largest * sealed.weight * (1.0 + 1e-6) + SLACK * float(spectrum[-1]):
        notes.append(
            f"{name} claims more precision than {counted(sealed.rows, 'row')} like the test set's give: "
            "its rows lie far out, or it is forged"
        )
    return notes


def most_precision(model: Logistic | Linear) -> float:
    """What a row adds to the precision along itself: classes at most a quarter, numeric labels 1/s²."""
    if isinstance(model, Logistic):
        return 0.25
    noise: Any = model.noise_variance
    return 1.0 / float(noise)


def refuse_unsealable(form: str, design: str = "whole") -> None:
    """Sealed data have no rows to draw from, and one form of the score."""
    if form not in ("evidence", "sealed"):
        raise DataworthError(f"form is {form!r}, but sealed data have only the form sealed: drop the option.")
    if design != "whole":
        raise DataworthError(
            f"the design {design} draws rows, which sealed data do not have: use the design whole."
        )


def measure_sealed(
    what: str,
    candidates: Mapping[str, Dataset | Sealed],
    test: Dataset,
    options: Options,
    conclude: Callable[[Plan, PairTable], str | None] = lambda plan, table: None,
) -> Case:
    """All candidates on the blocks of the design *whole*, open ones sealed first: like with like."""
    if options.own_model is not None:
        raise DataworthError("sealed data are posteriors of the yardstick's model: drop model=.")
    opened = {name: c for name, c in candidates.items() if not isinstance(c, Sealed)}
    check_datasets(opened)
    prepared = prepare(what, opened, test, options)
    yardstick, model = prepared.yardstick, sealing_model(prepared.yardstick)
    pool = Pool.build(yardstick, {"test": prepared.test}, model)
    own, doubted = {}, []
    for name, candidate in candidates.items():
        given = prepared.data.get(name, candidate)
        one = given if isinstance(given, Sealed) else seal_with(given, yardstick)
        spectrum = check_sealed(one, yardstick, name)
        gain = divergence_from_prior(spectrum, one.mean, model.prior_variance)
        arm = DATA if what == "score" else Arm("candidate", name)
        own[arm] = partial(sealed_arm, pool, model, one, name, gain)
        if isinstance(given, Sealed):
            doubted += doubts(one, yardstick, spectrum, pool.X, name)
    plan = whole_plan(prepared, dict.fromkeys(own, Sample(np.arange(0))), pool.samples["test"])
    evidence = replace(prepared, options=replace(options, form="evidence"))
    identity = {name: c.content_hash() for name, c in candidates.items()} if options.run_dir else {}
    table = measure(evidence, pool, plan, own, identity)
    closed = tuple(name for name in candidates if name not in opened)
    # what checks look at: rows of the test set and of open data
    seen = Pool.build(yardstick, {**{f"{n!r}": d for n, d in prepared.data.items()}, "test": prepared.test})
    arms = {Arm("candidate", name): seen.samples[f"{name!r}"] for name in opened}
    plan = whole_plan(prepared, arms, seen.samples["test"])
    told = replace(prepared, options=replace(options, form="sealed"), sealed=closed)
    also = "; open data were sealed first, to compare like with like" if opened else ""
    notes = (
        *doubted,
        f"scored by Gaussian posteriors, not by rows{also}; intervals cover the sampling of the test set",
        f"whether test rows stand in the sealed data ({', '.join(closed)}) cannot be checked",
    )
    return Case.of(told, seen, plan, notes, table=table, arms=tuple(own), conclude=conclude)


def sealed_arm(pool: Pool, model: Logistic | Linear, one: Sealed, name: str, gain: float) -> ArmPosterior:
    """A sealed posterior as it stands in the file, or a refusal of the file.

    Its rows were counted as those of open data are, so that sealing them changes nothing.
    """
    own = GaussianPrior(one.mean, one.precision)
    with warnings.catch_warnings(action="error", category=RuntimeWarning):
        try:
            fitter: Any = model.bind(pool.X, pool.y, own)
            fit = fitter(np.zeros(0, dtype=np.intp))
        except (RuntimeWarning, ArithmeticError, np.linalg.LinAlgError):
            raise impossible(name, "its score cannot be computed") from None
    if not np.isfinite(fitter.offset).all():
        raise impossible(name, "its score is not a number")
    return ArmPosterior(fitter, fit, one.rows, gain, (own,))
