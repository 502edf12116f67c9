"""One fit shared out by partitions: that of all rows at once, the same bits on every engine."""

import numpy as np
from numpy.testing import assert_allclose
from tests.chunks import partition

from dataworth.inference.partial_sums import At, find_mode
from dataworth.measure.engines import Local
from dataworth.measure.partitions import sums_over
from dataworth.models import Logistic


def test_the_fit_of_files_is_that_of_their_rows(tmp_path):
    rng = np.random.default_rng(0)
    X = np.hstack([rng.standard_normal((900, 4)), np.ones((900, 1))])
    y = (X @ rng.standard_normal(5) + rng.logistic(size=900) > 0).astype(float)
    files = [tmp_path / f"{i}.npy" for i in range(3)]
    for file, rows in zip(files, np.split(np.column_stack([X, y]), [100, 600]), strict=True):
        np.save(file, rows)

    def fitted(engine):
        sums_at = sums_over(engine, partition, files)
        return find_mode(sums_at, 0.5, At(np.zeros(5), sums_at(np.zeros(5))))[0]

    one, two = fitted(Local(1)), fitted(Local(2))
    assert (one.coef == two.coef).all()
    assert one.log_z == two.log_z
    whole = Logistic(0.5).fit(X[:, :4], y)
    assert_allclose(one.coef, whole.mean, atol=1e-7)
    assert_allclose(one.log_z, whole.log_evidence, rtol=1e-10)
