"""Sealed scoring: a vendor sends N(μ, P⁻¹), the posterior of the yardstick's coefficients, and no rows.

The buyer takes it as the prior of each block Tⱼ of the test set,

    value = mean over j of  log Z(Tⱼ) under N(μ, P⁻¹)  −  log Z(Tⱼ) under the yardstick's prior N(0, C·I),

which is log p(Tⱼ|D) − log p(Tⱼ) where N(μ, P⁻¹) is D's posterior: exact for amounts, by EP for two classes.

What can be checked without the rows is. For n rows of total weight w, and d coefficients:

    P ⪰ I/C                                        a likelihood that is log-concave only ever adds
    rank(P − I/C) ≤ n                              each row adds one direction
    P_dd − 1/C ≤ w/4    (amounts: = w/s²)          the intercept's feature is 1; no row has a site above ¼
    ‖μ‖ ≤ √C (√(2 w log 2) + √min(n, d))           two classes: how far the mode, and the mean from it, can be
"""

from __future__ import annotations

import hashlib
import secrets
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from .case import Case
from .checks import CHECKS, Finding, check_codes
from .checks.base import Check, not_run
from .data import Dataset, label_keys
from .engines import get_engine
from .errors import DataworthError
from .evaluate import PairTable
from .intervals import over_blocks
from .io.sealed import SUFFIX, Contents, is_sealed, read_sealed, write_sealed
from .leaks import drop_leaks
from .models import Fit, Fitter, GaussianPrior, Linear, Logistic
from .models.base import Array
from .pairs import Sample, Whole
from .plan import Options, block_count
from .pool import Pool, check_datasets, one_class_note
from .runs import Run, map_resumable
from .targets import Classes
from .wording import counted
from .yardstick import Yardstick

SLACK = 1e-11
"""Share of the largest eigenvalue by which rounding may move the others."""
LARGEST = 1e13
"""Precision in units of the prior's, and squared mean in units of its variance, that can be computed with."""
UNLIKELY = 1e-3
"""Probability under the yardstick's model from which a claim is doubted."""
WITHOUT_DATA = ("doubling", "prior-edge", "chance", "attribute")
"""Checks that look at test rows and at what came out, or say themselves why they do not."""
OPEN_DATA = ("duplicates", "leaks", "classes", "shift")
"""Checks that look at the rows of one dataset after the other."""
WHY_NOT = {
    **dict.fromkeys(OPEN_DATA, "sealed data have no rows to look at"),
    "forms": "sealed data have one form of the score",
    "converged": "a sealed file does not say how its posterior was found",
}


@dataclass(frozen=True, eq=False)
class Sealed:
    """A dataset as its posterior on a yardstick; `seal` makes one, `load` reads one.

    `key` opens the commitment to the rows; it stays with who sealed them and is never written.
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
        write_sealed(path, self.contents())

    def contents(self) -> Contents:
        """What is written: all but the key."""
        return Contents(self.mean, self.precision, self.facts())

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
        return secrets.compare_digest(self.commitment, commit(data, key))


def seal(data: Dataset, yardstick: Yardstick, *, key: str | None = None) -> Sealed:
    """The posterior of a dataset on a yardstick, to be sent instead of its rows.

    `key` (none: a random one) hides the commitment to the rows from who would guess them.

    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> data = Dataset(X, (X[:, 0] > 0).astype(int))
    >>> yard = Yardstick.fit(data.take(range(30)))
    >>> sealed = seal(data.take(range(30, 60)), yard)
    >>> sealed.rows, sealed.counts, len(sealed.mean) == yard.recipe.projection.shape[1] + 1
    (30, {'0': 13, '1': 17}, True)
    """
    if not isinstance(yardstick, Yardstick):
        raise DataworthError(
            f"yardstick is a {type(yardstick).__name__}; give a Yardstick: dw.Yardstick.load(path) reads one."
        )
    return _seal(data, yardstick, yardstick.digest, secrets.token_hex(16) if key is None else key)


def _seal(data: Dataset, yardstick: Yardstick, digest: str, key: str) -> Sealed:
    check_datasets({"the data": data})
    model = sealing_model(yardstick)
    X, y = yardstick.features(data), yardstick.targets(data)
    with threadpool_limits(1):  # the last bits depend on the number of threads
        posterior: Any = model.fit(X, y, data.weights)
        mean, precision = posterior.mean, posterior.precision
    return Sealed(
        np.asarray(mean, dtype=float),
        0.5 * (precision + precision.T),
        digest,
        len(data),
        float(len(data) if data.weights is None else data.weights.sum()),
        class_counts(yardstick, data),
        version("dataworth"),
        commit(data, key),
        key,
    )


def sealing_model(yardstick: Yardstick) -> Logistic | Linear:
    """The yardstick's model, with the posterior that is sealed: EP's for classes, the exact for amounts."""
    model = yardstick.model
    if isinstance(model, Logistic):
        return replace(model, inference="ep")
    if isinstance(model, Linear) and isinstance(model.noise_variance, int | float):
        return model
    raise DataworthError(
        f"the yardstick's model is {model!r}, whose posterior cannot be sealed: "
        "use two classes, or amounts with a known noise_variance."
    )


def most_precision(model: Logistic | Linear) -> float:
    """What a row adds to the precision along itself: at most a quarter for classes, 1/s² for amounts."""
    if isinstance(model, Logistic):
        return 0.25
    noise: Any = model.noise_variance
    return 1.0 / float(noise)


def commit(data: Dataset, key: str) -> str:
    """A hash of the rows that says nothing without the key.

    >>> data = Dataset([[1.0]], [1])
    >>> commit(data, "a") == commit(data, "a"), commit(data, "a") == commit(data, "b")
    (True, False)
    """
    return hashlib.sha256(f"{key} {data.content_hash()}".encode()).hexdigest()


def class_counts(yardstick: Yardstick, data: Dataset) -> dict[str, int] | None:
    """Rows of each of the yardstick's classes; amounts have none."""
    if not isinstance(yardstick.labels, Classes):
        return None
    keys = label_keys(data.y)
    return {name: int((keys == name).sum()) for name in yardstick.labels.names}


# --- what can be checked without the rows ------------------------------------------------------------------


def check_sealed(sealed: Sealed, yardstick: Yardstick, name: str, digest: str | None = None) -> Array:
    """Refuse what no dataset's posterior can be; return the eigenvalues of C·P, ascending.

    `digest` is the yardstick's, if it is known already: of a large one it takes a while.
    """
    model = sealing_model(yardstick)
    digest = yardstick.digest if digest is None else digest
    if sealed.yardstick != digest:
        raise DataworthError(
            f"{name} was sealed on the yardstick {sealed.yardstick[:12]}, this is {digest[:12]}: "
            "give the one that was sent to its vendor (--yardstick FILE)."
        )
    d = yardstick.recipe.projection.shape[1] + int(model.intercept)
    if sealed.mean.shape != (d,) or sealed.precision.shape != (d, d):
        raise DataworthError(
            f"{name} has {len(sealed.mean)} coefficients, but its yardstick has {d}: ask for a file made by "
            "'dataworth seal'."
        )
    names = yardstick.labels.names if isinstance(yardstick.labels, Classes) else None
    if (sealed.counts is None) != (names is None) or set(sealed.counts or ()) != set(names or ()):
        raise _impossible(name, "its classes are not those of its yardstick")
    C = model.prior_variance
    with np.errstate(all="ignore"):
        square = float(sealed.mean @ sealed.mean) / C
        size = C * float(np.abs(sealed.precision).max())
    if not (square <= LARGEST and size <= LARGEST):
        raise _impossible(name, "its numbers are larger than can be computed with")
    with threadpool_limits(1):
        spectrum = np.asarray(np.linalg.eigvalsh(C * sealed.precision), dtype=float)
    slack = SLACK * max(1.0, float(spectrum[-1]))
    if spectrum[0] < 1.0 - slack or spectrum[0] <= 0.0:
        raise _impossible(name, "it knows less than the prior, and data can only add")
    if sealed.rows < d and spectrum[d - sealed.rows - 1] > 1.0 + slack:
        raise _impossible(name, f"its precision has more directions than its {counted(sealed.rows, 'row')}")
    if model.intercept:
        _check_intercept(sealed, model, slack, name)
    most = np.sqrt(2.0 * sealed.weight * np.log(2.0)) + np.sqrt(min(sealed.rows, d))
    if isinstance(model, Logistic) and square > most**2:
        raise _impossible(name, f"its mean is farther from 0 than {counted(sealed.rows, 'row')} can move it")
    return spectrum


def _check_intercept(sealed: Sealed, model: Logistic | Linear, slack: float, name: str) -> None:
    """The intercept's feature is known to be 1, so that its precision follows from the rows' weight."""
    added = model.prior_variance * float(sealed.precision[-1, -1]) - 1.0
    heaviest = model.prior_variance * sealed.weight * most_precision(model)
    rounding = slack + 1e-6 * heaviest
    if added > heaviest + rounding or (isinstance(model, Linear) and added < heaviest - rounding):
        raise _impossible(name, f"its intercept is not as precise as {counted(sealed.rows, 'row')} make it")


def _impossible(name: str, why: str) -> DataworthError:
    return DataworthError(
        f"{name} cannot be the posterior of a dataset ({why}): ask for a file made by 'dataworth seal'."
    )


def gain_of(sealed: Sealed, spectrum: Array, prior_variance: float) -> float:
    """KL(N(μ, P⁻¹) ‖ N(0, C·I)) = ½ Σ (1/λ − 1 + log λ) + ½ ‖μ‖²/C with λ the eigenvalues of C·P."""
    shape = float((1.0 / spectrum - 1.0 + np.log(spectrum)).sum())
    return 0.5 * (shape + float(sealed.mean @ sealed.mean) / prior_variance)


def doubts(sealed: Sealed, yardstick: Yardstick, spectrum: Array, test: Array, name: str) -> list[str]:
    """What is possible but not to be expected, as notes.

    n labels of two classes hold n log 2 nats: under the yardstick's own model a posterior gains more than
    that plus log 1/δ with probability δ at most. Rows like the test set's add at most ¼ max‖x‖² each.
    """
    model = sealing_model(yardstick)
    notes = []
    labels = sealed.weight * np.log(2.0)
    gain = gain_of(sealed, spectrum, model.prior_variance)
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


# --- scoring -----------------------------------------------------------------------------------------------


class SealedResult(NamedTuple):
    """What score and rank make their results of; `test` is without leaked rows."""

    table: PairTable
    test: Dataset
    notes: list[str]
    checks: tuple[Finding, ...]


class _Arm(NamedTuple):
    """A candidate as the prior of test rows."""

    fitter: Fitter
    nothing: Fit
    gain: float
    rows: int


class _Work(NamedTuple):
    design: Whole
    prior: Fitter
    arms: dict[str, _Arm]


def refuse_unsealable(form: str, design: str = "whole") -> None:
    """Sealed data have no rows to draw from, and one form of the score."""
    if form not in ("evidence", "sealed"):
        raise DataworthError(f"form is {form!r}, but sealed data have only the form sealed: drop the option.")
    if design != "whole":
        raise DataworthError(
            f"the design {design} draws rows, which sealed data do not have: use the design whole."
        )


def score_sealed(
    candidates: Mapping[str, Dataset | Sealed],
    test: Dataset,
    yardstick: Yardstick,
    opts: Options,
    what: str,
) -> SealedResult:
    """All candidates on the blocks of the design *whole*, open ones sealed first: like with like."""
    digest = yardstick.digest
    config = {"what": what, "data": {name: c.content_hash() for name, c in candidates.items()}}
    config |= {"test": test.content_hash(), "yardstick": digest, **opts.to_dict()}
    closed = {name: c for name, c in candidates.items() if isinstance(c, Sealed)}
    opened = {name: c for name, c in candidates.items() if not isinstance(c, Sealed)}
    spectra = {name: check_sealed(sealed, yardstick, name, digest) for name, sealed in closed.items()}
    leaks = drop_leaks(test, opened)
    test = test.take(leaks.kept)
    for name, data in opened.items():
        closed[name] = _seal(data, yardstick, digest, key="")
        spectra[name] = check_sealed(closed[name], yardstick, name, digest)
    with threadpool_limits(1):
        X = yardstick.features(test)
    y = yardstick.targets(test, "the test set")
    model = sealing_model(yardstick)
    notes = [] if leaks.note is None or not opened else [leaks.note]
    arms = {}
    for name, given in candidates.items():
        one = closed[name]
        fitter = model.bind(X, y, GaussianPrior(one.mean, one.precision))
        nothing = fitter(np.arange(0))
        arms[name] = _Arm(fitter, nothing, gain_of(one, spectra[name], model.prior_variance), one.rows)
        if isinstance(given, Sealed):
            notes += doubts(one, yardstick, spectra[name], X, name)
        else:
            notes += [n for n in (one_class_note(yardstick, given, name),) if n]
    blocks = block_count(len(test))
    design = Whole({}, Sample(np.arange(len(test)), test.weights), blocks, opts.seed)
    table = _measure(_Work(design, model.bind(X, y), arms), blocks, opts, config)
    notes += sealed_notes(list(candidates), opened)
    checks = sealed_checks(case_of(opened, test, leaks.dropped, yardstick, table, opts, what))
    return SealedResult(table, test, notes, checks)


def case_of(
    opened: Mapping[str, Dataset],
    test: Dataset,
    leaked: int,
    yardstick: Yardstick,
    table: PairTable,
    opts: Options,
    what: str,
) -> Case:
    """The case as far as there are rows: those of the test set and of open data."""
    # the test set stands under a name that no candidate can have
    pool = Pool.build(yardstick, {**{f"{n!r}": d for n, d in opened.items()}, "test": test})
    arms = {name: pool.samples[f"{name!r}"] for name in opened}
    design = Whole(arms, pool.samples["test"], len(table), opts.seed)
    return Case(
        what,
        opened,
        test,
        leaked,
        yardstick,
        pool,
        design,
        table,
        table.arms,
        opts,
        over_blocks,
        lambda table: None,
    )


def sealed_checks(case: Case) -> tuple[Finding, ...]:
    """What the yardstick, the test set and open data say; all other checks need rows of every dataset."""
    ignored = check_codes(case.options.ignore)
    with np.errstate(all="ignore"):
        return tuple(_sealed_check(check, case) for check in CHECKS if check.code not in ignored)


def _sealed_check(check: Check, case: Case) -> Finding:
    if check.name in WITHOUT_DATA:
        return check(case)
    if check.name in OPEN_DATA and case.data:
        found = check(case)
        return replace(found, detail=f"{found.detail} (open data only)")
    return check.finding(not_run(WHY_NOT.get(check.name, "sealed data have no rows to measure again")))


def sealed_notes(names: list[str], opened: Mapping[str, Dataset]) -> list[str]:
    """What readers of sealed scores must know."""
    also = "; open data were sealed first, to compare like with like" if opened else ""
    which = ", ".join(name for name in names if name not in opened)
    return [
        f"scored by Gaussian posteriors, not by rows{also}; intervals cover the sampling of the test set",
        f"whether test rows stand in the sealed data ({which}) cannot be checked",
    ]


def _measure(work: _Work, blocks: int, opts: Options, config: dict[str, Any]) -> PairTable:
    engine = opts.engine
    if isinstance(engine, str):
        engine = get_engine(engine, 1 if opts.jobs is None else opts.jobs)
    report = None if opts.progress is None else opts.progress.update
    chunks = [[i] for i in range(blocks)]
    if opts.run_dir is None or isinstance(opts.run_dir, Run):
        rows = map_resumable(engine, _blocks, chunks, shared=work, run=opts.run_dir, on_chunk=report)
    else:
        with Run.open(opts.run_dir, config) as run:
            rows = map_resumable(engine, _blocks, chunks, shared=work, run=run, on_chunk=report)
    names = tuple(work.arms)
    found = [row for payload in rows for row in payload]
    values = np.array([[row["arms"][name] for name in names] for row in found], dtype=float)
    for name, column in zip(names, values[:, :, 0].T, strict=True):
        if not np.isfinite(column).all():
            raise _impossible(name, "its score is not a number")
    return PairTable(
        names,
        values[:, :, 0],
        values[:, :, 1],
        values[:, :, 2],
        values[:, :, 3],
        np.array([row["log_z_test"] for row in found], dtype=float),
        np.array([row["test_rows"] for row in found], dtype=float),
    )


def _blocks(work: _Work, chunk: list[int]) -> list[dict[str, Any]]:
    return [_block(work, i) for i in chunk]


def _block(work: _Work, i: int) -> dict[str, Any]:
    """One block of the test set under each candidate's Gaussian, and under the prior."""
    rows, weights = work.design.draw(i).test[:2]
    alone = work.prior(rows, weights=weights).log_z
    arms = {}
    for name, arm in work.arms.items():
        accuracy = arm.fitter.accuracy(arm.nothing, rows, weights)
        arms[name] = [_log_z(arm, rows, weights, name) - alone, accuracy, arm.gain, arm.rows]
    return {"arms": arms, "log_z_test": alone, "test_rows": len(rows)}


def _log_z(arm: _Arm, rows: Any, weights: Array | None, name: str) -> float:
    """Log evidence under somebody's Gaussian, on which the numerics may fail."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            return arm.fitter(rows, weights=weights).log_z
        except (RuntimeWarning, ArithmeticError, np.linalg.LinAlgError):
            raise _impossible(name, "its score cannot be computed") from None
