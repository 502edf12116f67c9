"""The Dataset that roles make of a table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.data.convert import Kind
from dataworth.data.dataset import Dataset
from dataworth.data.io.dates_in_text import features_of
from dataworth.data.io.roles import Role
from dataworth.data.io.written_roles import differences_of
from dataworth.data.vectors import as_labels, as_texts, as_weights

NOT_VECTORS = ("feature", "ignored", "unusable")


def only_features(table: Any, roles: Sequence[Role], allow_missing: bool, hours: Collection[str]) -> Dataset:
    """The features of a table, checked; labels are not theirs. `hours`: dates of which the hour counts."""
    import pyarrow as pa

    kinds: dict[str, Kind] = dict.fromkeys(differences_of(table), "difference")
    features: dict[str, Any] = {}
    for role in roles:
        if role.role == "feature" and role.kind == "date or time":
            features |= features_of(table[role.column], role.column, role.column in hours)
        elif role.role == "feature":
            features[role.column] = table[role.column]
            kinds |= {role.column: "pair"} if role.kind == "pair" else {}
    X = pa.table(features) if features else table.select([])
    made = Dataset(X, np.zeros(table.num_rows), allow_missing=allow_missing)
    own = (kinds.get(column.name.partition("[")[0], column.kind) for column in made.columns)
    return made._with(columns=tuple(replace(c, kind=kind) for c, kind in zip(made.columns, own, strict=True)))


def with_labels(features: Dataset, table: Any, roles: Sequence[Role], *, some: bool = False) -> Dataset:
    """Features with the labels of their rows, and what else belongs to each; `some`: of further rows."""
    where: dict[str, Any] = {role.role: table[role.column] for role in roles if role.role not in NOT_VECTORS}
    n = len(features)
    texts = {"groups": "group", "ids": "id", "attributes": "attribute"}
    return features._with(
        y=as_labels(where["label"], n),
        weights=as_weights(where.get("weight"), n, some=some),
        **{name: as_texts(where.get(role), name, n) for name, role in texts.items()},
    )


def missing_rows(column: Any) -> NDArray[np.bool_]:
    """Where a pyarrow column is missing: null, or not a number."""
    import pyarrow.compute as pc

    return np.asarray(pc.is_null(column, nan_is_null=True).to_numpy(), dtype=bool)
