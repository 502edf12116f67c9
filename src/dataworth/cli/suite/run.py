"""A suite is run: what changed is measured, what did not is known from before; each audit has an outcome."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from dataworth.atomic import atomic_write, cache_directory, parse_json, read_whole
from dataworth.errors import DataworthError, Problems
from dataworth.version import __version__

from ..options import Showing
from .file import Entry, Suite
from .sources import Base, beside, content, present
from .thresholds import failures

SCHEMA = "dataworth/check/1"
MAX_KEPT = 500
"""Results that are kept; of more, those that were used last."""
State = Literal["passed", "failed", "error"]
How = Literal["measured", "cached", "unchanged", ""]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one audit.

    line: what was found, or what is wrong. reasons: the thresholds that were not kept. how: measured now,
    known from before, or nothing to measure. record: the result as plain data, where there is one.
    """

    name: str
    data: str
    state: State
    line: str
    reasons: tuple[str, ...] = ()
    how: How = ""
    seconds: float = 0.0
    record: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        told = {n: getattr(self, n) for n in ("name", "data", "state", "line", "how")}
        record = self.record or {}
        results = {one: record[one] for one in ("audit", "score") if record.get(one) is not None}
        return {**told, "reasons": list(self.reasons), "seconds": round(self.seconds, 3), **results}


@dataclass(frozen=True, kw_only=True)
class Runner:
    """Runs audits of a suite one by one.

    reports: a directory for a page of each audit that is measured. rows: whether example rows are told.
    """

    suite: Suite
    base: Base
    showing: Showing
    cache: bool = True
    rows: bool = True
    reports: Path | None = None

    def __call__(self, entry: Entry) -> Outcome:
        """One audit: what it ended with; what is wrong with its files is an outcome, too."""
        start = time.monotonic()
        known: dict[str, Any] = {"name": entry.name, "data": entry.data}
        try:
            with TemporaryDirectory(prefix="dataworth-") as place:
                how, record = self._record(entry, Path(place))
            reasons = tuple(failures(entry.thresholds, record))
        except Problems as error:
            known |= {"state": "error", "line": error.sentences[0], "reasons": error.sentences[1:]}
        except DataworthError as error:
            known |= {"state": "error", "line": str(error)}
        except OSError as error:
            why = f"{error.filename}: {error.strerror}" if error.filename else str(error)
            known |= {"state": "error", "line": why}
        else:
            state = "failed" if reasons else "passed"
            known |= {
                "state": state,
                "line": record["line"],
                "reasons": reasons,
                "how": how,
                "record": record,
            }
        return Outcome(**known, seconds=time.monotonic() - start)

    def _record(self, entry: Entry, place: Path) -> tuple[How, Mapping[str, Any]]:
        """What was measured of an audit, now or before."""
        folder = self.suite.folder
        data, test = present(entry.data, folder), present(entry.test, folder)
        before = present(entry.before, folder) if isinstance(entry.before, str) else None
        if entry.before is None:
            before = self.base.file(data, place)
        of_base = entry.before is None
        hashes = [None if one is None else content(one) for one in (data, before, test)]
        same = before is not None and hashes[0] is not None and hashes[0] == hashes[1]
        revision = f"in {self.base.revision}" if of_base else f"as {entry.before}"
        what = (
            f"new: not {revision}; "
            if before is None and of_base
            else f"the same {revision}; "
            if same
            else ""
        )
        if same and not entry.thresholds.asks_for_worth:
            return "unchanged", {"line": f"unchanged: {what[:-2]}", "rows": None}
        key = self._key(entry, hashes, None if same else before)
        if self.cache and key is not None and (known := load(key)) is not None:
            return "cached", {**known, "line": f"{what}{known['line']}"}
        from .measured import measured

        found = measured(entry, data, None if same else before, test, self)
        if key is not None and self.cache:
            keep(key, found)
        return "measured", {**found, "line": f"{what}{found['line']}"}

    def _key(self, entry: Entry, hashes: list[str | None], before: Path | None) -> str | None:
        """What a result is known by: all that determines it; None where that cannot be known."""
        data, _, test = hashes
        folder = self.suite.folder
        options = {name: str(value) for name, value in entry.options.items()}
        files = [Path(str(entry.options[n])) for n in ("yardstick", "values") if entry.options.get(n)]
        more = [content(one) for one in files]
        near = [beside(folder / name) for name in (entry.data, entry.test)]
        near += [beside(folder / entry.before)] if isinstance(entry.before, str) else []
        if data is None or test is None or (before is not None and hashes[1] is None):
            return None
        model = str(entry.options.get("model"))
        if ":" in model or entry.columns.text_encoder is not None:
            return None  # code of others, which may change
        scored = entry.thresholds.min_of_ceiling is not None or before is None
        versions = [SCHEMA, __version__, version("numpy"), version("scipy")]
        asked = [options, {name: str(one) for name, one in vars(entry.columns).items()}, scored, self.rows]
        told = [versions, asked, hashes if before is not None else [data, test], more, near]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _place(key: str) -> Path:
    return cache_directory() / "checks" / f"{key}.json"


def _sign(key: str, text: bytes) -> str:
    from dataworth.parallel.own_key import own_key

    return hmac.new(own_key(), key.encode() + text, "sha256").hexdigest()


def load(key: str) -> dict[str, Any] | None:
    """A result that this user kept; None if there is none, or somebody else wrote it."""
    place = _place(key)
    with suppress(DataworthError, OSError, ValueError):
        mac, _, text = read_whole(place).partition(b"\n")
        if hmac.compare_digest(mac, _sign(key, text).encode()):
            found: dict[str, Any] = parse_json(text)
            place.touch()
            return found
    return None


def keep(key: str, record: Mapping[str, Any]) -> None:
    """Keep a result; a directory that cannot be written costs time only."""
    with suppress(DataworthError, OSError):
        place, text = _place(key), json.dumps(record).encode()
        place.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(place) as file:
            file.touch(0o600)
            file.write_bytes(_sign(key, text).encode() + b"\n" + text)
        files = sorted(place.parent.glob("*.json"), key=lambda one: -one.stat().st_mtime)
        for old in files[MAX_KEPT:]:
            old.unlink(missing_ok=True)
