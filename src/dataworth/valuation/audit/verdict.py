"""From three intervals to one word.

The paper calls "strategic" every curation with θ → D → f(D); that covers strategic, costly and harmful here.
"""

from __future__ import annotations

from ...measure.intervals import Estimate

VERDICTS = ("informative", "recycled", "inconclusive", "strategic", "harmful", "costly")
BENCHMARK_HOLDS = -0.005
"""The benchmark is shown to hold if the lower bound of its change is above −0.5 points."""
ACCUSED = 0.99
"""Level at which selection must be shown before a curation is called strategic or harmful."""
NEGLIGIBLE = 1e-3
"""Nats per block or pair below which a change is none, however sure: solvers leave less than that."""
SMALL_SELECTION = 0.5
"""Selection is shown small if its upper bound is below this share of the rise."""


def decide(
    delta: Estimate, selection: Estimate, accuracy: Estimate, by_pairs: bool = False
) -> tuple[str, str]:
    """Verdict and reason from ΔPMI (after − before), selection (after − control) and Δaccuracy.

    >>> up = Estimate(2.0, 0.5, (1.0, 3.0))  # at 99 %: 0.7 to 3.3
    >>> none = Estimate(0.0, 0.1, (-0.2, 0.2))
    >>> decide(up, up, none)[0], decide(up, none, none)[0], decide(none, up, none)[0]
    ('informative', 'recycled', 'inconclusive')
    >>> down = Estimate(-2.0, 0.5, (-3.0, -1.0))
    >>> holds = Estimate(0.01, 0.005, (0.0, 0.02))
    >>> decide(down, up, holds)[0], decide(down, down, holds)[0], decide(down, none, holds)[0]
    ('strategic', 'harmful', 'costly')
    """
    if abs(delta.value) < NEGLIGIBLE:
        return "inconclusive", "nothing changed that could be measured"
    if delta.positive:
        if selection.positive:
            return (
                "informative",
                "it raises the information, and more than a blind change of the same size does",
            )
        if selection.interval is not None and selection.interval[1] < SMALL_SELECTION * delta.value:
            return "recycled", "the rise is no more than re-using the same data gives"
        return (
            "inconclusive",
            "it rose, but cannot yet be told from re-using the same data: more test rows would",
        )
    if delta.negative:
        surely = selection.at(ACCUSED)
        holds = accuracy.interval is not None and accuracy.interval[0] > BENCHMARK_HOLDS
        if surely.positive and holds:
            return "strategic", "it keeps what the test rewards, and the data carry less information"
        if surely.negative:
            return "harmful", "it lowers the information, and more than a blind change of the same size does"
        return (
            "costly",
            "it lowers the information, but not shown to do so more than a blind change of the same size",
        )
    if delta.interval is None:
        return "inconclusive", "there is no interval: the data hold too few disjoint blocks of this size"
    more_pairs = by_pairs and delta.stderr is not None and delta.monte_carlo > 0.5 * delta.stderr
    return (
        "inconclusive",
        f"the change may be zero; {'more pairs' if more_pairs else 'only more rows'} would decide",
    )
