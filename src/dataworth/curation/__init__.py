"""Curations, Dataset → Dataset, one a file; scikit-learn (and cleanlab) only, never our models.

Each is a small frozen object that is called with the data, with the test set where it looks at it, and with a
generator where chance decides: exactly what `audit(curate=…)` calls. Without a generator chance has a fixed
seed, so that a curation is a function of its dataset. Each says what it does (`what`), whether θ → D → f(D)
(`strategic`) and `why`; `by_name` makes one from its name.
"""

from .add_rows import AddRows as AddRows
from .base import Method as Method
from .deduplicate import Deduplicate as Deduplicate
from .drop_label_issues import DropLabelIssues as DropLabelIssues
from .duplicate import Duplicate as Duplicate
from .fake import Fake as Fake
from .herding import Herding as Herding
from .k_centre import KCentre as KCentre
from .match_groups import MatchGroups as MatchGroups
from .names import NAMES as NAMES
from .names import by_name as by_name
from .names import parse as parse
from .near_deduplicate import NearDeduplicate as NearDeduplicate
from .peak import Peak as Peak
from .random_subset import RandomSubset as RandomSubset
from .remove_rows import RemoveRows as RemoveRows
from .resample import Resample as Resample
from .reweight import Reweight as Reweight
from .self_label import SelfLabel as SelfLabel
from .smooth import Smooth as Smooth
from .synthesize import Synthesize as Synthesize
