"""The public names, for type checkers and editors; `__init__.py` imports each when it is first used."""

from .certify import Certificate as Certificate
from .certify import check_model as check_model
from .data.dataset import Dataset as Dataset
from .data.io import read as read
from .data.keys import Commitment as Commitment
from .data.keys import commit as commit
from .errors import DataworthError as DataworthError
from .evidence.pair import PMI as PMI
from .evidence.pair import pmi as pmi
from .evidence.referee import (
    RefereedPMI as RefereedPMI,
)
from .evidence.referee import (
    RefereeRefuses as RefereeRefuses,
)
from .evidence.referee import (
    referee as referee,
)
from .measure.planner import pairs_needed as pairs_needed
from .models import (
    Categorical as Categorical,
)
from .models import (
    GaussianPrior as GaussianPrior,
)
from .models import (
    InverseGamma as InverseGamma,
)
from .models import (
    Linear as Linear,
)
from .models import (
    Logistic as Logistic,
)
from .models import (
    MultiLinear as MultiLinear,
)
from .models import (
    Neural as Neural,
)
from .models import (
    Softmax as Softmax,
)
from .valuation.audit.audit import Audit as Audit
from .valuation.audit.audit import audit as audit
from .valuation.contributions import Contributions as Contributions
from .valuation.contributions import contributions as contributions
from .valuation.forecast import Forecast as Forecast
from .valuation.forecast import forecast as forecast
from .valuation.rank import Ranking as Ranking
from .valuation.rank import rank as rank
from .valuation.score import Score as Score
from .valuation.score import score as score
from .valuation.sealed import Sealed as Sealed
from .valuation.sealed import seal as seal
from .valuation.sensitivity import Sensitivity as Sensitivity
from .valuation.sensitivity import sensitivity as sensitivity
from .valuation.values.values import Values as Values
from .valuation.values.values import values as values
from .version import __version__ as __version__
from .yardstick.yardstick import Yardstick as Yardstick
