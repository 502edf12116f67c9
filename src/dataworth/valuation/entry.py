"""The entry of every measurement: options parsed once, check codes once, tables read by `load_inputs`.

What is not a Dataset is read first, with the options of `read`. The command line comes with inputs and
options of its own and passes them through (`PARSED`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import wraps
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, cast

from ..checks import check_codes
from ..data.dataset import Dataset
from ..data.io.inputs import READING, Reading, is_table, load_inputs
from ..data.io.notes import warn
from ..data.order import canonical
from ..measure import DESIGNS, PARSED, TAKES, Options
from ..parallel.runs import Run
from ..parallel.threads import one_thread
from ..yardstick.yardstick import Yardstick

F = TypeVar("F", bound=Callable[..., Any])


def measurement(what: str, *data: str, test: str, streams: bool = False) -> Callable[[F], F]:
    """Make a public measurement of a function that takes Datasets and `**options`.

    Whatever `read` takes may stand in place of a Dataset. The signature and the help show every option.

    Args:
        what: its name, a key of `TAKES`.
        *data: the arguments that are data, or a dict of data by name.
        test: the argument that is the test set, which leads the others.
        streams: whether the function also takes data in passes (`Stream`), in its design *whole*.
    """

    def decorate(function: F) -> F:
        own = inspect.signature(function)
        named = [name for name, one in own.parameters.items() if one.kind is not one.VAR_KEYWORD]

        @wraps(function)
        @one_thread()
        def run(*args: Any, **given: Any) -> Any:
            if PARSED in given:
                nested = own.bind_partial(*args, **given)
                nested.arguments = _in_order(nested.arguments, test)
                return function(*nested.args, **nested.kwargs)
            bound = own.bind_partial(*args, **given).arguments
            arguments = {name: bound[name] for name in named if name in bound}
            asked_for = {name: value for name, value in given.items() if name not in named}
            tables = list(_tables(arguments.get(name) for name in (*data, test)))
            asked = {name: asked_for.pop(name) for name in READING & set(asked_for)} if tables else {}
            parsed = parse_options(what, asked_for)
            if tables:
                kind = "curate" if arguments.get("curate") is not None else what
                reading = reading_of(kind, parsed, asked, streams)
                known = parsed.yardstick if isinstance(parsed.yardstick, Yardstick) else None
                inputs = load_inputs(tables, arguments.get(test), reading, known)
                for source, notes in zip(inputs.sources.values(), inputs.notes.values(), strict=True):
                    warn(notes, str(source) if isinstance(source, str | PathLike) else None)
                for name in (*data, test):
                    if name in arguments:
                        arguments[name] = _replaced(arguments[name], inputs)
            arguments = _in_order(arguments, test)
            with _in_run(what, arguments, parsed) as options:
                return function(**arguments, **{PARSED: options})

        _show_options(run, own, what)
        return cast(F, run)

    return decorate


def _in_order(arguments: dict[str, Any], test: str) -> dict[str, Any]:
    """The arguments with test rows in their canonical order: results depend on the set of them alone."""
    given = arguments.get(test)
    return arguments | {test: canonical(given)} if isinstance(given, Dataset) else arguments


def parse_options(what: str, given: Mapping[str, Any]) -> Options:
    """Options of a measurement, checked once for good: checks to leave out are known by their codes."""
    options = Options.parse(what, given)
    return options if options.ignore is None else replace(options, ignore=check_codes(options.ignore))


def reading_of(what: str, options: Options, asked: Mapping[str, Any], streams: bool = False) -> Reading:
    """How a measurement's sources are read; a design that it does not have is refused before they are."""
    design = options.choose_design(DESIGNS[what]) if what in DESIGNS else "whole"
    size = options.size if isinstance(options.size, int) else max(options.size or (1,))
    return Reading(what, asked, size if design == "pairs" else None, streams and design == "whole")


@contextmanager
def _in_run(what: str, arguments: Mapping[str, Any], options: Options) -> Iterator[Options]:
    """The options with an open run, where a measurement of several stages is to be kept in a directory."""
    if what in DESIGNS or not isinstance(options.run_dir, str | Path):
        yield options
        return
    told = {name: _identity(one) for name, one in arguments.items()}
    with Run.open(options.run_dir, {"what": what, **options.to_dict(), **told}) as run:
        yield replace(options, run_dir=run)


def _identity(given: Any) -> Any:
    """What a run directory knows an argument by: data by their content."""
    if isinstance(given, Mapping):
        return {name: _identity(one) for name, one in given.items()}
    return given.content_hash() if hasattr(given, "content_hash") else given


def _show_options(function: Any, own: inspect.Signature, what: str) -> None:
    """Show a measurement's options in the signature and the help of a function that takes `**options`."""
    mine = [one for one in fields(Options) if one.name in TAKES[what].__annotations__]
    keyword = inspect.Parameter.KEYWORD_ONLY
    shown = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
    shown += [inspect.Parameter(one.name, keyword, default=one.default, annotation=one.type) for one in mine]
    function.__signature__ = own.replace(parameters=shown)
    told = "\n".join(f"        {one.name}: {one.metadata['help']}" for one in mine)
    function.__doc__ = f"{inspect.getdoc(function)}\n\nKeyword options:\n{told}\n"


def _several(given: Any) -> bool:
    """Whether these are candidates by their names, and not columns."""
    return isinstance(given, Mapping) and type(given).__name__ != "Bunch"


def _tables(given: Any) -> Iterator[Any]:
    """What of the arguments is to be read."""
    for one in given:
        yield from filter(is_table, one.values() if _several(one) else [one])


def _replaced(given: Any, inputs: Callable[[Any], Any]) -> Any:
    """The same with Datasets in place of tables."""
    if _several(given):
        return {name: inputs(one) if is_table(one) else one for name, one in given.items()}
    return inputs(given) if is_table(given) else given
