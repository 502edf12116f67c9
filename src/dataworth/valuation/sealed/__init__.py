"""Sealed scoring: a vendor sends N(μ, P⁻¹), the posterior of the yardstick's coefficients, and no rows.

The buyer takes it as the prior of each block Tⱼ of the test set,

    value = mean over j of  log Z(Tⱼ) under N(μ, P⁻¹)  −  log Z(Tⱼ) under the yardstick's prior N(0, C·I),

which is log p(Tⱼ|D) − log p(Tⱼ) where N(μ, P⁻¹) is D's posterior: exact for numbers, EP for two classes.

What can be checked without the rows is. For n rows of total weight w, and d coefficients:

    P ⪰ I/C                                        a likelihood that is log-concave only ever adds
    rank(P − I/C) ≤ n                              each row adds one direction
    P_dd − 1/C ≤ w/4    (numeric labels: = w/s²)   the intercept's feature is 1; no row has a site above ¼
    ‖μ‖ ≤ √C (√(2 w log 2) + √min(n, d))           two classes: how far the mode, and the mean from it, can be
"""

from .limits import check_sealed, doubts
from .posterior import Sealed, seal
from .scoring import measure_sealed, refuse_unsealable

__all__ = ["Sealed", "check_sealed", "doubts", "measure_sealed", "refuse_unsealable", "seal"]
