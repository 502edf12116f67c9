"""What is tried by `fuzz.py`, from small good files of every kind, and how it ends."""

import gzip
import io
import json
import os
import signal
import time
import warnings
from collections.abc import Callable
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
from typer.main import get_command

import dataworth as dw
from dataworth.cli.app import app

SECONDS = 10
"""CPU time, and a sixth of the time by the clock, that a command may take."""
LONGEST = 2000
"""Characters of a line on stderr."""


class Case(NamedTuple):
    """What is tried: a reader's name, words of a command, or a call."""

    reader: str
    words: list[str]
    call: Callable[[], object] | None = None


class Hang(BaseException):
    """It takes too long."""


@contextmanager
def limited(seconds: float):
    """Raise `Hang` after so much CPU time, or six times as much by the clock."""

    def stop(signum, frame):
        raise Hang

    before = [signal.signal(one, stop) for one in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 6 * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for one, handler in zip((signal.SIGPROF, signal.SIGALRM), before, strict=True):
            signal.signal(one, handler)


def quiet():
    return warnings.catch_warnings(action="ignore")


@cache
def made():
    """The commands, made once: `CliRunner` makes them for every call, which takes longer than the call."""
    return get_command(app)


def command(words: list[str], folder: Path) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command, in this process; an exception that escapes is raised."""
    before, code = Path.cwd(), 0
    out, err = io.StringIO(), io.StringIO()
    os.chdir(folder)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            made().main(args=words, prog_name="dataworth")
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        os.chdir(before)
    return code, out.getvalue(), err.getvalue()


def outcome(one: Case, folder: Path, seconds: float = SECONDS) -> tuple[str, str, float]:
    """How a case ends, what was said, and the CPU time it took."""
    before = {path for path in folder.rglob("*") if not path.is_symlink()}
    start, code, told, out = time.process_time(), 0, "", ""
    try:
        with quiet(), limited(seconds):
            if one.call is None:
                code, out, told = command(one.words, folder)
            else:
                one.call()
        ended = {0: "done", 1: "done", 3: "done", 2: "refused"}.get(code, "bug")
    except dw.DataworthError as error:
        ended, told = "refused", f"dataworth: {error}"
    except Hang:
        ended = "hang"
    except MemoryError:
        ended = "memory"
    except BaseException as error:
        ended, told = "traceback", f"{type(error).__name__}: {error}"
    used = time.process_time() - start
    if ended in ("done", "refused"):
        left = {path for path in folder.rglob("*") if not path.is_symlink()} - before
        lines = told.splitlines()
        if "not enough memory" in told:
            ended = "memory"
        elif any(path.name.endswith(".tmp") for path in left):
            ended = "half-written"
        elif "Traceback" in told or "\x1b" in told + out or any(len(line) > LONGEST for line in lines):
            ended = "garbage"
        elif ended == "refused" and not lines:
            ended = "silence"
    return ended, told[-600:], used


def make_seeds(folder: Path) -> None:
    """Small good files of every kind, and a run, a ladder, values: what cases are made from."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    table = {
        "a": X[:, 0], "b": X[:, 1], "city": rng.choice(["Ulm", "Bonn", "Köln"], 60),
        "day": [f"2021-0{1 + i % 9}-1{i % 10}" for i in range(60)], "label": (X[:, 0] > 0).astype(int),
    }  # fmt: skip
    frame = pa.table(table)
    pa.csv.write_csv(frame, folder / "t.csv")
    text = (folder / "t.csv").read_bytes()
    (folder / "t.tsv").write_bytes(text.replace(b",", b"\t"))
    (folder / "t.txt").write_bytes(text.replace(b",", b" "))
    (folder / "t.csv.gz").write_bytes(gzip.compress(text))
    rows = frame.to_pylist()
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    (folder / "t.jsonl").write_bytes(lines)
    (folder / "t.jsonl.gz").write_bytes(gzip.compress(lines))
    (folder / "t.json").write_text(json.dumps(rows))
    pa.parquet.write_table(frame, folder / "t.parquet")
    pa.feather.write_feather(frame, folder / "t.feather")
    with pa.ipc.new_stream(folder / "t.arrow", frame.schema) as sink:
        sink.write_table(frame)
    np.savez(folder / "t.npz", X=X, y=table["label"], groups=np.arange(60) % 7)
    _workbook(rows, folder / "t.xlsx")
    _images(folder / "i")
    pairs = [{"prompt": f"p{i}", "chosen": f"good {i}", "rejected": "bad " * (i % 5)} for i in range(30)]
    (folder / "p.jsonl").write_text("".join(json.dumps(one) + "\n" for one in pairs))
    pa.csv.write_csv(frame.select(["a", "b", "label"]), folder / "good.csv")
    Z = rng.normal(size=(60, 2))
    pa.csv.write_csv(pa.table({"a": Z[:, 0], "b": Z[:, 1], "label": (Z[:, 0] > 0) * 1}), folder / "test.csv")
    with quiet():
        test = dw.read(folder / "test.csv")
        yard = dw.Yardstick.fit(test, prior_variance=1.0)
        yard.published(test, "a key of our own").save(folder / "y.json")
        dw.seal(dw.read(folder / "good.csv"), yard).save(folder / "v.safetensors")
        for words in (
            ["score", *SMALL, "--run-dir", "run", "--ladder", "ladder.json"],
            ["values", "-o", "values.csv", "--prior-variance", "1"],
        ):
            code, _, told = command([words[0], "good.csv", "--test", "test.csv", *words[1:]], folder)
            assert code == 0, told
    (folder / "ladder.json.lock").unlink(missing_ok=True)


SMALL = ["--pairs", "4", "--size", "10", "--prior-variance", "1", "--ignore", "all"]


def _workbook(rows: list[dict], path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(list(rows[0]))
    for row in rows:
        book.active.append(list(row.values()))
    book.save(path)


def _images(path: Path) -> None:
    from PIL import Image

    for i, kind in enumerate(("png", "jpeg", "gif", "bmp", "tiff", "webp")):
        place = path / "ab"[i % 2] / f"{i}.{kind}"
        place.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((6, 5, 3), 40 * i, dtype=np.uint8)).save(place, kind)
