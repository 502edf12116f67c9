"""PMI: the identities it must keep, closed forms, simulation from the prior, and every error sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import CASES
from dataworth import Dataset, pmi
from dataworth.data.labels import Classes, Numeric, common_classes, is_numeric, learn_targets
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


# --- identities ------------------------------------------------------------------------------------------


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


@over_models
def test_rows_that_say_nothing_are_worth_nothing(model):
    """Without an intercept a row of zeros is a coin, or pure noise, whatever θ is."""
    model = type(model)(0.5, intercept=False)
    D, T = datasets(CASES[0], model)
    nothing = Dataset(np.zeros_like(D.X), D.y)
    assert pmi(nothing, T, model).value == pytest.approx(0.0, abs=1e-6)
    assert abs(pmi(D, T, model).value) > 1e-2


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


def test_logistic_is_the_default_and_bits_are_nats_over_log_2():
    D, T = datasets(CASES[0], Logistic())
    result = pmi(D, T)
    assert result.value == pmi(D, T, Logistic(1.0), form="evidence").value
    assert result.bits == pytest.approx(result.value * 1.4426950408889634, rel=1e-14)
    plain = result.to_dict()
    assert plain["bits"] == result.bits
    assert plain["value"] == result.value
    assert (plain["form"], plain["model"]) == ("evidence", repr(Logistic()))


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 8), m=st.integers(1, 8), d=st.integers(1, 5))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_the_chain_rule(seed, n, m, d):
    """log p(T₁,T₂|D) = log p(T₁|D) + log p(T₂|D,T₁), exact for Linear."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n + 2 * m, d)), rng.normal(size=n + 2 * m)
    D, A, B = (Dataset(X[s], y[s]) for s in (slice(n), slice(n, n + m), slice(n + m, None)))
    model = Linear(10.0 ** rng.uniform(-2, 2), 10.0 ** rng.uniform(-1, 1))
    both, first = Dataset.concat([A, B]), Dataset.concat([D, A])
    left = pmi(D, both, model).value + pmi(A, B, model).value
    right = pmi(D, A, model).value + pmi(first, B, model).value
    assert left == pytest.approx(right, abs=1e-7, rel=1e-9)


# --- simulation from the prior -----------------------------------------------------------------------------


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


# --- sentences -------------------------------------------------------------------------------------------


GOOD = Dataset([[0.0], [1.0]], [0, 1])
CITIES = Dataset(pd.DataFrame({"size": [1.0, 2.0], "city": ["Ulm", "Bonn"]}), [0, 1])
ANIMALS = Dataset([[0.0], [1.0], [2.0]], ["a", "b", "c"])
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
        ((GOOD, GOOD, Softmax), "give an instance, Softmax()"),
        ((ANIMALS, ANIMALS, Softmax(classes=2)), "have 3 classes (a, b, c)"),
        ((ANIMALS, ANIMALS, Softmax(classes=2)), "classes=2"),
    ],
)
def test_what_is_refused(given, words):
    assert words in refusal(pmi, *given)


# --- targets ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("targets", "labels", "numbers", "stray"),
    [
        (Classes(("cat", "dog")), ["dog", "cat", "dog"], [1.0, 0.0, 1.0], "cow"),
        (Numeric(center=10.0, scale=2.0), [10, 14], [0.0, 2.0], "a"),
    ],
)
def test_labels_go_to_numbers_and_back(targets, labels, numbers, stray):
    assert targets.encode(np.array(labels)).tolist() == numbers
    assert targets.decode(np.array(numbers)).tolist() == labels
    assert "after" in refusal(targets.encode, np.array([stray]), "after")


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
    X, names = np.zeros((4, 1)), [f"n{i:02}" for i in range(21)]
    assert learn_targets(Dataset(X, ["b", "a", "a", "b"])) == Classes(("a", "b"))
    learnt = learn_targets(Dataset(X, [1.5, 2.5, 3.5, 4.5]))
    assert learnt == Numeric(3.0, pytest.approx(np.sqrt(1.25)))
    assert "label 'a'" in refusal(learn_targets, Dataset(X, ["a"] * 4))
    assert "at most 20" in refusal(learn_targets, Dataset(np.zeros((21, 1)), names))
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
