"""The page's server: who may ask, what is answered, and that nothing else is."""

import http.client
import json
import multiprocessing
import os
import random
import signal
import threading
import urllib.request
import warnings
from dataclasses import replace

import pytest

from commands import process
from dataworth.errors import DataworthError
from dataworth.review.server import Server, page
from reviews import begin, labels_of, png, world


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    world(folder, picture=lambda i: f"{i}.png")
    (folder / "3.png").write_bytes(png(3))
    server = Server(begin(folder))
    server.start()
    yield server
    server.stop()


def asked(server, path="", method="GET", body=None, **headers):
    """Status, headers and content of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.http.server_port, timeout=20)
    path = path if path.startswith("/") else f"/{server.token}/{path}"
    connection.request(method, path, body, {name.replace("_", "-"): one for name, one in headers.items()})
    try:
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def posted(server, path, told, **headers):
    body = json.dumps(told) if not isinstance(told, bytes | str) else told
    return asked(server, path, "POST", body, **{"Content-Type": "application/json", **headers})


def test_only_who_knows_the_address_is_answered(served):
    assert asked(served)[0] == 200
    near = (f"/{served.token[:-1]}/state", f"/{served.token}x/")
    for path in ("/", "/state", *near, "/%C3%A9", "//", "/../etc/passwd"):
        status, _, body = asked(served, path)
        assert status == 404
        assert b"open the address that the terminal shows" in body
    assert len(served.token) >= 32
    assert served.http.server_address[0] == "127.0.0.1"


def test_another_name_or_origin_is_refused(served):
    """Pages of others cannot ask: not by a name that leads here, not by a form, not by a script."""
    port = served.http.server_port
    assert asked(served, "state", Host=f"evil.example:{port}")[0] == 404
    told = {"row": 1, "after": "yes"}
    assert posted(served, "decide", told, Origin="http://evil.example")[0] == 403
    assert posted(served, "decide", told, Origin="null")[0] == 403
    assert posted(served, "decide", told, **{"Content-Type": "text/plain"})[0] == 403
    assert asked(served, "decide", "OPTIONS")[0] == 501
    assert not served.session.last
    for path in ("", "state", "image/4"):
        headers = asked(served, path)[1]
        assert "Access-Control-Allow-Origin" not in headers
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_the_policy_lets_its_own_script_run_and_nothing_else(served):
    html, policy = page()
    assert asked(served)[1]["Content-Security-Policy"] == policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert policy.count("'sha256-") == 2
    assert "frame-ancestors 'none'" in policy
    assert len(html) < 1_000_000
    assert b"http://" not in html.replace(b"http://127.0.0.1", b"")
    assert b"innerHTML" not in html
    assert asked(served, "state")[1]["Content-Security-Policy"] == "default-src 'none'; sandbox"


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("decide", "{", 400), ("decide", "[1]", 400), ("decide", "[" * 9999, 400),
        ("decide", b"\xff\xfe", 400), ("decide", {}, 400), ("decide", {"row": 1, "after": 3}, 400),
        ("decide", {"row": True, "after": "yes"}, 400),
        ("decide", {"row": 10**40, "after": "yes"}, 400), ("decide", {"row": 1, "after": "maybe"}, 400),
        ("decide", {"row": 1, "after": "yes", "who": ["x"]}, 400), ("nothing", {}, 404),
        ("decide", "x" * 70_000, 413),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_in_a_sentence(served, path, body, status):
    found, _, told = posted(served, path, body)
    assert found == status
    assert json.loads(told)["error"]
    assert not served.session.last


def test_rows_images_and_the_state(served):
    rows = json.loads(asked(served, "rows?at=5&n=3")[2])
    assert [one["place"] for one in rows] == [5, 6, 7]
    assert json.loads(asked(served, "rows?at=119&n=99999")[2])[-1]["place"] == 119
    assert json.loads(asked(served, "rows?at=-3&n=x")[2])[0]["place"] == 0
    assert asked(served, "image/4")[1]["Content-Type"] == "image/png"
    assert asked(served, "image/4")[2] == png(3)
    for path in (
        "image/5",
        "image/0",
        "image/99999999",
        "image/../raw.csv",
        "image/4x",
        "report",
        "x" * 3000,
    ):
        assert asked(served, path)[0] == 404
    assert json.loads(asked(served, "about")[2])["classes"] == ["no", "yes"]


def test_many_ask_at_once_and_every_answer_is_kept(served, tmp_path):
    """Of several tabs, say; afterwards the log has each decision once."""
    before = len(served.session.log.entries)

    def ask(first):
        for row in range(first, first + 20):
            assert posted(served, "decide", {"row": row + 1, "after": "yes"})[0] == 200

    threads = [threading.Thread(target=ask, args=(k,)) for k in (0, 20, 40, 60)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    entries = served.session.log.entries[before:]
    assert sorted(one.row for one in entries) == list(range(1, 81))
    lines = served.session.log.path.read_bytes().splitlines()
    assert len(lines) == 1 + before + 80
    for _ in range(80):
        posted(served, "undo", {})
    assert json.loads(asked(served, "state")[2])["labelled"] == 0


def test_a_full_disk_is_told_and_the_corrected_file_written_later(served, monkeypatch):
    def full():
        raise DataworthError("no room.")

    monkeypatch.setattr(served.session, "save", full)
    posted(served, "decide", {"row": 1, "after": "yes"})
    for _ in range(100):
        if (told := json.loads(asked(served, "state")[2]))["failure"]:
            break
    assert told["failure"] == "no room."
    monkeypatch.setattr(
        served.session.log, "add", lambda entry: (_ for _ in ()).throw(OSError(28, "No space left"))
    )
    status, _, body = posted(served, "decide", {"row": 2, "after": "yes"})
    assert status == 500
    assert "cannot be written (No space left)" in json.loads(body)["error"]
    assert 2 not in served.session.last  # what is not in the log does not count
    monkeypatch.undo()
    posted(served, "undo", {})


def test_finish_ends_the_review_and_writes_the_file(tmp_path):
    world(tmp_path)
    server = Server(begin(tmp_path))
    server.start()
    row = server.session.order[0]
    after = server.session.suggested[row]
    assert posted(server, "decide", {"row": row + 1, "after": after})[0] == 200
    assert posted(server, "finish", {})[0] == 200
    server.wait()
    server.stop()
    assert labels_of(tmp_path / "corrected.csv")[row] == after
    with pytest.raises(OSError, match=r"refused|reset"):
        urllib.request.urlopen(server.url, timeout=2)


def serve_in_a_child(session, pipe):
    """What runs in the process that is killed: a server of its own, on the same files."""
    server = Server(replace(session))
    server.start()
    pipe.send((server.http.server_port, server.token))
    threading.Event().wait()


@pytest.mark.parametrize("times", [int(os.environ.get("REVIEW_KILLS", "5"))])
def test_no_confirmed_correction_is_lost_by_kill_9(tmp_path, times):
    """At any moment of requests that follow one another; what was not confirmed may be there, or not."""
    world(tmp_path)
    session = begin(tmp_path)
    session.log.close()
    rng, confirmed, before = random.Random(3), {}, labels_of(tmp_path / "raw.csv")
    fork = multiprocessing.get_context("fork")
    for _ in range(times):
        mine, other = fork.Pipe()
        child = fork.Process(target=serve_in_a_child, args=(session, other), daemon=True)
        with warnings.catch_warnings(action="ignore"):  # of forks beside threads
            child.start()
        port, token = mine.recv()
        ends_after, told_of = rng.randrange(5, 30), 0
        connection, asked = http.client.HTTPConnection("127.0.0.1", port, timeout=20), None
        try:
            while True:
                asked = rng.randrange(1, 121), rng.choice(["yes", "no"])
                told = json.dumps({"row": asked[0], "after": asked[1]})
                connection.request("POST", f"/{token}/decide", told, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                if answer.status == 200 and answer.read():
                    confirmed[asked[0]] = asked[1]
                    told_of += 1
                if told_of == ends_after:  # soon, in the middle of what comes next
                    threading.Timer(rng.uniform(0.0, 0.02), child.kill).start()
        except (OSError, http.client.HTTPException):
            pass
        connection.close()
        child.join()
        again = replace(session)
        found = {row: entry.after for row, entry in again.last.items()}
        again.close()
        if found.get(asked[0]) == asked[1]:
            confirmed[asked[0]] = asked[1]
        assert found == confirmed
        after = labels_of(tmp_path / "corrected.csv")
        assert after == [confirmed.get(i + 1, before[i]) for i in range(120)]
    assert len(confirmed) >= 5


def test_the_command_serves_until_ctrl_c_and_goes_on_later(tmp_path):
    """In a process of its own: the address alone on stdout, one sentence and the files in the end."""
    world(tmp_path)
    words = ("review", "raw.csv", "--test", "test.csv", "--features", "a,b", "--prior-variance", 1)
    for turn in range(2):
        child = process(*words, "--no-browser", "--who", "Dana", cwd=tmp_path)
        url = child.stdout.readline().strip()
        with urllib.request.urlopen(url + "state", timeout=20) as answer:
            assert json.load(answer)["labelled"] == turn
        told = json.dumps({"row": turn + 1, "after": "yes"}).encode()
        asked_for = urllib.request.Request(f"{url}decide", told, {"Content-Type": "application/json"})
        urllib.request.urlopen(asked_for, timeout=20).close()
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
        assert (child.returncode, out) == (0, "")
        assert f"of {turn + 1} looked at" in err
        assert labels_of(tmp_path / "corrected.csv")[: turn + 1] == ["yes"] * (turn + 1)
