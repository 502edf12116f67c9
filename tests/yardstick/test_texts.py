"""Texts as numbers against scikit-learn, brute force and invariances; texts on a yardstick."""

import json
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import dataworth as dw
from dataworth.data.convert import Column, is_text
from dataworth.data.texts import BETWEEN
from dataworth.yardstick import texts as ngrams
from dataworth.yardstick.texts import TextAxes, TextColumns
from text_worlds import review


def reviews(n, seed, flipped=0.0):
    rng = np.random.default_rng(seed)
    happy = rng.random(n) < 0.5
    bodies = [review(rng, one) for one in happy]
    wrong = rng.random(n) < flipped
    return dw.Dataset(pa.table({"body": bodies}), np.where(happy ^ wrong, "happy", "sad")), wrong


def pairs(n, seed, flipped=0.0):
    rng = np.random.default_rng(seed)
    rows = [
        {"prompt": f"order {i // 2}", "chosen": review(rng, 1), "rejected": review(rng, 0)} for i in range(n)
    ]
    wrong = rng.random(n) < flipped
    for row in np.array(rows, dtype=object)[wrong]:
        row["chosen"], row["rejected"] = row["rejected"], row["chosen"]
    return dw.read(pa.Table.from_pylist(rows)), wrong


def naive(text):
    tidy = f" {' '.join(text.lower().split())} "
    runs = [tidy[i : i + k] for k in ngrams.CHARACTERS for i in range(len(tidy) - k + 1)]
    words = "".join(c if c.isalnum() or c in "'’_" else " " for c in tidy).split()
    return [*((len(r), r) for r in runs), *(("w", w) for w in words), *pairwise(words)]


def test_ngrams_are_those_that_are_written():
    """Equal buckets where n-grams are equal, and hardly any collision among others."""
    for text in ("To be, or not to be: that's the question.", "naïve Ünïcode 漢字 漢字 🙂", "a", ""):
        found, expected, places = ngrams.buckets(text), naive(text) if text else [], {}
        for bucket, gram in zip(found.tolist(), expected, strict=True):
            assert places.setdefault(gram, bucket) == bucket
        assert len(set(places.values())) >= 0.97 * len(places)


def test_weights_are_tf_idf_of_scikit_learn_and_axes_its_truncated_svd():
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    rng = np.random.default_rng(0)
    said = [review(rng, i % 2) for i in range(60)]
    tfidf = TfidfVectorizer(
        analyzer=lambda text: ngrams.buckets(text).tolist(), sublinear_tf=True, min_df=2, smooth_idf=True
    )
    X = tfidf.fit_transform(said)
    axes = TextAxes.learn(said)
    mine = axes.vectors(said)
    gram = (X @ X.T).toarray()
    np.testing.assert_allclose(mine @ mine.T, gram, atol=2e-3)  # axes are kept in half precision
    largest = TruncatedSVD(5, algorithm="arpack").fit(X).singular_values_
    np.testing.assert_allclose(np.sqrt((mine**2).sum(axis=0))[:5], largest, rtol=1e-3)


def test_texts_survive_a_file_and_a_forged_one_is_told(tmp_path):
    test, _ = reviews(60, 0)
    made = TextColumns.learn(test)
    written = json.loads(json.dumps(made.to_dict()))
    assert np.array_equal(TextColumns.from_dict(written)(test).X, made(test).X)
    for change, (value, words) in {"size": (3, "another size"), "axes": ("!", "cannot be read")}.items():
        with pytest.raises(dw.DataworthError, match=words):
            TextColumns.from_dict({"body": {**written["body"], change: value}})
    nothing = {"buckets": "", "weights": "", "axes": "", "size": 10**9}  # 8 GB for each row
    with pytest.raises(dw.DataworthError, match="another size"):
        TextColumns.from_dict({"body": nothing})
    with pytest.raises(dw.DataworthError, match="no map"):
        TextColumns.from_dict([])
    test, _ = reviews(80, 9)
    data, _ = reviews(40, 10)
    yard = dw.Yardstick.fit(test)
    yard.save(tmp_path / "y.json")
    again = dw.Yardstick.load(tmp_path / "y.json")
    assert again == yard
    assert np.array_equal(again.features(data), yard.features(data))
    assert [column.kind for column in again.columns] == ["text"]
    with pytest.raises(dw.DataworthError, match="'body' is numeric, but text in the test set"):
        again.features(dw.Dataset([[1.0]], ["sad"], names=["body"]))


def test_text_is_told_from_categories_and_ids():
    assert is_text([f"there are {i} of them" for i in range(40)], 40)
    assert not is_text([f"id {i}" for i in range(40)], 40)
    sentences = [f"I agree with statement {i}" for i in range(50)]
    assert not is_text(sentences, 1000)
    assert is_text([*sentences, "I agree with one more"], 1000)  # 51 sentences are no categories
    assert not is_text(["three words each"] * 3, 3)


def test_texts_of_several_datasets_keep_what_they_say():
    one, other = reviews(20, 1)[0], reviews(30, 2)[0]
    both = dw.Dataset.concat([one, other])
    assert both.columns[0].kind == "text"
    said = [both.columns[0].categories[int(code)] for code in both.X[:, 0]]
    own = [d.columns[0].categories[int(code)] for d in (one, other) for code in d.X[:, 0]]
    assert said == own
    seen = other.select(one.columns)
    assert [seen.columns[0].categories[int(c)] for c in seen.X[:, 0]] == own[20:]
    few = dw.Dataset(pa.table({"body": ["no"] * 5}), [0] * 5)
    assert few.columns[0].kind == "categorical"  # by itself; a text beside the others
    assert few.select(one.columns).columns == (Column("body", "text", ("no",)),)


def test_pairs_have_no_intercept_and_no_side():
    """Swapping the two responses of every row, and the label with it, changes no digit of a score."""
    test, _ = pairs(120, 5)
    data, _ = pairs(60, 6, flipped=0.2)
    yard = dw.Yardstick.fit(test)
    assert yard.model.intercept is False
    assert not yard.recipe.center.any()
    assert yard.chosen.kind == "axes"

    def swapped(D):
        other = np.where(D.y == "first", "second", "first")
        column = D.columns[0]
        ends = [text.split(BETWEEN) for text in column.categories]
        table = pa.table({"responses": [BETWEEN.join(ends[int(c)][::-1]) for c in D.X[:, 0]]})
        made = dw.Dataset(table, other, groups=D.groups)
        return made._with(columns=(Column("responses", "pair", made.columns[0].categories),))

    np.testing.assert_allclose(yard.features(swapped(data)), -yard.features(data), atol=1e-9)
    plain = dw.score(data, test, yardstick=yard, ignore="all").value
    turned = dw.score(swapped(data), swapped(test), yardstick=yard, ignore="all").value
    assert turned == pytest.approx(plain, abs=1e-6)
