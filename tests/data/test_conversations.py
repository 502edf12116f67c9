"""Prompts with responses and documents in the forms in which they are published, and what cannot be read."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dataworth as dw
from dataworth.data.io import describe, read
from dataworth.data.io.conversations import halves, name_of
from worlds import refusal

PAIRS = [(f"What is {i} and {i}?", f"It is {2 * i}, as you can see.") for i in range(6)]


def lines(tmp_path, rows, name="pairs.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def said(data):
    """The texts of every row: prompt and response."""
    codes = data.X.astype(int)
    prompts, responses = (column.categories for column in data.columns)
    return [(prompts[i], responses[j]) for i, j in codes]


def turns(*texts, names=("role", "content"), who=("user", "assistant")):
    return [{names[0]: who[i % 2], names[1]: text} for i, text in enumerate(texts)]


FORMS = {
    "prompt and response": [{"prompt": p, "response": r, "source": "x"} for p, r in PAIRS],
    "prompt and completion": [{"prompt": p, "completion": r} for p, r in PAIRS],
    "completions of messages": [{"prompt": turns(p), "completion": turns(r)} for p, r in PAIRS],
    "instruction": [{"instruction": p, "input": "", "output": r} for p, r in PAIRS],
    "messages": [{"messages": turns(p, r)} for p, r in PAIRS],
    "parts of messages": [
        {"messages": turns(*([{"type": "text", "text": text}] for text in both))} for both in PAIRS
    ],
    "sharegpt": [
        {"conversations": turns(p, r, names=("from", "value"), who=("human", "gpt"))} for p, r in PAIRS
    ],
}


@pytest.mark.parametrize("form", FORMS)
def test_published_forms_are_one_thing(tmp_path, form):
    """JSON lines and Parquet give the same rows, labels and hash."""
    data = read(lines(tmp_path, FORMS[form]))
    assert said(data) == PAIRS
    assert [column.kind for column in data.columns] == ["text", "response"]
    assert data.groups is None
    assert len(set(data.y.tolist())) == len(PAIRS)
    table = tmp_path / "pairs.parquet"
    parquet.write_table(pa.Table.from_pylist(FORMS[form]), table)
    first = read(lines(tmp_path, FORMS["prompt and response"]))
    assert read(table).content_hash() == data.content_hash() == first.content_hash()


def test_every_turn_of_an_assistant_is_a_row(tmp_path):
    """Given all that was said before it, the system's words too; rows of a conversation are one group."""
    talk = [{"role": "system", "content": "Be kind."}, *turns("Hello.", "Hi!", "And you?", "Fine.")]
    data = read(lines(tmp_path, [{"id": f"c{i}", "messages": talk} for i in range(2)]))
    before = "Be kind.\n\nHello."
    assert said(data)[:2] == [(before, "Hi!"), (f"{before}\n\nHi!\n\nAnd you?", "Fine.")]
    assert data.groups.tolist() == [name_of(before)] * 4
    assert data.ids.tolist() == ["c0#1", "c0#2", "c1#1", "c1#2"]


def test_an_input_belongs_to_its_instruction(tmp_path):
    rows = [{"instruction": "Add.", "input": "2 and 3", "output": "Five."}, {**FORMS["instruction"][0]}]
    assert said(read(lines(tmp_path, rows)))[0] == ("Add.\n\n2 and 3", "Five.")


def test_documents_are_cut_at_the_sentence_nearest_to_the_middle(tmp_path):
    texts = ["One is here. Two is there. Three.", "Short. A much longer sentence stands after the short one."]
    data = read(lines(tmp_path, [{"text": text} for text in texts]))
    assert said(data) == [
        ("One is here.", "Two is there. Three."),
        ("Short.", "A much longer sentence stands after the short one."),
    ]


@given(st.text(alphabet="ab .!?\n", max_size=60))
def test_halves_lose_no_word(text):
    first, second = halves(text)
    assert f"{first} {second}".split() == text.split()
    assert bool(second) == (len(text.split()) > 1)


def test_empty_texts_are_left_out_and_counted(tmp_path):
    rows = [
        *FORMS["prompt and response"],
        {"prompt": "Why?", "response": " "},
        {"prompt": None, "response": "x"},
    ]
    told = describe(lines(tmp_path, rows))
    assert told.rows == len(PAIRS)
    assert any("2 pairs left out, one of its texts empty" in note for note in told.notes)


def test_files_of_other_forms_are_read_as_the_test_set(tmp_path):
    """The test set decides what rows are; a data file may write them otherwise."""
    test, data = (lines(tmp_path, FORMS[form], f"{form}.jsonl") for form in ("messages", "sharegpt"))
    text = lines(tmp_path, [{"text": "No pair. At all."}], "text.jsonl")
    with pytest.raises(dw.DataworthError, match="there are no prompts and responses"):
        dw.score(text, test)
    with pytest.raises(dw.DataworthError, match="has 6 rows"):  # all was read
        dw.score(data, test)


@pytest.mark.parametrize("column", ["label", "target", "y"])
def test_labelled_texts_stay_what_they_are(tmp_path, column):
    rows = [{"text": f"word{i} and some more words here", column: i % 2} for i in range(8)]
    data = read(lines(tmp_path, rows))
    assert set(data.y.tolist()) == {0, 1}
    assert data.outputs is None
    assert read(lines(tmp_path, rows), task="labels").content_hash() == data.content_hash()


def test_preferences_stay_what_they_are(tmp_path):
    rows = [{"prompt": p, "chosen": r, "rejected": "No idea."} for p, r in PAIRS]
    assert set(read(lines(tmp_path, rows)).y.tolist()) <= {"first", "second"}


def test_what_is_asked_for(tmp_path):
    rows = [
        {**row, "source": f"s{i % 2}", "count": 1 + i} for i, row in enumerate(FORMS["prompt and response"])
    ]
    data = read(lines(tmp_path, rows), group="source", weights="count")
    assert data.groups.tolist() == ["s0", "s1"] * 3
    assert data.weights.tolist() == [1, 2, 3, 4, 5, 6]


REFUSED = {
    "task is 'x'": (FORMS["messages"], {"task": "x"}),
    "drop one of them": (FORMS["messages"], {"task": "pairs", "label": "messages"}),
    "there is no column 'text' of documents": (FORMS["messages"], {"task": "documents"}),
    "there are no prompts and responses": ([{"text": "A. B."}], {"task": "pairs"}),
    "there is no column 'who'": (FORMS["messages"], {"group": "who"}),
    "hold no prompt with a response": ([{"messages": turns("Hello?")}], {}),
    "give role and content": ([{"messages": [{"speaker": "user", "says": "Hello"}]}], {}),
    "is made of the texts": ([{"prompt": "a", "response": "b"}], {"attribute": "prompt"}),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_cannot_be_read_is_a_sentence(tmp_path, sentence):
    rows, options = REFUSED[sentence]
    assert sentence in refusal(read, lines(tmp_path, rows), **options)


def test_a_prompt_is_named_by_its_beginning_and_a_hash():
    long = "word " * 100
    assert name_of(long).startswith("word word")
    assert len(name_of(long)) <= 50
    assert name_of(long) != name_of(f"{long}!")


def test_labels_are_names_of_responses(tmp_path):
    """Rows with the same response have the same label, whatever their prompts."""
    rows = [{"prompt": f"Question {i}?", "response": "Yes." if i % 2 else "No."} for i in range(4)]
    y = read(lines(tmp_path, rows)).y
    assert y[0] == y[2] != y[1] == y[3]
    assert np.char.str_len(y).max() == 16
