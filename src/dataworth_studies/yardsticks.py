"""Yardsticks made by hand, to hold against the fitted one: plain features, and whitened axes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dataworth import Dataset, Logistic, Yardstick
from dataworth.data.labels import learn_targets
from dataworth.yardstick.candidates import Trial
from dataworth.yardstick.predictive import half_given_half, halves
from dataworth.yardstick.recipe import Basis, Recipe

PRIORS = (*(float(f"{m}e{e}") for e in range(-4, 3) for m in (1, 3.16)), 1000.0)
"""Prior variances that are tried on plain features: half decades."""
SPLITS = 2


def plain_yardstick(test: Dataset, seed: int, prior_variance: float | None = None) -> Yardstick:
    """Features as they are, as in the paper; C by held-out likelihood on halves of the test set."""
    y = learn_targets(test).of(test)
    splits = halves(len(test), np.random.default_rng([seed, 0x91A]), SPLITS)
    best = prior_variance or max(PRIORS, key=lambda c: half_given_half(Logistic(c), 1.0, test.X, y, splits))
    return _by_hand(test, Recipe.plain(test.columns), test.n_features, 1.0, best, seed)


def whitened_yardstick(test: Dataset, axes: int, seed: int, prior_variance: float) -> Yardstick:
    """The first principal axes of the test set's features, each of variance 1, under a given prior."""
    basis = Basis.learn(test)
    size = min(axes, basis.on("each").rank)
    recipe = basis.recipe(size, 0.0)
    white = replace(recipe, projection=recipe.projection * np.sqrt(size))  # from a mean square of 1 in all
    return _by_hand(test, white, size, 0.0, prior_variance, seed)


def _by_hand(
    test: Dataset, recipe: Recipe, size: int, exponent: float, prior_variance: float, seed: int
) -> Yardstick:
    return Yardstick(
        recipe=recipe,
        labels=learn_targets(test),
        model=Logistic(prior_variance),
        chosen=Trial(size=size, exponent=exponent, prior_variance=prior_variance, held_out=float("nan")),
        rows=len(test),
        seed=seed,
    )
