"""Is it a model at all? What must be kept before anything else can be tried."""

from __future__ import annotations

import numpy as np

from .subject import Result, Subject


def protocol(s: Subject) -> Result:
    """Whether fits, draws and densities are what the protocol says."""
    meaning = "fit gives a finite log_evidence, and the same again; draws and densities are numbers"
    posterior = s.model.fit(s.X, s.y, None)
    evidence = posterior.log_evidence
    if not (isinstance(evidence, (int, float, np.floating)) and np.isfinite(evidence)):
        return False, None, None, f"log_evidence is {evidence!r}; it must be a finite number"
    if not np.isfinite(s.log_z(s.all)):
        return False, None, None, "a bound model's log_z is not finite"
    if hasattr(posterior, "sample"):
        draws = [np.asarray(posterior.sample(np.random.default_rng(0), 3)) for _ in range(2)]
        if draws[0].ndim != 2 or len(draws[0]) != 3 or not np.array_equal(draws[0], draws[1]):
            return False, None, None, "sample(rng, 3) must give 3 rows of parameters, the same for one seed"
        if hasattr(posterior, "log_density") and not all(
            np.isfinite(posterior.log_density(t)) for t in draws[0]
        ):
            return False, None, None, "log_density is not finite at a draw of the posterior itself"
    return s.near(s.model.fit(s.X, s.y, None).log_evidence - evidence, meaning)
