"""From the words of a command to a result: read, check, measure, keep."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dataworth.checks import check_codes
from dataworth.curation.names import files_of, parse, split, with_files
from dataworth.data.dataset import Dataset
from dataworth.data.io.formats import READERS
from dataworth.data.io.readers import naming
from dataworth.data.io.sealed import SUFFIX, is_sealed
from dataworth.data.labels import learn_targets
from dataworth.errors import DataworthError
from dataworth.measure.engines import get_engine
from dataworth.measure.options import (
    CLIPPING,
    DESIGNS,
    TRUSTING,
    Options,
    choose_design,
    exact_notes,
    use_yardstick,
)
from dataworth.measure.runs import Run
from dataworth.valuation.audit.verdict import VERDICTS
from dataworth.valuation.sealed import Sealed, refuse_unsealable
from dataworth.wording import listed
from dataworth.yardstick.yardstick import Yardstick

from .files import Inputs, absolute, check_outputs, check_pins, replacing
from .guard import Interrupted, say
from .options import Columns, Keeping, Modelling, Showing, Working
from .progress import listen

FITTING = "fitting the yardstick…"
PACKAGES = ("dataworth", "numpy", "scipy", "scikit-learn", "joblib", "pyarrow", "narwhals")
ARGUMENTS = {"score": {"data": "D", "test": "T"}, "rank": {"data": "candidates"}}
"""Where the library calls a file's role by another name than the command."""
Files = Mapping[str, Path | Sequence[Path]]


@dataclass(frozen=True)
class Job:
    """A measurement: the files by their roles, and the option groups that determine its result.

    `about` holds what does not determine it but belongs to it; `curate` names a curation and its options.
    """

    command: str
    files: Files
    columns: Columns
    groups: tuple[Any, ...]
    about: dict[str, Any] = field(default_factory=dict)
    curate: str | None = None

    @property
    def options(self) -> dict[str, Any]:
        """All options but the columns, by name."""
        return {name: value for group in self.groups for name, value in vars(group).items()}

    def config(self, inputs: Mapping[str, str]) -> dict[str, Any]:
        """What replays the job from anywhere: paths are absolute, inputs are known by their content."""
        options = {**vars(self.columns), **self.options}
        # runs from before there was clipping, or were checks, can be resumed
        options = {
            name: value
            for name, value in options.items()
            if not (name in CLIPPING + TRUSTING and value in (None, False))
        }
        if options["yardstick"] is not None:
            options["yardstick"] = absolute(options["yardstick"])
        if self.curate is not None:
            options["curate"] = with_files(self.curate, absolute)
        files = {
            role: absolute(given) if isinstance(given, Path) else [absolute(path) for path in given]
            for role, given in self.files.items()
        }
        return {
            "command": self.command,
            "inputs": dict(inputs),
            "options": {**files, **options},
            "about": {"python": platform.python_version(), **{p: version(p) for p in PACKAGES}, **self.about},
        }


def measure(
    job: Job, working: Working, keeping: Keeping, showing: Showing, pins: Mapping[str, str] | None = None
) -> Any:
    """Carry out a job: a Score, an Audit or a Ranking."""
    check_outputs(showing.csv, plot=showing.plot)
    get_engine(working.engine, 1 if working.jobs is None else working.jobs)  # refuses what it does not know
    options = {**job.options, **vars(working)}
    if "size" in options:
        options["size"] = parse_size(options["size"])
    design = check_options(job.command if job.curate is None else "curate", options)
    sealed = read_sealed_files(job, options["form"], design, showing.explain)
    tell = (lambda sentence: None) if showing.quiet else say
    inputs = Inputs(job.columns, tell)
    arguments = _arguments(job, inputs, sealed)
    files = job.files
    if job.curate is not None:
        arguments["curate"] = parse(job.curate, lambda name: inputs(Path(name)))
        files = {**files, "rows": [Path(name) for name in files_of(job.curate)]}
    inputs.finish()
    hashes = inputs.hashes() if pins or keeping.run_dir else {}
    hashes |= {absolute(path): data.content_hash() for path, data in sealed.items()}
    if options["yardstick"] is not None:
        path = options["yardstick"]
        options["yardstick"] = Yardstick.load(path)
        hashes[absolute(path)] = options["yardstick"].digest
    check_pins(hashes, pins or {})
    check_fit(files, inputs, options["yardstick"], tell)
    with ExitStack() as stack:
        run = None
        if keeping.run_dir is not None:
            run = stack.enter_context(Run.open(keeping.run_dir, job.config(hashes)))
            for note in run.notes:
                say(note)
        fitting = None if options["yardstick"] else FITTING
        continued = run is not None and bool(run.completed())
        progress = stack.enter_context(listen(showing.quiet, working.jobs, continued, fitting))
        try:
            result = _function(job.command)(**arguments, **options, run_dir=run, progress=progress)
        except KeyboardInterrupt:
            raise Interrupted(None if run is None else run.directory) from None
        except DataworthError:
            if run is not None:
                run.abandon()
            raise
        if run is not None:
            run.finish(result.to_dict())
    return result


def check_options(what: str, options: Mapping[str, Any]) -> str:
    """Refuse options that make no sense before files are read, which can take long; return the design."""
    drawing = {name: options[name] for name in ("design", "pairs", "size") if name in options}
    check_codes(options["ignore"])
    Options.parse({n: v for n, v in options.items() if n not in drawing and n != "yardstick"})
    return choose_design(**drawing, known=DESIGNS[what]) if drawing else "whole"


def read_sealed_files(job: Job, form: str, design: str, explain: bool = False) -> dict[Path, Sealed]:
    """The sealed files of a job; a sentence where rows are needed."""
    found = {}
    for role, given in job.files.items():
        for path in filter(is_sealed, [given] if isinstance(given, Path) else given):
            if role != "data":
                who = "a test set" if role == "test" else "an audit"
                raise DataworthError(f"{path} is sealed, but {who} needs rows: only score and rank take it.")
            if explain:
                raise DataworthError(f"{path} is sealed, but --explain needs rows: drop one of them.")
            refuse_unsealable(form, design)
            found[path] = Sealed.load(path)
    return found


def _function(command: str) -> Callable[..., Any]:
    if command == "score":
        from dataworth.valuation.score import score

        return score
    if command == "audit":
        from dataworth.valuation.audit.audit import audit

        return audit
    from dataworth.valuation.rank import rank

    return rank


def _arguments(job: Job, read: Inputs, sealed: Mapping[Path, Sealed]) -> dict[str, Any]:
    """The datasets under the names that the library's function gives them."""

    def dataset(path: Path) -> Dataset | Sealed:
        return sealed[path] if path in sealed else read(path)

    def datasets(given: Path | Sequence[Path]) -> Dataset | Sealed | dict[str, Dataset | Sealed]:
        if isinstance(given, Path):
            return dataset(given)
        return dict(zip(names_of(given), map(dataset, given), strict=True))

    names = ARGUMENTS.get(job.command, {})
    return {names.get(role, role): datasets(given) for role, given in job.files.items()}


def check_fit(files: Files, read: Inputs, yardstick: Yardstick | None, tell: Callable[[str], None]) -> None:
    """Compare columns and labels with the test set's or the yardstick's, so that sentences name the file."""
    paths = [path for given in files.values() for path in ([given] if isinstance(given, Path) else given)]
    if yardstick is None:
        (test,) = (given for role, given in files.items() if role == "test" and isinstance(given, Path))
        with naming(test):
            labels = learn_targets(read(test))
        columns, what = read(test).columns, "the test set"
    else:
        columns, labels, what = yardstick.recipe.columns, yardstick.labels, "the yardstick"
    known = {column.name for column in columns}
    for path in dict.fromkeys(path for path in paths if not is_sealed(path)):
        data = read(path)
        try:
            data.select(columns)
        except DataworthError as error:
            sentence = str(error).replace("the other dataset", what)
            raise DataworthError(f"{path}: {sentence}") from error
        try:
            labels.encode(data.y, str(path))
        except DataworthError as error:
            raise DataworthError(str(error).replace("the test set", what)) from error
        extra = [name for name in data.names if name not in known]
        if extra:
            verb = "is" if len(extra) == 1 else "are"
            tell(f"{path}: {listed(extra)} {verb} not in {what} and {verb} ignored")


def names_of(paths: Sequence[Path]) -> list[str]:
    """File names without their suffixes; the whole path where two would have the same name.

    >>> names_of([Path("x/a.csv"), Path("y/a.csv"), Path("b.csv.gz")])
    ['x/a.csv', 'y/a.csv', 'b']
    """
    twice = [str(path) for path, times in Counter(map(str, paths)).items() if times > 1]
    if twice:
        raise DataworthError(f"{twice[0]} is given more than once: give each dataset once.")
    stems = [_stem(path) for path in paths]
    return [stem if stems.count(stem) == 1 else str(path) for stem, path in zip(stems, paths, strict=True)]


def _stem(path: Path) -> str:
    suffix = max((s for s in (*READERS, SUFFIX) if path.name.lower().endswith(s)), key=len, default="")
    return path.name[: len(path.name) - len(suffix)]


def parse_size(text: str | None) -> int | tuple[int, int] | None:
    """N, or N,M.

    >>> parse_size("30"), parse_size("30,20")
    (30, (30, 20))
    """
    if text is None:
        return None
    parts = text.split(",")
    if len(parts) > 2 or not all(part.strip().isdecimal() for part in parts):
        raise DataworthError(f"size is {text!r}; give N, or N,M for the rows of data and test in a pair.")
    sizes = [int(part) for part in parts]
    return sizes[0] if len(sizes) == 1 else (sizes[0], sizes[1])


def only_curation(given: Sequence[str] | None) -> str | None:
    """The one text of --curate; the last of several must not win in silence."""
    if given and len(given) > 1:
        raise DataworthError(
            "--curate is given more than once: give one, or chain them in Python, in a function for curate=."
        )
    return given[0] if given else None


def audited_files(before: Path, after: Path | None, curate: str | None, test: Path) -> dict[str, Path]:
    """The files of an audit by their roles: with AFTER, or without it where a curation makes it."""
    if (after is None) == (curate is None):
        raise DataworthError(
            "give either AFTER (the data after curation) or --curate (a curation's name), not both or none."
        )
    if curate is not None:
        split(curate)  # refuses what it does not know before files are read
    return {"before": before} | ({} if after is None else {"after": after}) | {"test": test}


def failing_verdicts(fail_on: str | None, design: str | None) -> frozenset[str]:
    """The verdicts in --fail-on."""
    words = [] if fail_on is None else [word.strip() for word in fail_on.split(",")]
    unknown = [word for word in words if word not in VERDICTS]
    if unknown:
        raise DataworthError(
            f"--fail-on {unknown[0]!r} is no verdict; the verdicts are {', '.join(VERDICTS)}."
        )
    if words and design == "size":
        raise DataworthError(
            "the design size gives no verdict, so --fail-on would never fail: drop one of them."
        )
    return frozenset(words)


def make_yardstick(
    test: Path, columns: Columns, modelling: Modelling, output: Path | None, quiet: bool
) -> Yardstick:
    """Fit a yardstick and save it."""
    check_outputs(output)
    options = Options.parse(vars(modelling))
    read = Inputs(columns, (lambda sentence: None) if quiet else say)
    data = read(test)
    read.finish()
    with listen(quiet, preparing=FITTING):
        made = use_yardstick(None, data, options)
    if not quiet:
        for note in exact_notes(made, options.inference):
            say(note)
    if output is not None:
        with replacing(output) as file:
            made.save(file)
    return made
