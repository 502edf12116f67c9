"""Everything that can be asked of a measurement: one list of options, documented, parsed and checked once.

`dw.score`, `dw.audit` and `dw.rank` take them as keywords, the command line makes the same object from its
words, a run directory stores it. Nothing heavy is imported before options are parsed: help is there at once.
"""

from __future__ import annotations

import numbers
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

from ..errors import DataworthError

if TYPE_CHECKING:
    from ..evidence.forms import Form
    from ..models.base import Model
    from ..parallel import Engine
    from ..parallel.runs import Run
    from ..yardstick.yardstick import Yardstick

PARSED = "_parsed"
Size = int | tuple[int, int]


class Progress(Protocol):
    """Whoever wants to hear how the work goes."""

    def expect(self, seconds: float) -> None:
        """Called before each stretch of work with its estimated time."""
        ...

    def update(self, done: int, total: int) -> None:
        """Called after each chunk of work."""
        ...


def tell_stage(progress: Progress | None, what: str) -> None:
    """Say what is done next, of which no part can be counted; to a listener that has `preparing`."""
    say = getattr(progress, "preparing", None)
    if say is not None:
        say(what)


def tell_note(progress: Progress | None, what: str) -> None:
    """Say what is not part of the result; to a listener that has `note`."""
    say = getattr(progress, "note", None)
    if say is not None:
        say(what)


class Valuing(TypedDict, total=False):
    """Options of what is told of rows, sources and further rows; `Options` says what each means."""

    yardstick: Yardstick | None
    model: str | Model
    prior_variance: float | None
    seed: int
    jobs: int | None
    engine: str | Engine | None
    address: str | None
    cache: bool | str | PathLike[str]
    ladder: str | Path | None
    run_dir: str | Path | Run | None
    progress: Progress | None


class Measuring(Valuing, total=False):
    """Options of every measurement."""

    inference: str
    form: str
    eta: Any
    truncate: float | None
    winsorise: float | None
    metric: str | None
    ignore: str | Collection[str] | None
    slow_checks: bool
    keep_data: bool


class Drawing(Measuring, total=False):
    """Options of measurements that can draw pairs."""

    design: str | None
    pairs: int | None
    size: Size | None
    precision: float | None


class Auditing(Drawing, total=False):
    """Options of audits."""

    committed: str | None
    key: str | None
    values: Any
    baselines: Sequence[Any]
    slices: str | Collection[str] | None


DESIGNS = {
    "score": ("whole", "pairs"),
    "audit": ("whole", "matched", "proportional", "equal-size", "pairs"),
    "curate": ("method", "whole", "pairs"),
    "rank": ("whole",),
}
"""By measurement, the default first; *curate* is an audit of a callable."""
TAKES: dict[str, type] = {"score": Drawing, "audit": Auditing, "curate": Auditing, "rank": Measuring}
TAKES |= {"values": Valuing, "contributions": Valuing, "forecast": Valuing}


def option(default: Any, help: str, panel: str | None = None) -> Any:
    """A field that says what it means; `panel` is its heading in `--help`, if it is not that of its class."""
    return field(default=default, metadata={"panel": panel, "help": help})


RARE = {"model", "inference", "form", "eta", "truncate", "winsorise", "pairs", "size", "precision", "metric"}
RARE |= {"slow_checks", "ladder", "committed", "key", "values", "engine", "address", "prior_variance"}
"""Options that few need: `--help-all` shows them, `--help` does not."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """All options, with their defaults; `metadata["help"]` of a field says what it means."""

    yardstick: Yardstick | None = option(None, "A yardstick made before (default: fitted to the test set).")
    model: str | Model = option(
        "auto",
        "auto (the default), logistic (two classes), softmax (more), "
        "or linear (numeric labels); or a model of your own (module:object), on the yardstick's features.",
    )
    inference: str = option(
        "auto",
        "How posteriors are computed: auto (the default): EP, or Laplace's method for very many rows; "
        "ep; or laplace.",
    )
    prior_variance: float | None = option(None, "Prior variance (default: chosen on the test set).")
    seed: int = option(0, "All randomness comes from it (default: 0).")
    form: str = option(
        "evidence",
        "Form of the score: evidence (the default), the paper's eta, product, kl or integral, or sealed.",
    )
    eta: Any = option(0, "Where the form eta compares posteriors: 0 (the default), joint, data or test.")
    truncate: float | None = option(
        None, "Count PMI beyond ± this many nats as 0, as the paper does (tables stay raw)."
    )
    winsorise: float | None = option(None, "Count PMI beyond ± this many nats as ± that (tables stay raw).")
    design: str | None = option(
        None,
        "whole (the default): the data as they are; pairs: draws of a size. Of audits also: matched, "
        "proportional, equal-size; of methods: method (the default), applied to each draw, or whole (the "
        "default of add-rows and self-label), once to all rows.",
    )
    pairs: int | None = option(None, "Number of pairs; selects the design pairs.")
    size: Size | None = option(
        None, "Rows of a pair: one number, or two, N,M, for data and test; selects the design pairs."
    )
    precision: float | None = option(
        None, "Draw as many pairs as bring the Monte-Carlo error to this many nats (design pairs)."
    )
    metric: str | None = option(
        None,
        "Benchmark beside the information: accuracy, balanced_accuracy, auc or log_loss (default: accuracy; "
        "balanced_accuracy where a class of the test set is rarer than 20 %).",
    )
    slices: str | Collection[str] | None = option(
        None,
        "Columns of the test set, such as 'site,age': who gains and who loses, by their values (the "
        "attribute is one in any case). 'auto' looks at every column, groups and clusters of rows.",
    )
    ignore: str | Collection[str] | None = option(
        None, "Checks to leave out, such as 'DW002,DW010', or 'all'; see 'dataworth checks'.", "Checks"
    )
    slow_checks: bool = option(False, "Run the slow checks too.", "Checks")
    ladder: str | Path | None = option(
        None,
        "File that counts questions to this test set, by whichever command, and answers by the Ladder rule: "
        "only if the data are worth more than the best so far, beyond the noise.",
        "Guard",
    )
    committed: str | None = option(
        None, "Hash that 'dataworth commit' printed: another `before` is refused.", "Guard"
    )
    key: str | None = option(None, "The key of that hash.", "Guard")
    values: Any = option(
        None,
        "File of 'dataworth values' by which rows were chosen (those beside the data are found): test rows "
        "that made it do not judge the change.",
        "Guard",
    )
    jobs: int | None = option(None, "Processes; −1: all cores (default: as many as pay).", "Work")
    engine: str | Engine | None = option(
        None, "Where the work runs: local or ray (default: as joblib.parallel_config says).", "Work"
    )
    address: str | None = option(
        None,
        "Address of the Ray cluster (default: one connected to before, or a new one).",
        "Work",
    )
    cache: bool | str | PathLike[str] = option(
        False,
        "Keep the yardstick of this test set, and take it where it was kept: True for the user's cache "
        "directory, a path for another. The command line does, unless --no-cache.",
        "Work",
    )
    run_dir: str | Path | Run | None = option(
        None, "Directory that makes the work resumable: 'dataworth resume DIR'.", "Work"
    )
    keep_data: bool = option(
        False, "Keep the rows with the result, which its parts and `dw.sensitivity` need.", "Python"
    )
    progress: Progress | None = option(None, "Told how far the work is.", "Python")
    baselines: Sequence[Any] = option(
        (), "Further blind baselines that a rise must beat: strategies, or curations f(D).", "Python"
    )

    @classmethod
    def parse(cls, what: str, given: Mapping[str, Any]) -> Options:
        """Options of a measurement (a key of `TAKES`) from keywords; a sentence if they make no sense.

        Those that `valuation.entry` parsed before it read files are given as they are, by the name `PARSED`.
        """
        if PARSED in given:
            return given[PARSED]
        known = TAKES[what].__annotations__
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise DataworthError(
                f"there is no option {unknown[0]!r} of {what}; known options: {', '.join(sorted(known))}."
            )
        from ..evidence.forms import ETAS, Form
        from ..models.base import positive_number, require_model
        from ..yardstick.kinds import check_modelling
        from .clipping import check_clipping
        from .metrics import check_metric

        parsed = cls(**given)
        if not isinstance(parsed.eta, str | numbers.Real) or parsed.eta not in (0, "0", *ETAS):
            raise DataworthError(
                f"eta is {parsed.eta!r}; here give 0, {', '.join(ETAS)} (dw.pmi takes vectors too)."
            )
        form = Form.parse(parsed.form, parsed.eta)
        for name, words in (("precision", "precision (in nats)"), ("prior_variance", "prior_variance")):
            if getattr(parsed, name) is not None:
                positive_number(getattr(parsed, name), words)
        check_metric(parsed.metric)
        check_clipping(parsed.truncate, parsed.winsorise)
        check_modelling(parsed.kind, parsed.inference)
        if parsed.own_model is not None:
            require_model(parsed.own_model)
        check_drawing(parsed.pairs, parsed.size)
        if not isinstance(parsed.ladder, str | Path | None):
            raise DataworthError(f"ladder is {parsed.ladder!r}; give the path of a file.")
        if not isinstance(parsed.cache, bool | str | PathLike):
            raise DataworthError(f"cache is {parsed.cache!r}; it must be True, False or a directory.")
        for name in ("slow_checks", "keep_data"):
            if not isinstance(getattr(parsed, name), bool):
                raise DataworthError(f"{name} is {getattr(parsed, name)!r}; it must be True or False.")
        seed, slices = whole_number(parsed.seed, "seed", least=0), names_of(parsed.slices, "slices")
        return replace(parsed, eta=form.eta, seed=seed, slices=slices)

    @property
    def kind(self) -> str:
        """The name of the yardstick's model; what suits the labels, if the model is the user's own."""
        return self.model if isinstance(self.model, str) else "auto"

    @property
    def own_model(self) -> Model | None:
        """The user's own model, if one was given."""
        return None if isinstance(self.model, str) else self.model

    @property
    def pmi_form(self) -> Form:
        """How PMI is computed."""
        from ..evidence.forms import Form

        return Form(self.form, self.eta)

    def choose_design(self, known: tuple[str, ...]) -> str:
        """The design asked for; naming pairs or a size selects *pairs*; else the first of the known ones."""
        drawn = [name for name in ("pairs", "size") if getattr(self, name) is not None]
        design = self.design
        if design is None:
            design = "pairs" if drawn else known[0]
        if design not in known:
            raise DataworthError(f"design is {design!r}; known designs here: {', '.join(known)}.")
        if design == "whole" and drawn:
            raise DataworthError(
                "the design whole uses all rows, so pairs and size mean nothing to it: drop them."
            )
        if design in ("whole", "method") and self.precision is not None:
            raise DataworthError(
                f"precision decides how many pairs are drawn, which the design {design} does not ask: "
                "drop it, or use the design pairs."
            )
        if self.pairs is not None and self.precision is not None:
            raise DataworthError("both pairs and precision say how many pairs are drawn: give one of them.")
        return design

    def to_dict(self) -> dict[str, Any]:
        """What of them determines a result, as far as it is set."""
        measuring = [f.name for f in fields(self) if f.metadata["panel"] is None]
        told = {n: getattr(self, n) for n in measuring if n != "yardstick" and getattr(self, n) is not None}
        return told if self.own_model is None else {**told, "model": repr(self.own_model)}


def names_of(given: Any, what: str) -> tuple[str, ...] | None:
    """Names of columns, from a list or a text with commas."""
    if given is None:
        return None
    names = given.split(",") if isinstance(given, str) else given
    if not isinstance(names, Collection) or not all(isinstance(name, str) for name in names):
        raise DataworthError(f"{what} is {given!r}; give names of columns, such as ['site', 'age'].")
    return tuple(name.strip() for name in names if name.strip())


def whole_number(value: Any, name: str, *, least: int) -> int:
    """`value` as an int (numpy's too), or a sentence."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise DataworthError(f"{name} is {value!r}; it must be a whole number, {least} or more.")
    return int(value)


MAX_PAIRS = 10**8
"""Pairs that can be asked for: their numbers alone take gigabytes."""


def check_drawing(pairs: int | None, size: Size | None) -> None:
    """Whole numbers where there are any, or a sentence: what can be said before data are seen."""
    if pairs is not None and whole_number(pairs, "pairs", least=2) > MAX_PAIRS:
        raise DataworthError(f"pairs is {pairs:.0e}; at most {MAX_PAIRS:.0e} can be drawn: give fewer.")
    both = tuple(size) if isinstance(size, (tuple, list)) else (1 if size is None else size,) * 2
    if len(both) != 2:
        raise DataworthError(
            f"size is {size!r}; it must be one whole number, or one for the data and one for the test."
        )
    for n in both:
        whole_number(n, "size", least=1)
