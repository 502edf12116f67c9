"""How far the work is: lines in a log, a bar on a terminal."""

import threading
import time
from pathlib import Path
from types import SimpleNamespace

from dataworth.cli.progress import Lines, reading


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
