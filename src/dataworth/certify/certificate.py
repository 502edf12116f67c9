"""What a certificate says: one outcome for each property, with its value and its bound; ok if none failed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One property: whether it holds (None: not applicable, or reported only), its value and its bound."""

    name: str
    meaning: str
    passed: bool | None = None
    value: float | None = None
    bound: float | None = None

    def __str__(self) -> str:
        word = {True: "ok", False: "FAILED", None: "–"}[self.passed]
        value = "" if self.value is None else f"{self.value:.2g}"
        bound = "" if self.bound is None else f"≤ {self.bound:.2g}"
        return f"{word:6} {self.name:16} {value:>9} {bound:>10}  {self.meaning}"


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """The outcomes for one model; `ok` if none failed."""

    model: str
    seed: int
    outcomes: tuple[Outcome, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return all(outcome.passed is not False for outcome in self.outcomes)

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.outcomes)

    def __getitem__(self, name: str) -> Outcome:
        return {outcome.name: outcome for outcome in self.outcomes}[name]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        outcomes = [asdict(outcome) for outcome in self.outcomes]
        return {"model": self.model, "ok": self.ok, "seed": self.seed, "outcomes": outcomes}

    def __str__(self) -> str:
        tally = [sum(o.passed is passed for o in self.outcomes) for passed in (True, False, None)]
        head = f"{self.model}: {'ok' if self.ok else 'NOT OK'}"
        counts = f"{tally[0]} passed, {tally[1]} failed, {tally[2]} not applicable or only reported"
        return "\n".join([f"{head} ({counts})", *(f"  {outcome}" for outcome in self.outcomes)])
