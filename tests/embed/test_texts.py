"""Texts to vectors by a sentence encoder, alone and in pairs; what is cached; what is refused."""

import numpy as np
import pyarrow as pa
import pytest
from tests.chunks import Elsewhere

from dataworth.data.dataset import Dataset
from dataworth.data.io import read
from dataworth.embed import encode
from dataworth.errors import DataworthError
from tiny_models import save_text_encoder

pytest.importorskip("sentence_transformers")

BODIES = ["the parcel never came to me", "all was well with the parcel", "it came late and it was wet"]
PAIRS = pa.table(
    {"prompt": ["a", "b"], "chosen": [BODIES[0], BODIES[1]], "rejected": [BODIES[2], "no and no and no"]}
)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return save_text_encoder(tmp_path_factory.mktemp("encoder"), [*BODIES, "no and no"])


def truth(encoder, texts):
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(encoder, device="cpu").encode(list(texts))


def test_texts_and_pairs_become_the_encoders_vectors(encoder, tmp_path):
    data = Dataset(pa.table({"size": [1.0, 2.0, 3.0, 3.0], "body": [*BODIES, BODIES[0]]}), [0, 1, 1, 0])
    made = encode(data, encoder, cache=tmp_path)
    assert made.names == ("size", *(f"body[{i}]" for i in range(16)))
    np.testing.assert_allclose(made.X[:, 1:], truth(encoder, [*BODIES, BODIES[0]]), atol=1e-5)
    assert np.array_equal(made.X[0, 1:], made.X[3, 1:])
    assert {column.kind for column in made.columns} == {"numeric"}
    data = read(PAIRS)
    made = encode(data, encoder, cache=False)
    assert {column.kind for column in made.columns} == {"difference"}
    chosen, rejected = (truth(encoder, PAIRS[name].to_pylist()) for name in ("chosen", "rejected"))
    signs = np.where(data.y == "first", 1, -1)[:, None]
    np.testing.assert_allclose(made.X, signs * (chosen - rejected), atol=1e-5)


def test_an_engine_encodes_what_is_not_known_and_finds_the_same(encoder, tmp_path):
    data, engine, told = read(PAIRS), Elsewhere(), []
    encode(data.take([0]), encoder, cache=tmp_path)
    made = encode(data, encoder, cache=tmp_path, engine=engine, progress=lambda *done: told.append(done))
    assert np.array_equal(made.X, encode(data, encoder, cache=False).X)
    known = {PAIRS[name].to_pylist()[0] for name in ("chosen", "rejected")}
    assert engine.asked
    assert not known & {text for piece in engine.asked for text in piece}
    assert told[-1][0] == told[-1][1]
    encode(data.take([1, 0]), encoder, cache=tmp_path, engine=(again := Elsewhere()))
    assert not again.asked


def test_what_is_no_encoder_is_said_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # no minute of retries
    with pytest.raises(DataworthError, match="holds no text encoder: give one of"):
        encode(read(PAIRS), str(tmp_path), cache=False)
    with pytest.raises(DataworthError, match=r"'no/such' cannot be loaded \(.*leave --text-encoder out"):
        encode(read(PAIRS), "no/such", cache=False)
