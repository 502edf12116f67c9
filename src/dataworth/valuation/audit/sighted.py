"""What a curation does to models that see the declared attribute.

A declared attribute is no feature. A curation that removes rows until attribute and label go together as in
the test set then does nothing for the yardstick's own model, unless other features show the attribute; to
whoever trains with it, the benchmark rises, and what is known of rows whose attribute does not tell the label
falls. So where the association of attribute and label moved towards the test set's, at 99 %
(`checks.selection`), the same arms are measured once more with the attribute among the features.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...checks.selection import Coded, labels_of, moved
from ...data.dataset import Dataset
from ...measure import Case, Pool, find_yardstick, measure
from ...wording import in_nats
from .verdict import ACCUSED, Judged, judge


def sighted(case: Case, parts: Mapping[str, Dataset]) -> Judged | None:
    """What the table says with the attribute among the features; None if nothing was chosen by it.

    parts: of the case's pool, the test set last.
    """
    name, test = case.test.attribute_name, parts["test"]
    seen = [one.attributes for one in (*case.data.values(), case.test)]
    if case.plan.attribute is None or name in test.names or any(one is None for one in seen):
        return None
    values, codes = np.unique(np.concatenate([one for one in seen if one is not None]), return_inverse=True)
    before, after, own = np.split(codes, np.cumsum([len(one) for one in case.data.values()]))
    coded = Coded(name, tuple(values.tolist()), (before, after, own))
    if moved(case, coded, labels_of(case), 1) is None:
        return None
    shown = {role: _with_attribute(one) for role, one in parts.items()}
    options = replace(case.options, yardstick=None, run_dir=None, progress=None)
    yardstick = find_yardstick(shown["test"], options)
    rows = {role: yardstick.numbered(one).select(yardstick.recipe.columns) for role, one in shown.items()}
    other = replace(case, yardstick=yardstick, options=options)
    return judge(case.plan, measure(other, Pool.build(yardstick, rows, options.own_model), case.plan))


def _with_attribute(data: Dataset) -> Dataset:
    assert data.attributes is not None
    return data.with_categories(data.attribute_name, data.attributes)


def judged_by_both(found: Judged, seen: Judged | None) -> Judged:
    """*strategic*, if it is to models that see the attribute, and raises nothing for those that do not.

    Repairs of labels move the association towards the test set's, too, and models that see the attribute then
    trust it more; but they raise what is known without it.
    """
    if seen is None or seen.balanced is None or found.delta.positive or found.verdict == "strategic":
        return found
    if seen.verdict != "strategic" or not seen.balanced.change.at(ACCUSED).negative:
        return found
    told = f"to models that see the {seen.balanced.column}, {seen.reason}"
    return found._replace(verdict="strategic", reason=told, balanced=seen.balanced)


def sighted_notes(case: Case, seen: Judged) -> tuple[str, ...]:
    """The numbers, beside those of models that do not see the attribute."""
    name, free = case.test.attribute_name, seen.balanced
    told = [f"ΔPMI {in_nats(seen.delta.value, seen.delta.interval, sign='+')} a block"]
    if free is not None:
        change = in_nats(free.change.value, free.change.interval, sign="+")
        told.append(f"{change} a row where the {name} does not tell the label")
    return (
        f"the {name} goes with the label more as in the test set after curation than before; to models that "
        f"see the {name}: {', '.join(told)}",
    )
