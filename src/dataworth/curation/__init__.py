"""Curations: Dataset → Dataset, one a file; scikit-learn only, never our models.

Each is a small frozen object that is called with the data, with the test set where it looks at it, and with a
generator where chance decides: exactly what `audit(curate=…)` calls.
"""

from .add_rows import AddRows
from .duplicate import Duplicate
from .match_groups import MatchGroups
from .random_subset import RandomSubset
from .remove_rows import RemoveRows
from .self_label import SelfLabel

__all__ = ["AddRows", "Duplicate", "MatchGroups", "RandomSubset", "RemoveRows", "SelfLabel"]
