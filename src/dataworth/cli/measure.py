"""From a job to its result, the same way for every measuring command: read, measure, keep, show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import dataworth as dw
from dataworth.data.io.inputs import Inputs, Reading, absolute, load_inputs
from dataworth.data.io.streamed import Stream
from dataworth.data.sealed import is_sealed
from dataworth.errors import DataworthError
from dataworth.measure.options import DESIGNS, PARSED, Options
from dataworth.models.base import positive_number
from dataworth.parallel import get_engine
from dataworth.parallel.runs import Run
from dataworth.valuation.entry import reading_of
from dataworth.valuation.sealed import Sealed, refuse_unsealable
from dataworth.yardstick.yardstick import Yardstick

from . import show
from .files import check_outputs, names_of
from .guard import CHECK_FAILS, VERDICT_FAILS, Interrupted, say
from .job import ROLES, Job, failing_verdicts
from .options import Columns, Showing
from .progress import ALONE, DRAWN, MEASURING, PLANS, Plan, fewer, listen
from .progress import reading as reading_files

FITTING = "fitting the yardstick…"
SEALABLE = ("score", "rank")


class Loaded(NamedTuple):
    """What a job measures: files that were read, sealed ones, sources of rows, and all by their content."""

    inputs: Inputs
    sealed: Mapping[Path, Sealed]
    sources: Any
    hashes: Mapping[str, str]

    def __call__(self, given: Path | Sequence[Path]) -> Any:
        """The data of a file; of several by their names."""
        if not isinstance(given, Path):
            return {name: self(path) for name, path in zip(names_of(given), given, strict=True)}
        return self.sealed[given] if given in self.sealed else self.inputs(given)


def carry_out(job: Job, showing: Showing, save: Callable[[Any], None] | None = None) -> int:
    """Measure, save and show; return the exit code that the verdict and the checks ask for."""
    fails = failing_verdicts(job.fail_on, job.options.get("design"))
    check_outputs(showing.csv, plot=showing.plot, reports=showing.report or ())
    if showing.public:
        refuse_public(job)
    aside = replace(showing, quiet=True, verbose=False, report=None) if showing.public else showing
    options, own = job.parsed(), _own_arguments(job)  # refused before files are read, which can take long
    loaded = load(job, options, aside)
    found = measure(job, options, own, loaded, aside)
    if save is not None:
        save(found)
    if showing.public:
        show.result(found.public(), showing)
    else:
        show.result(found, showing, loaded.inputs.reading())
    return exit_code(job, found, fails, aside.quiet, showing.public)


def refuse_public(job: Job) -> None:
    """A sentence, where what others see would not be counted, or would lie beside everything else."""
    if job.options.get("ladder") is None:
        raise DataworthError(
            "--public needs --ladder FILE, which counts questions: what each of many answers tells adds up."
        )
    if job.options.get("run_dir") is not None:
        raise DataworthError(
            "--public goes without --run-dir, which keeps every number of every block: leave one of them out."
        )


def _own_arguments(job: Job) -> dict[str, Any]:
    """Arguments of this command alone, as its function takes them, or a sentence."""
    own = {name: value for name, value in job.own.items() if value is not None and name != "source"}
    if "priors" in own:
        own["priors"] = numbers(own["priors"])
    if "curate" in own:
        from dataworth.curation.names import split

        split(own["curate"])
    if job.command == "values":
        from dataworth.valuation.values.values import check_fdr

        check_fdr(own.get("fdr", 0.1))
    return own


def load(job: Job, options: Options, showing: Showing) -> Loaded:
    """Read the files of a job together, and say what was decided; refuse what it cannot measure."""
    engine, columns = options.engine, job.columns
    if engine is None or isinstance(engine, str):
        engine = get_engine(engine, options.jobs, options.address)
    asked = reading_of(job.what, options, columns.roles, streams=job.command == "score")
    reading = replace(asked, encode=encoder(columns, engine, showing.quiet))
    sealed = _sealed_files(job, options.form, "whole" if asked.drawn is None else "pairs")
    sources = None
    if job.own.get("source") is not None:
        sources, reading = read_sources(job, reading)
    paths = [path for path in job.every_file() if path not in sealed]
    if job.own.get("curate") is not None:
        from dataworth.curation.names import files_of

        paths += map(Path, files_of(job.own["curate"]))
    with reading_files(showing.quiet, paths, job.what):
        inputs = load_inputs(paths, job.files["test"], reading, options.yardstick)
    for line in [] if showing.quiet else inputs.lines():
        say(line)
    hashes = inputs.hashes() if job.pins or options.run_dir else {}
    hashes |= {absolute(path): data.content_hash() for path, data in sealed.items()}
    if isinstance(options.yardstick, Yardstick):
        hashes[absolute(job.options["yardstick"])] = options.yardstick.digest
    for path in (path for path, content in hashes.items() if job.pins.get(path, content) != content):
        raise DataworthError(
            f"{path} has changed since the run was configured: restore the file, or start a new run."
        )
    return Loaded(inputs, sealed, sources, hashes)


def encoder(columns: Columns, engine: Any, quiet: bool) -> Callable[[Any], Any] | None:
    """What makes vectors of texts, if an encoder was named."""
    model = columns.text_encoder
    if model is None:
        return None

    def encoded(data: Any) -> Any:
        if isinstance(data, Stream):
            raise DataworthError("--text-encoder takes rows in memory: read some of them, with --sample.")
        from dataworth.embed import encode

        with listen(quiet, preparing="encoding texts…") as progress:
            return encode(data, model, engine=engine, progress=progress)

    return encoded


def sources_of(job: Job, loaded: Loaded) -> Any:
    """The sources that are asked for, if any; a sentence if they cannot be compared."""
    from dataworth.valuation.values.groups import why_no_sources

    if loaded.sources is not None and (why := why_no_sources(loaded.sources.tolist())) is not None:
        told = why.split(":")[0]
        raise DataworthError(f"--source {job.own['source']}: {told}: name another column, or none.")
    return loaded.sources


def read_sources(job: Job, reading: Reading) -> tuple[Any, Reading]:
    """Where each row comes from, by a column that the test set need not have, and that is no feature."""
    source, roles = job.own["source"], reading.options
    (data,) = job.every_file("test")
    sources = load_inputs([data], None, Reading(options={**roles, "group": source}))(data).groups
    left_out = ",".join(filter(None, (roles["exclude"], source)))
    return sources, replace(reading, options={**roles, "exclude": left_out})


def _sealed_files(job: Job, form: str, design: str) -> dict[Path, Sealed]:
    """The sealed files of a job; a sentence where rows are needed."""
    found = {}
    for role, given in job.files.items():
        for path in filter(is_sealed, [given] if isinstance(given, Path) else given):
            if role != "data" or job.command not in SEALABLE:
                who = {"test": "a test set", "data": job.command}.get(role, "an audit")
                raise DataworthError(f"{path} is sealed, but {who} needs rows: only score and rank take it.")
            refuse_unsealable(form, design)
            found[path] = Sealed.load(path)
    return found


def measure(job: Job, options: Options, own: Mapping[str, Any], loaded: Loaded, showing: Showing) -> Any:
    """Ask the library, in a run directory if there is one, and with somebody who hears how far it is."""
    data: list[Any] = [loaded(job.files[role]) if role in job.files else None for role in ROLES[job.command]]
    if job.command == "values":  # groups of a file, such as prompts, are no sources
        data[0] = data[0]._with(groups=sources_of(job, loaded))
    if "curate" in own:
        from dataworth.curation.names import parse

        own = {**own, "curate": parse(own["curate"], loaded.inputs)}
    function: Callable[..., Any] = _over_priors if job.command == "sensitivity" else getattr(dw, job.command)
    with ExitStack() as stack:
        run = None
        if options.run_dir is not None:
            config = job.to_config(loaded.hashes, options)
            run = stack.enter_context(Run.open(Path(str(options.run_dir)), config))
            for note in run.notes:
                say(note)
        doing = FITTING if options.yardstick is None else MEASURING
        plan = ALONE if isinstance(data[0], Stream) else _plan(job, options)
        listening = listen(showing.quiet, doing, fewer(job.what), plan=plan)
        keep = bool(showing.report) or (showing.verbose and not showing.quiet)
        progress = stack.enter_context(listening)
        given = replace(options, run_dir=run, progress=progress, keep_data=keep)
        if job.what == "audit":
            from dataworth.valuation.values.guard import files_in, stored_in

            beside = files_in(path.absolute().parent for path in job.every_file())
            given = replace(given, values=[*stored_in(given.values), *beside] or None)
        try:
            found = function(*data, **own, **{PARSED: given})
        except KeyboardInterrupt as stopped:
            raise Interrupted(None if run is None else job.resuming(run.directory)) from stopped
        except DataworthError:
            if run is not None:
                run.abandon()
            raise
        if hasattr(found, "replay"):
            named = job.named_files()
            found = replace(found, replay=found.replay.by(job.command_line(), named, named["test"]))
        if run is not None:
            try:
                run.finish(found.to_dict())
            except OSError as error:  # a full disk, say: the result is there, and is shown
                say(f"{run.directory}: the result cannot be kept ({error.strerror}): make room, run it again")
    return found


def _plan(job: Job, options: Options) -> Plan:
    """How the stages of a command share its time."""
    what = job.command if job.command in PLANS else job.what
    design = options.choose_design(DESIGNS[job.what]) if job.what in DESIGNS else "whole"
    return PLANS.get(what, ALONE) if design in ("whole", "method") else DRAWN


def exit_code(job: Job, found: Any, fails: frozenset[str], quiet: bool, public: bool = False) -> int:
    """What the verdict, --fail-on, the checks and --strict make of a result."""
    checks = getattr(found, "checks", ())
    left = sum(finding.failed is None for finding in checks)
    if job.strict and left and found.details.form == "sealed" and not quiet:
        say(f"{left} of {len(checks)} checks could not be made: sealed data have no rows (-v says why)")
    if fails & getattr(found, "words", set()):
        return VERDICT_FAILS
    failed = [f"{finding.code} {finding.name}" for finding in checks if finding.failed]
    if job.strict and failed:
        say("--strict: a check failed" if public else f"--strict: {', '.join(failed)} failed")
        return CHECK_FAILS
    return 0


def _over_priors(before: Any, after: Any, test: Any, priors: Any = None, **given: Any) -> Any:
    """Measure once as score and audit do, without checks, then over prior variances."""
    from dataworth.valuation.sensitivity import sensitivity

    options = replace(given[PARSED], keep_data=True)
    function, data = (dw.score, (before, test)) if after is None else (dw.audit, (before, after, test))
    found = function(*data, **{PARSED: options})
    progress = options.progress
    return sensitivity(found, priors, None if progress is None else progress.update)


def numbers(given: Any) -> list[float]:
    """Positive numbers between commas, or a sentence."""
    parts = given.split(",") if isinstance(given, str) else given
    try:
        found = [float(part) for part in parts]
    except (ValueError, TypeError):
        raise DataworthError(
            f"--priors is {given!r}; give numbers between commas, such as 0.1,1,10."
        ) from None
    return [positive_number(number, "a prior variance") for number in found]
