"""Files of values know their test set, and rows that they chose are not audited on it."""

import json

import numpy as np
import pytest

import dataworth as dw
import hostile_files
from dataworth.valuation.values.guard import Stored, chosen_by, files_in, load_values, save_values


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(380, 2))
    clean = (X[:, 0] + 0.4 * rng.normal(size=380) > 0).astype(int)
    y = np.where((rng.random(380) < 0.15) & (np.arange(380) < 180), 1 - clean, clean)
    data = dw.Dataset(X, y)
    return data.take(range(180)), data.take(range(180, 300)), data.take(range(300, 380))


@pytest.fixture(scope="module")
def found(world):
    return dw.values(world[0], world[1], prior_variance=2.0)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_files_are_read_again_and_know_their_test_set(world, found, suffix, tmp_path):
    data, test, other = world
    path = tmp_path / f"values{suffix}"
    save_values(found, path)
    stored = load_values(path)
    np.testing.assert_array_equal(stored.columns["value"], found.rows.value)
    assert stored.is_of(data, test)
    assert not stored.is_of(data, other)
    assert not stored.is_of(other, test)
    named = dw.Dataset(data.X, data.y, groups=["a"] * 180)  # whatever else a column is used as
    assert stored.is_of(named, test)
    wider = [dw.Dataset(np.column_stack([one.X, one.X[:, 0]]), one.y) for one in (data, test)]
    assert stored.is_of(*wider)  # read with a column more, such as that of the annotators
    assert [one.source for one in files_in([tmp_path])] == [str(path)]
    text = path.read_bytes() + b"".join(p.read_bytes() for p in tmp_path.glob("*.about.json"))
    assert found.hashes[1].encode() not in text  # a plain hash would be a test for guesses


def test_other_files_are_none(tmp_path):
    for name, about in (("a.csv", "[1]"), ("c.csv", '{"schema": 3}'), ("d.parquet", "{")):
        (tmp_path / name).write_text("a,b\n1,2\n")
        (tmp_path / f"{name}.about.json").write_text(about)
        assert load_values(tmp_path / name) is None
    assert files_in([tmp_path]) == []
    with pytest.raises(dw.DataworthError, match=r"a\.csv is no file of values"):
        dw.audit(*[dw.Dataset(np.eye(30), [0, 1] * 15)] * 3, values=tmp_path / "a.csv")


@pytest.mark.parametrize("about", [{"key": "short"}, {"key": 3}, {"data": None}, {"test": "é"}], ids=str)
def test_a_broken_file_lying_there_stands_in_nobodys_way(world, found, tmp_path, about):
    """It is none, or one of another test set; where it is named, so does the sentence."""
    data, test, _ = world
    path = tmp_path / "values.csv"
    save_values(found, path)
    beside = path.with_name("values.csv.about.json")
    beside.write_text(json.dumps(json.loads(beside.read_text()) | about))
    after = data.take(range(150))
    assert not any(one.is_of(data, test) for one in files_in([tmp_path]))
    if load_values(path) is None:
        with pytest.raises(dw.DataworthError, match=r"values\.csv is no file of values"):
            dw.audit(data, after, test, values=path)


def test_a_file_of_values_has_the_limits_of_every_reader(tmp_path):
    """Of 1.4 MB and 10⁸ rows it took 7.5 GB; here of 10⁷, 240 MB of zeros."""
    assert load_values(hostile_files.values_file(tmp_path / "values.parquet", 10**7)) is None


def test_an_audit_of_what_values_chose_is_refused_on_their_test_set(world, found):
    data, test, other = world
    after = data.take(np.setdiff1d(np.arange(180), found.least_trusted[:20]))
    options = {"prior_variance": 2.0, "ignore": "all"}
    with pytest.raises(dw.DataworthError, match="are those that the values puts first by"):
        dw.audit(data, after, test, values=found, **options)
    told = dw.audit(data, after, other, values=found, **options)
    assert told.details.test_rows == len(other)


def test_four_in_five_of_the_removed_rows_tell(world, found):
    data, stored = world[0], Stored.of(found)
    order = np.argsort(found.rows.value)
    middle = order[80:100]

    for chosen, column in ((16, "value"), (14, None)):
        gone = [*order[:chosen], *middle[: 20 - chosen]]
        assert chosen_by(stored, data, data.take(np.setdiff1d(np.arange(180), gone))) == column
    assert chosen_by(stored, data, data) is None
