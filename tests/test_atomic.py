"""Files written whole or not at all; and of a thousand damaged ones none is taken for whole."""

import contextlib
import errno
import json
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from dataworth.atomic import atomic_write, parse_json, parsed_size, plain_cell, read_whole, write_csv
from dataworth.errors import DataworthError
from dataworth.limits import LIMITS
from dataworth.valuation.sealed import Sealed, seal
from dataworth.yardstick.yardstick import Yardstick
from fuzz_bytes import mutate
from worlds import classes, refusal

DAMAGED = 1000
SMALL = classes(40, 6, d=2)


@pytest.fixture(scope="module")
def made():
    return Yardstick.fit(SMALL, prior_variance=1.0).published(SMALL, "a key of our own")


def damaged(raw, rng):
    """Bytes as a bad disk, a cut connection or a text mode leave them; never the same."""
    while (content := mutate(raw, rng)) == raw:
        pass
    return content


@pytest.mark.parametrize(("name", "load"), [("v.safetensors", Sealed.load), ("y.json", Yardstick.load)])
def test_of_a_thousand_damaged_files_none_is_accepted(made, tmp_path, name, load):
    """SHA-256 of every byte: one in 2²⁵⁶ would pass."""
    (seal(SMALL, made) if load == Sealed.load else made).save(tmp_path / name)
    load(tmp_path / name)
    raw, rng = (tmp_path / name).read_bytes(), np.random.default_rng(0)
    for _ in range(DAMAGED):
        (tmp_path / name).write_bytes(damaged(raw, rng))
        refusal(load, tmp_path / name)


def test_a_full_disk_leaves_the_old_file(made, tmp_path, monkeypatch):
    """And what fails half-way leaves nothing."""

    def full_disk(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    saves = {tmp_path / "y.json": made.save, tmp_path / "v.safetensors": seal(SMALL, made).save}
    for place, save in saves.items():
        save(place)
    old = {file: file.read_bytes() for file in tmp_path.iterdir()}
    monkeypatch.setattr(os, "fsync", full_disk)
    for place, save in saves.items():
        assert "make room" in refusal(save, place)
    with contextlib.suppress(KeyboardInterrupt), atomic_write(tmp_path / "a") as place:
        place.write_text("half")
        raise KeyboardInterrupt
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == old


def test_only_plain_files_of_an_eighth_of_a_gigabyte_at_most_are_read_whole(tmp_path):
    """Five million empty objects, 15 MB of text, take 1.6 GB by the account that the last test checks."""
    os.mkfifo(tmp_path / "pipe")  # nobody writes: reading it would never end
    for place in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with pytest.raises(OSError, match="plain"):
            read_whole(place)
    with (tmp_path / "large").open("wb") as file:
        file.truncate(2**27 + 1)
    with pytest.raises(OSError, match="larger"):
        read_whole(tmp_path / "large")
    assert "is not a yardstick" in refusal(Yardstick.load, tmp_path / "pipe")
    with pytest.raises(DataworthError, match="regular"):
        Sealed.load(tmp_path / "pipe")
    assert LIMITS.parsed == 2**30
    with pytest.raises(ValueError, match=r"1\.1 GB of memory"):
        parse_json(b"[" + b"{}," * 5_000_000 + b"{}]")


JSONS = [b"[1" + b",1" * 99_999, b"[{}" + b",{}" * 99_999, b"[[1]" + b",[1]" * 99_999]
JSONS += [b'[""' + b"".join(b',{"%d":1}' % i for i in range(50_000)), b'["' + b"x" * 10**6 + '😀"'.encode()]


@pytest.mark.parametrize("text", JSONS, ids=("numbers", "objects", "lists", "keys", "text"))
def test_json_takes_no_more_than_is_said_before(text):
    text = text + b"]"
    tracemalloc.start()
    json.loads(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - 10_000 < parsed_size(text) < 8 * peak
    with pytest.raises(ValueError, match="memory"):
        parse_json(text, parsed_size(text) - 1)


def test_no_cell_of_a_csv_is_a_formula(tmp_path):
    """As spreadsheets read them: =, +, - and @ begin a formula, tabs and returns are skipped before it."""
    texts = ["=cmd()", "+cmd()", "-cmd()", "@cmd()", "\t=cmd()", "\r=cmd()"]
    assert [plain_cell(text) for text in texts] == [f"'{text}" for text in texts]
    assert [plain_cell(cell) for cell in ("-1.5e3", "a=1", -1.5, None)] == ["-1.5e3", "a=1", -1.5, None]
    write_csv(tmp_path / "t.csv", [{"name": "=cmd()", "value": -1.5}])
    assert (tmp_path / "t.csv").read_text() == "name,value\n'=cmd(),-1.5\n"


def test_a_link_where_a_file_is_prepared_is_not_written_through(tmp_path):
    (tmp_path / "victim").write_text("mine")
    (tmp_path / f".a.{os.getpid()}.tmp").symlink_to(tmp_path / "victim")
    with atomic_write(tmp_path / "a") as place:
        place.write_text("new")
    assert [(tmp_path / name).read_text() for name in ("a", "victim")] == ["new", "mine"]
