"""How far the work is: lines in a log, a bar on a terminal."""

import time

import pytest

from dataworth.cli.progress import Bar, Lines


def test_a_log_gets_a_line_now_and_then(monkeypatch):
    now, lines = [0.0], []
    monkeypatch.setattr("dataworth.cli.progress.time.monotonic", lambda: now[0])
    progress = Lines(lines.append)
    progress.expect(59)
    progress.expect(180)
    for second in range(41):
        now[0] = float(second)
        progress.update(second, 40)
    assert lines == [
        "about 3 min",
        "5% done, about 38 s left",  # after two seconds, then every ten
        "30% done, about 28 s left",
        "55% done, about 18 s left",
        "80% done, about 8 s left",
    ]


@pytest.mark.parametrize(
    ("done", "told"), [("nothing", "fitting…"), ("expect", "measuring…"), ("update", None)]
)
def test_a_log_hears_what_lasts_before_the_work(monkeypatch, done, told):
    """Work that was expected to be short, and of which no part is done yet, is told as well."""
    monkeypatch.setattr("dataworth.cli.progress.PATIENCE", 0.05)
    lines = []
    progress = Lines(lines.append)
    progress.preparing("fitting…")
    if done == "expect":
        progress.expect(0.01)
    elif done == "update":
        progress.update(1, 2)
    time.sleep(0.2)
    progress.close()
    assert lines == ([told] if told else [])


def test_a_bar_shows_how_far_the_work_is():
    bar = Bar()
    bar.preparing("fitting the yardstick…")
    bar.expect(30.0)
    bar.update(2, 4)
    assert bar._bar.tasks[0].percentage == 50
    assert bar._bar.live.is_started
    bar.close()
    assert not bar._bar.live.is_started
