"""Reviews: the list, the log that loses nothing, the corrected file, the audit by other test rows."""

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dataworth as dw
from commands import ENVIRONMENT, call, refused
from dataworth.cli.options import Columns
from dataworth.review import expectation
from dataworth.review.expectation import recalibrated
from dataworth.valuation.values.guard import load_values
from dataworth.valuation.values.lineage import choosing_half
from reviews import FLIPPED, begin, labels_of, png, world, write
from worlds import refusal


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("review")
    return folder, *world(folder)


@pytest.fixture
def session(made, tmp_path):
    for name in ("raw.csv", "test.csv"):
        (tmp_path / name).write_bytes((made[0] / name).read_bytes())
    opened = begin(tmp_path)
    yield opened
    opened.log.close()


def test_the_first_rows_are_the_wrong_ones_and_say_why(made, session):
    _, right, bad = made
    first = session.batch(0, FLIPPED)
    assert sum(bad[item["row"] - 1] for item in first) >= FLIPPED - 1
    item = next(one for one in first if bad[one["row"] - 1])
    row = item["row"] - 1
    assert item["id"] == f"r{row}"
    assert (item["given"], item["suggested"]) == (labels_of(made[0] / "raw.csv")[row], right[row])
    assert item["annotator"] in ("Ann", "Bo")
    assert [name for name, _ in item["cells"]] == ["a", "b"]
    why = item["why"]
    assert 3 <= why["otherwise"] <= why["near"] == 10
    X = session.rows.features
    near = np.argsort(((X - X[row]) ** 2).sum(axis=1), kind="stable")[1:11]
    other = [int(k) + 1 for k in near if session.given[k] != item["given"]]
    assert [one["row"] for one in why["rows"]] == other[:3]
    assert all(one["label"] != item["given"] for one in why["rows"])


def test_what_is_decided_is_in_the_log_and_in_the_corrected_file(made, session):
    folder = session.path.parent
    first, second, third = session.order[:3]
    session.decide(first + 1, session.suggested[first])
    session.decide(second + 1, session.given[second])
    session.decide(third + 1, None, who="Eve")
    state = session.state()
    assert (state["labelled"], state["changed"], state["skipped"], state["place"]) == (2, 1, 1, 3)
    session.close()
    before, after = labels_of(folder / "raw.csv"), labels_of(folder / "corrected.csv")
    assert [i for i in range(120) if before[i] != after[i]] == [first]
    raw, corrected = ((folder / n).read_text().splitlines() for n in ("raw.csv", "corrected.csv"))
    assert [i - 1 for i in range(121) if raw[i] != corrected[i]] == [first]  # every other byte is as it was
    lines = [json.loads(line) for line in session.log.path.read_text().splitlines()[1:]]
    assert [(one["action"], one["row"], one["who"]) for one in lines] == [
        ("label", first + 1, "Dana"), ("label", second + 1, "Dana"), ("skip", third + 1, "Eve"),
    ]  # fmt: skip
    assert (lines[0]["id"], lines[0]["before"], lines[0]["after"]) == (
        f"r{first}", session.given[first], session.suggested[first],
    )  # fmt: skip
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", lines[0]["when"])
    again = begin(folder)
    assert again.state()["place"] == 3
    assert again.undo() == third + 1
    assert again.undo() == second + 1
    assert again.undo() == first + 1
    assert again.undo() is None
    assert again.state()["place"] == 0
    again.close()
    assert labels_of(folder / "corrected.csv") == before


def test_what_cannot_be_decided_is_refused(session):
    assert "is none of the 120 rows" in refusal(session.decide, 0, "yes")
    assert "is none of the 120 rows" in refusal(session.decide, 121, "yes")
    assert "'maybe' is no label: labels are no, yes" in refusal(session.decide, 1, "maybe")
    assert not session.log.entries


def test_a_log_is_of_its_data_and_its_test_rows_and_open_once(made, session, tmp_path):
    assert "is open in another review" in refusal(begin, tmp_path)
    session.close()
    raw, test = tmp_path / "raw.csv", tmp_path / "test.csv"
    text = raw.read_text()
    raw.write_text(text.replace("r7,", "r700,"))
    assert "is the log of a review with other data" in refusal(begin, tmp_path)
    raw.write_text(text)
    test.write_text("\n".join(test.read_text().splitlines()[:-1]) + "\n")
    assert "is the log of a review with other test rows" in refusal(begin, tmp_path)


def test_the_other_half_judges_whatever_was_corrected(made, session):
    """By the page's button, and by the command that finds the log beside the data: the same answer."""
    _, right, _ = made
    for row in session.order[:15]:
        session.decide(row + 1, right[row])
    found = session.judge()
    stored = load_values(session.log.path)
    assert stored.lineage.sample_splitting
    judged = ~choosing_half(session.test)
    assert found.details.test_rows == int(judged.sum()) == 60
    assert not (stored.lineage.chose(session.test, stored.key) & judged).any()
    assert found.interval[0] > 0
    session.close()
    words = ("raw.csv", "corrected.csv", "--test", "test.csv", "--features", "a,b", "--no-cache", "--json")
    told = subprocess.run(
        [sys.executable, "-m", "dataworth", "audit", *words], cwd=session.path.parent, env=ENVIRONMENT,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(told.stdout)["delta"] == pytest.approx(found.delta, abs=1e-9)
    assert "no say in" in json.loads(told.stdout)["notes"][0]


def test_a_decision_is_on_the_disk_before_it_is_told(session, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(session.log.path.read_bytes()))
    session.decide(1, "yes")
    assert synced == [session.log.path.read_bytes()]
    assert b'"row": 1' in synced[0]


def damaged(text, rng):
    """A log, damaged behind its first line in one of many ways; and which lines are as they were."""
    head, *lines = text.split(b"\n")[:-1]
    how, k = rng.randrange(7), rng.randrange(len(lines))
    whole = [True] * len(lines)
    if how == 0:  # cut off
        lines[-1] = lines[-1][: rng.randrange(len(lines[-1]))]
        whole[-1] = False
        return b"\n".join([head, *lines]), whole
    if how == 1:  # some bytes
        line = bytearray(lines[k])
        place = rng.randrange(len(line))
        line[place] = (line[place] + rng.randrange(1, 256)) % 256
        lines[k] = bytes(line)
    elif how == 2:
        lines[k] = rng.randbytes(rng.randrange(1, 300)).replace(b"\n", b"")
    elif how == 3:
        lines[k] = b"\0" * rng.randrange(1, 5000)
    elif how == 4:
        lines[k] = rng.choice(
            [b"{}", b"[]", b"[" * 9999, b'{"row": 1e999}', b"null", b"\xff\xfe", b'{"sum": {}}']
        )
    elif how == 5:
        told = json.loads(lines[k])
        told[rng.choice(list(told))] = rng.choice([None, -1, 10**400, "x" * 999, [], {}, True])
        lines[k] = json.dumps(told).encode()
    else:
        lines[k] = lines[k] + lines[k]
    whole[k] = False
    return b"\n".join([head, *lines, b""]), whole


@pytest.mark.parametrize("times", [1000])
def test_damaged_logs_lose_nothing_else_and_no_byte(session, times):
    """Every line that is whole counts, those that are not are told by number, and none is overwritten."""
    rng = random.Random(5)
    for row in session.order[:20]:
        session.decide(row + 1, rng.choice(["yes", "no", None]))
    session.undo()
    session.log.close()
    text, folder = session.log.path.read_bytes(), session.path.parent
    entries = [json.loads(line) for line in text.splitlines()[1:]]
    head, path = session._head(), session.log.path
    for _ in range(times):
        broken, whole = damaged(text, rng)
        path.write_bytes(broken)
        log = type(session.log).open(path, head, session.given, session.classes)
        kept = [{**one._asdict(), "sum": json.loads(one.line)["sum"]} for one in log.entries]
        expected = [one for one, is_whole in zip(entries, whole, strict=True) if is_whole]
        changed = [one for one in kept if one not in expected]
        assert [one for one in kept if one not in changed] == expected
        assert all(one in entries for one in changed)  # damage that changed no meaning, such as a space
        assert log.damaged[:1] in ([whole.index(False) + 2], [])
        assert (log.note is None) == (not log.damaged)
        log.close()
        assert path.read_bytes().startswith(broken)
    assert sorted(p.name for p in folder.iterdir() if p.name.startswith("corrected")) == [path.name]


def test_a_log_whose_first_line_is_damaged_is_refused_and_left_alone(session):
    session.decide(1, "yes")
    session.log.close()
    text = session.log.path.read_bytes()
    for broken in (
        text[1:],
        b"{}\n" + text,
        b"\0" * 30,
        text.replace(b'"data_hash": "', b'"data_hash": "0', 1),
    ):
        session.log.path.write_bytes(broken)
        assert "corrected.review.jsonl" in refusal(begin, session.path.parent)
        assert session.log.path.read_bytes() == broken


def test_annotators_have_error_rates_that_hold_the_truth(made, session):
    *_, bad = made
    told = {one["name"]: one for one in session.annotators}
    assert [one["name"] for one in session.annotators] == ["Ann", "Bo"]  # the worse one first
    for name, one in told.items():
        rate = np.mean([bad[i] for i in range(120) if session.sources[i] == name])
        assert one["low"] <= rate <= one["high"]
        assert one["rows"] == session.sources.count(name)
        assert not one["below_random"]


def test_an_annotator_who_is_mostly_wrong_is_below_random(tmp_path):
    world(tmp_path, n=300)
    rows = (tmp_path / "raw.csv").read_text().splitlines()
    turned = [
        re.sub(r"(yes|no),\w+$", lambda f: f"{'no' if f[1] == 'yes' else 'yes'},Zoe", row)
        if 0 < i <= 100
        else row
        for i, row in enumerate(rows)
    ]
    (tmp_path / "raw.csv").write_text("\n".join(turned) + "\n")
    session = begin(tmp_path)
    session.log.close()
    assert [one["name"] for one in session.annotators if one["below_random"]] == ["Zoe"]


@pytest.mark.parametrize("typed", ["text", "number", "dictionary", "bool"])
def test_files_with_types_keep_them(tmp_path, typed):
    world(tmp_path)
    for name in ("raw", "test"):
        table = pa.csv.read_csv(tmp_path / f"{name}.csv")
        label = pa.array([one == "yes" for one in table["label"].to_pylist()])
        if typed == "text":
            label = table["label"]
        elif typed == "number":
            label = label.cast(pa.int8())
        elif typed == "dictionary":
            label = table["label"].combine_chunks().dictionary_encode()
        table = table.set_column(table.column_names.index("label"), "label", label)
        pq.write_table(table, tmp_path / f"{name}.parquet")
    (tmp_path / "test.csv").unlink()
    (tmp_path / "test.parquet").rename(tmp_path / "test.csv.parquet")
    from dataworth.cli.reviewing import Wanted, open_session

    wanted, path = Wanted(None, None, None, None, None, "D", 0, False), tmp_path / "corrected.parquet"
    options = {"prior_variance": 1.0, "cache": False}
    session = open_session(
        tmp_path / "raw.parquet",
        tmp_path / "test.csv.parquet",
        Columns(features="a,b"),
        options,
        wanted,
        path,
        True,
    )
    row = session.order[0]
    session.decide(row + 1, session.suggested[row])
    assert len(session.corrected()) == 120
    session.close()
    before, after = pq.read_table(tmp_path / "raw.parquet"), pq.read_table(path)
    assert after.drop_columns(["label"]) == before.drop_columns(["label"])
    old, new = before["label"].to_pylist(), after["label"].to_pylist()
    assert [i for i in range(120) if old[i] != new[i]] == [row]
    assert type(new[row]) is type(old[row])


def test_numbers_are_corrected_too(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(240, 2))
    y = (X[:, 0] + 0.1 * rng.normal(size=240)).round(3)
    y[:5] += 3.0
    rows = [{"a": a, "b": b, "who": "x", "label": c} for (a, b), c in zip(X.round(4), y, strict=True)]
    write(tmp_path / "raw.csv", rows[:120])
    write(tmp_path / "test.csv", rows[120:])
    session = begin(tmp_path)
    assert sorted(session.order[:5]) == [0, 1, 2, 3, 4]
    assert abs(float(session.suggested[2]) - (y[2] - 3.0)) < 0.5
    assert "is no number" in refusal(session.decide, 3, "yes")
    assert "is no number" in refusal(session.decide, 3, "nan")
    session.decide(3, "0.25")
    assert session.corrected().y[2] == 0.25
    session.close()
    assert float(labels_of(tmp_path / "corrected.csv")[2]) == 0.25
    again = begin(tmp_path)
    assert again.changed == {2: "0.25"}
    again.close()


def test_images_are_shown_by_their_paths_or_bytes_and_nothing_else(tmp_path):
    world(tmp_path, picture=lambda i: f"pictures/{i}.png" if i else "../secret.txt")
    (tmp_path / "pictures").mkdir()
    for i in range(1, 120):
        (tmp_path / "pictures" / f"{i}.png").write_bytes(png(i) if i != 5 else b"<svg onload=alert(1)>")
    (tmp_path.parent / "secret.txt").write_text("secret")
    (tmp_path / "pictures" / "7.png").unlink()
    session = begin(tmp_path)
    session.log.close()
    rows = session.rows
    assert rows.image(3) == png(3)
    assert (rows.image(0), rows.image(5), rows.image(7)) == (None, None, None)
    assert (rows.shown(3)["image"], rows.shown(0)["image"]) == (True, False)


def test_what_is_left_is_told_by_what_was_found():
    """Labels drawn from q, whose logit is a line in that of p: the expectation finds it.

    The ratio has an s.d. of 0.16 over seeds, so a mean of ten beyond ± 0.15 is 3 of its own.
    """
    told = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        p = rng.beta(0.5, 3.0, size=4000)
        true = 1 / (1 + np.exp(1.2 - 0.9 * np.clip(np.log(p / (1 - p)), -12, 4)))
        wrong = rng.random(4000) < true
        seen = np.isin(np.arange(4000), np.argsort(-p)[:1500])
        q = recalibrated(p, seen, wrong & seen)
        told.append([part[~seen].sum() / true[~seen].sum() for part in (q, p)])
    found, before = np.mean(told, axis=0)
    assert found == pytest.approx(1.0, abs=0.15)
    assert abs(before - 1.0) > 0.3  # p itself tells otherwise
    none = recalibrated(p, np.zeros(4000, dtype=bool), wrong)
    np.testing.assert_allclose(none, np.clip(p, 0, 1 / (1 + np.exp(-4.0))), atol=1e-5)
    sure = np.append(np.full(30, 1 - 1e-9), np.full(100, 0.05))  # one that is right after all tells little
    one = np.arange(130) < 30
    assert 0.04 < recalibrated(sure, one, one & (np.arange(130) > 0))[-1] < 0.07


def test_the_first_rows_say_little_of_all():
    """Of 300 labels with small p the first 15 are all wrong: that is no news of the last."""
    p = np.linspace(0.3, 0.02, 300)
    first = np.arange(300) < 15
    left = recalibrated(p, first, first)[~first].sum()
    assert p.sum() < left < 140


def test_what_is_found_changes_what_is_expected(session):
    for row in session.order[:8]:
        session.decide(row + 1, session.given[row])
    p, seen = session.values.rows.p_mislabeled, np.isin(np.arange(120), session.order[:8])
    expected = recalibrated(p, seen, np.zeros(120, dtype=bool))
    np.testing.assert_allclose(session.chances(), np.where(seen, 0.0, expected))
    assert np.abs(expected - p)[~seen].max() > 0.05
    assert session.state()["left"] == pytest.approx(expected[~seen].sum())


def test_when_to_stop(session, monkeypatch):
    """Where at most one in twenty of the next 50 is wrong."""
    assert (expectation.NEXT, expectation.ENOUGH) == (50, 0.05)
    for level, enough in ((0.049, True), (0.051, False)):
        monkeypatch.setattr(session, "chances", lambda level=level: np.full(120, level))
        state = session.state()
        assert (state["next"], state["enough"]) == (50, enough)
        assert state["next_wrong"] == pytest.approx(50 * level)


def test_bad_words_of_the_command(made, tmp_path, monkeypatch):
    monkeypatch.chdir(made[0])
    words = ("--test", "test.csv", "--features", "a,b", "-q")
    assert "is written as .xlsx" in refused(call("review", "raw.csv", *words, "--out", "r.ods"))
    assert "is the data themselves" in refused(call("review", "raw.csv", *words, "-o", "raw.csv"))
    assert "corrected data are written as .csv .parquet" in refused(
        call("review", "raw.csv", *words, "-o", tmp_path / "c.txt")
    )
    assert "port 1 cannot be used" in refused(
        call("review", "raw.csv", *words, "-o", tmp_path / "c.csv", "--port", 70000)
    ).replace("70000", "1")
    pairs = [{"prompt": f"p{i}", "chosen": f"good {i}", "rejected": f"bad {i % 7}"} for i in range(60)]
    write(tmp_path / "pairs.csv", pairs)
    assert "preference pairs" in refused(
        call(
            "review", tmp_path / "pairs.csv", "--test", tmp_path / "pairs.csv", "-q", "-o", tmp_path / "p.csv"
        )
    )


def test_a_sheet_goes_out_and_comes_back(made, tmp_path, monkeypatch):
    openpyxl = pytest.importorskip("openpyxl", reason="it is in the extra excel")
    folder, right, _ = made
    for name in ("raw.csv", "test.csv"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    words = ("raw.csv", "--test", "test.csv", "--features", "a,b", "--source", "who", "--prior-variance", 1)
    code, _, err = call("review", *words, "--out", "review.xlsx")
    assert code == 0
    assert "list of 120 rows written to review.xlsx" in err
    book = openpyxl.load_workbook("review.xlsx")
    head, *rows = book.active.iter_rows()
    names = [cell.value for cell in head]
    assert names == ["row", "id", "annotator", "label", "suggested", "p wrong", "right label", "why", "shown"]
    for row in rows[:20]:
        row[6].value = right[row[0].value - 1]
    book.save("filled.xlsx")
    code, _, err = call("review", *words, "--read", "filled.xlsx")
    assert code == 0
    assert "20 labels taken from filled.xlsx" in err
    before, after = labels_of("raw.csv"), labels_of("corrected.csv")
    changed = {i for i in range(120) if before[i] != after[i]}
    assert changed
    assert all(after[i] == right[i] for i in changed)
    assert changed <= {row[0].value - 1 for row in rows[:20]}
    assert "0 labels taken" in call("review", *words, "--read", "filled.xlsx")[2]
    for cell, told in ((rows[0][6], "is no label"), (rows[1][3], "is no row of these data")):
        kept, cell.value = cell.value, "maybe"
        book.save("wrong.xlsx")
        cell.value = kept
        log = Path("corrected.review.jsonl").read_bytes()
        err = refused(call("review", *words, "-q", "--read", "wrong.xlsx"))
        assert "wrong.xlsx, line" in err
        assert told in err
        assert Path("corrected.review.jsonl").read_bytes() == log  # all or none
    rows[0][0].parent.delete_cols(7)
    book.save("short.xlsx")
    assert "has no column 'right label'" in refused(call("review", *words, "-q", "--read", "short.xlsx"))
    Path("broken.xlsx").write_bytes(b"PK")
    assert "broken.xlsx" in refused(call("review", *words, "-q", "--read", "broken.xlsx"))


def test_no_cell_of_a_sheet_is_a_formula(tmp_path, monkeypatch):
    openpyxl = pytest.importorskip("openpyxl", reason="it is in the extra excel")
    world(tmp_path, note=lambda i: f"=HYPERLINK({i})\x0b")
    monkeypatch.chdir(tmp_path)
    words = ("--test", "test.csv", "--features", "a,b", "--prior-variance", 1, "-q", "--out", "review.xlsx")
    assert call("review", "raw.csv", *words)[0] == 0
    assert all(
        cell.data_type != "f"
        for row in openpyxl.load_workbook("review.xlsx").active.iter_rows()
        for cell in row
    )


def test_the_yardstick_and_other_options_go_to_the_list(made):
    folder = made[0]
    yard = dw.Yardstick.fit(dw.read(folder / "test.csv", features=["a", "b"]), prior_variance=2.0)
    yard.save(folder / "y.json")
    session = begin(
        folder, output="other.csv", options={"yardstick": folder / "y.json", "prior_variance": None}
    )
    session.log.close()
    assert session.values.yardstick.digest == yard.digest
