"""Many small sets by EP at once: against EP of each set, and against quadrature where that is exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataworth.inference.ep_blocks import Block, block_evidences
from dataworth.inference.geometry import Dual
from dataworth.inference.logistic import Counts
from dataworth.inference.sites import find_moments
from dataworth.models import Logistic
from dataworth.models.logistic import MANY
from reference import tilted

COUNTS = {
    "single": lambda rng, n: np.ones(n),
    "fractional": lambda rng, n: 10.0 ** rng.uniform(-3, 0.5, n),
    "heavy": lambda rng, n: 10.0 ** rng.uniform(0, 4, n),
}


def block(rng, n, d, prior_variance, kind, both):
    """n rows of d features, with counts of one label each, or of both; and a prior mean of their own."""
    X, weights = rng.normal(size=(n, d)), COUNTS[kind](rng, n)
    share = rng.random(n) if both else (rng.random(n) < 0.5).astype(float)
    return Block(
        prior_variance * X @ X.T, Counts(weights * share, weights * (1.0 - share)), rng.normal(size=n)
    )


@pytest.mark.parametrize("kind", COUNTS)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.lists(st.integers(0, 12), min_size=1, max_size=5),
    d=st.sampled_from([1, 2, 5, 20, 50]),
    log_c=st.floats(-2, 6),
    both=st.booleans(),
)
@settings(max_examples=40, deadline=None, derandomize=True)
def test_blocks_are_fitted_as_each_by_itself(kind, seed, rows, d, log_c, both):
    """The same rounds, so the same log Z to rounding; an empty block has log Z = 0."""
    rng = np.random.default_rng(seed)
    blocks = [block(rng, n, d, 10.0**log_c, kind, both) for n in rows]
    found = block_evidences(blocks)
    for one, log_z in zip(blocks, found, strict=True):
        alone = find_moments(Dual(one.gram), one.counts, None, one.offset).log_z
        assert log_z == pytest.approx(alone, abs=1e-8, rel=1e-8)
        assert (log_z == 0.0) == (len(one.offset) == 0)
    assert block_evidences(blocks[::-1]) == pytest.approx(found[::-1], abs=1e-8)
    assert block_evidences([]) == []


@pytest.mark.parametrize("prior_variance", [0.01, 1.0, 100.0, 1e6])
@pytest.mark.parametrize("kind", COUNTS)
def test_blocks_of_one_row_are_integrals(kind, prior_variance):
    rng = np.random.default_rng(3)
    blocks = [block(rng, 1, 3, prior_variance, kind, both) for both in (False, True) for _ in range(5)]
    truth = [
        tilted(one.offset[0], one.gram[0, 0], one.counts.ones[0], one.counts.zeros[0]).log_z for one in blocks
    ]
    assert block_evidences(blocks) == pytest.approx(truth, abs=1e-5, rel=1e-6)


def world(n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=d) + rng.logistic(size=n) > 0).astype(float)


@pytest.mark.parametrize("d", [1, 3])
def test_auto_is_ep_where_rows_are_few_and_laplace_where_they_are_many(d):
    """From `MANY` distinct rows per coefficient on; copies of a row are no more rows."""
    X, y = world(MANY * (d + 1), d, 1)
    auto, ep, laplace = (Logistic(1.0, inference).bind(X, y) for inference in ("auto", "ep", "laplace"))
    everything = np.arange(len(y))
    for rows, own, other in ((everything[:-1], ep, laplace), (everything, laplace, ep)):
        found = auto(rows).log_z
        assert found == own(rows).log_z
        assert found != other(rows).log_z
        assert found == pytest.approx(other(rows).log_z, abs=0.02)
    repeated = np.tile(everything[:-1], 2)
    assert auto(repeated).log_z == ep(repeated).log_z


@pytest.mark.parametrize("d", [1, 3, 9])
def test_blocks_under_laplaces_posterior_of_many_rows_are_those_under_eps(d):
    """Blocks of ten test rows, six worlds: 0.02 nats a block in the mean where Laplace begins."""
    n, m = MANY * (d + 1), 10
    blocks = [(np.arange(n + j * m, n + (j + 1) * m), None) for j in range(5)]
    gaps = []
    for seed in range(6):
        fitters = [Logistic(1.0, inference).bind(*world(n + 5 * m, d, seed)) for inference in ("auto", "ep")]
        values = [fitter.log_predictives(fitter(np.arange(n)), blocks) for fitter in fitters]
        gaps.append(np.subtract(*values))
    assert 1e-4 < np.abs(gaps).mean() < 0.02
