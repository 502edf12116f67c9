"""Files that commands are tried on."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import dataworth as dw


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """raw (a third of its labels wrong), clean (without those rows), half, test; a yardstick, sealed half."""
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(260, 2))
    y = (X[:, 0] + 0.2 * rng.normal(size=260) > 0).astype(int)
    wrong = np.arange(160) % 3 == 0
    labels = np.where(wrong, 1 - y[:160], y[:160])
    for name, rows, target in (
        ("raw", np.arange(160), labels),
        ("clean", np.flatnonzero(~wrong), y[:160][~wrong]),
        ("half", np.arange(80), y[:80]),
        ("test", np.arange(160, 260), y[160:]),
    ):
        table = pa.table({"a": X[rows, 0], "b": X[rows, 1], "target": target})
        pa.csv.write_csv(table, folder / f"{name}.csv")
    vendors = pa.array(["x", "y"] * 80)
    raw = pa.csv.read_csv(folder / "raw.csv")
    pa.csv.write_csv(raw.append_column("vendor", vendors), folder / "vendors.csv")
    yardstick = dw.Yardstick.fit(dw.read(folder / "test.csv"), prior_variance=1.0)
    yardstick.save(folder / "y.json")
    dw.seal(dw.read(folder / "half.csv"), yardstick).save(folder / "v.safetensors")
    return folder


@pytest.fixture
def inside(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder
