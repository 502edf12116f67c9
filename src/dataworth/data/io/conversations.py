"""Data without labels: prompts with responses, and documents, in the forms in which they are published.

    {"messages": [{"role", "content"}, …]}                       every assistant turn, given all before it
    {"conversations": [{"from", "value"}, …]}                    the same (ShareGPT)
    {"prompt", "response"}  or  {"prompt", "completion"}         texts, or messages
    {"instruction", "input", "output"}                           prompt: instruction and input
    {"text"}                                                     the second half, given the first

A row becomes a prompt and a response, whatever it was. The halves of a document meet at the end of the
sentence that is nearest to its middle.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from dataworth.data.convert import column_kind
from dataworth.data.io.notes import Note
from dataworth.data.io.preferences import PROMPT, are_preferences
from dataworth.data.io.roles import LABEL_NAMES
from dataworth.data.io.tables import roles_of
from dataworth.errors import DataworthError
from dataworth.wording import counted, listed, option

PAIRS, DOCUMENTS, LABELS = "pairs", "documents", "labels"
TASKS = (PAIRS, DOCUMENTS, LABELS)
RESPONSE, CONVERSATION = "response", "conversation"
"""The columns of a table of pairs, beside the prompt: what is predicted, and which rows belong together."""
TURNS = ("messages", "conversations")
COLUMNS = (("prompt", "response"), ("prompt", "completion"), ("instruction", "output"))
TEXT = "text"
ANSWERS = ("assistant", "gpt", "chatgpt", "bot", "model")
"""Who speaks in a turn that is a response."""
SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])|\n+")
Turn = tuple[str, str]


def check_task(task: object) -> None:
    """A known task, or none; else a sentence."""
    if task not in (None, *TASKS):
        raise DataworthError(f"task is {task!r}: give {', '.join(map(repr, TASKS[:2]))} or {TASKS[2]!r}")


def task_of(table: Any) -> str:
    """What the rows of a table are, by the names and types of its columns."""
    kinds = {name: column_kind(table[name]) for name in table.column_names}
    lower = {name.strip().lower() for name in kinds}
    if lower & set(LABEL_NAMES) or "label" in roles_of(table) or are_preferences(table.column_names):
        return LABELS
    if any(kinds.get(name) == "nested" for name in TURNS):
        return PAIRS
    if any(all(kinds.get(name) in ("categorical", "nested") for name in both) for both in COLUMNS):
        return PAIRS
    return DOCUMENTS if kinds.get(TEXT) == "categorical" else LABELS


def pairs_of(table: Any, task: str, keep: Sequence[str]) -> tuple[Any, Note]:
    """A pyarrow table with a row for each prompt and response, and what to know; columns to `keep` stay.

    Raises:
        DataworthError: there are no such columns, a cell is no text and no conversation, or nothing is left.
    """
    form, found = _said(table, task)
    rows: list[int] = []
    texts: dict[str, list[str]] = {PROMPT: [], RESPONSE: [], CONVERSATION: []}
    turn: list[int] = []
    dropped = 0
    for i, pairs in enumerate(found):
        for k, (prompt, response) in enumerate(pairs):
            if not (prompt.strip() and response.strip()):
                dropped += 1
                continue
            rows.append(i)
            turn.append(k)
            for name, text in zip(texts, (prompt, response, name_of(pairs[0][0])), strict=True):
                texts[name].append(text)
        dropped += not pairs
    if not rows:
        raise DataworthError(f"{form} hold no prompt with a response: give rows that have both")
    if len(set(texts[CONVERSATION])) == len(rows):
        del texts[CONVERSATION]  # no two rows belong together
    kept: dict[str, Any] = {name: table[name].take(pa.array(rows)) for name in keep}
    if "id" in kept and any(turn):
        kept["id"] = [f"{name}#{k + 1}" for name, k in zip(kept["id"].to_pylist(), turn, strict=True)]
    for name, said in texts.items():
        if name in kept:
            raise DataworthError(f"column {name!r} is made of the texts, and cannot be kept: rename yours")
        kept[name] = pa.array(said, pa.large_string())
    what = "second halves of documents, given the first" if task == DOCUMENTS else "prompts with responses"
    if dropped:
        form += f" ({counted(dropped, 'pair')} left out, one of its texts empty)"
    return pa.table(kept), Note(f"read as {what}", f"{option('task')} says otherwise", form, plain=True)


def name_of(prompt: str) -> str:
    """A prompt by its beginning and a hash of all."""
    digest = hashlib.blake2b(prompt.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{' '.join(prompt[:80].split())[:40]} {digest}"


def _said(table: Any, task: str) -> tuple[str, Iterator[list[Turn]]]:
    """What of a table was read, and the prompts and responses of every row."""
    names = table.column_names
    if task == DOCUMENTS:
        if TEXT not in names:
            raise DataworthError(f"there is no column {TEXT!r} of documents, but {listed(names, 10)}")
        return "documents", ([halves(one or "")] for one in _texts(table, TEXT))
    for name in TURNS:
        if name in names:
            return f"the column {name!r}", (_answers(cell, name, i) for i, cell in _cells(table, name))
    for first, second in COLUMNS:
        if first in names and second in names:
            told = f"the columns {first!r} and {second!r}"
            more = _texts(table, "input") if first == "instruction" and "input" in names else None
            return told, _two(table, first, second, more)
    expected = "columns messages, conversations, prompt and response, or instruction and output are expected"
    raise DataworthError(f"there are no prompts and responses: {expected}, but there are {listed(names, 10)}")


def _two(table: Any, first: str, second: str, more: Sequence[str | None] | None) -> Iterator[list[Turn]]:
    for (i, prompt), (_, response) in zip(_cells(table, first), _cells(table, second), strict=True):
        asked = _plain(prompt, first, i)
        if more is not None and (extra := more[i]) and extra.strip():
            asked = f"{asked}\n\n{extra}"
        yield [(asked, _plain(response, second, i))]


def _cells(table: Any, name: str) -> Iterator[tuple[int, Any]]:
    if (kind := column_kind(table[name])) not in ("categorical", "nested"):
        raise DataworthError(f"column {name!r} ({kind}) holds no text: give texts, or conversations")
    return enumerate(table[name].to_pylist())


def _texts(table: Any, name: str) -> list[str | None]:
    if (kind := column_kind(table[name])) != "categorical":
        raise DataworthError(f"column {name!r} ({kind}) holds no text: give texts")
    found: list[str | None] = table[name].to_pylist()
    return found


def _plain(cell: Any, name: str, row: int) -> str:
    """A text, or what the messages of a conversation say."""
    if cell is None or isinstance(cell, str):
        return cell or ""
    return "\n\n".join(said for _, said in _turns(cell, name, row))


def _answers(cell: Any, name: str, row: int) -> list[Turn]:
    """Every turn of an assistant, and all that was said before it."""
    found: list[Turn] = []
    before: list[str] = []
    for who, said in _turns(cell or (), name, row):
        if who in ANSWERS:
            found.append(("\n\n".join(before), said))
        before.append(said)
    return found


def _turns(cell: Any, name: str, row: int) -> list[Turn]:
    """Who says what, in the names of OpenAI or of ShareGPT."""
    found = []
    for turn in cell:
        if not isinstance(turn, Mapping):
            raise DataworthError(
                f"{name} of row {row + 1} is no conversation: give turns of role and content"
            )
        who, said = (
            turn.get(one) or turn.get(other) for one, other in (("role", "from"), ("content", "value"))
        )
        if isinstance(said, list):  # parts, of which some are texts
            said = "\n".join(str(part.get("text") or "") for part in said if isinstance(part, Mapping))
        if not isinstance(who, str) or not isinstance(said, str | None):
            raise DataworthError(
                f"a turn of {name} in row {row + 1} has {listed(sorted(map(str, turn)))}: give role and "
                "content, or from and value, as texts"
            )
        found.append((who.strip().lower(), said or ""))
    return found


def halves(text: str) -> Turn:
    """A document up to the end of the sentence nearest to its middle (else of the word), and the rest.

    >>> halves("One is here. Two is there. Three.")
    ('One is here.', 'Two is there. Three.')
    >>> halves("no sentence ends here"), halves("word")
    (('no sentence', 'ends here'), ('word', ''))
    """
    text = text.strip()
    ends = [found.end() for found in SENTENCE_END.finditer(text) if 0 < found.end() < len(text)]
    ends = ends or [found.end() for found in re.finditer(r"\s+", text)]
    if not ends:
        return text, ""
    cut = min(ends, key=lambda end: abs(2 * end - len(text)))
    return text[:cut].strip(), text[cut:].strip()
