"""Texts of known meaning."""

import json

import numpy as np

GOOD, BAD = ["good", "fine", "great", "lovely", "superb"], ["bad", "poor", "awful", "dreadful", "vile"]
FILLER = [
    "the", "a", "this", "that", "it", "was", "came", "late", "soon", "box", "parcel", "order", "with", "for",
    "and", "but",
]  # fmt: skip


def review(rng, happy, words=12):
    said = rng.choice(FILLER, words).tolist()
    for place in rng.choice(words, 3, replace=False):
        said[place] = str(rng.choice(GOOD if happy else BAD))
    return " ".join(said)


def write_pairs(path, n, seed, flipped=0.0, keep=lambda wrong: True):
    """Preference pairs, one a line, some of them flipped; those that are kept."""
    rng = np.random.default_rng(seed)
    with path.open("w") as file:
        for i in range(n):
            chosen, rejected = review(rng, 1), review(rng, 0)
            if wrong := rng.random() < flipped:
                chosen, rejected = rejected, chosen
            if keep(wrong):
                row = {"prompt": f"order {i // 2} of {seed}", "chosen": chosen, "rejected": rejected}
                file.write(json.dumps(row) + "\n")
