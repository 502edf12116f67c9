"""Sealed data: against exact values, against forgeries, and against hundreds of damaged files."""

import json
import re
import struct
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from scipy.stats import norm

import dataworth as dw
from commands import call
from dataworth.atomic import BLANK, CHECKSUM, with_checksum
from dataworth.data.keys import commit
from dataworth.data.labels import Classes, Numeric
from dataworth.measure.designs import DATA, Sample, Whole
from dataworth.measure.options import Options
from dataworth.measure.prepare import Pool
from dataworth.measure.tempered import Predictions, Task
from dataworth.valuation.sealed import Sealed, check_sealed, doubts, measure_sealed, seal, sealed_arm
from dataworth.yardstick.candidates import Trial
from dataworth.yardstick.recipe import Recipe
from golden.sentences import all_recorded, all_refused
from reference import mixed
from worlds import classes, flipped, numeric_labels, refusal

MUTANTS = 120
KEY = "a key of sixteen or more"


def by_hand(k, model, labels):
    """A yardstick that takes k features as they are."""
    columns = dw.Dataset(np.zeros((1, k)), [0]).columns
    return dw.Yardstick(
        recipe=Recipe.plain(columns),
        labels=labels,
        model=model,
        chosen=Trial(size=k, exponent=1.0, prior_variance=model.prior_variance, held_out=0.0),
        test_hash="0" * 64,
        rows=40,
        seed=0,
    )


def plain(k=2, prior_variance=1.0):
    return by_hand(k, dw.Logistic(prior_variance), Classes(("0", "1")))


def measured(candidates, test, yard, **options):
    return measure_sealed("rank", candidates, test, Options.parse("rank", {"yardstick": yard, **options}))


def values(candidates, test, yard, **options):
    return measured(candidates, test, yard, **options).table.pmi


def blocks_of(test, count, seed=0):
    design = Whole({}, Sample(np.arange(len(test))), count, seed)
    return [test.take(design.draw(i).test.rows) for i in range(count)]


SETS = {
    "two classes": (classes(80, 1), classes(300, 2)),
    "numbers": (numeric_labels(80, 1), numeric_labels(300, 2)),
    "wrong labels": (flipped(classes(80, 3), 0.25, 0)[0], classes(300, 4)),
    "doubled rows": (classes(60, 5).take(np.r_[0:60, 0:60]), classes(300, 6)),
    "some rows thrice": (classes(60, 5).take(np.r_[0:60, 0:20, 0:20]), classes(300, 6)),
    "stretched": (dw.Dataset(3.0 * classes(80, 7).X, classes(80, 7).y), classes(300, 8)),
}


@pytest.mark.parametrize("name", SETS)
def test_sealing_changes_nothing(name):
    data, test = SETS[name]
    yard = dw.Yardstick.fit(test)
    told = [dw.score(one, test, yardstick=yard, ignore="all") for one in (data, seal(data, yard))]
    assert told[1].value == pytest.approx(told[0].value, abs=1e-3)  # a file's sites are settled further
    assert told[1].accuracy.value == pytest.approx(told[0].accuracy.value)


def test_sharpening_gains_nothing():
    """Who sends a precision that is too high is scored as if they had not. What is left is a window's
    edge, and the share of the prior in a precision."""
    data, test = classes(60, 21), classes(300, 22)
    yard = dw.Yardstick.fit(test)
    honest = seal(data, yard)
    forged = replace(honest, precision=2.0 * honest.precision, weight=2.0 * honest.weight)
    found = values({"honest": honest, "forged": forged}, test, yard).mean(axis=0)
    assert found[1] - found[0] < 0.02


def test_the_scores_of_sealed_data_are_the_mixture_over_temperings():
    """By Gaussians known in full: y ~ N(xμ, xP⁻¹x + s²) of every row, tempered, on a grid of 25."""
    rng = np.random.default_rng(0)
    yard = by_hand(2, dw.Linear(1.0, 0.5, intercept=False), Numeric())
    X = rng.normal(size=(50, 2))
    y = X @ [1.0, -0.5] + 0.5 * rng.normal(size=50)
    honest, test = seal(dw.Dataset(X[:10], y[:10]), yard), dw.Dataset(X[10:], y[10:])

    def says(precision, mean, block):
        spread = np.sqrt(np.einsum("ij,ij->i", block.X @ np.linalg.inv(precision), block.X) + 0.5)
        return norm(block.X @ mean, spread).logpdf(block.y)

    grid = np.empty((25, 40))
    for k in range(25):
        r = 2.0 ** (k - 12)
        precision = np.eye(2) + r * (honest.precision - np.eye(2))
        mean = np.linalg.solve(precision, r * honest.precision @ honest.mean)
        grid[k] = np.concatenate([says(precision, mean, block) for block in blocks_of(test, 10)])
    table = measured({"honest": honest}, test, yard).table
    by_block = mixed(grid).reshape(10, 4).sum(axis=1)
    assert table.pmi[:, 0] == pytest.approx(by_block - table.reference, abs=1e-8)


@pytest.fixture
def sealed():
    return seal(classes(60, 10, d=2), plain(), key=KEY)


@pytest.fixture
def file(sealed, tmp_path):
    sealed.save(tmp_path / "v.safetensors")
    return tmp_path / "v.safetensors"


def test_a_file_comes_back_bit_by_bit(sealed, file):
    loaded = Sealed.load(file)
    assert loaded.mean.tobytes() == sealed.mean.tobytes()
    assert (loaded.precision.tobytes(), loaded.facts()) == (sealed.precision.tobytes(), sealed.facts())
    assert loaded.content_hash() == sealed.content_hash()
    again = seal(classes(60, 10, d=2), plain(), key=KEY)
    again.save(file.with_name("again.safetensors"))
    assert file.with_name("again.safetensors").read_bytes() == file.read_bytes()
    assert loaded.key is None
    assert KEY.encode() not in file.read_bytes()
    test = classes(40, 11, d=2)
    assert np.array_equal(values({"a": loaded}, test, plain()), values({"a": sealed}, test, plain()))


def test_the_commitment_needs_rows_and_key(sealed):
    data = classes(60, 10, d=2)
    assert sealed.is_of(data, KEY)
    assert not sealed.is_of(data, KEY + "!")
    assert not sealed.is_of(data.take(range(59)), KEY)
    assert sealed.commitment == commit(data, KEY).hash  # one scheme: `dataworth commit` gives the same hash
    assert seal(data, plain()).commitment != seal(data, plain()).commitment  # random keys


def edited(change):
    """What makes of a file one whose header and facts are changed."""

    def of(raw):
        (length,) = struct.unpack_from("<Q", raw)
        header = json.loads(raw[8 : 8 + length])
        facts = json.loads(header["__metadata__"]["dataworth"])
        changed = change(header, facts)
        if "__metadata__" in header:
            header["__metadata__"]["dataworth"] = json.dumps(facts)
        text = changed if isinstance(changed, bytes) else json.dumps(header).encode()
        return restamped(struct.pack("<Q", len(text)) + text + raw[8 + length :])

    return of


def restamped(raw):
    """The bytes with a checksum that fits, which anybody can compute."""
    return with_checksum(re.sub(CHECKSUM.pattern.encode(), BLANK.encode(), raw, count=1))


def in_header(**changes):
    return lambda header, facts: header["precision"].update(changes)


def in_facts(**changes):
    return lambda header, facts: facts.update(changes)


HEADERS = {
    "other type": in_header(dtype="F32"), "huge shape": in_header(shape=[10**9, 10**9]),
    "offsets overlap": in_header(data_offsets=[0, 72]),
    "one array more": lambda header, facts: header.update(more=header["mean"]),
    "no metadata": lambda header, facts: header.pop("__metadata__") and None,
    "more metadata": lambda header, facts: header["__metadata__"].update(more="1"),
    "not UTF-8": lambda header, facts: b'{"\xff\xfe": 1}', "deep": lambda header, facts: b"[" * 200_000,
    "NaN in it": lambda header, facts: b'{"mean": NaN}',
    "twice the same name": lambda header, facts: (
        json.dumps(header)[:-1] + ', "mean": ' + json.dumps(header["mean"]) + "}"
    ).encode(),
    "other schema": in_facts(schema="dataworth/sealed/3"),
    "no checksum": lambda header, facts: facts.pop("checksum") and None,
    "rows are huge": in_facts(rows=10**30), "weight is negative": in_facts(weight=-1.0),
    "counts are not the rows": in_facts(counts={"0": 1, "1": 1}),
    "yardstick is no hash": in_facts(yardstick="abc"), "version with an escape": in_facts(version="\x1b[31m"),
    "more facts": in_facts(more=1),
}  # fmt: skip


FILES = {name: edited(change) for name, change in HEADERS.items()} | {
    "seven bytes": lambda raw: raw[:7], "cut short": lambda raw: raw[:-8],
    "eight bytes more": lambda raw: raw + bytes(8), "text": lambda raw: b"x,y\n1,2\n" * 50,
    "a header of 2**63 bytes": lambda raw: struct.pack("<Q", 2**63) + raw[8:],
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_damaged_and_hostile_files_are_refused(file, name):
    file.write_bytes(FILES[name](file.read_bytes()))
    sentence = refusal(Sealed.load, file)
    assert sentence.startswith(f"{file}: ")
    assert "dataworth seal" in sentence


SURER = np.diag([0.0, 0.0, 60 / 4])
FORGERIES = {
    "less than the prior in one direction": lambda s: replace(s, precision=np.diag([0.5, 1.0, 1.0])),
    "an intercept that is too sure": lambda s: replace(s, precision=s.precision + SURER),
    "overflowing": lambda s: replace(s, precision=1e308 * np.eye(3)),
    "a mean that is too far": lambda s: replace(s, mean=100.0 * np.ones(3)),
    "a mean that overflows": lambda s: replace(s, mean=1e300 * np.ones(3)),
    "more directions than rows": lambda s: replace(s, rows=2, counts={"0": 1, "1": 1}),
    "other classes": lambda s: replace(s, counts={"a": 30, "b": 30}),
    "no classes": lambda s: replace(s, counts=None),
    "fewer coefficients": lambda s: replace(s, mean=s.mean[:2], precision=s.precision[:2, :2]),
    "another yardstick": lambda s: replace(s, yardstick="0" * 64),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_that_show_are_refused(sealed, name):
    check_sealed(sealed, plain(), "v")
    sentence = refusal(check_sealed, FORGERIES[name](sealed), plain(), "v")
    assert sentence.startswith("v ")
    expected = {"fewer coefficients": "3", "another yardstick": "yardstick="}
    assert expected.get(name, "cannot be the posterior") in sentence


def test_honest_posteriors_are_never_refused():
    """Few and many rows, narrow and wide priors, separable, random and one-class labels, weights. Of
    numeric labels the intercept's precision is known exactly."""
    yard = by_hand(3, dw.Linear(0.7, 0.3), Numeric())
    honest = seal(numeric_labels(50, 1), yard)
    check_sealed(honest, yard, "v")
    for rows in (49, 51):
        assert "intercept" in refusal(check_sealed, replace(honest, rows=rows, weight=rows), yard, "v")
    rng = np.random.default_rng(0)
    for _ in range(60):
        k, n = int(rng.choice([1, 3, 20])), int(rng.choice([1, 2, 10, 80]))
        X = 10 ** rng.uniform(-1, 1.5) * rng.normal(size=(n, k))
        y = [X[:, 0] > 0, rng.random(n) < 0.5, np.ones(n)][rng.integers(3)]
        data = dw.Dataset(X, np.asarray(y, dtype=int), weights=rng.choice([0.1, 1.0, 5.0], size=n))
        yard = plain(k, 10 ** rng.uniform(-4, 3))
        check_sealed(seal(data, yard), yard, "v")


def test_claims_that_rows_cannot_back_are_doubted(sealed):
    test = classes(40, 11, d=2).X

    def told(one):
        return doubts(one, plain(), check_sealed(one, plain(), "v"), test, "v")

    assert told(sealed) == []
    few = replace(sealed, rows=3, weight=3.0, counts={"0": 1, "1": 2}, mean=0 * sealed.mean)
    few = replace(few, precision=np.diag([1e6, 1e6, 1.5]))
    assert [("nats" in n, "precision" in n) for n in told(few)] == [(True, False), (False, True)]


def test_score_and_rank_take_sealed_data(sealed):
    """A third of the open rows stand there twice, two stand in the test set; some checks need rows of all."""
    yard, test, other = plain(), classes(80, 11, d=2), classes(40, 14, d=2)
    twice = dw.Dataset.concat([other, other.take(range(20)), test.take(range(2))])
    one = dw.score(sealed, test, yardstick=yard)
    ranking = dw.rank({"v": sealed, "twice": twice}, test, yardstick=yard)
    assert {r.name: r.value for r in ranking}["v"] == pytest.approx(one.value)
    assert (one.design, one.details.form, one.details.data_rows) == ("whole", "sealed", 60)
    assert {r.name: r.rows for r in ranking} == {"v": 60, "twice": 60}
    for result in (one, ranking):
        assert any("cannot be checked" in note for note in result.notes)
    assert any("2 test rows" in note for note in ranking.notes)
    assert any("sealed first" in note for note in ranking.notes)
    fires = {check.name: check.failed for check in ranking.checks}
    assert fires["duplicates"] is True
    assert [fires[name] for name in ("leaks", "classes", "shift", "chance")] == [False] * 4
    assert [fires[name] for name in ("forms", "inference", "prior-range", "size")] == [None] * 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What a buyer and two vendors have, and one sealed file."""
    folder = tmp_path_factory.mktemp("sealed")
    parts = {"vendor": classes(150, 13), "other": classes(40, 14), "test": classes(80, 15)}
    for name, data in parts.items():
        columns = {f"x{j}": column for j, column in enumerate(data.X.T)}
        pyarrow.csv.write_csv(pa.table(columns | {"label": data.y}), folder / f"{name}.csv")
    dw.Yardstick.fit(dw.read(folder / "test.csv"), prior_variance=1.0).save(folder / "y.json")
    seal(dw.read(folder / "vendor.csv"), dw.Yardstick.load(folder / "y.json")).save(folder / "v.safetensors")
    return folder


REFUSED = """
    audit v.safetensors other.csv --test test.csv | score other.csv --test v.safetensors
    rank v.safetensors --test test.csv --form kl | score v.safetensors --test test.csv --pairs 10
    score v.safetensors --test test.csv --prior-variance 2 | seal other.csv --yardstick y.json -o w.csv
    seal v.safetensors --yardstick y.json -o w.safetensors
    seal vendor.csv --yardstick y.json -o v.safetensors
"""


def test_sentences(folder, monkeypatch, sealed, tmp_path):
    monkeypatch.chdir(folder)
    said = []
    for words in REFUSED.strip().replace("\n", "|").split("|"):
        code, out, err = call(*words.split())
        said += [line for line in err.splitlines() if "guessed" not in line and not line.endswith("…")]
        assert (code, out) == (2, "")
    all_recorded("sealed-commands", said, folder)
    data, test, places = classes(30, 17), classes(60, 18), [tmp_path, tmp_path / "none", tmp_path / "huge"]
    three = by_hand(3, dw.Softmax(1.0), Classes(("0", "1", "2")))
    unknown = by_hand(3, dw.Linear(1.0, dw.InverseGamma(2.0, 1.0)), Numeric())
    with places[2].open("wb") as file:
        file.truncate(2**40)  # sparse
    cases = [(seal, data, "y.json"), (seal, data, three), (seal, numeric_labels(20, 16), unknown)]
    cases += [(Sealed.load, place) for place in (3, *places)]
    cases += [(sealed.save, tmp_path / name) for name in ("x.txt", "none/x.safetensors")]
    all_refused("sealed", [*cases, (dw.audit, sealed, data, test)], tmp_path)


def mutate(raw, rng):
    """A file whose numbers are forged."""
    (length,) = struct.unpack_from("<Q", raw)
    numbers = np.frombuffer(raw[8 + length :], dtype="<f8").copy()
    mean, precision = numbers[:3], numbers[3:].reshape(3, 3)
    kind = rng.integers(3)
    if kind == 0:  # one number, anything
        numbers[rng.integers(12)] = rng.choice(
            [np.nan, np.inf, -np.inf, 0.0, 1e308, -1e308, 5e-324, 1e150, 1.1]
        )
    elif kind == 1:  # all of the precision, still symmetric
        precision *= rng.choice([0.0, -1.0, 1e-3, 1.01, 2.0, 10.0, 1e3, 1e9, 1e200])
    else:
        mean *= rng.choice([0.0, -1.0, 1.5, 3.0, 10.0, 1e3, 1e9, 1e200])
        extra = rng.normal(size=3) * 10 ** rng.uniform(-3, 6)
        precision += np.outer(extra, extra) * (rng.random() < 0.8)
    return raw[: 8 + length] + numbers.tobytes()


def test_mutants_are_refused_or_scored(file, tmp_path):
    """Under checksums that fit. Warnings are errors here: anything but a sentence or a finite score fails."""
    raw, test, rng = file.read_bytes(), classes(40, 11, d=2), np.random.default_rng(0)
    assert list(json.loads(raw[8 : 8 + struct.unpack_from("<Q", raw)[0]])["mean"]["data_offsets"]) == [0, 24]
    place = tmp_path / "mutant.safetensors"
    refused, scored = [], 0
    for _ in range(MUTANTS):
        place.write_bytes(restamped(mutate(raw, rng)))
        try:
            found = values({"v": Sealed.load(place)}, test, plain())
        except dw.DataworthError as error:
            refused.append(str(error))
        else:
            assert np.isfinite(found).all()
            scored += 1
    assert len(refused) + scored == MUTANTS
    assert all(sentence and sentence.isprintable() for sentence in refused)
    assert min(len(refused), scored) > MUTANTS / 20  # both ways are walked


def test_classes_are_those_of_quadrature():
    """One feature and the intercept: log p(y_i | x_i, D) on a grid, for 144 test rows and data of 25."""
    slope, intercept = np.meshgrid(*[np.linspace(-14.0, 14.0, 401)] * 2)

    def log_likelihood(part):
        signs = 2.0 * part.y - 1.0
        terms = (s * (x * slope + intercept) for s, x in zip(signs, part.X[:, 0], strict=True))
        return -sum(np.logaddexp(0.0, -f) for f in terms)

    yard, off = by_hand(1, dw.Logistic(4.0, "ep"), Classes(("0", "1"))), []
    for data_seed, test_seed in ((3, 4), (30, 130), (31, 131)):
        drawn = classes(25, data_seed, d=2), classes(48, test_seed, d=2)
        data, test = (dw.Dataset(part.X[:, :1], part.y) for part in drawn)
        given = log_likelihood(data) - (slope**2 + intercept**2) / (2 * 4.0)
        pool = Pool.build(yard, {"test": test}, dw.Logistic(4.0, "ep"))
        posterior = sealed_arm(pool, dw.Logistic(4.0, "ep"), seal(data, yard), "a", 0.0)
        task = Task.of(Whole({}, pool.samples["test"], 12, 0), pool, 12, bounded=True, given={})
        rows = Predictions.of(task, DATA, posterior)
        said = np.bincount(rows.block, rows.scores(0))
        for i, block in enumerate(task.tests):
            rows = [test.take([row]) for row in block.rows]
            both = [np.logaddexp.reduce((given + log_likelihood(row)).ravel()) for row in rows]
            off.append(said[i] - sum(both) + len(rows) * np.logaddexp.reduce(given.ravel()))
    assert np.abs(off).max() < 0.05  # of four rows
    assert abs(np.mean(off)) < 0.01
