"""Files written whole or not at all; and of a thousand damaged ones none is taken for whole."""

import contextlib
import errno
import os
from pathlib import Path

import numpy as np
import pytest

from dataworth.atomic import MOST_BYTES, atomic_write, read_whole
from dataworth.errors import DataworthError
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


def test_only_plain_files_of_a_gigabyte_at_most_are_read_whole(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # nobody writes: reading it would never end
    for place in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with pytest.raises(OSError, match="plain"):
            read_whole(place)
    with (tmp_path / "large").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    assert MOST_BYTES == 2**30
    with pytest.raises(OSError, match="larger"):
        read_whole(tmp_path / "large", 1000)
    assert "is not a yardstick" in refusal(Yardstick.load, tmp_path / "pipe")
    with pytest.raises(DataworthError, match="regular"):
        Sealed.load(tmp_path / "pipe")
