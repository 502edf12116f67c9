"""Measurements that take tables as people have them: frames, files and the rest go through `read` first."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from os import PathLike
from typing import Any, TypeVar, cast

from dataworth.data.dataset import Dataset
from dataworth.data.io.align import Options, read_together, sentences
from dataworth.data.io.notes import refuse_all, warn
from dataworth.data.io.sources import rows_for_pairs
from dataworth.errors import DataworthError
from dataworth.wording import option

F = TypeVar("F", bound=Callable[..., Any])
READING = {*Options.__annotations__, "impute"} - {"absent_ok"}


def takes_tables(*names: str, test: str, streams: bool = False) -> Callable[[F], F]:
    """Let a function be given whatever `read` takes in place of Datasets, with the options of `read`.

    All are read together, led by the test set, so that a column is one thing in all of them. streams: the
    function also takes data in passes (`Stream`), in its design *whole*.

    >>> import pyarrow as pa
    >>> @takes_tables("data", test="test")
    ... def rows(data, test, **options):
    ...     return len(data), test.y.tolist(), options
    >>> some, more = pa.table({"a": [1, 2], "churn": [0, 1]}), pa.table({"a": [5], "churn": [1]})
    >>> rows(some, more, label="churn", seed=1)
    (2, [1], {'seed': 1})
    """

    def decorate(function: F) -> F:
        own = inspect.signature(function)

        @wraps(function)
        def run(*args: Any, **options: Any) -> Any:
            given = own.bind_partial(*args, **options).arguments
            named = {name: given[name] for name in (*names, test) if given.get(name) is not None}
            tables = [table for one in named.values() for table in _tables_of(one)]
            if not tables:
                return function(*args, **options)
            asked: Any = {name: options.pop(name) for name in READING & set(options)}
            leading = named.get(test)
            refuse_sampled_states(asked.get("sample"), "before" in named)
            refuse_sampled_rows(asked.get("sample"), function.__name__ == "values")
            drawn = bool(options.get("pairs") or options.get("size") or options.get("design") == "pairs")
            refuse_streams(asked.get("stream"), streams and not drawn)
            if asked.get("sample") is None and (options.get("pairs") or options.get("size")):
                asked["sample"] = _drawn_from([t for t in tables if t is not leading], options)
            lead = next((i for i, table in enumerate(tables) if table is leading), None)
            known = leading if isinstance(leading, Dataset) else options.get("yardstick")
            columns = getattr(known, "columns", ())
            in_passes = streams and not drawn
            found = read_together(tables, lead=lead, columns=columns, streams=in_passes, **asked)
            refuse_all(sentences(found))
            for one in found:
                warn(one.notes, one.name)
            made = {id(one.source): one.data for one in found}
            changed = {name: _replaced(one, made) for name, one in named.items()}
            places = list(own.parameters)[: len(args)]
            own_args = [changed.get(name, value) for name, value in zip(places, args, strict=True)]
            return function(*own_args, **{name: changed.get(name, value) for name, value in options.items()})

        return cast(F, run)

    return decorate


def refuse_sampled_states(sample: int | None, audit: bool) -> None:
    """A sentence where two states of data would be sampled: their rows are compared one by one."""
    if audit and sample is not None:
        raise DataworthError(
            "an audit compares the rows of two files, which two samples do not share:"
            f" leave {option('sample')} out"
        )


def refuse_sampled_rows(sample: int | None, values: bool) -> None:
    """A sentence where a sample would be valued: rows are told by their number, which a sample has not."""
    if values and sample is not None:
        raise DataworthError(
            "values are told of rows by their number, which rows of a sample do not have:"
            f" leave {option('sample')} out, or write the rows to be valued to a file of their own"
        )


def refuse_streams(stream: bool | None, can: bool) -> None:
    """A sentence where data cannot be read in passes."""
    if stream and not can:
        raise DataworthError(
            f"only score, in its design whole, and seal read data in passes: leave {option('stream')} out"
        )


def _drawn_from(sources: list[Any], options: Mapping[str, Any]) -> int | None:
    """Rows of large files that pairs are drawn from, where nothing was said."""
    size = options.get("size")
    rows = max(size) if isinstance(size, tuple | list) else size
    return rows_for_pairs(sources, rows or 1)


def _is_table(given: Any) -> bool:
    """Whether this is to be read: a file or a frame, say; arrays have no names, and Datasets are read."""
    room = type(given).__module__.split(".")[0]
    return isinstance(given, str | PathLike) or room not in ("builtins", "numpy", "dataworth")


def _several(given: Any) -> bool:
    """Whether these are candidates by their names, and not columns."""
    return isinstance(given, Mapping) and type(given).__name__ != "Bunch"


def _tables_of(given: Any) -> list[Any]:
    return list(filter(_is_table, given.values() if _several(given) else [given]))


def _replaced(given: Any, made: Mapping[int, Any]) -> Any:
    if _several(given):
        return {name: made.get(id(one), one) for name, one in given.items()}
    return made.get(id(given), given)
