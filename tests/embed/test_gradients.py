"""Projected gradients against autograd, the printed formula and brute force; interrupted runs."""

import os
import signal
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from tests.chunks import Elsewhere

from dataworth.embed import language_model
from dataworth.embed.gradients import embed_gradients
from dataworth.embed.language_model import signs
from dataworth.errors import DataworthError
from tiny_models import save_language_model

torch = pytest.importorskip("torch")

PAIRS = [
    (f"what is {i} plus {i} ?", f"it is {2 * i} , of course", f"I do not {'really ' * (i % 5)}know {i}")
    for i in range(23)
]
LONGEST = 160


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    texts = [language_model.TEMPLATE, *(text for pair in PAIRS for text in pair)]
    return save_language_model(tmp_path_factory.mktemp("model"), texts)


@pytest.fixture(scope="module")
def lm(directory):
    return language_model.LanguageModel(directory)


@pytest.fixture(scope="module")
def tokens(lm):
    read = language_model.Reader(lm.tokenizer, LONGEST)
    return [read(prompt, response) for prompt, *both in PAIRS[:6] for response in both]


def true_gradients(lm, layers, tokens):
    """By autograd, of −Σ log softmax at the response's tokens; no code of ours."""
    weights = [layer.weight.requires_grad_(True) for layer in layers.values()]
    logits = lm.model(input_ids=torch.tensor([tokens.ids])).logits[0]
    said = torch.tensor(tokens.ids[tokens.start :])
    loss = -logits.log_softmax(-1)[tokens.start - 1 : -1].gather(1, said[:, None]).sum()
    found = torch.autograd.grad(loss, weights)
    for weight in weights:
        weight.requires_grad_(False)
    return {name: g.double().numpy() for name, g in zip(layers, found, strict=True)}, loss.item()


def test_a_long_prompt_is_cut_at_its_beginning_and_96_tokens_of_the_response_stay(lm):
    read = language_model.Reader(lm.tokenizer, LONGEST)
    tokens = read("what is 1 plus 1 ?", "it is 2")
    words = lm.tokenizer.convert_ids_to_tokens(tokens.ids)
    assert "".join(words) == language_model.TEMPLATE.format(q="what is 1 plus 1 ?", r="it is 2")
    assert "".join(words[tokens.start :]) == "it is 2"
    tokens = read("know " * 300 + "is 2", "it is " * 300)
    words = lm.tokenizer.convert_ids_to_tokens(tokens.ids)
    assert (len(tokens), len(tokens) - tokens.start) == (LONGEST, 96)
    assert "is 2\nResponse: it is" in "".join(words)
    with pytest.raises(DataworthError, match=r"--max-tokens\) is 100.*give at least \d+"):
        language_model.Reader(lm.tokenizer, 100)


def test_signs_are_fair_and_inner_products_right_on_average():
    one = signs(0, "a", 400, 100)
    for other in (signs(1, "a", 400, 100), signs(0, "b", 400, 100)):
        # 40,000 independent signs: their mean product has s.d. 0.005; false alarm 1e-6
        assert abs((one * other).mean()) < 0.025
    assert set(np.unique(one)) == {-1.0, 1.0}
    assert abs(one.mean()) < 0.025
    assert abs(np.corrcoef(one.T)[np.triu_indices(100, 1)]).max() < 0.3  # 4,950 of s.d. 0.05: 1e-5
    rng = np.random.default_rng(2)
    G, H = rng.normal(size=(2, 6, 10))  # gradients of a layer of 10 inputs and 6 outputs

    class Layer:
        in_features, out_features, weight = 10, 6, torch.zeros(1, dtype=torch.float64)

    found = []
    for seed in range(2000):
        project = language_model.Tensorised(torch, {"w": Layer}, 32, seed)
        # G = Σ_t δ_t x_tᵀ with one token for each output
        x, delta = torch.tensor(np.stack([G, H])), torch.eye(6, dtype=torch.float64).expand(2, 6, 6)
        pair = project("w", x, delta).double().numpy()
        found.append([pair[0] @ pair[0], pair[0] @ pair[1]])
    truth, found = np.array([(G * G).sum(), (G * H).sum()]), np.array(found)
    error = (found.mean(axis=0) - truth) / (found.std(axis=0) / np.sqrt(len(found)))
    assert abs(error).max() < 5  # two numbers: false alarm 1e-6


def projected(gradients, size, seed):
    """By the matrix that a pass stands for, p_out ⊗ p_in for each entry; of our code, signs alone."""
    k, found = language_model.side(size), np.zeros(size)
    for name, G in gradients.items():
        ends = zip(("in", "out"), G.T.shape, strict=True)
        inner, outer = (signs(seed, f"{name}/{end}", n, size // k) for end, n in ends)
        for i in range(size // k**2):
            columns = slice(i * k, (i + 1) * k)
            part = inner[:, columns].T @ G.T @ outer[:, columns]
            found[i * k**2 : (i + 1) * k**2] += part.ravel() / np.sqrt(size)
    return found


def test_a_pass_gives_losses_and_projections_of_the_true_gradients(lm, tokens):
    """By autograd; rows of a batch, with padding, as alone."""
    for modules in ("last-quarter", "model.layers.0.*"):  # the first block has no graph before it
        layers = lm.layers(modules)
        run = language_model.TensorisedPass(lm, layers, 48, 3)
        truth = [true_gradients(lm, layers, one) for one in tokens]
        expected = [projected(gradients, 48, 3) for gradients, _ in truth]
        found, losses = run(tokens)
        assert losses == pytest.approx([loss for _, loss in truth], rel=1e-5)
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(run(tokens[:1])[0][0], expected[0], rtol=1e-3, atol=1e-4)
        assert abs(found).max() > 0.1


def test_layers_are_those_of_the_last_quarter_unless_named(lm):
    assert {name.split(".")[2] for name in lm.layers()} == {"3"}
    assert (len(lm.layers()), len(lm.layers("all"))) == (7, 4 * 7 + 1)
    assert list(lm.layers("*.0.*.down_proj")) == ["model.layers.0.mlp.down_proj"]
    with pytest.raises(DataworthError, match=r"'wrong' is no linear layer.*model\.layers\.0"):
        lm.layers(["*.down_proj", "wrong"])


def test_gradients_are_what_a_pass_gives(directory, lm, tmp_path):
    store = embed_gradients(PAIRS, directory, cache=tmp_path, size=32, batch=4, max_tokens=LONGEST)
    read = language_model.Reader(lm.tokenizer, LONGEST)
    run = language_model.TensorisedPass(lm, lm.layers(), 32, 0)
    for i in (0, 11, 22):
        for half, response in enumerate(PAIRS[i][1:]):
            one = read(PAIRS[i][0], response)
            vectors, losses = run([one])
            np.testing.assert_allclose(store.vectors()[i, half], vectors[0], rtol=1e-3, atol=1e-4)
            assert store.nll[i, half] == pytest.approx(losses[0], rel=1e-5)
            assert store.tokens[i, half] == len(one) - one.start
    assert (store.about["template"], len(store.about["modules"])) == (language_model.TEMPLATE, 7)


def test_an_engine_finds_the_same(directory):
    asked = {"size": 16, "batch": 5, "max_tokens": LONGEST, "cache": False}
    here, engine = embed_gradients(PAIRS, directory, **asked), Elsewhere()
    there = embed_gradients(PAIRS, directory, engine=engine, **asked)
    assert sum(len(batch) for piece in engine.asked for batch in piece) == 2 * len(PAIRS)
    assert np.array_equal(there.vectors(), here.vectors())
    assert np.array_equal(there.nll, here.nll)
    assert there.about == here.about


def test_losses_of_pairs_are_made_of_the_two_responses(directory, lm, tmp_path):
    """The parts of the two responses add up to the gradient of the loss of the pair, by autograd."""
    store = embed_gradients(PAIRS[:4], directory, cache=tmp_path, size=64, max_tokens=LONGEST)
    read, layers = language_model.Reader(lm.tokenizer, LONGEST), lm.layers()
    beta = 0.3
    for per_token, loss in product((False, True), ("bradley-terry", "dpo")):
        both = store.vectors(loss, per_token=per_token, beta=beta)
        for i in range(4):
            two = [read(PAIRS[i][0], response) for response in PAIRS[i][1:]]
            weights = [layer.weight.requires_grad_(True) for layer in layers.values()]
            worth = -language_model.negative_log_likelihoods(lm, two)
            if per_token:
                worth = worth / torch.tensor([len(t) - t.start for t in two])
            margin = beta * (worth[0] - worth[1])
            if loss == "dpo":
                margin = margin - margin.detach()  # the reference is the model itself
            found = torch.autograd.grad(-torch.nn.functional.logsigmoid(margin), weights)
            for weight in weights:
                weight.requires_grad_(False)
            expected = projected({n: g.numpy() for n, g in zip(layers, found, strict=True)}, 64, 0)
            np.testing.assert_allclose(both[i].sum(axis=0), expected, rtol=2e-3, atol=2e-4)
    with pytest.raises(DataworthError, match="loss is 'hinge'"):
        store.vectors("hinge")


KILLED = """
import os, signal, sys
import torch
from dataworth.embed.gradients import embed_gradients
from test_gradients import LONGEST, PAIRS
torch.set_num_threads(1)
def tell(done, total):
    if done == 5:
        os.kill(os.getpid(), signal.SIGKILL)
embed_gradients(PAIRS, sys.argv[1], cache=sys.argv[2], size=32, batch=4, max_tokens=LONGEST, progress=tell)
"""


def test_a_killed_run_continues_with_the_batch_in_flight(directory, tmp_path, monkeypatch):
    here = os.path.dirname(__file__)
    path = os.pathsep.join([here, os.path.dirname(here), *sys.path])
    command = [sys.executable, "-c", KILLED, directory, str(tmp_path / "cut")]
    killed = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=False)
    assert killed.returncode == -signal.SIGKILL
    computed, run = [], language_model.TensorisedPass.__call__
    monkeypatch.setattr(
        language_model.TensorisedPass, "__call__", lambda *given: computed.append(1) or run(*given)
    )
    found, before = [], torch.get_num_threads()
    torch.set_num_threads(1)
    for store, batches in (("cut", 12 - 5), ("whole", 12), ("cut", 0)):
        computed.clear()
        asked = {"size": 32, "batch": 4, "max_tokens": LONGEST, "cache": tmp_path / store}
        found.append(embed_gradients(PAIRS, directory, **asked))
        assert len(computed) == batches
    torch.set_num_threads(before)
    for one in found[1:]:
        assert np.array_equal(one.projected, found[0].projected)
        assert np.array_equal(one.nll, found[0].nll)


def test_what_cannot_be_done_is_said_in_one_sentence(directory, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # no minute of retries

    def embed(pairs=PAIRS, model=directory, **options):
        return embed_gradients(pairs, model, **{"max_tokens": LONGEST, "size": 32, "cache": False, **options})

    bare = tmp_path / "bare"
    language_model.LanguageModel(directory).model.save_pretrained(bare)
    for sentence, call in {
        r"bare' has no tokenizer \(tokenizer\.json": lambda: embed(model=str(bare)),
        "'nowhere' is no directory, and no tokenizer that": lambda: embed(model="nowhere"),
        "1 of 2 responses have no tokens": lambda: embed([("a", "b", "")]),
        "there are no pairs": lambda: embed([]),
        "size is 0, but": lambda: embed(size=0),
        r"device \(--device\) is 'cuda:7'": lambda: embed(device="cuda:7"),
    }.items():
        with pytest.raises(DataworthError, match=sentence) as told:
            call()
        assert str(told.value).rstrip(".").count(". ") == 0
