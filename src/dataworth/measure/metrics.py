"""Benchmark scores beside accuracy, for classes that are not equally common.

At 3 % positives a model that never says "positive" is right in 97 %. So three more are told of every arm:

- balanced accuracy: the mean over classes of the proportion of their rows that are recognised;
- AUC: how often a row of a class gets more probability of it than a row of another (mean over classes);
- log loss: −log probability of the label, in nats a row.

They are made of all test rows: a block of twenty may have no positive. In the design *whole* each row has a
number whose mean is the score and whose spread is its error's (the influence function; of the AUC, DeLong's):

    balanced accuracy   θ + (right_i − recall_c) / (C p_c)        for a row of class c with proportion p_c
    AUC, of class c     θ + (P(other below i) − θ) / p_c,   or θ + (P(own above i) − θ) / (1 − p_c)
    log loss            −log p(y_i | x_i)

In designs that draw pairs each is of one pair.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Flags
from ..data.dataset import Dataset
from ..data.labels import Classes
from ..errors import DataworthError
from ..models import Fit, Fitter
from ..yardstick.yardstick import Yardstick
from .designs import Sample, weights_of

METRICS = ("balanced_accuracy", "auc", "log_loss")
BENCHMARKS = ("accuracy", *METRICS)
RARE = 0.2
"""Proportion of the rarest class of the test set below which accuracy is not the benchmark."""
LEAST = 1e-300
"""Probability below which its logarithm is not taken."""


def check_metric(metric: object) -> None:
    """One of the known scores, or none; else a sentence."""
    if metric is not None and metric not in BENCHMARKS:
        raise DataworthError(f"metric is {metric!r}; the benchmark scores are {', '.join(BENCHMARKS)}.")


def chosen_metric(asked: str | None, yardstick: Yardstick, test: Dataset) -> str:
    """The benchmark that was asked for, or the one that suits the classes of the test set."""
    if isinstance(yardstick.labels, Classes):
        return asked or default_metric(yardstick.targets(test), len(yardstick.labels.names), test.weights)
    if asked not in (None, "accuracy"):
        raise DataworthError(
            f"metric is {asked!r}, but the labels are numbers, whose benchmark is R²: drop it."
        )
    return "accuracy"


def default_metric(y: Array, classes: int, weights: Array | None = None) -> str:
    """Accuracy, or balanced accuracy where a class is rare."""
    counts = np.bincount(y.astype(np.intp), weights, minlength=classes)
    return "balanced_accuracy" if counts.min() < RARE * counts.sum() else "accuracy"


def rewarded(metric: str) -> float:
    """1 for a score that is to rise, −1 for a loss."""
    return -1.0 if metric == "log_loss" else 1.0


def of_pair(fitter: Fitter, fit: Fit, test: Sample) -> list[float]:
    """Balanced accuracy, AUC and log loss of a fit on the test rows of a pair; numeric labels have none."""
    if getattr(fitter, "numbers", False) or not hasattr(fitter, "probabilities"):
        return [float("nan")] * len(METRICS)
    chances = fitter.probabilities(fit, test.rows)
    return of_rows(chances, fitter.y[test.rows].astype(np.intp), weights_of(test))


def by_row(chances: Array, y: Array, weights: Array) -> Array:
    """One number a row of each score (rows × scores), whose mean by weights is the score."""
    found = np.tile(of_rows(chances, y, weights), (len(y), 1))
    right, present = chances.argmax(axis=1) == y, [c for c in np.unique(y) if weights[y == c].sum() > 0]
    for c in present:
        own, share = y == c, float(weights[y == c].sum() / weights.sum())
        recall = float(np.average(right[own], weights=weights[own]))
        found[own, 0] += (right[own] - recall) / share / len(present)
        if share < 1.0:
            beaten = placements(chances[:, c], own, weights)
            among = float(np.average(beaten[own], weights=weights[own]))
            found[:, 1] += (beaten - among) / np.where(own, share, 1.0 - share) / len(present)
    found[:, 2] = -np.log(np.maximum(chances[np.arange(len(y)), y], LEAST))
    return found


def of_rows(chances: Array, y: Array, weights: Array) -> list[float]:
    """The three scores; not a number where a class that they need has no rows."""
    present = [c for c in range(chances.shape[1]) if weights[y == c].sum() > 0]
    if not present:
        return [float("nan")] * len(METRICS)
    right = chances.argmax(axis=1) == y
    recalls = [float(np.average(right[y == c], weights=weights[y == c])) for c in present]
    areas = [area(chances[:, c], y == c, weights) for c in present]
    own = np.maximum(chances[np.arange(len(y)), y], LEAST)
    loss = -float(np.average(np.log(own), weights=weights))
    return [float(np.mean(recalls)), float(np.mean(areas)), loss]


def placements(score: Array, positive: Flags, weights: Array) -> Array:
    """Of a positive how many negatives stand below it, of a negative how many positives above; ties half."""
    _, place = np.unique(score, return_inverse=True)
    up, down = np.bincount(place, weights * positive), np.bincount(place, weights * ~positive)
    below, above = np.cumsum(down) - down / 2, up.sum() - np.cumsum(up) + up / 2
    return np.where(positive, below[place] / down.sum(), above[place] / up.sum())


def area(score: Array, positive: Flags, weights: Array) -> float:
    """Area under the ROC curve: P(score of a positive > of a negative), ties counting half."""
    if not (weights[positive].any() and weights[~positive].any()):
        return float("nan")
    return float(np.average(placements(score, positive, weights)[positive], weights=weights[positive]))
