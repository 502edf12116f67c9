"""From a job to its result: read, check, measure, keep, show."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from dataworth.atomic import atomic_write, parse_json, read_whole
from dataworth.checks import check_codes
from dataworth.curation.names import files_of, parse, split
from dataworth.data.io.files import SUFFIXES
from dataworth.data.io.given import refuse_sampled_states
from dataworth.data.io.notes import naming, refuse_all
from dataworth.data.io.sealed import SUFFIX, is_sealed
from dataworth.data.io.sources import rows_for_pairs
from dataworth.data.io.streamed import Stream
from dataworth.data.keys import new_key
from dataworth.data.labels import learn_targets
from dataworth.errors import DataworthError
from dataworth.measure.ledger import runs_beside
from dataworth.measure.options import DESIGNS, TAKES, Options
from dataworth.measure.prepare import find_yardstick, modelling_notes
from dataworth.models.base import positive_number
from dataworth.parallel import Local, get_engine
from dataworth.parallel.runs import Run
from dataworth.valuation.audit.audit import audit
from dataworth.valuation.rank import rank
from dataworth.valuation.replay import Replay
from dataworth.valuation.score import score
from dataworth.valuation.sealed import Sealed, refuse_unsealable
from dataworth.valuation.sensitivity import Sensitivity, sensitivity
from dataworth.valuation.values.guard import files_in
from dataworth.wording import listed
from dataworth.yardstick.yardstick import Yardstick

from . import show
from .files import Inputs, absolute, check_outputs, check_pins
from .guard import CHECK_FAILS, VERDICT_FAILS, Interrupted, say
from .job import Job, failing_verdicts
from .options import Columns, Showing
from .progress import listen

FITTING = "fitting the yardstick…"
KEY_SCHEMA = "dataworth/key/1"
FUNCTIONS: dict[str, Callable[..., Any]] = {"score": score, "audit": audit, "rank": rank}
ARGUMENTS = {"score": {"data": "D", "test": "T"}, "rank": {"data": "candidates"}}
"""Where the library calls a file's role by another name than the command."""
Files = Mapping[str, Path | Sequence[Path]]


def carry_out(job: Job, showing: Showing) -> int:
    """Measure and show; return the exit code that the verdict and the checks ask for."""
    fails = failing_verdicts(job.fail_on, job.options.get("design"))
    keep = showing.explain or bool(showing.report) or (showing.verbose and not showing.quiet)
    found, reading = measure(job, showing, keep=keep)
    show.result(found, showing, reading)
    left = sum(finding.fires is None for finding in found.checks)
    if job.strict and found.details.form == "sealed" and left and not showing.quiet:
        say(f"{left} of {len(found.checks)} checks could not be made: sealed data have no rows (-v says why)")
    if getattr(found, "verdict", None) in fails:
        return VERDICT_FAILS
    fired = [f"{finding.code} {finding.name}" for finding in found.checks if finding.fires]
    if job.strict and fired:
        say(f"--strict: {', '.join(fired)} fired")
        return CHECK_FAILS
    return 0


def measure(job: Job, showing: Showing, keep: bool = False) -> tuple[Any, list[dict[str, Any]]]:
    """Carry out a job: a Score, an Audit or a Ranking, and what was decided while reading its files."""
    check_outputs(showing.csv, plot=showing.plot, reports=showing.report or ())
    options = job.parsed(yardstick=None)  # refused before files are read, which can take long
    check_codes(options.ignore)
    design = options.choose_design(DESIGNS[job.what])
    jobs, engine = options.jobs, options.engine
    if engine is None or isinstance(engine, str):
        engine = get_engine(engine, jobs, options.address)
        jobs = jobs if isinstance(engine, Local) else engine.workers
    if job.curate is not None:
        split(job.curate)
    sealed = read_sealed_files(job, options.form, design, showing.explain)
    files: dict[str, Path | Sequence[Path]] = dict(job.files)
    inputs = Inputs(_sampled(job, design, options), showing.quiet, engine)
    if job.curate is not None:
        files["rows"] = [Path(name) for name in files_of(job.curate)]
    path, yardstick = job.options.get("yardstick"), None
    if path is not None:
        yardstick = Yardstick.load(path)
    (test,) = every({"test": files["test"]})
    rows = [one for one in every(files) if one not in sealed]
    streams = job.command == "score" and design == "whole"
    inputs.read(rows, test, () if yardstick is None else yardstick.columns, streams)
    if showing.explain and any(isinstance(inputs(one), Stream) for one in rows):
        raise DataworthError("--explain measures rows again, which data read in passes are not: drop it.")
    arguments = _arguments(job, inputs, sealed)
    if job.curate is not None:
        arguments["curate"] = parse(job.curate, lambda name: inputs(Path(name)))
    hashes = inputs.hashes() if job.pins or options.run_dir or showing.json else {}
    hashes |= {absolute(path): data.content_hash() for path, data in sealed.items()}
    if path is not None and yardstick is not None:
        hashes[absolute(path)] = yardstick.digest
    check_pins(hashes, job.pins)
    check_fit(files, inputs, yardstick)
    with ExitStack() as stack:
        run = None
        if options.run_dir is not None:
            run = stack.enter_context(Run.open(Path(str(options.run_dir)), job.to_config(hashes)))
            for note in run.notes:
                say(note)
            used = runs_beside(run.directory, inputs(test).content_hash())
            if used and options.ledger is None and not showing.quiet:
                say(used)
        continued = run is not None and bool(run.completed())
        fitting = FITTING if yardstick is None else None
        progress = stack.enter_context(listen(showing.quiet, jobs, continued, fitting))
        given = job.parsed(yardstick=yardstick, run_dir=run, progress=progress, keep=keep, **beside(job))
        known = TAKES[job.what].__annotations__
        try:
            result = FUNCTIONS[job.command](**arguments, **{name: getattr(given, name) for name in known})
        except KeyboardInterrupt as stopped:
            raise Interrupted(None if run is None else run.directory) from stopped
        except DataworthError:
            if run is not None:
                run.abandon()
            raise
        result = replace(result, replay=told_by(job, result.replay))
        if run is not None:
            try:
                run.finish(result.to_dict())
            except OSError as error:  # a full disk, say: the result is there, and is shown
                say(f"{run.directory}: the result cannot be kept ({error.strerror}): make room, run it again")
    return result, inputs.notes


def _sampled(job: Job, design: str, options: Options) -> Columns:
    """The columns of a job, with how many rows of large files pairs are drawn from."""
    refuse_sampled_states(job.columns.sample, job.command == "audit")
    if design != "pairs" or job.columns.sample is not None or job.command == "audit":
        return job.columns
    size = options.size if isinstance(options.size, int) else max(options.size or (1,))
    data = every({role: given for role, given in job.files.items() if role != "test"})
    return replace(job.columns, sample=rows_for_pairs(data, size))


def told_by(job: Job, replay: Replay) -> Replay:
    """How to get a job's result again, with its files."""
    given: dict[str, str] = {}
    for role, paths in job.files.items():
        several = [paths] if isinstance(paths, Path) else paths
        # the datasets of a ranking have the names of their files
        names = [role] if isinstance(paths, Path) else names_of(several)
        given |= {name: path.name for name, path in zip(names, several, strict=True)}
    return replay.by(job.command_line(), given, given["test"])


def beside(job: Job) -> dict[str, Any]:
    """Files of values that lie beside the files of an audit, unless one is named."""
    if job.command != "audit" or job.curate is not None or job.options.get("values") is not None:
        return {}
    found = files_in(path.absolute().parent for path in every(job.files))
    return {"values": found} if found else {}


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


def _arguments(job: Job, read: Inputs, sealed: Mapping[Path, Sealed]) -> dict[str, Any]:
    """The datasets under the names that the library's function gives them."""

    def datasets(given: Path | Sequence[Path]) -> Any:
        if isinstance(given, Path):
            return sealed[given] if given in sealed else read(given)
        return dict(zip(names_of(given), map(datasets, given), strict=True))

    names = ARGUMENTS.get(job.command, {})
    return {names.get(role, role): datasets(given) for role, given in job.files.items()}


def every(files: Files) -> list[Path]:
    """All files, whatever their roles."""
    return [path for given in files.values() for path in ([given] if isinstance(given, Path) else given)]


def check_fit(files: Files, read: Inputs, yardstick: Yardstick | None) -> None:
    """Compare columns and labels with the test set's or the yardstick's, so that sentences name the file."""
    paths = every(files)
    if yardstick is None:
        (test,) = (given for role, given in files.items() if role == "test" and isinstance(given, Path))
        with naming(test):
            labels = learn_targets(read(test))
        columns, what = read(test).columns, "the test set"
    else:
        columns, labels, what = yardstick.columns, yardstick.labels, "the yardstick"
    known = {column.name for column in columns}
    wrong = []
    for path in dict.fromkeys(path for path in paths if not is_sealed(path)):
        data = read(path)
        data = data.sample if isinstance(data, Stream) else data
        try:
            data.select(columns)
        except DataworthError as error:
            wrong.append(f"{path}: {str(error).replace('the other dataset', what)}")
        try:
            labels.encode(data.y, str(path))
        except DataworthError as error:
            wrong.append(str(error).replace("the test set", what))
        extra = [name for name in data.names if name not in known]
        if extra:
            verb = "is" if len(extra) == 1 else "are"
            read.tell(f"{path}: {listed(extra)} {verb} not in {what} and {verb} ignored")
    refuse_all(wrong)


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
    suffix = max((s for s in (*SUFFIXES, SUFFIX) if path.name.lower().endswith(s)), key=len, default="")
    return path.name[: len(path.name) - len(suffix)]


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
    return {"before": before} | ({} if after is None else {"after": after}) | {"test": test}


def make_yardstick(
    test: Path, columns: Columns, options: Mapping[str, Any], output: Path | None, quiet: bool
) -> Yardstick:
    """Fit a yardstick and save it."""
    check_outputs(output, None if output is None else key_file(output))
    parsed = Options.parse("rank", options)
    read = Inputs(columns, quiet).read([test], test)
    data = read(test)
    with listen(quiet, preparing=FITTING):
        made = find_yardstick(data, parsed)
    for note in modelling_notes(made, parsed):
        read.tell(note)
    if output is not None:
        key = new_key()
        made = made.published(data, key)
        made.save(output)
        with atomic_write(key_file(output)) as file:
            file.touch(0o600)
            file.write_text(json.dumps({"schema": KEY_SCHEMA, "key": key, "yardstick": made.digest}) + "\n")
    return made


def verify_yardstick(test: Path, published: Path, columns: Columns, quiet: bool) -> Yardstick:
    """The yardstick, if it was published with this test set under the key that lies beside it."""
    made, beside = Yardstick.load(published), key_file(published)
    try:
        key = parse_json(read_whole(beside))["key"]
    except (OSError, ValueError, KeyError, TypeError):
        raise DataworthError(f"{beside} is no key of a yardstick: it is written beside it by -o.") from None
    read = Inputs(columns, quiet).read([test], test)
    if not made.is_of(read(test), key):
        raise DataworthError(f"{published} was not published with {test} under the key in {beside}.")
    return made


def key_file(output: Path) -> Path:
    """Where the key of a published yardstick is kept.

    >>> str(key_file(Path("y.json")))
    'y.key.json'
    """
    return output.with_suffix(".key.json")


def measure_over_priors(
    data: Path,
    after: Path | None,
    test: Path,
    columns: Columns,
    options: Mapping[str, Any],
    priors: str | None,
    showing: Showing,
) -> Sensitivity:
    """Measure once as score and audit do, without checks, then over prior variances."""
    wanted = None if priors is None else numbers(priors)
    files = {"data": data, "test": test} if after is None else {"before": data, "after": after, "test": test}
    command = "score" if after is None else "audit"
    job = Job(command=command, files=files, columns=columns, options={**options, "ignore": "all"})
    found, _ = measure(job, showing, keep=True)
    with listen(showing.quiet, options["jobs"]) as progress:
        return sensitivity(found, wanted, None if progress is None else progress.update)


def numbers(text: str) -> list[float]:
    """Positive numbers between commas, or a sentence.

    >>> numbers("0.1, 1,1e3")
    [0.1, 1.0, 1000.0]
    """
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        raise DataworthError(
            f"--priors is {text!r}; give numbers between commas, such as 0.1,1,10."
        ) from None
    return [positive_number(number, "a prior variance") for number in found]
