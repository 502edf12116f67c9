"""laplace-torch as a model, against our own models on the body's features, matrices by hand, and quadrature.

Not among pytest's testpaths: laplace-torch brings torchvision, so it has an environment of its own (.ci/run).
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.special import logsumexp, softmax
from scipy.stats import multivariate_normal, norm
from torch import nn

import dataworth as dw
from dataworth.errors import DataworthError
from dataworth.models import Linear, Logistic, Model, Neural, Posterior, Softmax
from dataworth.models.laplace_torch import LaplaceTorch

STRUCTURES = ["full", "kron", "diag"]
TOLERANCE = 1e-3


def mlp(outputs, seed=0, width=6):
    torch.manual_seed(seed)
    parts = nn.Linear(5, width), nn.BatchNorm1d(width), nn.Tanh(), nn.Dropout(), nn.Linear(width, outputs)
    return nn.Sequential(*parts).double().train()


def plain(outputs, seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, outputs)).double()


def cnn(outputs, seed=0):
    torch.manual_seed(seed)
    parts = nn.Conv2d(1, 3, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(12, outputs)
    return nn.Sequential(*parts)


def rows_and_targets(n=80, inputs=5, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, inputs))
    return X, (X[:, :classes] + 0.5 * rng.standard_normal((n, classes))).argmax(axis=1).astype(float)


# --- the last layer: our own models on the body's features -------------------------------------------------


@pytest.mark.parametrize("prior_variance", [0.05, 1.0, 50.0])
@pytest.mark.parametrize("classes", [2, 3, 4])
def test_a_last_layer_has_the_evidence_of_softmax(classes, prior_variance):
    net, (X, y) = mlp(classes), rows_and_targets(classes=classes)
    ours = Softmax(prior_variance).fit(Neural.last_layer(net).features(X), y)
    theirs = LaplaceTorch(net, prior_variance=prior_variance).fit(X, y)
    assert theirs.log_evidence == pytest.approx(ours.log_evidence, abs=TOLERANCE)
    if classes == 2:  # the difference of two logits has twice the variance of one
        two = Logistic(2 * prior_variance).fit(Neural.last_layer(net).features(X), y)
        assert theirs.log_evidence == pytest.approx(two.log_evidence, abs=TOLERANCE)


def test_a_convolutions_last_layer_has_the_evidence_of_softmax():
    net, (X, y) = cnn(3), rows_and_targets(inputs=64)
    ours = Neural.last_layer(net, head=Softmax(2.0), shape=(1, 8, 8)).fit(X, y)
    theirs = LaplaceTorch(net, prior_variance=2.0, shape=(1, 8, 8), batch=30).fit(X, y)
    assert theirs.log_evidence == pytest.approx(ours.log_evidence, abs=TOLERANCE)


def test_amounts_have_the_evidence_and_the_means_of_linear():
    net, (X, _) = mlp(1), rows_and_targets()
    y = np.random.default_rng(1).standard_normal(len(X))
    head = Linear(2.0, 0.3)
    ours = Neural.last_layer(net, head=head).fit(X, y)
    model = LaplaceTorch(net, prior_variance=2.0, likelihood="regression", noise_variance=0.3)
    theirs = model.fit(X, y)
    assert theirs.log_evidence == pytest.approx(ours.log_evidence, abs=TOLERANCE)
    assert np.allclose(theirs.predict_proba(X), ours.predict_proba(X), atol=TOLERANCE)
    fitter, truth = model.bind(X, y), Neural.last_layer(net, head=head).bind(X, y)
    rows, others = np.arange(50), np.arange(50, 80)
    assert fitter.accuracy(fitter(rows), others) == pytest.approx(
        truth.accuracy(truth(rows), others), abs=TOLERANCE
    )


def test_pmi_is_that_of_softmax_on_the_features():
    net, (X, y) = mlp(3), rows_and_targets()
    phi = Neural.last_layer(net).features(X)
    names = np.array(["ant", "bee", "cat"])[y.astype(int)]
    ours = dw.pmi(dw.Dataset(phi[:50], names[:50]), dw.Dataset(phi[50:], names[50:]), Softmax(2.0))
    theirs = dw.pmi(
        dw.Dataset(X[:50], names[:50]), dw.Dataset(X[50:], names[50:]), LaplaceTorch(net, prior_variance=2.0)
    )
    assert theirs.value == pytest.approx(ours.value, abs=3 * TOLERANCE)


# --- the structures, from the matrix by hand ---------------------------------------------------------------


def hessian(phi, probabilities):
    """Σ (diag p − p pᵀ) ⊗ φφᵀ, weights ordered as torch has them: class by class, the biases last."""
    n, m = phi.shape
    k = probabilities.shape[1]
    curvature = np.einsum("nk,kl->nkl", probabilities, np.eye(k))
    curvature -= np.einsum("nk,nl->nkl", probabilities, probabilities)
    jacobian = np.zeros((n, k, k * m + k))
    for c in range(k):
        jacobian[:, c, c * m : (c + 1) * m] = phi
        jacobian[:, c, k * m + c] = 1.0
    return np.einsum("nka,nkl,nlb->ab", jacobian, curvature, jacobian)


@pytest.mark.parametrize("structure", ["full", "diag"])
def test_a_structure_keeps_its_part_of_the_hessian(structure):
    net, (X, y) = mlp(3), rows_and_targets()
    phi, prior_variance = Neural.last_layer(net).features(X), 2.0
    posterior = LaplaceTorch(net, structure, prior_variance=prior_variance).fit(X, y)
    theta = posterior.fitted.mean.numpy()
    logits = phi @ theta[:18].reshape(3, 6).T + theta[18:]
    H = hessian(phi, softmax(logits, axis=1))
    gradient = (softmax(logits, axis=1) - np.eye(3)[y.astype(int)]).T @ phi + theta[:18].reshape(3, 6) / 2.0
    assert np.abs(gradient).max() < 1e-4  # it is a mode: ½|g|²C < 1e-8
    if structure == "diag":
        H = np.diag(np.diag(H))
    precision = H + np.eye(len(H)) / prior_variance
    log_likelihood = (logits[np.arange(len(y)), y.astype(int)] - logsumexp(logits, axis=1)).sum()
    log_det = np.linalg.slogdet(precision * prior_variance)[1]
    by_hand = log_likelihood - 0.5 * theta @ theta / prior_variance - 0.5 * log_det
    assert posterior.log_evidence == pytest.approx(by_hand, abs=1e-5)
    gaussian = multivariate_normal(theta, np.linalg.inv(precision))
    draws = posterior.sample(np.random.default_rng(0), 4000)
    assert posterior.log_density(draws[0]) == pytest.approx(gaussian.logpdf(draws[0]), abs=1e-4)
    # false alarms: 21 χ²-like means at five standard errors, 1e-5
    deviation = np.sqrt(np.diag(gaussian.cov))
    assert (np.abs(draws.mean(axis=0) - theta) < 5 * deviation / np.sqrt(4000)).all()
    assert (np.abs(draws.std(axis=0) / deviation - 1) < 5 / np.sqrt(8000)).all()


def test_kfac_is_exact_for_one_row():
    """Its Hessian is a Kronecker product; with more rows KFAC is another number."""
    torch.manual_seed(0)
    net, (X, y) = nn.Linear(5, 3, bias=False), rows_and_targets()
    one, all_rows = (
        [LaplaceTorch(net, structure).fit(X[:n], y[:n]).log_evidence for structure in ("full", "kron")]
        for n in (1, 80)
    )
    assert one[1] == pytest.approx(one[0], abs=1e-5)
    assert abs(all_rows[1] - all_rows[0]) > 0.01


@pytest.mark.parametrize("weights", ["last_layer", "all"])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_every_combination_keeps_the_protocol(structure, weights):
    net, (X, y) = plain(3), rows_and_targets()
    model = LaplaceTorch(net, structure, weights)
    posterior = model.fit(X, y)
    assert isinstance(model, Model)
    assert isinstance(posterior, Posterior)
    assert model.takes == "classes"
    assert model.changes_only is posterior.changes_only is (weights == "all")
    forecast = posterior.predict_proba(X)
    assert forecast.shape == (80, 3)
    assert np.allclose(forecast.sum(axis=1), 1.0)
    assert (forecast.argmax(axis=1) == y).mean() > 0.5
    draws = posterior.sample(np.random.default_rng(0), 3)
    assert np.array_equal(draws, posterior.sample(np.random.default_rng(0), 3))
    assert np.isfinite([posterior.log_density(theta) for theta in draws]).all()
    assert model.fit(X, y).log_evidence == posterior.log_evidence
    batches = LaplaceTorch(net, structure, weights, batch=17).fit(X, y).log_evidence
    assert batches == pytest.approx(posterior.log_evidence, abs=1e-5)
    twice = model.fit(X, y, np.full(80, 2.0)).log_evidence
    assert twice == pytest.approx(model.fit(np.tile(X, (2, 1)), np.tile(y, 2)).log_evidence, abs=1e-4)


@pytest.mark.parametrize("weights", ["last_layer", "all"])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_given_nothing_it_is_the_prior(structure, weights):
    model = LaplaceTorch(mlp(3), structure, weights, prior_variance=4.0)
    prior = model.fit(np.zeros((0, 5)), np.zeros(0))
    assert prior.log_evidence == 0.0
    theta = np.random.default_rng(0).standard_normal(len(prior.fitted.mean))
    assert prior.log_density(theta) == pytest.approx(norm(0, 2.0).logpdf(theta).sum(), abs=1e-8)
    assert np.allclose(prior.predict_proba(np.ones((2, 5))), 1 / 3)


# --- training ----------------------------------------------------------------------------------------------


def test_the_module_is_left_alone_and_the_body_frozen():
    net, (X, y) = mlp(3), rows_and_targets()
    net[1].eval()
    state = {name: value.clone() for name, value in net.state_dict().items()}
    posterior = LaplaceTorch(net).fit(X, y)
    assert all(torch.equal(state[name], value) for name, value in net.state_dict().items())
    assert [part.training for part in net] == [True, False, True, True, True]
    assert all(weight.requires_grad for weight in net.parameters())
    trained = posterior.fitted.model.model
    assert torch.equal(trained[0].weight, net[0].weight)
    assert not torch.equal(trained[4].weight, net[4].weight)


def test_training_may_be_ones_own():
    """Gradient descent, to the same mode; it is handed a frozen body."""
    net, (X, y) = mlp(3), rows_and_targets()
    seen = []

    def train(module, rows, targets):
        learned = [weight for weight in module.parameters() if weight.requires_grad]
        seen.append(sum(weight.numel() for weight in learned))
        descent = torch.optim.SGD(learned, lr=0.02, momentum=0.9)
        for _ in range(2000):
            descent.zero_grad()
            loss = nn.functional.cross_entropy(module(rows), targets, reduction="sum")
            (loss + sum((weight**2).sum() for weight in learned) / 2.0).backward()
            descent.step()

    own = LaplaceTorch(net, train=train).fit(X, y).log_evidence
    assert own == pytest.approx(LaplaceTorch(net).fit(X, y).log_evidence, abs=TOLERANCE)
    assert seen == [21]


def test_training_goes_on_until_the_evidence_stands_still(monkeypatch):
    """In rounds of two steps: it must not stop at the first that is merely near."""
    net, (X, y) = mlp(3), rows_and_targets()
    ours = Softmax(2.0).fit(Neural.last_layer(net).features(X), y)
    monkeypatch.setattr("dataworth.models.laplace_torch.ROUNDS", 500)
    monkeypatch.setattr("dataworth.models.laplace_torch.STEPS", 2)
    theirs = LaplaceTorch(net, prior_variance=2.0).fit(X, y)
    assert theirs.log_evidence == pytest.approx(ours.log_evidence, abs=TOLERANCE)


def test_training_that_does_not_settle_is_refused(monkeypatch):
    monkeypatch.setattr("dataworth.models.laplace_torch.ROUNDS", 1)
    monkeypatch.setattr("dataworth.models.laplace_torch.STEPS", 2)
    with pytest.raises(DataworthError, match="training did not settle: the loss could still fall by"):
        LaplaceTorch(mlp(3)).fit(*rows_and_targets())


BAD = {
    "hessian_structure is 'dense'": lambda X, y: LaplaceTorch(mlp(3), "dense"),
    "subset_of_weights is 'some'": lambda X, y: LaplaceTorch(mlp(3), "full", "some"),
    "prior_variance is 0": lambda X, y: LaplaceTorch(mlp(3), prior_variance=0),
    "2 outputs and y other targets": lambda X, y: LaplaceTorch(mlp(2)).fit(X, y),
    "3 outputs; regression takes one": lambda X, y: LaplaceTorch(mlp(3), likelihood="regression").fit(X, y),
    "whole numbers": lambda X, y: LaplaceTorch(mlp(3)).fit(X, y, np.full(len(y), 0.5)),
    "laplace-torch has no 'kron'": lambda X, y: LaplaceTorch(mlp(3), "kron", "all").fit(X, y),
    "after its fit": lambda X, y: LaplaceTorch.from_fitted(mlp(3)),
    "one θ of length 21": lambda X, y: LaplaceTorch(mlp(3)).fit(X, y).log_density(np.zeros(3)),
}


@pytest.mark.parametrize("sentence", BAD)
def test_bad_input_gets_a_sentence(sentence):
    with pytest.raises(DataworthError, match=sentence):
        BAD[sentence](*rows_and_targets())


# --- an object that was fitted elsewhere -------------------------------------------------------------------


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_fitted_object_is_a_posterior(structure):
    net, (X, y) = mlp(3).float().eval(), rows_and_targets()
    with warnings.catch_warnings():  # packages below laplace-torch call torch.jit.script, which torch regrets
        warnings.filterwarnings("ignore", message=".*torch.jit.script", category=DeprecationWarning)
        from laplace import Laplace

        theirs = Laplace(net, "classification", hessian_structure=structure, last_layer_name="4")
        data = torch.utils.data.TensorDataset(torch.as_tensor(X).float(), torch.as_tensor(y).long())
        theirs.fit(torch.utils.data.DataLoader(data, batch_size=len(y)))
    posterior = LaplaceTorch.from_fitted(theirs)
    assert isinstance(posterior, Posterior)
    assert posterior.log_evidence == pytest.approx(float(theirs.log_marginal_likelihood()))
    assert not posterior.changes_only
    assert posterior.predict_proba(X).shape == (80, 3)
    assert posterior.sample(np.random.default_rng(0), 5).shape == (5, 21)


def test_the_pages_examples_run(capsys):
    page = Path(__file__).parents[1] / "docs" / "models" / "neural.md"
    names = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        exec(block, names)
    assert np.isfinite([float(line) for line in capsys.readouterr().out.split()]).sum() == 3


# --- whole networks: one of many modes ---------------------------------------------------------------------

NOISE, PRIOR_VARIANCE = 0.01, 4.0


class OneUnit(nn.Module):
    """f(x) = v tanh(w x): two weights, and the two modes (w, v) and (−w, −v)."""

    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
        with torch.no_grad():
            self.inner.weight.fill_(1.0)
            self.outer.weight.fill_(1.0)

    def forward(self, x):
        return self.outer(torch.tanh(self.inner(x)))


def one_unit():
    return LaplaceTorch(
        OneUnit(), "full", "all", PRIOR_VARIANCE, likelihood="regression", noise_variance=NOISE
    )


def one_unit_by_quadrature(X, y):
    """Log ∫ N(y; v tanh(wx), noise) N(w, v; 0, C) on a grid that is fine against the posterior's width."""
    grid = np.linspace(-8.0, 8.0, 1601)
    log_prior = norm(0, np.sqrt(PRIOR_VARIANCE)).logpdf(grid)
    unit = np.tanh(grid[:, None] * X[:, 0])
    squares = y @ y - 2 * np.outer(unit @ y, grid) + np.outer((unit**2).sum(axis=1), grid**2)
    log_likelihood = -0.5 * squares / NOISE - 0.5 * len(y) * np.log(2 * np.pi * NOISE)
    return logsumexp(log_likelihood + log_prior + log_prior[:, None]) + 2 * np.log(grid[1] - grid[0])


def one_unit_data(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3.0, 3.0, (n, 1))
    return dw.Dataset(X, 1.5 * np.tanh(1.2 * X[:, 0]) + np.sqrt(NOISE) * rng.standard_normal(n))


def test_pmi_of_a_whole_network_is_too_high_by_the_log_of_its_modes_and_changes_are_not():
    """Two modes: log 2 = 0.69. What Laplace's method itself misses here is at most 0.06 nats an evidence."""
    before, after, T = one_unit_data(20, 0), one_unit_data(40, 1), one_unit_data(20, 2)
    model = one_unit()
    sets = {"before": before, "after": after, "T": T}
    sets |= {f"{name}+T": dw.Dataset.concat([sets[name], T]) for name in ("before", "after")}
    exact = {name: one_unit_by_quadrature(part.X, part.y) for name, part in sets.items()}
    one_mode = {name: model.fit(part.X, part.y).log_evidence for name, part in sets.items()}
    for name in sets:
        assert exact[name] - one_mode[name] == pytest.approx(np.log(2), abs=0.1)

    def pmi(log_z, name):
        return log_z[f"{name}+T"] - log_z[name] - log_z["T"]

    for name in ("before", "after"):  # docs/models/neural.md shows these: pytest -s
        print(f"U({name}, T): quadrature {pmi(exact, name):.2f}, one mode {pmi(one_mode, name):.2f}")
    assert pmi(one_mode, "before") - pmi(exact, "before") == pytest.approx(np.log(2), abs=0.1)
    change = dw.pmi_change(before, after, T, model)
    assert change.value == pytest.approx(pmi(exact, "after") - pmi(exact, "before"), abs=0.1)
    assert change.value == pytest.approx(change.log_predictive_after - change.log_predictive_before)
    with pytest.raises(DataworthError, match=r"too high by the log of their number: use dw\.pmi_change"):
        dw.pmi(before, T, model)
    with pytest.raises(DataworthError, match="before has no rows"):
        dw.pmi_change(before.take([]), after, T, model)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_permuted_and_flipped_units_have_the_same_evidence(structure):
    """So each of the h!·2^h arrangements of tanh units adds the same Z once more."""
    X, y = rows_and_targets()
    net, other = plain(3), plain(3)
    order, sign = torch.tensor([2, 0, 3, 1]), torch.tensor([1.0, -1.0, -1.0, 1.0]).double()
    with torch.no_grad():
        other[0].weight.copy_(sign[:, None] * net[0].weight[order])
        other[0].bias.copy_(sign * net[0].bias[order])
        other[2].weight.copy_(net[2].weight[:, order] * sign)
        other[2].bias.copy_(net[2].bias)
    first, second = (LaplaceTorch(m, structure, "all").fit(X, y).log_evidence for m in (net, other))
    assert second == pytest.approx(first, abs=TOLERANCE)


def test_a_last_layer_is_certified():
    net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 3)).double()
    certificate = dw.check_model(LaplaceTorch(net), repeats=5)
    assert certificate.ok, str(certificate)
    assert sum(outcome.passed is True for outcome in certificate) >= 10
