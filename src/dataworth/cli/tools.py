"""The commands around measuring: what has a name, what a file holds, yardsticks, sealed data, vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from .guard import say
from .options import FORMATS, Columns, DataFile, Embedding, Gradients, Some, Takes, Talking, file, word
from .options import add_command as command


@command
def checks(
    talking: Talking,
    codes: Annotated[list[str] | None, file("Some, in full (default: a list of all).", "CODES...")] = None,
) -> object:
    """List the checks that are made of every result: what each means if it fires, what to do.

    Example: dataworth checks -v

    Example: dataworth checks DW002 DW010
    """
    from .listings import list_checks

    return list_checks(codes)


CHECKED = "Audits of the suite, by name (default: all)."
SUITE_FILE = "The suite (default: dataworth.toml)."
BASE = "Revision of git that files are compared with (default: the suite's base, else HEAD)."


@command
def check(
    talking: Talking,
    names: Annotated[list[str] | None, file(CHECKED, "NAMES...")] = None,
    suite: Annotated[Path, word(SUITE_FILE, "--suite", metavar="FILE")] = Path("dataworth.toml"),
    base: Annotated[str | None, word(BASE, "--base", metavar="REVISION")] = None,
    junit: Annotated[Path | None, word("Write outcomes as JUnit XML.", "--junit", metavar="FILE")] = None,
    markdown: Annotated[
        Path | None, word("Write a comment for a pull request.", "--markdown", metavar="FILE")
    ] = None,
    reports: Annotated[
        Path | None, word("Write a page of every audit that is measured.", "--reports", metavar="DIR")
    ] = None,
    no_rows: Annotated[bool, word("Show no rows of the data.", "--no-rows", metavar=" ")] = False,
    no_cache: Annotated[bool, word("Measure all anew.", "--no-cache", metavar=" ")] = False,
    allow_code: Annotated[
        bool, word("Trust the code that the suite names.", "--allow-code", metavar=" ")
    ] = False,
) -> int:
    """Run the audits of a suite, dataworth.toml: may these data be merged? Only what changed is measured.

    'dataworth init' writes a suite. Exit code 1: a threshold is not kept; 2: an audit cannot be made.
    ('dataworth checks', another command, lists the trust checks.)

    Example: dataworth check

    Example: dataworth check --base origin/main --junit junit.xml --markdown comment.md
    """
    from .files import check_outputs
    from .suite.commands import Written, run_suite
    from .suite.file import read_suite

    check_outputs(junit, markdown)
    return run_suite(
        read_suite(suite, allow_code),
        names or [],
        base,
        talking,
        Written(junit=junit, markdown=markdown, reports=reports, rows=not no_rows),
        cache=not no_cache,
    )


@command
def init(
    talking: Talking,
    directory: Annotated[Path, file("Where the data are (default: here).", "DIR")] = Path("."),
    force: Annotated[bool, word("Replace a suite that exists.", "--force", metavar=" ")] = False,
) -> None:
    """Write a suite, dataworth.toml, from the data and test sets that a directory has.

    Example: dataworth init
    """
    from .suite.commands import make_suite

    make_suite(directory, force, talking)


@command
def explain(
    talking: Talking,
    term: Annotated[list[str] | None, file("A term (default: a list of all).", "TERM")] = None,
) -> object:
    """Explain a term of the glossary.

    Example: dataworth explain blind baseline
    """
    from .listings import explain_term

    return explain_term(" ".join(term or ()))


@command
def curations(talking: Talking) -> object:
    """List the curations that 'dataworth audit --curate' knows; -v says why each is strategic or not.

    Example: dataworth curations -v
    """
    from .listings import list_curations

    return list_curations()


@command
def describe(
    file: Annotated[Path, file(FORMATS)],
    columns: Annotated[Columns, Some(without=("stream", "text_encoder"))],
    talking: Talking,
) -> object:
    """Say what of a file would be used as what, and why.

    Example: dataworth describe data.csv
    """
    from dataworth.data.io import describe

    from .progress import reading

    with reading(talking.quiet, [file]):
        return describe(file, **columns.roles)


@command
def yardstick(
    test: Annotated[Path, file("The test set.", "TEST")],
    columns: Columns,
    options: Annotated[dict[str, Any], Takes("rank", "model", "inference", "prior_variance", "seed")],
    talking: Talking,
    output: Annotated[
        Path | None,
        word("File to publish it in; its key is kept beside it.", "--output", "-o", metavar="FILE"),
    ] = None,
    verify: Annotated[Path | None, word("A published one: was it of this test set?", metavar="FILE")] = None,
) -> object:
    """Fit the yardstick of a test set, to measure any data with later.

    Example: dataworth yardstick test.csv -o yardstick.json
    """
    from .seal import key_file, make_yardstick, verify_yardstick
    from .show import announce

    if verify is not None:
        return verify_yardstick(test, verify, columns, talking.quiet)
    made = make_yardstick(test, columns, options, output, talking.quiet)
    if output is not None:
        announce("yardstick", output, talking.quiet)
        announce("its key, which stays with you,", key_file(output), talking.quiet)
    elif not (talking.quiet or talking.json):
        say("nothing was saved: -o FILE saves the yardstick")
    return made


@command
def seal(
    data: DataFile,
    yardstick: Annotated[Path, word("The buyer's yardstick.", "--yardstick", metavar="FILE")],
    output: Annotated[Path, word("File to send: .safetensors.", "--output", "-o", metavar="FILE")],
    columns: Columns,
    talking: Talking,
    force: Annotated[bool, word("Replace a file that exists.", "--force", metavar=" ")] = False,
) -> object:
    """Seal data for a buyer, who can then score and rank them without seeing a row.

    Example: dataworth seal data.csv --yardstick yardstick.json -o data.safetensors
    """
    from .seal import seal_file

    return seal_file(data, yardstick, output, columns, talking.quiet, force)


@command
def commit(
    data: DataFile,
    columns: Columns,
    talking: Talking,
    key: Annotated[str | None, word("A key, 16 characters or more (default: a random one).", "--key")] = None,
) -> object:
    """Commit to data without showing them: a keyed hash, which 'dataworth audit --committed' verifies.

    Example: dataworth commit raw.csv
    """
    from .seal import commit_file

    return commit_file(data, columns, key, talking.quiet)


@command
def embed(
    source: Annotated[Path, file("A folder of images per label, or a table of images or pairs.", "SOURCE")],
    output: Annotated[Path, word("Table to write: .parquet.", "--output", "-o", metavar="FILE")],
    embedding: Embedding,
    columns: Annotated[Columns, Some("label", "group", "attribute", "id", "weights")],
    wanted: Gradients,
    where: Annotated[dict[str, Any], Takes("rank", "jobs", "engine", "address")],
    talking: Talking,
    gradients: Annotated[bool, word("Gradients of a model on pairs.", "--gradients", metavar=" ")] = False,
) -> object:
    """Make vectors of images, or of preference pairs, to measure with the other commands.

    Example: dataworth embed photos/train -o train.parquet

    Example: dataworth embed pairs.jsonl --gradients --model Qwen/Qwen3-1.7B -o pairs.parquet
    """
    from dataworth.parallel import get_engine

    from .embedding import embed_images, embed_pairs

    engine = get_engine(where["engine"], where["jobs"], where["address"]) if any(where.values()) else None
    if gradients:
        return embed_pairs(source, output, embedding, wanted, talking.quiet, engine)
    return embed_images(source, output, embedding, columns, talking.quiet, engine)
