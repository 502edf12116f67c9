"""A store of gradients as a table that `read` takes as it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from dataworth.data.io.frames import with_roles
from dataworth.data.io.preferences import LONGER, PREFERRED, PROMPT, Preferences
from dataworth.embed.gradients.store import Loss, Store
from dataworth.embed.tables import COLUMN, with_vectors

ROLES = {"label": PREFERRED, "group": PROMPT, "attribute": LONGER, "features": COLUMN}


def gradient_table(store: Store, pairs: Preferences, loss: Loss = "nll", per_token: bool = False) -> Any:
    """A pyarrow table: v(first) − v(second) of every pair, which of the two is better, and its prompt."""
    import pyarrow as pa

    both = store.vectors(loss, per_token)
    signs = np.where(pairs.first, 1.0, -1.0).astype(np.float32)
    columns = {name: values for name, values in pairs.columns().items() if name in ROLES.values()}
    table = with_vectors(pa.table(columns), (both[:, 0] - both[:, 1]) * signs[:, None])
    facts = {**store.manifest, "loss": loss, "per_token": per_token}
    del facts["rows"]
    return with_roles(table, ROLES, differences=[COLUMN], gradients=facts)
