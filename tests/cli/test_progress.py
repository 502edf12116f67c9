"""How far the work is: lines in a log, a bar on a terminal."""

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


class Clock:
    """In place of a timer: it goes off when it is told to."""

    def __init__(self, seconds, function, arguments):
        self.ring = lambda: None if self.cancelled else function(*arguments)
        self.cancelled = False
        CLOCKS.append(self)

    def start(self):
        pass

    def cancel(self):
        self.cancelled = True


CLOCKS = []


@pytest.mark.parametrize("done", ["nothing", "expect", "update", "close"])
def test_a_log_hears_what_lasts_before_the_work(monkeypatch, done):
    lines = []
    monkeypatch.setattr("dataworth.cli.progress.threading.Timer", Clock)
    progress = Lines(lines.append)
    progress.preparing("fitting the yardstick…")
    {
        "nothing": lambda: None,
        "expect": lambda: progress.expect(1.0),
        "update": lambda: progress.update(1, 2),
        "close": progress.close,
    }[done]()
    for clock in CLOCKS:
        clock.ring()
    CLOCKS.clear()
    # work that was expected to be short, and of which no part is done yet, is told as well
    assert lines == {"nothing": ["fitting the yardstick…"], "expect": ["measuring…"]}.get(done, [])


def test_a_bar_shows_how_far_the_work_is():
    bar = Bar()
    bar.preparing("fitting the yardstick…")
    bar.expect(30.0)
    bar.update(2, 4)
    assert bar._bar.tasks[0].percentage == 50
    assert bar._bar.live.is_started
    bar.close()
    assert not bar._bar.live.is_started
