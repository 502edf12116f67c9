"""Sentences by which calls are refused, as they are recorded: a line of `sentences/<name>.txt` each.

    python tests/golden/sentences.py    # writes them again: say in the commit what moved, and why

The calls stand in the tests, each of which is named `test_sentences`; what is recorded is read by people.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).with_suffix("")
WRITING = "WRITE_SENTENCES"


def all_refused(name, cases, hidden=None):
    """Every case, a call or a tuple of one and what it is given, is refused by the sentence recorded."""
    from worlds import refusal

    all_recorded(name, [refusal(*(case if isinstance(case, tuple) else (case,))) for case in cases], hidden)


def all_recorded(name, said, hidden=None):
    """These are the sentences, but for a directory's name, hashes and places in memory."""
    from golden.texts import same

    file = FOLDER / f"{name}.txt"
    lines = [one.strip().replace(str(hidden or "\0"), "DIR") for one in said]
    lines = [re.sub(r"0x[0-9a-f]+|\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b", "…", one) for one in lines]
    if os.environ.get(WRITING):
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    known = file.read_text(encoding="utf-8").splitlines()
    assert len(known) == len(lines)
    assert [pair for pair in zip(lines, known, strict=True) if not same(*pair)] == []


if __name__ == "__main__":
    words = [sys.executable, "-m", "pytest", "-q", "-k", "test_sentences", str(FOLDER.parents[1])]
    sys.exit(subprocess.run(words, env={**os.environ, WRITING: "1"}).returncode)
