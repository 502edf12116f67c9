"""A search for the labels of a test set in answers, by somebody who has its rows without labels.

The value of data D is a sum over test rows of log p(y | x, D) − log p(y | proportions). For known D, x and
yardstick it is linear in the labels y ∈ {0, 1}, but for the choice of the tempering. So every answer is an
equation A y + c = m with the variance of its rounding, S. The adversary's own model p is the prior, and the
best linear guess is

    E[y | m] = p + C Aᵀ (A C Aᵀ + S)⁻¹ (m − A p − c),    C = diag p (1 − p).

`benchmarks/attacks.py` does the same on real tables.
"""

from typing import NamedTuple

import numpy as np

import dataworth as dw
from dataworth.data.order import canonical
from dataworth.errors import DataworthError


class Equations(NamedTuple):
    """Known of each question: coefficients of the labels, the constant, what was told, and its variance."""

    slopes: np.ndarray
    constants: np.ndarray
    told: np.ndarray
    variances: np.ndarray


def predicted(D, T, yard, guess):
    """log p of both labels of every test row by D, in T's order; as if `guess` were the labels."""
    test = canonical(T.with_labels(guess))
    table = dw.score(D, test, yardstick=yard, ignore="all").table
    (log_p,) = (rows[:, 0] for rows in table.by_row.values())
    place = {row.tobytes(): i for i, row in enumerate(test.X)}
    order = [place[row.tobytes()] for row in T.X]
    right = np.clip(np.exp(log_p[order]), 1e-9, 1 - 1e-9)
    first = guess == np.unique(guess)[0]
    one = np.where(first, 1 - right, right)
    return np.log1p(-one), np.log(one)


def equation(D, T, yard, p, blocks=20):
    """Slopes and constant of the value of D, nats a block."""
    names = np.unique(T.y)  # the names of the classes are public
    guess = names[(p > 0.5).astype(int)]
    zero, one = predicted(D, T, yard, guess)
    share = np.clip(p.mean(), 0.01, 0.99)
    slopes = one - zero - np.log(share / (1 - share))
    return slopes / blocks, (zero - np.log(1 - share)).sum() / blocks


def questions(D, count, rng):
    """Datasets of 20 of the adversary's rows, with labels at random: each tells of another direction."""
    names = np.unique(D.y)
    for _ in range(count):
        some = D.take(np.sort(rng.permutation(len(D))[:20]))
        labels = names[rng.integers(0, 2, 20)]
        labels[:2] = names  # both are there
        yield some.with_labels(labels)


def better_and_better(D, count):
    """Datasets that grow, and are answered by a ladder as often as it allows."""
    for size in np.unique(np.geomspace(4, len(D), count).astype(int)):
        yield D.take(range(size))


def less_and_less_wrong(D, count, rng):
    """Labels that are all wrong at first: there is a long way up from there, on which a ladder answers."""
    names, codes = np.unique(D.y, return_inverse=True)
    order = rng.permutation(len(D))
    for part in np.linspace(1.0, 0.5, count):
        labels = codes.copy()
        labels[order[: round(part * len(D))]] ^= 1
        yield D.with_labels(names[labels])


def public_answers(data, T, yard, p, ladder):
    """Equations from what `--public` shows of each dataset; those that a ladder refuses tell nothing here."""
    found = []
    for D in data:
        try:
            (shown,) = dw.score(D, T, yardstick=yard, ignore="all", ladder=ladder).public().numbers
        except DataworthError:
            continue
        step = shown.interval[1] - shown.value
        found.append((*equation(D, T, yard, p), shown.value, step**2 / 12))
    return Equations(*(np.array(column) for column in zip(*found, strict=True)))


def exact_answers(data, T, yard, p):
    """Equations from values to all digits, which only the owner sees."""
    found = []
    for D in data:
        value = dw.score(D, T, yardstick=yard, ignore="all").value
        found.append((*equation(D, T, yard, p), value, 1e-4))
    return Equations(*(np.array(column) for column in zip(*found, strict=True)))


def searched(p, known):
    """The best linear guess of the labels, as 0 and 1."""
    spread = np.clip(p * (1 - p), 1e-4, None)
    A, C = known.slopes, spread[:, None] * known.slopes.T
    gap = known.told - A @ p - known.constants
    return (p + C @ np.linalg.solve(A @ C + np.diag(known.variances), gap) > 0.5).astype(int)
