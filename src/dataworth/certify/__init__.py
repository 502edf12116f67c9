"""Does a model keep the theorems? (`dw.check_model`).

    Z(∅) = 1,   U(D,T) = U(T,D),   U(∅,T) = 0,   log p(η|D) p(η|T) / (p(η) p(η|D,T)) = U(D,T) for every η,
    E[U(f(D),T)] ≤ E[U(D,T)] for every f of D alone,   E[exp U(D,T′)] = 1 for T′ independent of D.

The first line is arithmetic and must hold to rounding. The second is of expectations, over datasets that the
model itself simulates. At most one correct model in a thousand would fail any of the statistical outcomes
(FALSE_ALARM, shared out evenly among them; by the central limit theorem).

What only exact posteriors obey is required of models that say `exact = True`, and reported of the others; of
those, `balance` may be off by ROUGH and no more, or an evidence that lost its determinant would pass.
"""

from .certifier import CHECKS, Certificate, Outcome, check_model
from .subject import Simulator, run_trials

__all__ = ["CHECKS", "Certificate", "Outcome", "Simulator", "check_model", "run_trials"]
