"""Rows that seem to belong together get a note that asks for groups."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from dataworth.data.dataset import Dataset
from dataworth.data.leaks import clustered_note


def visits(patients, each, **more):
    n = patients * each
    return Dataset(np.random.default_rng(0).normal(size=(n, 2)), np.arange(n) % 2, **more)


@pytest.mark.parametrize(("patients", "each", "noted"), [(40, 10, True), (10, 2, True), (9, 10, False)])
def test_ids_with_several_rows_each(patients, each, noted):
    names = np.repeat(np.arange(patients), each)
    note = clustered_note(visits(patients, each, ids=names))
    assert (note is not None) == noted
    if noted:
        assert note.startswith(f"{patients} ids name {patients * each} rows")
        assert "group=" in note
    assert clustered_note(visits(patients, each, ids=names, groups=names)) is None


@pytest.mark.parametrize("name", ["patient_id", "Subject", "userid", "user.id", "width", "idea"])
def test_a_column_named_like_an_id(name):
    frame = pa.table({name: np.repeat(np.arange(40), 10), "x": np.arange(400.0) ** 0.5})
    note = clustered_note(Dataset(frame, np.arange(400) % 2))
    if name in ("width", "idea"):
        assert note is None
    else:
        assert note.startswith(f"40 values of '{name}' name 400")
