"""Which rows of a dataset carry its information, and which labels are to be looked at again."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, ClassVar, NamedTuple, Unpack

import numpy as np

from ...arrays import Array, Flags
from ...data.dataset import Dataset, label_keys
from ...data.labels import Numeric, Vectors
from ...data.leaks import look_for_leaks
from ...data.order import canonical
from ...errors import DataworthError
from ...measure import Estimate, Options, Valuing, discoveries, over_blocks, tell_stage, whole_number
from ...models import MultiLinear
from ...yardstick.yardstick import LEAST_ROWS
from ..blocks import DATA, Blocks
from ..entry import measurement
from ..result import BlockResult, Replay, nats
from .groups import GroupValue, value_groups, why_no_sources
from .label_noise import CrossFit, cross_fitted, trust
from .lineage import Lineage, choosing_half
from .rows import Table, class_count, fits_of, p_below_zero, standard_errors
from .vectors import VectorFits

FDR = 0.1


@dataclass(frozen=True, kw_only=True)
class RowValues:
    """One entry a row of the data, in their order; NaN for rows that also stand in the test set.

    value: nats that the test set gains by the row. stderr: of it, over test rows.
    loo_log_likelihood: log-probability of the row's label by all other rows. p_mislabeled: probability that
    the label is wrong. harmful: on the list of rows whose value is below zero.
    """

    value: Array = nats()
    stderr: Array = nats()
    loo_log_likelihood: Array = nats()
    p_mislabeled: Array
    harmful: Flags

    def __len__(self) -> int:
        return len(self.value)


class Labels(NamedTuple):
    """The label of every row as it stands, the most probable other one, and where the row comes from.

    Vectors have neither a name nor a likely other one.
    """

    label: tuple[Any, ...] | None
    suggested: tuple[Any, ...] | None
    source: tuple[str, ...] | None


@dataclass(frozen=True, kw_only=True, repr=False)
class Values(BlockResult):
    """Values of rows and of sources; `total` is what all rows together are worth, nats per block, by `score`.

    labels: of every row, for files and the terminal. doubts: `Trust.if_right` and `if_wrong`.
    lineage, key: keyed hashes of the rows that were valued, and of the test rows that valued them.
    """

    schema: ClassVar[str] = "dataworth/values/1"
    rows: RowValues
    groups: tuple[GroupValue, ...]
    cross_fit: CrossFit | None = None
    total: Estimate = nats(whole=True)
    fdr: float
    ids: tuple[str, ...] | None = field(default=None, metadata={"told": False})
    labels: Labels = field(metadata={"told": False})
    doubts: tuple[Array, Array] = field(metadata={"told": False})
    lineage: Lineage = field(metadata={"told": False})
    key: str = field(metadata={"told": False})
    question: ClassVar[str] = "Which rows carry the information, and which labels should be looked at again?"

    @property
    def headline(self) -> str:
        """How many rows are on the list, and how many labels are expected to be wrong."""
        listed = int(self.rows.harmful.sum())
        wrong = f"about {self.expected_wrong:.0f} labels wrong"
        return f"{len(self.rows)} rows: {listed} with a value below zero, {wrong}"

    @property
    def expected_wrong(self) -> float:
        """How many labels are wrong, by expectation: the sum of `p_mislabeled`."""
        return float(np.nansum(self.rows.p_mislabeled))

    @property
    def ranked_label_issues(self) -> list[int]:
        """Rows by the probability that their label is wrong, highest first; unknown ones are left out."""
        known = np.flatnonzero(np.isfinite(self.rows.p_mislabeled))
        order = np.lexsort((self.rows.loo_log_likelihood[known], -self.rows.p_mislabeled[known]))
        return [int(row) for row in known[order]]

    def to_dict(self, bits: bool = False) -> dict[str, Any]:
        """Plain data for JSON, which know the test rows that made them as files of values do."""
        return {**super().to_dict(bits), "lineage": self.lineage.to_dict(self.key)}

    def table_rows(self) -> list[dict[str, Any]]:
        """One record a row, for files; row 1 is the first row of the data, as on the screen."""
        columns = {name: column.tolist() for name, column in vars(self.rows).items()}
        own = {} if self.ids is None else {"id": list(self.ids)}
        told = {name: list(known) for name, known in self.labels._asdict().items() if known is not None}
        columns = {"row": list(range(1, len(self.rows) + 1)), **own, **told, **columns}
        return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


@measurement("values", "D", test="T")
def values(
    D: Dataset,
    T: Dataset,
    fdr: float = FDR,
    cross_fit: int | None = None,
    sample_splitting: bool = False,
    **options: Unpack[Valuing],
) -> Values:
    """Value of every row, and of every source if the data have groups; the trust in every label.

    A row's value is what the log-probability of the test set loses without it, log p(T | D) − log p(T | D∖i),
    from two fits by expectation propagation (exact for numbers and vectors).

    Args:
        D: the data; its `groups` are the sources (annotators, vendors).
        T: the test set; at least 20 rows, unless a yardstick is given.
        fdr: expected proportion of false entries on the list of rows with a value below zero.
        cross_fit: parts of the test set; labels that the other parts doubt are left out, and the change is
            measured on the part that did not choose them.
        sample_splitting: value by one half of the test set, always the same; `dw.audit` of what is changed
            by these values is then made on the other half, and refused otherwise.
        **options: see below.

    Returns:
        A `Values`: `rows` (value, stderr, loo_log_likelihood, p_mislabeled, harmful), `groups`, `total`.

    Raises:
        DataworthError: if data, test set and options do not fit together; the sentence says how.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> y[:5] = 1 - y[:5]
    >>> data = Dataset(X, y)
    >>> found = values(data.take(range(200)), data.take(range(200, 300)))
    >>> sorted(found.ranked_label_issues[:4]), found.total.positive
    ([1, 2, 3, 4], True)
    """
    opts = Options.parse("values", options)
    check_fdr(fdr)
    groups = getattr(D, "groups", None)  # sealed data have none
    unlike = None if groups is None else why_no_sources(groups.tolist())
    D = D if unlike is None else D._with(groups=None)
    parts = None if cross_fit is None else whole_number(cross_fit, "cross_fit", least=2)
    given, T = T, half_that_chooses(T) if sample_splitting else T
    blocks = Blocks.of("values", {DATA: D}, T, opts)
    prepared, yardstick, own = blocks.prepared, blocks.prepared.yardstick, blocks.prepared.data[DATA]
    table = Table.of(blocks)
    tell_stage(opts.progress, "valuing rows…")
    model = yardstick.model
    fits = [VectorFits.of(table, model)] if isinstance(model, MultiLinear) else fits_of(yardstick, table)
    value, stderr = np.sum([one.value for one in fits], axis=0), standard_errors(table, fits)
    told = {"fdr": None if fdr == FDR else fdr, "cross_fit": cross_fit}
    told["sample_splitting"] = sample_splitting or None
    asked = told | {"data": D.content_hash()}  # with its sources
    worth, numbered = blocks.asked("all", {"all": blocks.samples[DATA]}, given, T, asked)
    tell_stage(opts.progress, "looking for wrong labels…")
    trusted = trust(yardstick, table)
    degrees = len(table.test.y) - 1.0 if table.groups is None else float(table.groups.max())
    harmful = discoveries(p_below_zero(value, stderr, degrees), fdr)
    doubt = {"loo_log_likelihood": trusted.loo_log_likelihood, "p_mislabeled": trusted.p_mislabeled}
    columns = {"value": value, "stderr": stderr, **doubt, "harmful": harmful}
    notes = prepared.notes + numbered + (() if unlike is None else (unlike,))
    if class_count(yardstick) > 2:
        notes += ("several classes: a logistic regression each, class or not; values are their sum",)
    kept = np.ones(len(D), dtype=bool)
    if len(own) < len(D):
        kept = ~look_for_leaks(prepared.test, yardstick.numbered(D)).data
        columns = {name: padded(column, kept) for name, column in columns.items()}
    sources = None if D.groups is None else tuple(D.groups.tolist())
    labels = Labels(None, None, sources)
    if trusted.other is not None and not isinstance(yardstick.labels, Vectors):
        given_labels = D.y if isinstance(yardstick.labels, Numeric) else label_keys(D.y)
        suggested = given_labels.astype(object)
        suggested[kept] = yardstick.labels.decode(trusted.other)
        labels = Labels(tuple(given_labels.tolist()), tuple(suggested.tolist()), sources)
    # no two pairs of data and test set have the same key, and the same command has it again
    content = f"{D.content_hash()} {T.content_hash()}"
    key = blake2b(content.encode(), digest_size=16).hexdigest()
    return Values(
        rows=RowValues(**columns),
        groups=() if own.groups is None else value_groups(blocks, trusted),
        cross_fit=None if parts is None else cross_fitted(blocks, table, parts),
        total=over_blocks(worth["all"]),
        blocks=blocks.plan({}).count,
        fdr=float(fdr),
        yardstick=yardstick,
        notes=notes,
        test_rows=len(prepared.test),
        replay=Replay.of("values", {"data": D}, given, opts, **told),
        ids=None if D.ids is None else tuple(map(str, D.ids)),
        labels=labels,
        doubts=(padded(trusted.if_right, kept), padded(trusted.if_wrong, kept)),
        lineage=Lineage.of(D, T, key, sample_splitting),
        key=key,
    )


def half_that_chooses(test: Dataset) -> Dataset:
    """The rows of a test set by which rows of data may be chosen, so that the others can judge."""
    chooses = choosing_half(test)
    if min(chooses.sum(), (~chooses).sum()) < LEAST_ROWS:
        few = f"{int(chooses.sum())} and {int((~chooses).sum())} rows"
        raise DataworthError(
            f"the halves of the test set have {few}, but {LEAST_ROWS} are needed to choose and to judge: "
            "give a larger test set, or more groups."
        )
    return canonical(test.take(chooses))


def padded(values: Array | Flags, kept: Flags) -> Any:
    """Numbers of the rows that were kept, at their places among all."""
    whole = np.zeros(len(kept), dtype=bool) if values.dtype == bool else np.full(len(kept), np.nan)
    whole[kept] = values
    return whole


def check_fdr(fdr: object) -> None:
    """A proportion, or a sentence."""
    if isinstance(fdr, bool) or not isinstance(fdr, int | float) or not 0 < fdr < 1:
        raise DataworthError(f"fdr is {fdr!r}; it must be a proportion between 0 and 1, such as 0.1.")
