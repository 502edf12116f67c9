"""How far the work is: lines in a log, a bar on a terminal."""

import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from dataworth.cli.progress import PLANS, Bar, Lines, fewer, reading


def test_a_log_gets_a_line_now_and_then(monkeypatch):
    now, lines = [0.0], []
    monkeypatch.setattr("dataworth.cli.progress.time.monotonic", lambda: now[0])
    progress = Lines(lines.append)
    progress.preparing("fitting the yardstick…")
    progress.expect(59)
    progress.expect(180)
    for second in range(41):
        now[0] = float(second)
        progress.update(second, 40)
    assert lines == [
        "about 3 min", "5% done, about 38 s left",  # after two seconds, then every ten
        "30% done, about 28 s left", "55% done, about 18 s left", "80% done, about 8 s left",
    ]  # fmt: skip


def test_a_log_hears_of_what_cannot_be_counted_only_if_it_takes_long():
    lines = []
    progress = Lines(lines.append, "--sample 100000 takes some rows", 0.02)
    for end in (lambda: progress.expect(1), lambda: progress.update(1, 2), progress.close):
        progress.preparing("reading a.csv…")
        end()
    time.sleep(0.06)
    assert lines == []
    progress.preparing("reading a.csv…")
    time.sleep(0.06)
    assert lines == ["reading a.csv takes more than 0 s: --sample 100000 takes some rows"]


def test_what_to_do_where_reading_takes_long_suits_the_command_and_the_file():
    assert "sample" in fewer("score", [Path("a.csv")])
    assert "sample" not in fewer("audit", [Path("a.csv")])  # which refuses it
    assert fewer("score", [Path("a.csv"), Path("b.XLSX")]) == "save .xlsx as .csv"


STAGES = {
    # CPU seconds of audits of a rise, 1,500 rows of 20 columns and 400 of 8, with the yardstick fitted or at
    # hand: when each counted stage began and ended, how often it was told of, and the end
    "large": [(1.26, 1.39, 10), (1.59, 2.08, 15), (2.14, 2.35, 11), 2.78],
    "large, kept": [(0.06, 0.18, 10), (0.37, 0.83, 15), (0.9, 1.03, 11), 1.46],
    "small": [(0.39, 0.45, 10), (0.49, 0.64, 15), (0.67, 0.74, 11), 1.0],
    "small, kept": [(0.03, 0.09, 10), (0.13, 0.27, 15), (0.3, 0.37, 11), 0.62],
}


@pytest.mark.parametrize("kind", STAGES)
def test_one_command_has_one_bar_that_never_falls_and_tells_the_time(kind, monkeypatch):
    """Within a factor of two after a tenth of the time, on recorded stages, if the first is foreseen."""
    now, lines = [0.0], []
    monkeypatch.setattr("dataworth.cli.progress.time.monotonic", lambda: now[0])
    progress = Lines(lines.append, plan=PLANS["audit"])
    *stages, end = STAGES[kind]
    positions = []
    for begins, ends, parts in stages:
        now[0] = begins
        progress.expect(ends - begins)
        for k in range(parts):
            now[0] = begins + (ends - begins) * (k + 1) / parts
            progress.update(k + 1, parts)
            positions.append(progress.position)
            if now[0] > 0.1 * end:
                assert 0.5 <= progress.left() / (end - now[0]) <= 2, (kind, now[0])
    assert positions == sorted(positions)
    assert positions[-1] < 1
    assert lines == []  # it took no two seconds


def test_stages_that_nobody_planned_do_not_move_it_back():
    progress = Lines(lambda line: None)
    for done, total in ((1, 4), (4, 4), (1, 9), (9, 9), (2, 3)):
        progress.update(done, total)
        assert progress.position == (0.25 if (done, total) == (1, 4) else 1)
    assert progress.left() is None


def test_reading_is_told_of_after_five_seconds(monkeypatch):
    waited = []

    def timer(seconds, write, told):
        waited.append((seconds, *told))
        return threading.Timer(100, write, told)

    monkeypatch.setattr("dataworth.cli.progress.threading", SimpleNamespace(Timer=timer))
    with reading(False, [Path(f"{name}.csv") for name in "abcd"]):
        pass
    (found,) = waited
    assert found[0] == 5
    assert found[1].startswith(
        "reading a.csv, b.csv, c.csv and 1 more takes more than 5 s: fewer rows take less"
    )


def test_a_bar_shows_how_far_the_work_is():
    bar = Bar()
    bar.preparing("fitting the yardstick…")
    bar.expect(30.0)
    bar.update(2, 4)
    assert 50 <= bar._bar.tasks[0].percentage < 55  # what came before is part of it
    bar.preparing("checking…")
    assert 50 <= bar._bar.tasks[0].percentage < 55  # a bar that moved stays where it is
    assert bar._bar.live.is_started
    bar.close()
    assert not bar._bar.live.is_started
