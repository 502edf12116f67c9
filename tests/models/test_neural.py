"""A frozen torch body: the head's evidence on the body's features, which the tests compute by hand."""

import pickle

import numpy as np
import pytest

from dataworth import Dataset, check_model, pmi
from dataworth.errors import DataworthError
from dataworth.models import Linear, Logistic, Neural, Softmax
from golden.sentences import all_refused

torch = pytest.importorskip("torch")
nn = torch.nn

TOLERANCE = 1e-6


def mlp(seed=0, inputs=5, width=7):
    """Linear, batch norm with statistics of its own, tanh, dropout; in training mode, as it is made."""
    torch.manual_seed(seed)
    body = nn.Sequential(nn.Linear(inputs, width), nn.BatchNorm1d(width), nn.Tanh(), nn.Dropout(0.5)).double()
    with torch.no_grad():
        body[1].running_mean.normal_()
        body[1].running_var.uniform_(0.5, 2.0)
        body[1].weight.normal_()
        body[1].bias.normal_()
    return body.train()


def mlp_features(body, X):
    """What `mlp` computes in evaluation mode, in numpy."""
    linear, norm = (
        {k: v.numpy() for k, v in {**dict(part.named_buffers()), **dict(part.state_dict())}.items()}
        for part in (body[0], body[1])
    )
    z = X @ linear["weight"].T + linear["bias"]
    z = (z - norm["running_mean"]) / np.sqrt(norm["running_var"] + body[1].eps)
    return np.tanh(z * norm["weight"] + norm["bias"])


def cnn(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Dropout()
    )


def cnn_features(body, X):
    """The convolution and the rest in numpy, in double precision; the body itself is in single."""
    images = X.reshape(-1, 8, 8)
    kernel, bias = (p.detach().double().numpy() for p in (body[0].weight, body[0].bias))
    windows = np.lib.stride_tricks.sliding_window_view(images, (3, 3), axis=(1, 2))
    z = np.einsum("nijab,cab->ncij", windows, kernel[:, 0]) + bias[:, None, None]
    z = np.maximum(z / np.sqrt(1.0 + body[1].eps), 0.0)  # a batch norm that has seen nothing
    return z.reshape(len(X), 4, 2, 3, 2, 3).mean(axis=(3, 5)).reshape(len(X), -1)


def rows_and_targets(n=60, inputs=5, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, inputs))
    score = X[:, :classes] + 0.5 * rng.standard_normal((n, classes))
    return X, score.argmax(axis=1).astype(float)


HEADS = [Logistic(c, inference) for c in (0.1, 1.0, 30.0) for inference in ("laplace", "ep")]


@pytest.mark.parametrize("head", [*HEADS, Linear(2.0, 0.3), None], ids=str)
def test_a_head_has_the_evidence_of_the_bodys_features(head):
    """Without a head it is Logistic() for two classes and Softmax() for more."""
    body, (X, y) = mlp(), rows_and_targets()
    if isinstance(head, Linear):
        y = np.random.default_rng(4).standard_normal(len(X))
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    truth = (head or Logistic()).fit(mlp_features(body, X), y, weights)
    posterior = Neural(body, head).fit(X, y, weights)
    assert posterior.log_evidence == pytest.approx(truth.log_evidence, abs=TOLERANCE)
    theta = posterior.sample(np.random.default_rng(2), 1)[0]
    assert posterior.log_density(theta) == pytest.approx(truth.log_density(theta), abs=1e-4)
    fresh = np.random.default_rng(3).standard_normal((300, 5))  # more than a batch, and not a multiple of it
    expected = truth.predict_proba(mlp_features(body, fresh))
    assert np.allclose(posterior.predict_proba(fresh), expected, atol=TOLERANCE)
    if head is None:
        _, several = rows_and_targets(classes=3)
        rows = np.arange(0, len(y), 2)
        truth = Softmax().bind(mlp_features(body, X), several)(rows).log_z
        assert Neural(body).bind(X, several)(rows).log_z == pytest.approx(truth, abs=TOLERANCE)


def test_three_classes_are_softmax_on_the_features_of_a_convolution():
    body, (X, y) = cnn(), rows_and_targets(inputs=64, classes=3)
    by_hand = cnn_features(body, X)
    truth = Softmax(0.7).fit(by_hand, y)
    posterior = Neural(body, Softmax(0.7), shape=(1, 8, 8)).fit(X, y)
    # the body is in single precision: its features are off by 1e-7, and the evidence with them
    assert posterior.log_evidence == pytest.approx(truth.log_evidence, abs=1e-5)
    exactly = Softmax(0.7).fit(Neural(body, shape=(1, 8, 8)).features(X), y)
    assert posterior.log_evidence == pytest.approx(exactly.log_evidence, abs=TOLERANCE)
    body.double()
    in_double = Neural(body, Softmax(0.7), shape=(1, 8, 8)).fit(X, y)
    assert in_double.log_evidence == pytest.approx(truth.log_evidence, abs=TOLERANCE)


@pytest.mark.parametrize("form", ["evidence", "eta", "product", "kl", "sealed", "integral"])
def test_every_form_of_pmi_is_that_of_the_features(form):
    body, (X, y) = mlp(), rows_and_targets()
    D, T = Dataset(X[:35], y[:35]), Dataset(X[35:], y[35:])
    phi = [Dataset(mlp_features(body, part.X), part.y) for part in (D, T)]
    assert pmi(D, T, Neural(body, Logistic(2.0)), form).value == pytest.approx(
        pmi(*phi, Logistic(2.0), form).value, abs=TOLERANCE
    )


def test_the_body_is_left_as_it_was():
    body, (X, y) = mlp(), rows_and_targets()
    body[3].eval()  # a mixture of modes
    modes = [part.training for part in body.modules()]
    state = {name: value.clone() for name, value in body.state_dict().items()}
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    Neural(body).fit(X, y)
    with pytest.raises(DataworthError, match="does not take a batch of shape"):
        Neural(body).fit(X[:, :2], y)  # a body that fails is put back, too
    assert [part.training for part in body.modules()] == modes
    assert all(torch.equal(state[name], value) for name, value in body.state_dict().items())
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)


@pytest.mark.parametrize(("body", "shape"), [(mlp(inputs=64).float(), None), (cnn(), (1, 8, 8))])
def test_a_rows_features_do_not_depend_on_its_neighbours(body, shape):
    X, _ = rows_and_targets(n=200, inputs=64)
    model = Neural(body, shape=shape)
    features = model.features(X)
    assert np.array_equal(features, model.features(X))
    order = np.random.default_rng(5).permutation(len(X))
    assert np.array_equal(features[order], model.features(X[order]))
    assert np.array_equal(features[150:], model.features(X[150:]))
    twice = model.features(np.repeat(X[:70], 2, axis=0))
    assert np.array_equal(twice[::2], twice[1::2])
    assert model.features(X[:0]).shape == (0, features.shape[1])


class Residual(nn.Module):
    """Not a Sequential, and its last layer is not the last that was added."""

    def __init__(self):
        super().__init__()
        self.out = nn.Linear(5, 3)
        self.first = nn.Linear(5, 5)

    def forward(self, x):
        return self.out(x + torch.relu(self.first(x)))


def test_a_trained_network_gives_up_its_last_layer():
    """What remains, put through that layer, is the network."""
    torch.manual_seed(0)
    X, y = rows_and_targets()
    plain = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 3))
    residual = Residual()
    for model, last, net in (
        (Neural.last_layer(plain), plain[2], plain),
        (Neural.last_layer(residual, "out"), residual.out, residual),
    ):
        features = torch.as_tensor(model.features(X), dtype=torch.float32)
        whole = net(torch.as_tensor(X, dtype=torch.float32))
        assert torch.allclose(last(features), whole, atol=1e-6)
        copy = pickle.loads(pickle.dumps(model))
        assert copy.fit(X, y).log_evidence == model.fit(X, y).log_evidence
        assert not last._forward_pre_hooks
    with pytest.raises(DataworthError, match="no layer 'nowhere'"):
        Neural.last_layer(plain, "nowhere")
    with pytest.raises(DataworthError, match="no linear layer"):
        Neural.last_layer(nn.Sequential(nn.ReLU()))


def test_sentences():
    X = rows_and_targets()[0]
    bodies = (lambda batch: batch.sum(dim=0)), (lambda batch: batch / 0.0)
    cases = [(Neural, "resnet"), (Neural, mlp(), 3), (Neural(mlp()).features, X.ravel())]
    cases += [(Neural(cnn(), shape=(1, 8, 8)).features, X), *((Neural(body).features, X) for body in bodies)]
    all_refused("neural", cases)


@pytest.mark.parametrize("head", [None, Logistic(10.0, "ep"), Softmax(classes=3), Linear(1.0, 0.5)])
def test_every_head_is_certified(head):
    """What holds of expectations is simulated only for heads that simulate; repeats are few for time."""
    certificate = check_model(Neural(mlp(inputs=2), head), repeats=20)
    assert certificate.ok, str(certificate)
