"""What it takes to get a result again: the call, the seed, versions, and what the data were."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from typing import Any

from ..checks import CHECKS
from ..data.dataset import Dataset
from ..data.io.streamed import Stream
from ..measure.options import Options
from ..yardstick.yardstick import Yardstick
from .sealed import Sealed

Given = Dataset | Sealed | Stream
PACKAGES = ("dataworth", "numpy", "scipy", "scikit-learn", "joblib", "pyarrow", "narwhals")
NOT_TOLD = ("seed", "jobs", "engine", "address", "run_dir", "keep", "progress", "key")
"""Options that do not determine a result, or stand elsewhere; and a key, which is nobody else's business."""


@dataclass(frozen=True, kw_only=True)
class Replay:
    """The call or command that made a result, and what it was given.

    `data` by name, and `test`: rows and SHA-256 (`Dataset.content_hash`) as given, and the file, if any.
    """

    command: str
    seed: int
    versions: dict[str, str]
    data: dict[str, dict[str, Any]]
    test: dict[str, Any]

    @classmethod
    def of(
        cls,
        what: str,
        data: Mapping[str, Given],
        test: Given,
        options: Options,
        curate: str | None = None,
        **own: Any,
    ) -> Replay:
        """Of a call from Python; `own` are arguments of this function alone, told if they are not None."""
        given = [(one.name, getattr(options, one.name), one.default) for one in fields(options)]
        given = [one for one in given if one[0] not in NOT_TOLD and one[1] != one[2]]
        several = what in ("rank", "split")
        names = [f"{{{', '.join(f'{name!r}: …' for name in data)}}}"] if several else [*data]
        names += ["test" if curate is None else "test=test"]
        told = [] if curate is None else [f"curate={curate}"]
        told += [f"{name}={value!r}" for name, value in own.items() if value is not None]
        told += [f"{name}={shown(value)}" for name, value, _ in given]
        return cls(
            command=f"dw.{what}({', '.join([*names, *told, f'seed={options.seed}'])})",
            seed=options.seed,
            versions=versions(),
            data={name: known(one) for name, one in data.items()},
            test=known(test),
        )

    def by(self, command: str, data: Mapping[str, str], test: str) -> Replay:
        """The same from the command line, with files by the names of their data."""
        told = {name: {**one, "file": data[name]} if name in data else one for name, one in self.data.items()}
        return replace(self, command=command, data=told, test={**self.test, "file": test})


def known(data: Given) -> dict[str, Any]:
    """What a dataset is known by."""
    return {"rows": len(data), "sha256": data.content_hash()}


def shown(value: Any) -> str:
    """An option as it stands in a call; a yardstick by its digest, checks by codes, baselines by names."""
    if isinstance(value, list | tuple) and any(hasattr(one, "name") for one in value):
        return f"[{', '.join(str(getattr(one, 'name', one)) for one in value)}]"
    if isinstance(value, frozenset):
        return repr("all" if len(value) == len(CHECKS) else ",".join(sorted(value)))
    return f"<yardstick {value.digest[:12]}>" if isinstance(value, Yardstick) else repr(value)


def versions() -> dict[str, str]:
    """Of Python and of what numbers depend on."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
