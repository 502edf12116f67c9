"""The pages of docs/, executed as written: every sh and python block, in order, in an empty directory.

Commands run in this process, for a start takes a second; git runs as it is. A python block that begins with
`# name.py` is saved under that name, for `python name.py`; other python blocks of a page share their names,
as in a notebook. Tiny models stand in for those of a hub. A
command is to end with 0, or with N if its comment says `exit code N`. What a page shows as output, right
below a block, is printed by it: numbers may differ, words may not. `<!-- not run: why -->` before a block
says that it is not run, and why.
"""

import contextlib
import doctest
import io
import re
import shlex
import subprocess
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import pytest

from commands import call
from tiny_models import save_language_model, save_text_encoder

DOCS = Path(__file__).parents[2] / "docs"
STAND_INS = {
    "Qwen/Qwen3-1.7B": save_language_model,
    "sentence-transformers/all-MiniLM-L6-v2": save_text_encoder,
}
"""Models of a hub, and what makes tiny ones of their kind."""
CHEAP = {"embed": ("--model", "pixels", "--size", "8", "--no-cache")}
CHEAP_GRADIENTS = ("--numbers", "16", "--responses", "64")
"""What commands are given more, here: a network takes its time."""
BLOCK = re.compile(
    r"(?P<skip><!-- not run: [^>]+-->\n+)?"
    r"^(?P<indent> *)```(?P<kind>sh|python)\n(?P<text>.*?)^(?P=indent)```\n"
    r"(?P<shown>\n*^ *```(?:text)?\n.*?^ *```$)?",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    kind: str
    text: str
    shown: str
    skipped: bool


def blocks(page):
    found = []
    for one in BLOCK.finditer(page.read_text(encoding="utf-8")):
        shown = re.sub(r"^ *```.*$", "", one["shown"] or "", flags=re.M)
        found.append(Block(one["kind"], dedent(one["text"]), shown, bool(one["skip"])))
    return found


def names():
    return sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md") if blocks(page))


def starts_ray(name):
    return "import ray" in (DOCS / name).read_text(encoding="utf-8")


def command(line):
    words = shlex.split(line, comments=True)
    expected = re.search(r"# .*\bexit code (\d+)", line)
    if words[:2] == ["pip", "install"]:
        return ""  # the environment of the tests has it
    if words[0] == "git":
        subprocess.run(words, check=True)
        return ""
    if words[0] == "python":
        return python(Path(words[1]).read_text(encoding="utf-8"), {"__name__": "__main__"})
    assert words[0] == "dataworth", (
        f"a page may run dataworth, git and python; mark the block 'not run': {line}"
    )
    more = CHEAP_GRADIENTS if "--gradients" in words else CHEAP.get(words[1], ())
    code, out, err = call(*words[1:], *more)
    assert code == int(expected[1] if expected else 0), f"{line}\n{out}\n{err}"
    return out


def python(text, space):
    """Run a python block; its output. Examples with a prompt are checked as such."""
    if text.startswith(">>>"):
        test = doctest.DocTestParser().get_doctest(text, space, "page", None, None)
        assert doctest.DocTestRunner().run(test).failed == 0
        return ""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(text, "page", "exec"), space)
    return out.getvalue()


def run(block, space):
    if block.kind == "sh":
        lines = block.text.replace("\\\n", " ").splitlines()
        return "".join(command(line) for line in lines if line.strip() and not line.startswith("#"))
    if named := re.match(r"# (\w+\.py)\b", block.text):
        Path(named[1]).write_text(block.text, encoding="utf-8")
        return ""
    return python(block.text, space)


def words_of(text):
    """Its lines without numbers, lines of a table and breaks."""
    return " ".join(re.sub(r"[+−-]?[0-9][0-9.,e]*|[─-]{3,}", " ", text).split())


def with_stand_ins(block, folder):
    """The block with tiny models in place of those of a hub."""
    for place, (name, make) in enumerate(STAND_INS.items()):
        if name in block.text:
            pytest.importorskip("sentence_transformers", reason="it is in the extra test")
            made = folder / f"model-{place}"
            if not made.exists():
                make(made, ["a few words"])
            own = made / "encoder" if (made / "encoder").exists() else made
            block = block._replace(text=block.text.replace(name, str(own)))
    return block


@pytest.mark.skipif(not DOCS.exists(), reason="a source distribution has no docs")
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.cluster if starts_ray(name) else ()) for name in names()],
)
def test_the_page_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "a reader")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "reader@example.com")
    space = {"__name__": "page"}
    for block in blocks(DOCS / name):
        if not block.skipped:
            out = words_of(run(with_stand_ins(block, tmp_path), space))
            for line in block.shown.splitlines():
                assert words_of(line) in out, f"{name} shows, and its block does not print:\n{line}\n\n{out}"


def test_a_page_that_tells_otherwise_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nprint('two', 2)\n```\n\n```text\nthree 2\n```\n<!-- not run: why -->\n```sh\nls\n```\n"
    )
    first, second = blocks(page)
    assert (first.skipped, second.skipped) == (False, True)
    assert words_of(first.shown) not in words_of(run(first, {}))
    with pytest.raises(AssertionError, match="not run"):
        run(second, {})
