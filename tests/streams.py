"""Files that are read in passes, for tests of `data.io.streamed` and of what is made of it."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import dataworth as dw
from dataworth.data.io.align import read_together, sentences


def two_classes(n, seed, columns=4):
    """Numbers with labels of a logistic model."""
    rng = np.random.default_rng([seed, n])
    X = rng.standard_normal((n, columns)).astype(np.float32)
    y = X @ np.linspace(-1.5, 1.5, columns) + rng.logistic(size=n) > 0
    return pa.table({**{f"a{j}": X[:, j] for j in range(columns)}, "label": y.astype(np.int8)})


def mixed(n, seed):
    """Numbers with gaps, categories, texts, weights and labels that are words."""
    rng = np.random.default_rng([seed, n])
    x, city = rng.standard_normal(n).round(6), rng.choice(["Ulm", "Bonn", "Kiel"], n)
    words = np.array(["parcel came late", "all good thank you", "broken when it came", "will buy again soon"])
    said = rng.integers(0, 4, (n, 2))
    y = x + (city == "Ulm") - 0.8 * (said[:, 0] == 0) + rng.logistic(size=n) > 0
    columns = {
        "x": pa.array(np.where(rng.random(n) < 0.1, np.nan, x), from_pandas=True),
        "z": rng.standard_normal(n).round(6), "city": city,
        "said": [f"{words[a]} and {words[b]} {i % 97}" for i, (a, b) in enumerate(said)],
        "times": rng.integers(1, 4, n), "label": np.where(y, "yes", "no"),
    }  # fmt: skip
    return pa.table(columns)


def write(table, path, group=100):
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=group)
    else:
        pyarrow.csv.write_csv(table, path)
    return path


def stream_of(table, path, group=100, test=None, **asked):
    """A stream of a file, and a yardstick of other such rows."""
    yard = dw.Yardstick.fit(
        dw.read(two_classes(40, 1) if test is None else test, **asked), prior_variance=1.0
    )
    write(table, path, group)
    (found,) = read_together([path], columns=yard.columns, streams=True, stream=True, **asked)
    assert not sentences([found])
    return found.data, yard
