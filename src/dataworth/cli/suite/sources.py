"""Files of a suite: whether they are there, what they hold, and what the base revision held instead."""

from __future__ import annotations

import glob
import hashlib
import io
import re
import subprocess
import tarfile
from difflib import get_close_matches
from pathlib import Path

from dataworth.errors import DataworthError

ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
POINTER = b"version https://git-lfs.github.com/spec/"
"""What git keeps in place of a large file."""
BESIDE = "*.about.json"
"""What lies beside files of values (`valuation.values.guard`), by which audits go without being told to."""
CHUNK = 1 << 20


def present(name: str, folder: Path) -> Path:
    """A file, a directory or a pattern of a suite that is there; an address is taken at its word."""
    if ADDRESS.match(name):
        return Path(name)
    path = folder / name
    if not path.exists() and not glob.glob(str(path)):
        near = get_close_matches(path.name, [one.name for one in _siblings(path)], 1)
        meant = f": did you mean {str(Path(name).with_name(near[0]))!r}?" if near else ": check the path"
        raise DataworthError(f"{name}: there is no such file{meant}")
    return path


def _siblings(path: Path) -> list[Path]:
    return sorted(path.parent.iterdir()) if path.parent.is_dir() else []


def files_in(path: Path) -> list[Path]:
    """The plain files of a path, a directory or a pattern."""
    found = [path] if path.exists() else map(Path, glob.glob(str(path), recursive=True))
    inside = [one for each in found for one in (each.rglob("*") if each.is_dir() else [each])]
    return sorted(one for one in inside if one.is_file())


def content(path: Path) -> str | None:
    """A hash of all bytes behind a path; None where they cannot be read again (an address, a pipe)."""
    files = files_in(path)
    if not files or ADDRESS.match(str(path)):
        return None
    digest, top = hashlib.sha256(), path if path.is_dir() else path.parent
    for file in files:
        own = hashlib.sha256()
        with file.open("rb") as source:
            while part := source.read(CHUNK):
                own.update(part)
        name = "" if file == path else file.relative_to(top).as_posix()
        digest.update(f"{name}\0{own.hexdigest()}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def beside(path: Path) -> list[str]:
    """Hashes of what lies beside a file and takes part in its audit: files of values."""
    folder = path.parent
    return [str(content(one)) for one in sorted(folder.glob(BESIDE))] if folder.is_dir() else []


class Base:
    """A revision of git, in which files are looked up as they were."""

    def __init__(self, revision: str) -> None:
        self.revision = revision

    def _check(self, path: Path) -> None:
        """A sentence, if the path can have no earlier version in this revision."""
        say = "say before = FILE, or before = false, if there are no data before"
        if ADDRESS.match(str(path)) or not path.exists():
            raise DataworthError(
                f"{path} is no single file or directory, of which git has one before: {say}."
            )
        inside = _git(path.parent, "rev-parse", "--is-inside-work-tree")
        if inside.returncode:
            why = inside.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ").splitlines()[:1]
            raise DataworthError(f"git cannot say what the data were before ({''.join(why)}): {say}.")
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{self.revision}^{{commit}}")
        if _git(path.parent, *words).returncode:
            raise DataworthError(
                f"there is no revision {self.revision!r} here: give --base, and fetch it ('git fetch "
                "origin'; in CI, check out with the history: fetch-depth: 0)."
            )

    def file(self, path: Path, place: Path) -> Path | None:
        """What the path was in this revision, written below `place`; None if it was not there."""
        self._check(path)
        known, wanted = path.parent, f"{self.revision}:./{path.name}"
        kind = _git(known, "cat-file", "-t", wanted)
        if kind.returncode:
            if _git(known, "check-ignore", "-q", "--", path.name).returncode == 0:
                raise DataworthError(
                    f"{path} is ignored by git (DVC keeps it, say), which has no earlier one: say before = "
                    "FILE, or before = false, if there are no data before."
                )
            return None
        place.mkdir(parents=True, exist_ok=True)
        target = place / path.name
        if kind.stdout.strip() == b"tree":
            packed = _git(known, "archive", "--format=tar", self.revision, "--", f"./{path.name}")
            self._refuse(packed, path)
            with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
                archive.extractall(place, filter="data")
            return target
        found = _git(known, "cat-file", "--filters", wanted)
        self._refuse(found, path)
        if found.stdout.startswith(POINTER):
            raise DataworthError(
                f"{path.name} of {self.revision} is kept by git LFS and was not fetched: 'git lfs fetch "
                f"origin {self.revision}', or say before = FILE."
            )
        target.write_bytes(found.stdout)
        return target

    def _refuse(self, ended: subprocess.CompletedProcess[bytes], path: Path) -> None:
        if ended.returncode:
            why = ended.stderr.decode("utf-8", "replace").strip()
            raise DataworthError(
                f"git cannot read {path.name} of {self.revision} ({why}): say before = FILE."
            )


def _git(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=False)
    except FileNotFoundError:
        raise DataworthError("there is no program git: install it, or say before = FILE.") from None
