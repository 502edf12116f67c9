"""Hostile input, a little of it: `benchmarks/fuzz.py` tries ten thousand."""

import pytest

import fuzz
from fuzz_files import make_seeds
from fuzz_outcome import outcome

ROUNDS = 3


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seeds")
    make_seeds(folder)
    return folder


def test_hostile_input_is_read_or_refused_in_a_sentence(seeds, tmp_path):
    """Every reader a few times; a case that fails is run again by `benchmarks/fuzz.py --seed 7 --only N`."""
    bad = []
    for i in range(ROUNDS * (len(fuzz.TABLES) + len(fuzz.MAKERS))):
        folder = tmp_path / str(i)
        folder.mkdir()
        one = fuzz.case(7, i, seeds, folder)
        ended, told, _ = outcome(one, folder)
        bad += [(i, one.reader, ended, told)] if ended not in ("done", "refused") else []
    assert bad == []
