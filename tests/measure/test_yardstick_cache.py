"""Yardsticks kept between calls: equal to the last digit, never of another test set, never in the way."""

import os
from pathlib import Path

import numpy as np
import pytest

import dataworth as dw
from commands import call
from dataworth.measure import yardstick_cache
from dataworth.measure.yardstick_cache import fit_or_load
from worlds import classes

TEST = classes(60, seed=1)
HOW = {"model": "auto", "inference": "auto", "prior_variance": 1.0}


def files(directory):
    return sorted(Path(directory).glob("*.json"))


def test_what_was_kept_is_taken_and_equals_a_fresh_one(tmp_path, monkeypatch):
    first, kept = fit_or_load(TEST, tmp_path, **HOW)
    assert not kept
    fit = dw.Yardstick.fit
    monkeypatch.setattr(dw.Yardstick, "fit", None)
    second, kept = fit_or_load(TEST, tmp_path, **HOW)
    assert kept
    assert second.digest == first.digest == fit(TEST, **HOW).digest
    assert np.array_equal(second.features(TEST), first.features(TEST))


@pytest.mark.parametrize("other", ["labels", "cells", "names", "weights", "options", "version"])
def test_each_test_set_and_each_way_has_a_file_of_its_own(other, tmp_path, monkeypatch):
    fit_or_load(TEST, tmp_path, **HOW)
    test, how = TEST, HOW
    if other == "labels":
        test = TEST.with_labels(np.r_[1 - TEST.y[:1], TEST.y[1:]])
    elif other == "cells":
        test = TEST.with_features(TEST.X + np.eye(*TEST.X.shape) * 1e-9)
    elif other == "names":
        test = dw.Dataset(TEST.X, TEST.y, names=[f"column {j}" for j in range(TEST.X.shape[1])])
    elif other == "weights":
        test = dw.Dataset(TEST.X, TEST.y, weights=np.r_[2.0, np.ones(59)])
    elif other == "options":
        how = {**HOW, "prior_variance": 2.0}
    else:
        monkeypatch.setattr(yardstick_cache, "__version__", "another")
    assert not fit_or_load(test, tmp_path, **how)[1]
    assert len(files(tmp_path)) == 2


@pytest.mark.parametrize("content", [b"", b"{}", b"\x00", None], ids=["empty", "other", "bytes", "one byte"])
def test_a_damaged_file_is_fitted_again_and_written_anew(content, tmp_path):
    made, _ = fit_or_load(TEST, tmp_path, **HOW)
    (file,) = files(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b'"seed": 0', b'"seed": 1') if content is None else content)
    again, kept = fit_or_load(TEST, tmp_path, **HOW)
    assert not kept
    assert (again, file.read_bytes()) == (made, whole)


def test_some_are_not_kept_and_old_ones_go(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    assert not fit_or_load(TEST, tmp_path / "file", **HOW)[1]
    assert (yardstick_cache.MOST_NUMBERS, yardstick_cache.MOST_FILES) == (200_000, 200)
    monkeypatch.setattr(yardstick_cache, "MOST_NUMBERS", 1)
    fit_or_load(TEST, tmp_path, **HOW)
    assert not files(tmp_path)
    monkeypatch.setattr(yardstick_cache, "MOST_NUMBERS", 200_000)
    monkeypatch.setattr(yardstick_cache, "MOST_FILES", 2)
    for k in range(3):
        fit_or_load(TEST, tmp_path, **{**HOW, "prior_variance": k + 1.0})
        for file in files(tmp_path):  # the next one is newer
            os.utime(file, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns - 10**9))
    assert [fit_or_load(TEST, tmp_path, **{**HOW, "prior_variance": k})[1] for k in (3.0, 2.0)] == [True] * 2
    assert len(files(tmp_path)) == 2


def test_from_python_only_what_is_asked_for_is_kept(tmp_path):
    data, place = classes(40, seed=2), Path(os.environ["DATAWORTH_CACHE"])
    first = dw.score(data, TEST, prior_variance=1.0, ignore="all")
    assert not place.exists()
    second = dw.score(data, TEST, prior_variance=1.0, ignore="all", cache=tmp_path)
    third = dw.score(data, TEST, prior_variance=1.0, ignore="all", cache=True)
    assert len(files(tmp_path)) == len(files(place / "yardsticks")) == 1
    assert first.value == second.value == third.value
    with pytest.raises(dw.DataworthError, match="cache is 3; it must be True, False or a directory"):
        dw.score(data, TEST, cache=3)


def test_the_command_line_says_that_one_was_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, data in (("data", classes(40, seed=2)), ("test", TEST)):
        table = np.column_stack([data.X, data.y])
        head = ",".join([*(f"x{j}" for j in range(data.X.shape[1])), "label"])
        np.savetxt(f"{name}.csv", table, delimiter=",", header=head, comments="")
    words = ("score", "data.csv", "--test", "test.csv", "--ignore", "all", "--prior-variance", 1)
    first, second, third, quiet = (call(*words, *more) for more in ((), (), ("--no-cache",), ("-q",)))
    said = "kept from an earlier call with this test set (--no-cache fits it anew)"
    assert [said in told for _, _, told in (first, second, third, quiet)] == [False, True, False, False]
    assert first[1] == second[1] == third[1]
