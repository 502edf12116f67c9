"""DW004: do the forms of the score, which are one number for exact posteriors, give one number?

The joint evidence, log Z(D∪T) − log Z(D) − log Z(T), is compared with log Z(T) under the prior p(θ|D) less
log Z(T) under p(θ): that takes D's posterior for a Gaussian where the joint evidence does not. The design
*whole* measures by the second, pairs by the first. Both by EP, whatever the result's inference: Laplace's
Gaussian is a poor density even where its evidence is good. The other forms are known to be far from the
evidence in ordinary cases (docs/checks/DW004.md), and comparing with them would say nothing.

A result in another form is compared with the evidence.
"""

from __future__ import annotations

from dataclasses import replace

from ..measure import Case, Scores
from ..models import Linear, Logistic
from .base import Check, Seen, Shift, again_by, not_run, shift_of

COSTLY = "too many rows and features to do again by EP: --thorough (thorough=True) does"


def look(case: Case) -> Seen:
    """The first few pairs in another form."""
    model, form = case.yardstick.model, case.options.form
    if isinstance(model, Linear):
        return not_run("posteriors of numeric labels are exact: all forms are one number")
    if form != "evidence":
        evidence = again_by(case, form="evidence")
        return not_run(COSTLY) if evidence is None else shift_of(case, evidence).seen(form, "evidence")
    if not isinstance(model, Logistic):
        return not_run("this model has no other form that is good enough to compare with")
    by_laplace, whole = model.inference == "laplace", case.design.arms_fixed
    ep = replace(model, inference="ep") if by_laplace else model
    own, other = ("by D's posterior", "joint evidence") if whole else ("joint evidence", "by D's posterior")
    table = again_by(case, ep, visit=Scores(bounded=True)) if whole else again_by(case, ep, "sealed")
    if table is None:
        return not_run(COSTLY)
    shift = shift_of(case, table)
    if shift.material and by_laplace:
        # whether the form or the inference did it; the latter is DW005's
        again = again_by(case, ep)
        assert again is not None
        shift = Shift(float(case.quantity(again).mean()), shift.other, shift.limit, shift.pairs)
        own = f"{own} (EP)"
    return shift.seen(own, f"{other} (EP)")


CHECK = Check(
    "DW004",
    "forms",
    "forms of the score differ by more than the interval allows for: posteriors are not Gaussian",
    "keep to the evidence, by --inference ep; let --thorough sample a few pairs; or narrow the prior",
    look,
    sealed="sealed data have one form of the score",
    prior=True,
)
