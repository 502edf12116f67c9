"""Curations, Dataset → Dataset, one a file; scikit-learn (and cleanlab) only, never our models.

Each is a small frozen object that is called with the data, with the test set where it looks at it, and with a
generator where chance decides: exactly what `audit(curate=…)` calls. Each says what it does (`what`), whether
θ → D → f(D) (`strategic`) and `why`; `by_name` makes one from its name.
"""

from .add_rows import AddRows
from .base import Method
from .deduplicate import Deduplicate
from .drop_label_issues import DropLabelIssues
from .duplicate import Duplicate
from .fake import Fake
from .herding import Herding
from .k_centre import KCentre
from .match_groups import MatchGroups
from .names import NAMES, by_name, parse
from .near_deduplicate import NearDeduplicate
from .random_subset import RandomSubset
from .remove_rows import RemoveRows
from .resample import Resample
from .reweight import Reweight
from .self_label import SelfLabel
from .synthesize import Synthesize

__all__ = [
    "NAMES",
    "AddRows",
    "Deduplicate",
    "DropLabelIssues",
    "Duplicate",
    "Fake",
    "Herding",
    "KCentre",
    "MatchGroups",
    "Method",
    "NearDeduplicate",
    "RandomSubset",
    "RemoveRows",
    "Resample",
    "Reweight",
    "SelfLabel",
    "Synthesize",
    "by_name",
    "parse",
]
