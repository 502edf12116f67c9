"""Curations, Dataset → Dataset, one file a kind; scikit-learn (and cleanlab) only, never our models.

Each is a small frozen object that is called with the data, with the test set where it looks at it, and with a
generator where chance decides: exactly what `audit(curate=…)` calls. Without a generator chance has a fixed
seed, so that a curation is a function of its dataset. Each says what it does (`what`), whether θ → D → f(D)
(`strategic`) and `why`; `by_name` makes one from its name.
"""

from .added_rows import AddRows as AddRows
from .added_rows import Fake as Fake
from .added_rows import SelfLabel as SelfLabel
from .added_rows import Synthesize as Synthesize
from .base import Method as Method
from .density import Peak as Peak
from .density import Smooth as Smooth
from .duplicates import Deduplicate as Deduplicate
from .duplicates import Duplicate as Duplicate
from .duplicates import NearDeduplicate as NearDeduplicate
from .matching import MatchGroups as MatchGroups
from .matching import Reweight as Reweight
from .names import NAMES as NAMES
from .names import by_name as by_name
from .names import parse as parse
from .removed_rows import DropLabelIssues as DropLabelIssues
from .removed_rows import RemoveRows as RemoveRows
from .subsets import Herding as Herding
from .subsets import KCentre as KCentre
from .subsets import RandomSubset as RandomSubset
from .subsets import Resample as Resample
