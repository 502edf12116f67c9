"""Curations, Dataset → Dataset, one file a kind; scikit-learn (and cleanlab) only, never our models.

Each is a small frozen object that is called with the data, with the test set where it looks at it, and with a
generator where chance decides: exactly what `audit(curate=…)` calls. Without a generator chance has a fixed
seed, so that a curation is a function of its dataset. Each says what it does (`what`), whether θ → D → f(D)
(`strategic`) and `why`; `by_name` makes one from its name.
"""

from .added_rows import AddRows, Fake, SelfLabel, Synthesize
from .base import Method
from .density import Peak, Smooth
from .duplicates import Deduplicate, Duplicate, NearDeduplicate
from .matching import MatchGroups, Reweight
from .names import NAMES, by_name, parse
from .removed_rows import DropLabelIssues, RemoveRows
from .subsets import Herding, KCentre, RandomSubset, Resample

__all__ = ["NAMES", "AddRows", "Deduplicate", "DropLabelIssues", "Duplicate", "Fake", "Herding", "KCentre"]
__all__ += ["MatchGroups", "Method", "NearDeduplicate", "Peak", "RandomSubset", "RemoveRows", "Resample"]
__all__ += ["Reweight", "SelfLabel", "Smooth", "Synthesize", "by_name", "parse"]
