"""Hostile input, a little of it: `benchmarks/fuzz.py` tries ten thousand."""

import pytest

import fuzz
import fuzz_edits
from dataworth.cli.guard import say
from fuzz_outcome import command, make_seeds, outcome


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seeds")
    make_seeds(folder)
    return folder


def test_hostile_input_is_read_or_refused_in_a_sentence(seeds, tmp_path):
    """Every reader three times; a case that fails is run again by `benchmarks/fuzz.py --seed 7 --only N`.
    A few kinds; `benchmarks/fuzz.py --edits` tries two thousand, and `--only N` one of them."""
    bad = []
    for i in range(len(fuzz.MAKERS)):
        folder = tmp_path / str(i)
        folder.mkdir()
        one = fuzz.case(7, i, seeds, folder)
        ended, told, _ = outcome(one, folder)
        bad += [(i, one.reader, ended, told)] if ended not in ("done", "refused") else []
    assert bad == []
    for i in range(0, len(fuzz_edits.MAKERS), 8):
        ended, told, _ = outcome(fuzz_edits.case(7, i, tmp_path, tmp_path), tmp_path)
        assert ended in ("done", "refused"), (i, ended, told)


def test_what_a_file_makes_part_of_a_sentence_is_tamed(capsys, tmp_path):
    say("column '\x1b[2J\u202e\n" + "x" * 5000 + "' is odd: rename it")
    told = capsys.readouterr().err
    assert len(told) < 1050
    assert told.startswith("dataworth: column '\ufffd[2J\ufffd x")
    assert told.endswith("x' is odd: rename it\n")
    assert told.count("\n") == 1
    (tmp_path / "t.csv").write_text("a\x1b[2J,label\n1,0\n2,1\n4,1\n")
    code, out, err = command(["describe", "t.csv"], tmp_path)
    assert code == 0
    assert "\x1b" not in out + err
    assert "a\ufffd[2J" in out
