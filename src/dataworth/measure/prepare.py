"""Before any work: data and test set, checked and measured on one yardstick, without leaked rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Array, Flags, Rows
from ..data.dataset import Dataset, label_keys
from ..data.labels import Classes, Labels, Vectors
from ..data.leaks import clustered_note, drop_leaks
from ..errors import DataworthError
from ..models import Fitter, Model
from ..models.base import bind
from ..models.gaussian import distinct_rows, room_for_rows
from ..parallel.threads import one_thread
from ..wording import counted
from ..yardstick.yardstick import Yardstick
from .designs import Sample
from .labels_alone import LabelsAlone
from .metrics import chosen_metric
from .options import Options, tell_note
from .yardstick_cache import fit_or_load


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What is to be measured.

    what: score, audit or rank. data: the datasets by the names users know them by, without rows of the test
    set; leaked: how many test rows stood in them. notes: what a reader of the result must know. sealed: names
    of datasets whose rows nobody sees. passes: over a file whose rows were not kept, if there were any;
    `data` are then a sample of them. gone: which rows of each dataset were left out as rows of the test set.
    """

    what: str
    data: Mapping[str, Dataset]
    test: Dataset
    leaked: int
    yardstick: Yardstick
    options: Options
    notes: tuple[str, ...]
    sealed: tuple[str, ...] = ()
    passes: int | None = None
    gone: Mapping[str, Flags] = field(default_factory=dict)

    @property
    def metric(self) -> str:
        """The benchmark that stands beside the information."""
        return chosen_metric(self.options.metric, self.yardstick, self.test)

    def config(self, **more: Any) -> dict[str, Any]:
        """What a run directory knows it by: whatever determines the result."""
        data = {name: part.content_hash() for name, part in self.data.items()}
        own = {"what": self.what, "data": data, "test": self.test.content_hash()}
        return {**own, "yardstick": self.yardstick.digest, **self.options.to_dict(), **more}


def prepare(what: str, data: Mapping[str, Dataset], test: Dataset, options: Options) -> Measurement:
    """Check the datasets, find the yardstick, take leaked rows out, and note what must be said."""
    check_datasets({**data, "the test set": test})
    yardstick = find_yardstick(test, options)
    data = {name: yardstick.numbered(part) for name, part in data.items()}
    test = yardstick.numbered(test, own=True)
    leaks = drop_leaks(test, data, states=what == "audit" and len(data) == 2)
    single = (one_class_note(yardstick, part, name) for name, part in leaks.data.items())
    clustered = clustered_note(test)
    found = [leaks.note if data else None, *single, clustered and f"the test set: {clustered}"]
    notes = [*modelling_notes(yardstick, options), *(note for note in found if note)]
    own: dict[str, Any] = {"what": what, "yardstick": yardstick, "options": options, "notes": tuple(notes)}
    return Measurement(data=leaks.data, test=test, leaked=leaks.found, gone=leaks.gone, **own)


@dataclass(frozen=True)
class Pool:
    """Several datasets on one yardstick, one below the other, with a model bound to them.

    tempering: how many times rows of data count, beside test rows that count once. labels: of the test set,
    the last of the datasets.
    """

    X: Array
    y: Array
    fitter: Fitter
    samples: dict[str, Sample]
    labels: LabelsAlone
    tempering: float = 1.0

    @cached_property
    def ids(self) -> Rows:
        """Which distinct row each row is."""
        return distinct_rows(self.X)[1]

    @classmethod
    def build(cls, yardstick: Yardstick, parts: Mapping[str, Dataset], model: Model | None = None) -> Pool:
        """Measure all parts, the test set last, with the yardstick; `model`: its own if not given."""
        y = np.concatenate([yardstick.targets(part, name) for name, part in parts.items()])
        X = room_for_rows(len(y), yardstick.recipe.width)
        samples: dict[str, Sample] = {}
        start = 0
        for name, part in parts.items():
            end = start + len(part)
            with one_thread():  # a resumed run must find the same bits
                X[start:end] = yardstick.features(part)
            samples[name] = Sample(np.arange(start, end), part.weights)
            start = end
        fitter = bind(model or yardstick.model, X, y)
        tempering = yardstick.tempering if getattr(fitter, "takes_weights", True) else 1.0
        labels = LabelsAlone.of(yardstick, y[start - len(part) :], part.weights)
        return cls(X, y, fitter, samples, labels, tempering)

    def extended(self, X: Array, y: Array, model: Model) -> Pool:
        """The pool with further rows below the others, whose places stay; only these were measured anew."""
        n, rows = len(self.y), room_for_rows(len(self.y) + len(y), X.shape[1])
        rows[:n], rows[n:] = self.X, X
        targets = np.concatenate([self.y, y])
        return replace(self, X=rows, y=targets, fitter=bind(model, rows, targets))


KEPT = "kept from an earlier call with this test set (--no-cache fits it anew)"


def find_yardstick(test: Dataset, options: Options) -> Yardstick:
    """The yardstick given, or one fitted to the test set, as the options want it."""
    yardstick = options.yardstick
    if yardstick is None:
        # from the test set alone: the seed of a measurement does not move it (`Yardstick.fit(seed=)` does)
        wanted = {name: getattr(options, name) for name in ("inference", "prior_variance")}
        found, kept = fit_or_load(test, options.cache, model=options.kind, **wanted)
        if kept:
            tell_note(options.progress, f"yardstick {found.digest[:12]}: {KEPT}")
        return found
    if not isinstance(yardstick, Yardstick):
        raise DataworthError(
            f"yardstick is a {type(yardstick).__name__}; give a Yardstick, by Yardstick.fit or .load."
        )
    # it has its model and prior; options that ask for others are not passed over in silence
    model = yardstick.model
    inference = yardstick.inference or options.inference  # numeric labels have none: a note says so
    asked = {
        "model": options.kind not in ("auto", yardstick.kind),
        "inference": options.inference not in ("auto", inference),
        "prior_variance": options.prior_variance not in (None, model.prior_variance),
    }
    for name, differs in asked.items():
        if differs:
            raise DataworthError(
                f"{name} is {getattr(options, name)!r}, but the yardstick has {model!r}: drop the option, or "
                "make another yardstick."
            )
    return yardstick


def modelling_notes(yardstick: Yardstick, options: Options) -> list[str]:
    """What readers of a result must know of how it was made."""
    notes = []
    if options.own_model is not None:
        check_suits(options.own_model, yardstick.labels)
        notes.append(f"by {options.own_model!r}, a model of your own, on the yardstick's features")
    if options.inference != "auto" and getattr(yardstick.model, "exact", False):
        notes.append(f"exact for numbers: inference {options.inference} changes nothing")
    if options.form != "evidence":
        where = f" at η = {options.eta}" if options.form == "eta" else ""
        form = f"in the form {options.form}{where}"
        notes.append(f"{form}, which is the PMI only for exact posteriors; not the evidence")
    return notes


def check_suits(model: object, labels: Labels) -> None:
    """A model of the user's own that takes such labels, or a sentence."""
    takes, given = getattr(model, "takes", "classes"), "numbers"
    if isinstance(labels, Vectors):
        given = "vectors"
    if isinstance(labels, Classes):
        given = "two classes" if len(labels.names) == 2 else "classes"
    if takes != given and (takes, given) != ("classes", "two classes"):
        raise DataworthError(f"model takes {takes}, but the test set has {given}: give another model.")


def strata(yardstick: Yardstick, data: Dataset) -> Rows:
    """Class of each row, for stratified draws; numeric labels are one stratum."""
    if isinstance(yardstick.labels, Classes):
        return yardstick.targets(data).astype(np.intp)
    return np.zeros(len(data), dtype=np.intp)


def one_class_note(yardstick: Yardstick, data: Dataset, what: str) -> str | None:
    """A note if a dataset has no rows of some class."""
    if not isinstance(yardstick.labels, Classes):
        return None
    present = set(label_keys(data.y).tolist())
    absent = [name for name in yardstick.labels.names if name not in present]
    if not absent:
        return None
    if len(present) == 1:
        others = "the other class is" if len(absent) == 1 else "the other classes are"
        return f"{what}: all rows have the label {str(present.pop())!r}; {others} absent"
    shown = ", ".join(map(repr, absent[:3])) + (", …" if len(absent) > 3 else "")
    return f"{what}: no rows of {'class' if len(absent) == 1 else f'{len(absent)} classes:'} {shown}"


MOVED = 0.05
"""Change of a class's share from which it is named."""


def change_notes(yardstick: Yardstick, before: Dataset, after: Dataset, test: Dataset) -> tuple[str, ...]:
    """What a reader of a change must know first: class proportions that moved, categories lost or new."""
    notes = []
    if isinstance(yardstick.labels, Classes):
        keys = [label_keys(part.y) for part in (before, after, test)]
        shares = {name: [float((one == name).mean()) for one in keys] for name in yardstick.labels.names}
        moved = {n: s for n, s in shares.items() if abs(s[1] - s[0]) >= MOVED}
        told = [f"{n} {s[0]:.0%} → {s[1]:.0%} (test {s[2]:.0%})" for n, s in list(moved.items())[:3]]
        if told:
            notes.append(f"class proportions moved: {', '.join(told)}")
    columns = after.select(test.columns).columns if after.columns != test.columns else after.columns
    parts = [part.select(columns).X for part in (before, after, test)]
    for j, column in enumerate(columns):
        if column.kind != "categorical":
            continue
        had, has, asked = (set(np.unique(X[~np.isnan(X[:, j]), j])) for X in parts)
        for lost in sorted((asked & had) - has):
            rows = int((parts[2][:, j] == lost).sum())
            text = column.categories[int(lost)] if lost >= 0 else "unknown"
            gone = f"after curation {column.name!r} has no {text!r}, which {counted(rows, 'test row')} have"
            notes.append(f"{gone}: if it was recoded, recode the test set likewise")
    return tuple(notes[:5])


def check_datasets(parts: Mapping[str, Any]) -> None:
    """Each a Dataset with rows, or a sentence."""
    for name, part in parts.items():
        if not isinstance(part, Dataset):
            if not getattr(part, "has_rows", True):
                raise DataworthError(f"{name} is sealed, and has no rows: only score and rank take it.")
            raise DataworthError(
                f"{name} is a {type(part).__name__}; give a Dataset: dw.Dataset(X, y) or dw.read(path)."
            )
        if len(part) == 0:
            raise DataworthError(f"{name} has no rows; there is nothing to measure.")
