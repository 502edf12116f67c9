"""Projected gradients of a language model on real pairs: how fast, and how faithful.

    python benchmarks/gradients.py --pairs DIR/rmb_helpfulness.jsonl.gz --model SmolLM2.gguf \\
        --out results/preference/gradients.json

**Speed**: processor seconds (one thread), in batches of 1 and 8, of the last quarter of the blocks and of
all. **Faithful**: cosines of projections against those of the true ones, 400 responses of 200 pairs, on
layers whose true gradients fit into memory
(5.7 GB for SmolLM2-135M). A quarter of an hour in all.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch

from dataworth.data.io.preferences import read_preferences
from dataworth.embed.language_model import (
    LanguageModel,
    Reader,
    TensorisedPass,
    negative_log_likelihoods,
)

SEED, SIZE, TOKENS, PAIRS = 16, 1024, 160, 200
MODULES = ["*.28.self_attn.*", "*.29.self_attn.*", "*.29.mlp.up_proj", "*.29.mlp.down_proj"]


def processor_seconds(call):
    begun = time.process_time()
    call()
    return time.process_time() - begun


def speed(lm, tokens, modules, batch):
    """Seconds a batch."""
    layers = lm.layers(modules) if modules else lm.layers()
    made = TensorisedPass(lm, layers, SIZE, SEED)
    made(tokens[:batch])  # its signs are made once
    return {
        "modules": modules or "last quarter",
        "weights": sum(layer.weight.numel() for layer in layers.values()),
        "batch": batch,
        "tensorised": round(processor_seconds(lambda: made(tokens[:batch])), 3),
    }


def cosines(vectors):
    """The cosine of every pair of responses."""
    gram = sum(part @ part.T for part in vectors).astype(float)
    norms = np.sqrt(np.diag(gram))
    return (gram / norms[:, None] / norms)[np.triu_indices(len(gram), 1)]


def faithful(lm, tokens, modules):
    """Correlations of projected with true cosines."""
    layers = lm.layers(modules)
    fast = np.concatenate(
        [TensorisedPass(lm, layers, SIZE, SEED)(tokens[i : i + 8])[0] for i in range(0, len(tokens), 8)]
    )
    gradients = {
        name: np.empty((len(tokens), layer.weight.numel()), np.float32) for name, layer in layers.items()
    }
    for row, response in enumerate(tokens):
        weights = [layer.weight.requires_grad_(True) for layer in layers.values()]
        with torch.enable_grad():
            (loss,) = negative_log_likelihoods(lm, [response])
            for name, gradient in zip(layers, torch.autograd.grad(loss, weights), strict=True):
                gradients[name][row] = gradient.flatten()
    true = cosines(gradients.values())
    return {
        "responses": len(tokens),
        "modules": modules,
        "true cosines": {"mean": round(true.mean(), 4), "sd": round(true.std(), 4)},
        "correlation": {"tensorised": round(float(np.corrcoef(cosines([fast]), true)[0, 1]), 4)},
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs")
    parser.add_argument("--model")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true", help="a smoke test: without a model, nothing is run")
    parser.add_argument(
        "--modules", nargs="+", default=["*.28.self_attn.*", "*.29.self_attn.*", "*.29.mlp.*"]
    )
    args = parser.parse_args()
    if args.quick and (args.model is None or args.pairs is None):
        print("skipped: a language model and pairs are needed (--model, --pairs)")
        return
    if None in (args.pairs, args.model, args.out):
        parser.error("--pairs, --model and --out are needed")
    torch.set_num_threads(1)
    pairs = read_preferences(args.pairs).pairs
    chosen = np.random.default_rng(SEED).choice(len(pairs), PAIRS, replace=False)
    lm = LanguageModel(args.model)
    read = Reader(lm.tokenizer, TOKENS)
    tokens = [read(pairs[i][0], pairs[i][k]) for i in chosen for k in (1, 2)]
    result = {
        "schema": "dataworth/benchmark/gradients/1",
        "model": Path(args.model).name,
        "pairs": Path(args.pairs).name,
        "seed": SEED,
        "size": SIZE,
        "max_tokens": TOKENS,
        "speed": [
            speed(lm, tokens, *case) for case in ((None, 1), (None, 8), ("*.layers.*", 1), ("*.layers.*", 8))
        ],
    }
    print(json.dumps(result["speed"], indent=1), flush=True)
    result["faithful"] = faithful(lm, tokens, args.modules)
    print(json.dumps(result["faithful"], indent=1))
    result["versions"] = {name: version(name) for name in ("numpy", "torch", "transformers")}
    result["versions"]["python"] = platform.python_version()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
