"""PMI: the identities it must keep, closed forms, simulation from the prior, and every error sentence."""

import numpy as np
import pandas as pd
import pytest

from cases import CASES
from dataworth import Dataset, check_model, pmi
from dataworth.data.labels import Classes, Numeric, common_classes, is_numeric, learn_targets
from dataworth.errors import DataworthError
from dataworth.models import Linear, Logistic, Softmax
from reference import tolerance
from worlds import refusal

MODELS = [Logistic(0.5), Linear(0.5, 0.3)]
over_models = pytest.mark.parametrize("model", MODELS, ids=["logistic", "linear"])
over_cases = pytest.mark.parametrize("case", [c for c in CASES if len(c.y) > 1], ids=lambda case: case.name)


def datasets(case, model):
    y = case.numeric_labels if isinstance(model, Linear) else case.y.astype(int)
    return tuple(Dataset(case.X[rows], y[rows], weights=case.weights[rows]) for rows in case.halves())


def near(result):
    return pytest.approx(
        result.value, abs=3 * tolerance(result.log_z_joint, result.log_z_data, result.log_z_test), rel=0
    )


@over_models
@over_cases
def test_pmi_is_symmetric_and_blind_to_row_order(case, model):
    D, T = datasets(case, model)
    result = pmi(D, T, model)
    rng = np.random.default_rng(0)
    assert pmi(T, D, model).value == near(result)
    shuffled = D.take(rng.permutation(len(D))), T.take(rng.permutation(len(T)))
    assert pmi(*shuffled, model).value == near(result)
    assert result.value == result.log_z_joint - result.log_z_data - result.log_z_test


def test_names_of_classes_do_not_matter():
    D, T = datasets(CASES[0], Logistic())
    names = np.array(["ham", "spam"])
    renamed = [part.with_labels(names[part.y]) for part in (D, T)]
    swapped = [part.with_labels(names[1 - part.y]) for part in (D, T)]
    expected = pmi(D, T).value
    assert pmi(*renamed).value == pytest.approx(expected, abs=1e-9)
    assert pmi(*swapped).value == pytest.approx(expected, abs=2e-6)
    assert pmi(D.with_labels(D.y.astype(float)), T.with_labels(T.y.astype(bool))).value == pytest.approx(
        expected
    )


class World:
    """Linear-Gaussian worlds with fixed features: θ ~ N(0, C·I), labels from it, T beside D."""

    def __init__(self, seed, n=8, m=8, d=3, prior_variance=1.0, noise_variance=1.0):
        self.rng = np.random.default_rng(seed)
        self.c, self.s2, self.d = prior_variance, noise_variance, d
        self.X, self.V = self.rng.normal(size=(n, d)), self.rng.normal(size=(m, d))
        self.model = Linear(prior_variance, noise_variance, intercept=False)

    def labels(self, X, theta):
        return X @ theta + np.sqrt(self.s2) * self.rng.normal(size=len(X))

    def draw(self, independent=False):
        theta = np.sqrt(self.c) * self.rng.normal(size=self.d)
        other = np.sqrt(self.c) * self.rng.normal(size=self.d) if independent else theta
        return Dataset(self.X, self.labels(self.X, theta)), Dataset(self.V, self.labels(self.V, other))

    def information(self):
        """I(D; T) = ½ (log det S_D + log det S_T − log det S_DT), S = C·XXᵀ + s²I."""

        def log_det(X):
            return np.linalg.slogdet(self.c * X @ X.T + self.s2 * np.eye(len(X)))[1]

        return 0.5 * (log_det(self.X) + log_det(self.V) - log_det(np.vstack([self.X, self.V])))


def z_score(values):
    """Mean over its standard error."""
    return float(np.mean(values) / (np.std(values, ddof=1) / np.sqrt(len(values))))


@pytest.mark.parametrize(("n", "m", "c"), [(8, 8, 1.0), (2, 12, 0.3), (20, 5, 4.0)])
def test_mean_pmi_is_the_mutual_information(n, m, c):
    """1,000 worlds against the closed form; 4 s.e.: false alarm 6e-5."""
    world = World(1, n, m, prior_variance=c)
    values = [pmi(*world.draw(), world.model).value for _ in range(1000)]
    assert abs(z_score(np.array(values) - world.information())) < 4.0


def test_mean_of_exp_pmi_over_independent_pairs_is_one():
    """3,000 independent pairs at I = 0.2 nats; 4 s.e.: false alarm 6e-5."""
    world = World(2, n=3, m=3, d=2, prior_variance=0.3)
    assert 0.1 < world.information() < 1.0
    ratios = np.exp([pmi(*world.draw(independent=True), world.model).value for _ in range(3000)])
    assert abs(z_score(ratios - 1.0)) < 4.0


def self_labelled(world, D):
    extra = world.rng.normal(size=(len(D), world.d))
    return Dataset.concat([D, Dataset(extra, extra @ world.model.fit(D.X, D.y).mean)])


CURATIONS = {
    "drop rows": lambda world, D: D.take(np.arange(len(D) // 2)),
    "drop the largest": lambda world, D: D.take(np.argsort(np.abs(D.y))[: len(D) // 2]),
    "add noise": lambda world, D: D.with_labels(D.y + world.rng.normal(size=len(D))),
    "double": lambda world, D: Dataset.concat([D, D]),
    "shuffle": lambda world, D: D.with_labels(D.y[world.rng.permutation(len(D))]),
    "flatter": lambda world, D: D.with_labels(1.5 * D.y),
    "label itself": self_labelled,
}


@pytest.mark.parametrize("name", CURATIONS)
def test_no_blind_curation_adds_information(name):
    """E[U(f(D), T)] < E[U(D, T)], paired over 500 worlds: the loss of each is above 3 s.e."""
    world = World(3)
    losses = []
    for _ in range(500):
        D, T = world.draw()
        losses.append(pmi(D, T, world.model).value - pmi(CURATIONS[name](world, D), T, world.model).value)
    assert z_score(losses) > 3.0


GOOD = Dataset([[0.0], [1.0]], [0, 1])
CITIES = Dataset(pd.DataFrame({"size": [1.0, 2.0], "city": ["Ulm", "Bonn"]}), [0, 1])
HOLES = Dataset([[np.nan], [1.0]], [0, 1], allow_missing=True)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (([[1.0]], GOOD), "D is a list"),
        ((GOOD, None), "T is a NoneType"),
        ((CITIES, CITIES), "text columns (city)"),
        ((GOOD, HOLES), "T has missing"),
        ((GOOD, GOOD, None, "astrology"), "known forms"),
        ((GOOD, GOOD.with_labels([1, 2]), Logistic()), "3 classes (0, 1, 2); Logistic takes two"),
        ((GOOD.with_labels(["a", "b"]), GOOD, Linear()), "labels are text"),
        ((GOOD, Dataset([[0.0, 1.0]], [1])), "2 features, but 1"),
        ((GOOD, GOOD, "logistic"), "model"),
    ],
)
def test_what_is_refused(given, words):
    assert words in refusal(pmi, *given)


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        ([0, 1, 1], False),
        ([0.5, 1.5, 0.5], False),  # two values are two classes
        ([1, 2, 3], False),
        (list(range(20)), False),
        (list(range(21)), True),
        ([0.1, 0.2, 0.3], True),
        (["a", "b", "c"], False),
    ],
)
def test_what_is_numeric(y, expected):
    assert is_numeric(np.array(y)) is expected


def test_targets_are_learnt_from_the_test_set():
    X = np.zeros((4, 1))
    assert learn_targets(Dataset(X, ["b", "a", "a", "b"])) == Classes(("a", "b"))
    learnt = learn_targets(Dataset(X, [1.5, 2.5, 3.5, 4.5]))
    assert learnt == Numeric(3.0, pytest.approx(np.sqrt(1.25)))
    with pytest.raises(DataworthError, match="every row of the test set has the label 'a'"):
        learn_targets(Dataset(X, ["a"] * 4))


def test_too_many_classes_in_the_test_set():
    names = [f"n{i:02}" for i in range(21)]
    with pytest.raises(DataworthError, match=r"the test set has 21 classes \(n00, .*; at most 20"):
        learn_targets(Dataset(np.zeros((21, 1)), names))
    assert len(learn_targets(Dataset(np.zeros((20, 1)), names[:20])).names) == 20


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ((["x"], ["y", "x"]), ("x", "y")),
        (([1], [1]), ("0", "1")),
        (([0.0], []), ("0", "1")),
        ((["yes"], ["yes"]), ("yes", "not yes")),
    ],
)
def test_common_classes(labels, names):
    assert common_classes([np.array(y) for y in labels]).names == names


def test_likely_mistakes_are_sentences():
    D, T = Dataset([[0.0], [1.0], [2.0]], ["a", "b", "c"]), Dataset([[0.5], [1.5]], ["a", "c"])
    assert "give an instance, Softmax()" in refusal(pmi, D, T, Softmax)
    assert "give an instance, Logistic()" in refusal(check_model, Logistic)
    assert "labels are text, such as 'a'; Linear takes numeric labels" in refusal(pmi, D, T, Linear())
    two = refusal(pmi, D, T, Softmax(classes=2))
    assert "have 3 classes (a, b, c)" in two
    assert "classes=2" in two
