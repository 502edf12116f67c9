"""Prompts with responses of known meaning: a response speaks of its prompt's topic."""

import json

import numpy as np

TOPICS, COMMON = 8, 60
ASKED = [[f"ask{t}w{k}" for k in range(12)] for t in range(TOPICS)]
SAID = [[f"say{t}w{k}" for k in range(12)] for t in range(TOPICS)]
REST = [f"common{k}" for k in range(COMMON)]


def pair(rng):
    """A prompt and a response, of ten and twelve words, two thirds of them of one topic."""
    topic = rng.integers(TOPICS)
    texts = []
    for words, n in ((ASKED[topic], 10), (SAID[topic], 12)):
        own = [*rng.choice(words, 2 * n // 3), *rng.choice(REST, n - 2 * n // 3)]
        texts.append(" ".join(rng.permutation(own)))
    return tuple(texts)


def pairs(seed, n):
    rng = np.random.default_rng(seed)
    return [pair(rng) for _ in range(n)]


def mismatched(made, seed, part=0.2):
    """Some responses dealt out anew among their prompts, and which."""
    rng = np.random.default_rng([seed, 1])
    bad = rng.permutation(len(made))[: round(part * len(made))]
    rows = list(made)
    for place, other in zip(bad, np.roll(bad, 1), strict=True):
        rows[place] = (made[place][0], made[other][1])
    return rows, np.isin(np.arange(len(made)), bad)


def write(path, rows):
    """As conversations, one a line."""
    with path.open("w") as file:
        for prompt, response in rows:
            talk = [{"role": "user", "content": prompt}, {"role": "assistant", "content": response}]
            file.write(json.dumps({"messages": talk}) + "\n")
    return path
