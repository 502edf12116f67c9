"""The arrays that everything is made of, by what they hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Numbers."""
Rows = NDArray[np.intp]
"""Places of rows."""
Flags = NDArray[np.bool_]
"""Yes or no, one a row."""
