"""The yardstick: what it depends on, what it chooses, what it refuses."""

import json
from dataclasses import replace
from functools import cache, reduce
from itertools import product

import numpy as np
import polars as pl
import pytest

import dataworth as dw
from dataworth.atomic import BLANK, with_checksum
from dataworth.data.dataset import Dataset
from dataworth.yardstick.file import digest_of
from dataworth.yardstick.recipe import Basis
from dataworth.yardstick.yardstick import Yardstick
from golden.sentences import all_refused
from worlds import classes, flipped, numeric_labels, refusal

SMALL = classes(40, seed=7, d=2)


@cache
def small_yardstick():
    return Yardstick.fit(SMALL)


def test_it_is_fitted_from_the_test_set_alone():
    """Score, audit and rank of very different data use the same yardstick: the one of their test set."""
    own, asked = Yardstick.fit(SMALL, prior_variance=1.0), {"prior_variance": 1.0, "ignore": "all"}
    good, bad = classes(60, seed=8, d=2), flipped(classes(20, seed=9, d=2), 0.5, seed=9)[0]
    results = [dw.score(bad, SMALL, **asked), dw.audit(bad, good, SMALL, **asked)]
    results.append(dw.rank({"good": good, "bad": bad}, SMALL, **asked))
    assert [one.yardstick for one in results] == [own] * 3
    assert Yardstick.fit(SMALL).to_dict() == small_yardstick().to_dict()
    assert Yardstick.fit(SMALL, seed=4).chosen != small_yardstick().chosen  # other halves


def test_too_few_rows():
    """Weights are honoured: flipping the labels of rows of weight 0 changes nothing, of weight 1 it does."""
    wrong, bad = flipped(SMALL, 0.3, seed=0)
    weights = np.where(bad, 0.0, 1.0)
    right, other = (Yardstick.fit(T.with_weights(weights)).chosen for T in (SMALL, wrong))
    assert right == other != small_yardstick().chosen
    assert "19 rows" in refusal(Yardstick.fit, SMALL.take(range(19)))
    assert Yardstick.fit(SMALL.take(range(20)), prior_variance=1.0).rows == 20


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "yardstick.json"
    made = Yardstick.fit(SMALL, seed=2, prior_variance=1.0)
    basis = Basis.learn(SMALL)
    chosen = replace(made.chosen, kind="axes", scale="each", size=2, exponent=1.0, bandwidth=None)
    replace(made, recipe=basis.recipe(2, 1.0), chosen=chosen).save(path)
    return path


def test_a_saved_yardstick_measures_alike(saved):
    made = Yardstick.fit(SMALL, seed=2, prior_variance=1.0)
    made.published(SMALL, "a key of our own").save(saved)
    loaded, D = Yardstick.load(saved), classes(30, seed=3, d=2)
    assert loaded.digest == made.digest == json.loads(saved.read_text())["digest"]
    assert loaded.features(D).tobytes() == made.features(D).tobytes()
    assert loaded.targets(D).tolist() == made.targets(D).tolist()
    assert (loaded.model, loaded.chosen, loaded.labels) == (made.model, made.chosen, made.labels)
    # it holds no hash of labels, but who has the key can show what it was fitted to
    assert SMALL.content_hash() not in saved.read_text()
    assert loaded.is_of(SMALL, "a key of our own")
    assert not loaded.is_of(SMALL.with_labels(SMALL.y[::-1]), "a key of our own")
    assert not loaded.is_of(SMALL, "a key of their own")


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"\x00\x01", b"\xff\xfe\x00", b"[" * 100_000, b"[]", b"null", b"{}",
        b'"dataworth/yardstick/3"',
    ],
    ids=lambda content: repr(content[:12]),
)  # fmt: skip
def test_a_file_that_is_no_yardstick_is_refused(tmp_path, content):
    (tmp_path / "y.json").write_bytes(content)
    for path in (tmp_path / "y.json", tmp_path):
        assert "is not a yardstick" in refusal(Yardstick.load, path)
    assert "there is no yardstick at" in refusal(Yardstick.load, tmp_path / "none.json")


def signed(content):
    """A file with a digest and a checksum that fit: anybody can compute them."""
    told = {"checksum": BLANK, **content, "digest": digest_of(content)}
    return with_checksum(json.dumps(told).encode())


def entries(saved):
    return {k: v for k, v in json.loads(saved.read_text()).items() if k not in ("checksum", "digest")}


def places(entry, path=()):
    """Every entry of a file, by its path; of lists the first only."""
    inside = entry.items() if isinstance(entry, dict) else list(enumerate(entry))[:1]
    for key, value in inside:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


@pytest.mark.parametrize(
    "test",
    [
        classes(40, seed=7, d=2), numeric_labels(40, seed=5, d=2), SMALL.with_labels(np.arange(40) % 3),
        Dataset(pl.DataFrame({"a": ["u", "v", "w", "v"] * 10, "b": SMALL.X[:, 0]}), SMALL.y),
    ],
    ids=["two classes", "numeric", "three classes", "categories"],
)  # fmt: skip
def test_a_forged_file_is_refused_whatever_was_done_to_it(test, tmp_path):
    """Every field gone, of another type, not finite, or of another shape, under a digest that fits."""
    path = tmp_path / "y.json"
    Yardstick.fit(test, prior_variance=1.0).save(path)
    content = entries(path)
    found = [place for place in places(content) if place != ("schema",)]
    assert len(found) > 25
    strange = [float("nan"), float("inf"), 10**400, [], {}, [[1.0], [1.0, 2.0]], object, "further", "doubled"]
    for place, value in product(found, strange):
        broken, key = json.loads(json.dumps(content)), place[-1]
        parent = reduce(lambda d, key: d[key], place[:-1], broken)
        if value is object:
            del parent[key]
        elif value == "doubled" and isinstance(parent[key], list):
            parent[key] = parent[key] * 2
        elif value == "further" and isinstance(parent[key], dict):
            parent[key]["further"] = 1
        else:
            parent[key] = value
        if broken != content and not harmless(place, value):
            path.write_bytes(signed(broken))
            assert "is no whole yardstick" in refusal(Yardstick.load, path), (place, value)


def harmless(place, value):
    """Any text may stand for a name and a hash, and any whole number for the rows and the seed."""
    named = place[-1] == "test_hash" or place[:2] in {("recipe", "columns"), ("labels", "classes")}
    return (isinstance(value, str) and named) or (isinstance(value, int) and place in {("rows",), ("seed",)})


FORGED = [
    lambda d: d["labels"].update(classes=["0"]), lambda d: d["labels"].update(classes=[*map(str, range(21))]),
    lambda d: d["model"].update(prior_variance=0.0), lambda d: d["chosen"].update(size=77),
    lambda d: d["chosen"].update(kind="both"), lambda d: d["chosen"].update(bandwidth=0.7),
    lambda d: d["recipe"]["scale"].update(name="magic"),
    lambda d: d["recipe"]["scale"].update(stretch=[1.0, -1.0]),
    lambda d: d["recipe"]["columns"][0].__setitem__(0, "x1"),
]  # fmt: skip


THREE = SMALL.with_labels(np.arange(40) % 3)


REFUSED = [
    (SMALL.with_labels([1] * 40), {}), (THREE, {"inference": "ep"}), (Dataset(np.ones((40, 3)), SMALL.y), {}),
    (Dataset(SMALL.X, SMALL.y, groups=["p"] * 40), {}), (THREE, {"model": "logistic"}),
    (SMALL, {"model": "linear"}), (numeric_labels(40, seed=0), {"model": "logistic"}),
    (SMALL, {"inference": "magic"}), *[(SMALL, {"prior_variance": c}) for c in (0.0, np.inf, np.nan)],
]  # fmt: skip


def test_what_depends_on_labels_is_rounded():
    """A number at full precision would be a hash of the labels: held-out likelihood, sight, centre, scale."""
    chosen = Yardstick.fit(classes(120, seed=3)).chosen
    told = chosen.held_out, chosen.held_out_stderr, chosen.sight or 0.0
    assert told == tuple(round(number, digits) for number, digits in zip(told, (2, 2, 0), strict=True))
    assert chosen.prior_variance == float(f"{chosen.prior_variance:.3g}")
    labels = Yardstick.fit(numeric_labels(120, seed=3)).labels
    assert (labels.scale, labels.center) == (float(f"{labels.scale:.3e}"), float(f"{labels.center:.6g}"))


def test_sentences(saved):
    """Of what is no test set or option; of files that were changed, under a digest that fits and without."""
    whole = entries(saved)

    def load(change, fitting):
        content = json.loads(json.dumps(whole))
        change(content)
        told = {"checksum": BLANK, **content, "digest": digest_of({})}
        saved.write_bytes(signed(content) if fitting else json.dumps(told).encode())
        return Yardstick.load(saved)

    cases = [lambda t=test, o=options: Yardstick.fit(t, **o) for test, options in REFUSED]
    all_refused(
        "yardstick", cases + [(load, one, fitting) for one in FORGED for fitting in (False, True)], saved
    )
