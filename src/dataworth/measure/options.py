"""Before any work: sizes, numbers of blocks and pairs, where it runs and how long it will take."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..data.dataset import Dataset
from ..errors import DataworthError
from ..evidence.forms import ETAS, Form
from ..models import Fitter, Linear
from ..models.base import positive_number
from ..wording import counted
from ..yardstick.kinds import check_modelling
from ..yardstick.yardstick import Yardstick
from .clipping import check_clipping, clip
from .designs import Design
from .engines import Engine, get_engine
from .evaluate import PairTable, evaluate, rehearse
from .intervals import Estimate
from .planner import pairs_for_error
from .runs import Run

DEFAULT_PAIRS = 200
MIN_BLOCKS = 8
"""The default size of a pair leaves this many disjoint blocks in the data and in the test set."""
PARALLEL_AFTER = 8.0
"""Seconds of work from which starting processes pays."""
CLIPPING = ("truncate", "winsorise")
TRUSTING = ("ignore", "thorough")
DESIGNS = {
    "score": ("whole", "pairs"),
    "audit": ("whole", "row", "rate", "size", "pairs"),
    "curate": ("method", "whole", "pairs"),
}
"""By measurement, the default first; *curate* is an audit of a callable."""


class Progress(Protocol):
    """Whoever wants to hear how the work goes."""

    def expect(self, seconds: float) -> None:
        """Called once before the work with its estimated time."""
        ...

    def update(self, done: int, total: int) -> None:
        """Called after each chunk of work."""
        ...


@dataclass(frozen=True)
class Options:
    """Options that every measurement takes, beside its own.

    seed: all randomness comes from it. form, eta: how PMI is computed (`evidence.forms`). model, inference,
    prior_variance: what the yardstick is to use (it chooses what is not given). jobs: processes (none:
    decided by the estimated time; −1: all cores). engine: where the work runs. run_dir: a directory (or an
    open Run) that makes the work resumable. precision: wanted Monte-Carlo standard error in nats, for the
    design *pairs*. truncate, winsorise: set PMI beyond ± this many nats to 0, or to ± that (not both;
    `clipping`). ignore: codes of checks not to run, or "all"; thorough: run the slow ones too. progress: told
    how far the work is.
    """

    seed: int = 0
    form: str = "evidence"
    eta: Any = 0
    model: str = "auto"
    inference: str = "laplace"
    prior_variance: float | None = None
    jobs: int | None = None
    engine: str | Engine = "local"
    run_dir: str | Path | Run | None = None
    precision: float | None = None
    truncate: float | None = None
    winsorise: float | None = None
    ignore: str | Sequence[str] | None = None
    thorough: bool = False
    progress: Progress | None = None

    @classmethod
    def parse(cls, options: dict[str, Any]) -> Options:
        """Options from keywords; an unknown or senseless one is a sentence."""
        known = {f.name for f in fields(cls)}
        unknown = sorted(set(options) - known)
        if unknown:
            raise DataworthError(
                f"there is no option {unknown[0]!r}; known options: {', '.join(sorted(known))}."
            )
        parsed = cls(**options)
        if np.ndim(parsed.eta) or parsed.eta not in (0, "0", *ETAS):
            raise DataworthError(
                f"eta is {parsed.eta!r}; here give 0, {', '.join(ETAS)} (dw.pmi takes vectors too)."
            )
        form = Form.parse(parsed.form, parsed.eta)
        if parsed.precision is not None:
            positive_number(parsed.precision, "precision (in nats)")
        check_clipping(parsed.truncate, parsed.winsorise)
        check_modelling(parsed.model, parsed.inference)
        if parsed.prior_variance is not None:
            positive_number(parsed.prior_variance, "prior_variance")
        return replace(parsed, eta=form.eta, seed=whole_number(parsed.seed, "seed", least=0))

    def to_dict(self) -> dict[str, Any]:
        """What of them determines a result; clipping only if it is used, so that older runs resume."""
        names = ["seed", "form", "model", "inference", "prior_variance", "precision"]
        names += [n for n in CLIPPING if getattr(self, n) is not None]
        names += ["eta"] if self.form == "eta" else []
        return {n: getattr(self, n) for n in names}

    def how(self) -> dict[str, Any]:
        """The form, for results."""
        return {"form": self.form} | ({"eta": self.eta} if self.form == "eta" else {})

    def notes(self, yardstick: Yardstick) -> list[str]:
        """What readers of a result must know of how it was made."""
        notes = exact_notes(yardstick, self.inference)
        if self.form != "evidence":
            where = f" at η = {self.eta}" if self.form == "eta" else ""
            form = f"in the form {self.form}{where}"
            notes.append(f"{form}, which is the PMI only for exact posteriors; not the evidence")
        return notes


def exact_notes(yardstick: Yardstick, inference: str) -> list[str]:
    """That an inference was asked for which numeric labels have no use for."""
    if inference == "laplace" or not isinstance(yardstick.model, Linear):
        return []
    return [f"exact for numeric labels: inference {inference} changes nothing"]


def whole_number(value: Any, name: str, *, least: int) -> int:
    """`value` as an int (numpy's too), or a sentence."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < least:
        raise DataworthError(f"{name} is {value!r}; it must be a whole number, {least} or more.")
    return int(value)


def block_count(test_rows: int) -> int:
    """Disjoint test blocks of the design *whole*: 20 where rows allow, of 4 rows at least.

    More blocks would hardly narrow the interval (t is within 7 % of normal) and cost as much more.

    >>> [block_count(n) for n in (40, 229, 20_000)]
    [10, 20, 20]
    """
    if test_rows < 8:
        raise DataworthError(f"{test_rows} test rows are left; scoring needs at least 8.")
    return min(20, max(2, test_rows // 4))


@dataclass(frozen=True)
class PairSizes:
    """Sizes of the pairs, how many, and how many disjoint blocks of that size the data hold."""

    data: int
    test: int
    pairs: int
    blocks: float


def pair_sizes(
    data_rows: int, test_rows: int, pairs: int | None, size: int | tuple[int, int] | None
) -> PairSizes:
    """Sizes asked for, or the largest that leave eight blocks in the data and in the test set.

    >>> pair_sizes(340, 229, None, None)
    PairSizes(data=28, test=28, pairs=200, blocks=8.178571428571429)
    """
    check_drawing(pairs, size)
    k = DEFAULT_PAIRS if pairs is None else int(pairs)
    if size is None:
        n = min(data_rows, test_rows) // MIN_BLOCKS
        if n < 2:
            raise DataworthError(
                f"{counted(data_rows, 'data row')} and {counted(test_rows, 'test row')} are too few for "
                f"pairs (at least {2 * MIN_BLOCKS} each): use the design whole, or give a size."
            )
        size = n
    data, test = (int(n) for n in (size if isinstance(size, (tuple, list)) else (size, size)))
    for name, n, rows in (("data", data, data_rows), ("test set", test, test_rows)):
        if n > rows:
            raise DataworthError(f"size is {n}, but the {name} has only {rows} rows: give a smaller size.")
    return PairSizes(data, test, k, min(data_rows / data, test_rows / test))


def check_drawing(pairs: int | None, size: int | tuple[int, int] | None) -> None:
    """Whole numbers where there are any, or a sentence: what can be said before data are seen."""
    if pairs is not None:
        whole_number(pairs, "pairs", least=2)
    both = tuple(size) if isinstance(size, (tuple, list)) else (1 if size is None else size,) * 2
    if len(both) != 2:
        raise DataworthError(
            f"size is {size!r}; it must be one whole number, or one for the data and one for the test."
        )
    for n in both:
        whole_number(n, "size", least=1)


def choose_design(
    design: str | None, pairs: int | None, size: int | tuple[int, int] | None, known: tuple[str, ...]
) -> str:
    """The design asked for; naming pairs or a size selects *pairs*; else the first known one."""
    check_drawing(pairs, size)
    if design is None:
        return known[0] if pairs is None and size is None else "pairs"
    if design not in known:
        raise DataworthError(f"design is {design!r}; known designs here: {', '.join(known)}.")
    if design == "whole" and (pairs is not None or size is not None):
        raise DataworthError(
            "the design whole uses all rows, so pairs and size mean nothing to it: drop them."
        )
    return design


def use_yardstick(yardstick: Yardstick | None, test: Dataset, opts: Options) -> Yardstick:
    """The yardstick given, or one from the test set, as the options want it."""
    if yardstick is not None:
        if not isinstance(yardstick, Yardstick):
            raise DataworthError(
                f"yardstick is a {type(yardstick).__name__}; give a Yardstick, by Yardstick.fit or .load."
            )
        _check_yardstick(yardstick, opts)
        return yardstick
    return Yardstick.fit(
        test, model=opts.model, inference=opts.inference, prior_variance=opts.prior_variance, seed=opts.seed
    )


def _check_yardstick(yardstick: Yardstick, opts: Options) -> None:
    """A yardstick has its model and prior; options that ask for others are not passed over in silence."""
    model = yardstick.model
    inference = yardstick.inference or opts.inference  # numeric labels have none: `exact_notes` says so
    asked = {
        "model": opts.model not in ("auto", yardstick.kind),
        "inference": opts.inference not in ("laplace", inference),
        "prior_variance": opts.prior_variance not in (None, model.prior_variance),
    }
    for name, differs in asked.items():
        if differs:
            raise DataworthError(
                f"{name} is {getattr(opts, name)!r}, but the yardstick has {model!r}: drop the option, or "
                "make another yardstick."
            )


def measure(design: Design, fitter: Fitter, k: int, options: Options, config: dict[str, Any]) -> PairTable:
    """Evaluate the design's first k pairs where and how the options say."""
    engine = options.engine
    form = Form(options.form, options.eta)
    if isinstance(engine, str):
        seconds = rehearse(design, fitter, k, form)
        jobs = options.jobs
        if jobs is None:
            jobs = -1 if seconds > PARALLEL_AFTER else 1
        engine = get_engine(engine, jobs)
        if options.progress is not None:
            options.progress.expect(seconds / (jobs if jobs > 0 else os.cpu_count() or 1))
    report = None if options.progress is None else options.progress.update
    run = options.run_dir
    if run is None or isinstance(run, Run):
        return evaluate(design, fitter, k, engine, run, report, form)
    with Run.open(run, config) as opened:
        return evaluate(design, fitter, k, engine, opened, report, form)


def clip_table(
    table: PairTable,
    opts: Options,
    details: dict[str, Any],
    notes: list[str],
    units: str = "pairs",
    *,
    delta: bool = False,
) -> PairTable:
    """The table to summarise: PMI clipped as the options say, which details and notes then tell.

    What is returned is for estimates alone; the raw table stays in the result. The note is of Δ, the change
    from `before` to `after`, where that is asked for, else of the mean that moved most.
    """
    if check_clipping(opts.truncate, opts.winsorise) is None:
        return table
    clipped = clip(table.pmi, opts.truncate, opts.winsorise)
    counted = replace(table, pmi=clipped.values)
    if delta:
        what, value = "Δ", float(counted.change("pmi", "after", "before").mean())
        moved = clipped.moved[table.arms.index("after")] - clipped.moved[table.arms.index("before")]
    else:
        most = int(np.argmax(np.abs(clipped.moved)))
        what = "score" if len(table.arms) == 1 else f"most moved: score of {table.arms[most]}"
        value, moved = float(counted.pmi[:, most].mean()), clipped.moved[most]
    details["clipping"] = clipped.to_dict(table.arms, units)
    notes.append(clipped.note(units, what, value, moved))
    return counted


def pairs_for_precision(plan: Design, fitter: Fitter, pairs: int, opts: Options, notes: list[str]) -> int:
    """Pairs that bring the Monte-Carlo error to the wanted precision, by a pilot of fifty."""
    if opts.precision is None:
        return pairs
    pilot = measure(plan, fitter, 50, replace(opts, run_dir=None, progress=None), {})
    pilot = clip_table(pilot, opts, {}, [])
    values = pilot.change("pmi", "after", "before") if "after" in pilot.arms else pilot.pmi[:, 0]
    # the pilot's spread is itself uncertain by a tenth: ask for that much more
    needed = pairs_for_error(opts.precision, spread=1.1 * float(values.std(ddof=1)))
    most = 20_000
    if needed > most:
        notes.append(f"precision {opts.precision:g} would take {needed} pairs; {most} were drawn")
    return min(max(needed, 50), most)


def pair_notes(value: Estimate, blocks: float, opts: Options) -> list[str]:
    """What of the error more pairs would remove, and what only more rows would."""
    if value.stderr is None:
        return [
            f"no interval: the data hold only {blocks:.1f} disjoint blocks of this size; use a smaller size"
        ]
    floor = float(np.sqrt(max(value.stderr**2 - value.monte_carlo**2, 0.0)))
    text = f"of the standard error {value.stderr:.3g} nats, {value.monte_carlo:.2g} is Monte-Carlo error "
    text += f"(more pairs help) and {floor:.3g} comes from finite data (only more rows help)"
    if opts.precision is not None and floor > opts.precision:
        text += f"; the precision asked for, {opts.precision:g}, is that of the first"
    return [text]
