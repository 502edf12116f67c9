"""Preference pairs in the forms in which they are published, and what cannot be read."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from dataworth.data.io import describe, read
from dataworth.data.io.preferences import in_order, read_preferences
from dataworth.data.texts import BETWEEN
from golden.sentences import all_refused

ROWS = [
    {"prompt": "Why is the sky blue?", "chosen": "Because of Rayleigh scattering.", "rejected": "It is not."},
    {"prompt": "Why is the sky blue?", "chosen": "Air scatters blue light most.", "rejected": "Paint."},
    {"prompt": "Name a prime.", "chosen": "Seven", "rejected": "Eight, which is a fine number."},
]


def lines(tmp_path, rows, name="pairs.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def expected():
    return [(row["prompt"], row["chosen"], row["rejected"]) for row in ROWS]


def talk(*said):
    return [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(said)]


FORMS = {
    "strings": ROWS,
    "skywork": [
        {"chosen": talk(p, c), "rejected": talk(p, r), "source": "magpie", "attribute": 1}
        for p, c, r in expected()
    ],
    "conversations with a prompt": [
        {"prompt": p, "chosen": talk(p, c), "rejected": talk(p, r)} for p, c, r in expected()
    ],
    "messages everywhere": [
        {"prompt": talk(p), "chosen": talk(c), "rejected": talk(r)} for p, c, r in expected()
    ],
}


@pytest.mark.parametrize("form", FORMS)
def test_published_forms_are_one_thing(tmp_path, form):
    assert read_preferences(lines(tmp_path, FORMS[form])).pairs == expected()
    shards = tmp_path / "data"
    shards.mkdir()
    for i, half in enumerate((FORMS[form][:2], FORMS[form][2:])):
        parquet.write_table(pa.Table.from_pylist(half), shards / f"train-{i}.parquet")
    assert read_preferences(shards).pairs == expected()


def test_a_pair_is_a_row_and_a_flip_is_another_label(tmp_path):
    flipped = [{**row, "chosen": row["rejected"], "rejected": row["chosen"]} for row in ROWS]
    one, other = read(lines(tmp_path, ROWS)), read(lines(tmp_path, flipped, "flipped.jsonl"))
    assert [column.kind for column in one.columns] == ["pair"]
    assert np.array_equal(one.row_keys(), other.row_keys())
    assert (one.y != other.y).all()
    assert (one.attributes == other.attributes).all()
    for row, said, preferred, longer in zip(ROWS, one.X[:, 0], one.y, one.attributes, strict=True):
        texts = one.columns[0].categories[int(said)].split(BETWEEN)
        assert texts[preferred == "second"] == row["chosen"]
        assert len(texts[longer == "second"]) == max(len(row["chosen"]), len(row["rejected"]))
    assert one.groups[0] == one.groups[1] != one.groups[2]
    path = lines(tmp_path, [{**row, "judge": f"j{i}", "id": i} for i, row in enumerate(ROWS)])
    made = read(path, attribute="judge")
    assert (made.attributes.tolist(), made.ids.tolist()) == (["j0", "j1", "j2"], ["0", "1", "2"])


def test_the_order_is_a_coin_whatever_the_texts_say():
    """2,000 independent tosses: s.d. 0.011; false alarm 1e-5. Longer texts do not come first."""
    pairs = [(f"short {i}", f"rather longer {i} " * 9) for i in range(2000)]
    assert abs(np.mean([in_order(*pair) for pair in pairs]) - 0.5) < 0.05
    assert all(in_order(a, b) != in_order(b, a) for a, b in pairs)


def test_describe_says_what_was_recognised_and_left_out(tmp_path):
    empty = {"prompt": "p", "chosen": " ", "rejected": "a"}
    twice = {"prompt": "p", "chosen": "a ", "rejected": "a"}
    about = describe(lines(tmp_path, [*ROWS, empty, twice]))
    assert about.rows == 3
    roles = {role.role: role for role in about.roles}
    assert roles["feature"].kind == "pair"
    why = "recognised by chosen and rejected; 2 pairs left out, empty or one response twice"
    assert {roles[name].why for name in ("feature", "label", "group", "attribute")} == {why}


NO_PAIRS = [
    [{**ROWS[0], "prompt": " "}], [{"chosen": "a", "rejected": "b"}],
    [{"prompt": "p", "chosen": 1, "rejected": 2}],
    [{"prompt": "p", "chosen": [{"role": "user"}], "rejected": [{"role": "user"}]}],
    [{"chosen": talk("p", "a"), "rejected": talk("q", "b")}],
    [{"prompt": "p", "chosen": "a", "rejected": "a"}], [{**ROWS[0], "chosen": "x" * 10_000_000}],
    [ROWS[1], {**ROWS[0], "chosen": "x" * 40_000_000}],
    [{"history": "p", "human_ref_A": "a", "human_ref_B": "b", "labels": 1}],
]  # fmt: skip


def test_sentences(tmp_path):
    all_refused("preferences", [lambda rows=rows: read(lines(tmp_path, rows)) for rows in NO_PAIRS], tmp_path)
