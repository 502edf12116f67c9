"""What is true of expectations, over datasets that the model itself simulates: no misreport gains, and
exp U is a ratio of densities.
"""

from __future__ import annotations

import numpy as np

from .subject import ROUGH, Check, NotApplicable, Result, Subject

TAIL = 3.0


def _no_gain(name: str, meaning: str) -> Check:
    """E[U(f(D),T)] ≤ E[U(D,T)]."""

    def check(s: Subject) -> Result:
        if name not in s.trials.gains:
            raise NotApplicable("the model takes no weights")
        gain = s.trials.gains[name]
        bound = s.quantile * float(gain.std(ddof=1)) / np.sqrt(len(gain)) + 1e-9
        return bool(gain.mean() <= bound), float(gain.mean()), float(bound), meaning

    return check


def _balance(s: Subject) -> Result:
    """E_apart[σ(U)] = E_joint[σ(−U)]: exp U is the ratio of the two densities of (D,T); bounded at any U."""
    from scipy.special import expit

    meaning = "exp U is how much likelier a pair is of one θ than of two: E σ(U) apart = E σ(−U) together"
    if not s.exact:
        meaning = f"{meaning} ({ROUGH:g} allowed: not said to be exact)"
    return s.agree(expit(s.trials.apart), expit(-s.trials.joint), meaning, 0.0 if s.exact else ROUGH)


def _mean_exp(s: Subject) -> Result:
    """E[exp U] = 1 with its tail bounded: E[exp U; U ≤ M] over independent pairs + P(U > M) of one θ is 1."""
    information = float(s.trials.joint.mean())
    if information >= 1.0:
        raise NotApplicable(f"I(D;T) is {information:.1f} nats; the mean of exp U settles only below 1")
    ours = np.where(s.trials.apart <= TAIL, np.exp(np.minimum(s.trials.apart, TAIL)), 0.0)
    theirs = (s.trials.joint > TAIL).astype(float)
    # E ours + E theirs = 1, that is E ours = E (1 − theirs)
    return s.of_exact(s.agree(ours, 1.0 - theirs, "E exp U = 1 over independent pairs"))


CHECKS: dict[str, Check] = {
    "information": _no_gain("no rows", "data processing: no rows are worth no more than D, so E U(D,T) ≥ 0"),
    "half the rows": _no_gain("half the rows", "data processing: half of D is worth no more than D"),
    "noisy labels": _no_gain("noisy labels", "data processing: D with noisy labels is worth no more than D"),
    "shuffled labels": _no_gain("shuffled labels", "truthfulness: D with its labels shuffled scores no more"),
    "rows doubled": _no_gain("rows doubled", "truthfulness: D reported twice scores no more than D"),
    "rows halved": _no_gain("rows halved", "truthfulness: D reported at half weight scores no more than D"),
    "balance": _balance,
    "mean of exp U": _mean_exp,
}
