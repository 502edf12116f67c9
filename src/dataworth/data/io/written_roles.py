"""The roles of columns, kept in a file that we write, so that reading it back needs no options."""

from __future__ import annotations

import json
from typing import Any

from dataworth.atomic import parse_json

KEY = b"dataworth"
OPTIONS = ("label", "group", "attribute", "id", "weights", "features")
WHY = "what the file says"


def with_roles(table: Any, roles: dict[str, str], **facts: Any) -> Any:
    """A pyarrow table that says what its columns are, and further facts, in its metadata.

    >>> import pyarrow as pa
    >>> roles_of(with_roles(pa.table({"a": [1], "b": [2]}), {"label": "b", "group": "c"}))
    {'label': 'b'}
    """
    said = json.dumps({"roles": roles, **facts})
    return table.replace_schema_metadata({**(table.schema.metadata or {}), KEY: said.encode()})


def roles_of(table: Any) -> dict[str, str]:
    """What a table says of its columns; what it does not have, or says badly, is not said."""
    try:
        said = parse_json((table.schema.metadata or {})[KEY])["roles"]
        named = {option: said[option] for option in OPTIONS if option in said}
    except (KeyError, TypeError, ValueError):
        return {}
    return {
        option: name for option, name in named.items() if isinstance(name, str) and name in table.column_names
    }


def differences_of(table: Any) -> list[str]:
    """The columns that a table says are differences of two things that are compared.

    >>> import pyarrow as pa
    >>> differences_of(with_roles(pa.table({"a": [1], "b": [2]}), {}, differences=["a", "c"]))
    ['a']
    """
    try:
        said = parse_json((table.schema.metadata or {})[KEY])["differences"]
        return [name for name in said if name in table.column_names]
    except (KeyError, TypeError, ValueError):
        return []
