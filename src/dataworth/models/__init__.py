"""Bayesian models, one a file; a reader who knows one can read them all."""

from .base import Fit as Fit
from .base import Fitter as Fitter
from .base import Model as Model
from .base import Posterior as Posterior
from .base import SliceFitter as SliceFitter
from .base import bind as bind
from .base import positive_number as positive_number
from .base import require_model as require_model
from .categorical import Categorical as Categorical
from .gaussian import GaussianPrior as GaussianPrior
from .gaussian import GaussianRows as GaussianRows
from .gaussian import RowGaussian as RowGaussian
from .gaussian import with_intercept as with_intercept
from .laplace_torch import LaplaceTorch as LaplaceTorch
from .linear import InverseGamma as InverseGamma
from .linear import Linear as Linear
from .logistic import INFERENCES as INFERENCES
from .logistic import Logistic as Logistic
from .logistic import LogisticFitter as LogisticFitter
from .neural import Neural as Neural
from .one_vs_rest import OneVsRest as OneVsRest
from .softmax import Softmax as Softmax
