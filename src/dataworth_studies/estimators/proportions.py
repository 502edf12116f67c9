"""Label proportions alone: what counting ones makes of the benchmark.

The pairs have all their information in the side of ½ on which the proportions of ones lie, and with 100
rows a majority mostly tells that side. So the plug-in mutual information of the two majorities,

    Σ p(m_D, m_T) log p(m_D, m_T) / (p(m_D) p(m_T)),   m = [more ones than zeros],

nearly is the true one. It knows where to look, which no other estimator here is told.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..known_mi import KnownPairs
from .base import Guess


@dataclass(frozen=True)
class Proportions:
    """Mutual information of majorities, from their 2×2 table."""

    name: str = "proportions"

    def __call__(self, pairs: KnownPairs, seed: int) -> Guess:
        """Counts, no images.

        >>> from dataworth_studies.known_mi import Randomness, make_pairs
        >>> y = np.repeat([0.0, 1.0], 50)
        >>> pairs = make_pairs(y[:, None], y, 0.5, Randomness.draw(np.random.default_rng(0), 2000, 100))
        >>> round(Proportions()(pairs, 0).value / float(np.log(2.0)), 1)  # bits
        0.5
        """
        data, test = (pairs.y[rows].mean(axis=1) > 0.5 for rows in (pairs.data, pairs.test))
        joint = np.array([[np.mean((data == a) & (test == b)) for b in (0, 1)] for a in (0, 1)])
        apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        seen = joint > 0
        return Guess(
            float((joint[seen] * np.log(joint[seen] / apart[seen])).sum()), None, {"pairs": len(pairs)}
        )
