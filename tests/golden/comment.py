"""What the Action does with a pull request that misspells a path, adds a file, truncates one, flips the
labels of one, and leaves one alone; the comment that it would post is recorded in comment.md.

    python tests/golden/comment.py --write    # write it again: say in the commit what moved, and why
"""

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from worlds import classes, flipped  # noqa: E402

COMMENT = Path(__file__).with_suffix(".md")
SUITE = """
[defaults]
test = "data/test.csv"
label = "label"
id = "id"
ignore = "all"
prior_variance = 1

[audit.misspelt]
data = "data/trian.csv"
[audit.added]
data = "data/added.csv"
[audit.truncated]
data = "data/truncated file.csv"
min_rows = 50
[audit.flipped]
data = "data/flipped.csv"
[audit.same]
data = "data/train.csv"
"""


def table(data):
    """A CSV with ids."""
    rows = zip(data.X, data.y, strict=True)
    lines = [",".join([f"r{i}", *map(repr, map(float, x)), str(y)]) for i, (x, y) in enumerate(rows)]
    return "\n".join([",".join(["id", *(f"x{j}" for j in range(data.X.shape[1])), "label"]), *lines]) + "\n"


def run(*words, cwd, **environment):
    """A program with this Python's dataworth before all others."""
    script = cwd / "bin" / "dataworth"
    script.parent.mkdir(exist_ok=True)
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m dataworth "$@"\n')
    script.chmod(0o755)
    path = os.pathsep.join([str(script.parent), os.environ["PATH"]])
    own = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PATH": path, **environment}
    return subprocess.run(words, cwd=cwd, env=own, capture_output=True, text=True, check=False)


def pull_request(folder):
    """A repository whose working tree is a pull request's; the commit that it is to be merged into."""
    data, test = classes(60, seed=1), classes(120, seed=2)
    place = folder / "data"
    place.mkdir()
    for name in ("train", "truncated file", "flipped"):
        (place / f"{name}.csv").write_text(table(data))
    (place / "test.csv").write_text(table(test).replace("\nr", "\nt"))
    git = (
        "git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm 1 && git rev-parse HEAD"
    )
    base = run("sh", "-c", git, cwd=folder).stdout.strip()
    (folder / "dataworth.toml").write_text(SUITE)
    (place / "added.csv").write_text(table(classes(55, seed=3)).replace("\nr", "\na"))
    (place / "flipped.csv").write_text(table(flipped(data, 0.5, seed=1)[0]))
    (place / "truncated file.csv").write_text(table(data.take(range(12))))
    return base


def acted(folder, base, **given):
    """The step of the Action that runs the suite: what it ended with, and its outputs."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (step,) = [one for one in action["runs"]["steps"] if one.get("id") == "check"]
    env = {"SUITE": "dataworth.toml", "BASE": base, "ROWS": "true", **given}
    env["RUNNER_TEMP"] = str(folder / "temp")
    env |= {name: str(folder / "temp" / name) for name in ("DATAWORTH_CACHE", "DATAWORTH_KEY")}
    assert env.keys() >= step["env"].keys()
    out = folder / "out"
    out.unlink(missing_ok=True)
    ended = run(
        "bash", "-c", step["run"], cwd=folder, GITHUB_ACTION_PATH=str(ROOT), GITHUB_OUTPUT=str(out), **env
    )
    lines = out.read_text().splitlines() if out.exists() else []
    return ended, dict(line.split("=", 1) for line in lines)


def masked(comment, base):
    """The comment without what another repository has otherwise."""
    return comment.replace(base, "BASE")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        commit = pull_request(Path(place))
        _, told = acted(Path(place), commit)
        made = masked(Path(told["report"], "comment.md").read_text(), commit)
    if "--write" in sys.argv:
        COMMENT.write_text(made)
    print(made)
