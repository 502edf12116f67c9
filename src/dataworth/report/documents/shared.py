"""What documents share: how a yardstick is told, and the sections that several kinds of result have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dataworth.checks import CHECKS, Finding
from dataworth.measure.designs import Arm
from dataworth.measure.parts import MeanDecomposition
from dataworth.valuation.result import Replay, Result
from dataworth.valuation.supplementary import Further
from dataworth.yardstick.yardstick import Yardstick

from ..document import (
    Answer,
    Cell,
    Document,
    Facts,
    Name,
    Section,
    Table,
    Tone,
    Words,
    shortened,
)
from ..numbers import Known, Unit, benchmark, counted_pmi, number

if TYPE_CHECKING:  # each is imported by those who have one
    from dataworth.valuation.audit.audit import Audit
    from dataworth.valuation.contributions import Contributions
    from dataworth.valuation.forecast import Forecast
    from dataworth.valuation.rank import Ranking
    from dataworth.valuation.score import Score
    from dataworth.valuation.values.values import Values

    Measured = Score | Audit | Ranking  # what has checks
    Reported = Measured | Values | Contributions | Forecast
KINDS = {"Score": "score", "Audit": "verdict", "Ranking": "ranking"}
STATES = {True: "failed", False: "passed", None: "not run"}
TONES: Sequence[Tone] = ("plain", "bad", "good", "better", "spent", "neutral", "worst", "cost")
"""Tones of series that mean nothing by themselves, in their order."""
MAX_NAMED = 4
"""Datasets that the note of a figure names."""
PARTS = {
    "confidence": "confidence gained, KL(both‖prior)",
    "against_data": "− disagreement with the data, KL(both‖data)",
    "against_test": "− disagreement with the test set, KL(both‖test)",
    "unexplained": "not explained",
    "value": "= PMI",
    "information_data": "how sure the data are, PI(data)",
    "information_test": "how sure the test set is, PI(test)",
}
WHOLE_BLOCKS = "= PMI of whole blocks, from the prior"
"""Of which parts are where test rows are scored one by one: U(D, T_j)."""


def tone_of(known: Any, otherwise: Tone) -> Tone:
    """Good if a value is shown above zero, bad if below."""
    return "good" if known.positive else "bad" if known.negative else otherwise


# --- the yardstick -----------------------------------------------------------------------------------------


def yardstick_line(yardstick: Yardstick) -> str:
    """A yardstick in one line."""
    chosen, how = yardstick.chosen, f" ({yardstick.inference})" if yardstick.inference else ""
    told = f"{chosen.features}, {yardstick.kind}{how}, prior variance {chosen.prior_variance:g}"
    counted = "" if yardstick.tempering == 1 else f", tempering {yardstick.tempering:g}"
    return f"{told}{counted}, {yardstick.digest[:12]}"


def yardstick_facts(yardstick: Yardstick) -> list[tuple[str, str]]:
    """Features, model, tempering, and how well parts of the test set predict each other."""
    chosen = yardstick.chosen
    error = "" if chosen.held_out_stderr is None else f" ± {number(chosen.held_out_stderr, 2)}"
    held_out = f"{number(chosen.held_out, 2)}{error} nats, mean log-likelihood of a test row"
    facts = [
        ("Features", f"{chosen.features} ({len(yardstick.recipe.center)})"),
        ("Model", repr(yardstick.model)),
        ("Tempering", f"rows of the data count {yardstick.tempering:g} times"),
        ("Held out", f"{held_out}, given an eighth to a half of the others"),
    ]
    if chosen.sight is not None:
        seen = f"t = {number(chosen.sight, 0)} for wrong labels removed from half of the test set"
        facts.append(("Sight", seen))
    hashed = f", keyed hash {yardstick.test_hash[:12]}" if yardstick.test_hash else ""
    return [*facts, ("Test set", f"{yardstick.rows} rows{hashed}"), ("Digest", yardstick.digest)]


def yardstick_document(yardstick: Yardstick, further: Further, unit: Unit) -> Document:
    """A yardstick: what was chosen, and how well it predicts."""
    held_out = number(yardstick.chosen.held_out, 2, sign=True)
    headline = f"half of the test set predicts a row of the other half with {held_out} nats."
    facts = Facts(yardstick_facts(yardstick), "brief")
    return Document(
        kind="Yardstick",
        line=yardstick_line(yardstick),
        headline=headline,
        answer=Answer("a yardstick", "plain", f"{headline[0].upper()}{headline[1:]}"),
        sections=[Section("How it measures", (facts,))],
    )


# --- what is beside the answer -----------------------------------------------------------------------------


def source(replay: Replay, between: str = ", ") -> str:
    """Files, or the names of datasets, with their rows: figures are handed on without their command."""

    def given(name: str, one: Mapping[str, Any]) -> str:
        return f"{shortened(one.get('file', name), 40)} ({one['rows']} rows)"

    told = [given(name, one) for name, one in replay.data.items()]
    if len(told) > MAX_NAMED:
        told = [*told[: MAX_NAMED - 1], f"{len(told) - MAX_NAMED + 1} more"]
    return f"{between.join(told)}, on {given('test set', replay.test)}"


def of_given(rows: int, given: int) -> str:
    """Why a file has more rows than were measured, where it has."""
    return "" if rows == given else f" of {given} given ({given - rows} also stand in the test set)"


def alarm(result: Result) -> str:
    """Which checks must be dealt with before the result stands."""
    fatal = [f"{one.code} {one.name}: {one.meaning}" for one in result.checks if one.failed and not one.valid]
    what = KINDS[type(result).__name__]
    return f"This {what} does not stand yet. {'; '.join(fatal)}." if fatal else ""


# --- sections ----------------------------------------------------------------------------------------------


def last_sections(result: Measured, further: Further, unit: Unit) -> list[Section]:
    """Checks; what was measured again; every arm; the yardstick; how to replay it."""
    return [
        _checks_section(result),
        *parts_section(result, further, unit),
        _arms_section(result, unit),
        yardstick_section(result),
        replay_section(result, further.left_out),
    ]


def check_counts(checks: Sequence[Finding], ignored: int = 0) -> str:
    """How many passed, failed, were ignored, and were not run."""
    passed, failed, left = (sum(one.failed is kind for one in checks) for kind in (False, True, None))
    also = f", {left} not run (-v says why)" if left else ""
    without = f", {ignored} ignored" if ignored else ""
    return f"{passed} passed, {failed or 'none'} failed{without}{also}"


def _checks_section(result: Measured) -> Section:
    counts, what = "none: all were ignored", KINDS[type(result).__name__]
    failed = [one for one in result.checks if one.failed]
    fatal = ", ".join(one.code for one in failed if not one.valid)
    if result.checks:
        counts = check_counts(result.checks, ignored=len(CHECKS) - len(result.checks))
    if fatal:
        counts += f"; the {what} does not stand before {fatal} is dealt with"
    elif failed:
        counts += f"; the {what} stands, for what it says"
    told, every = [("Checks", counts)], []
    for one in result.checks:
        if one.failed:
            seen = f" ({one.detail})" if one.detail else ""
            told.append((one.code, f"{one.name}: {one.meaning}{seen}; {one.advice}"))
        detail = f"; {one.detail}" if one.detail else ""
        every.append((one.code, f"{one.name}: {STATES[one.failed]}{detail}"))
    blocks = (Facts(told, "brief"), *([Facts(every, "verbose")] if every else []))
    return Section("Can it be trusted?", blocks)


def _arms_section(result: Measured, unit: Unit) -> Section:
    bench = benchmark(result.yardstick, unit)

    def mean(column: str, arm: Arm, scale: float, digits: int) -> Cell:
        value = float(result.table.column(column, arm).mean()) * scale
        return Cell(number(value, digits), value)

    rows = [
        (
            Cell([Name(arm)]),
            mean("data_rows", arm, 1, 0),
            number(float(pmi.mean()), 3),
            number(float(pmi.std(ddof=1)) if len(pmi) > 1 else float("nan"), 3),
            mean("accuracy", arm, bench.unit.factor, 2),
            mean("information_gain", arm, unit.factor, 2),
        )
        for arm, pmi in zip(result.table.arms, (counted_pmi(result) * unit.factor).T, strict=True)
    ]
    of = unit.name
    columns = ("arm", "rows", f"PMI, {of}", f"s.d., {of}", bench.name, f"information gain, {of}")
    table = Table("Every arm: means over blocks or pairs", columns, rows, "verbose", folded=True)
    return Section("Every arm", (table,))


def _explained(result: Any) -> dict[str, tuple[MeanDecomposition, float]]:
    """Parts by column of their table, each with the score or change that it explains."""
    parts, kind = result.parts, KINDS[type(result).__name__]
    if kind == "verdict":
        scores = (result.before, result.after, result.delta)
        columns = ("from", "to", "change, 95 % interval")
        return dict(zip(columns, zip(parts, scores, strict=True), strict=True))
    if kind == "score":
        return {"value, 95 % interval": (parts, result.value)}
    return {one.name: (parts[one.name], one.value) for one in result}


def of_blocks(result: Measured) -> bool:
    """Whether test rows were scored one by one: then parts are of another number, the PMI of whole blocks."""
    return bool(len(result.table.reference))


def adds_up(parts: MeanDecomposition, score: float) -> bool:
    """Whether parts are those of a score: confidence − disagreements + what is not explained is its value."""
    total = parts.confidence.value - parts.against_data.value - parts.against_test.value
    return abs(total + parts.unexplained.value - score) <= 1e-6 * max(1.0, abs(score))


def parts_table(result: Measured, unit: Unit) -> Table | None:
    """A row for each part of the score, or of its change; nothing if they do not add up to it."""
    columns = _explained(result)
    if not of_blocks(result) and not all(adds_up(parts, score) for parts, score in columns.values()):
        return None
    rows: list[tuple[str | Cell, ...]] = []
    for part, shown in PARTS.items():
        found: dict[str, Known] = {name: getattr(parts, part) for name, (parts, _) in columns.items()}
        if part == "unexplained" and all(abs(one.value) < 5e-4 for one in found.values()):
            continue
        digits = unit.digits([*found.values()][-1])
        cells = [
            unit.cell(one, sign=name.startswith("change"))
            if "interval" in name
            else number(one.value * unit.factor, min(3, digits))
            for name, one in found.items()
        ]
        rows.append((WHOLE_BLOCKS if part == "value" and of_blocks(result) else shown, *cells))
    return Table(f"why, in {unit.name}", ("measure", *map(Name, columns)), rows)


def parts_section(result: Measured, further: Further, unit: Unit) -> list[Section]:
    """Why: what the value, or its change, is made of."""
    table = None if further.parts is None else parts_table(result, unit)
    if table is None:
        return []
    what = "The PMI of a whole block" if of_blocks(result) else "The score"
    why = (
        f"{what} is the confidence that data and test set give together, less how far each disagrees "
        "with what both say. PI(data) is how sure the data are of what they say, right or wrong: wrong "
        "labels can raise it."
    )
    if of_blocks(result):
        why += " The score counts the same rows one by one, beyond class proportions."
    return [Section("Why: parts of the score", (table, Facts([("Read", why)])))]


def yardstick_section(result: Reported, *more: tuple[str, Words]) -> Section:
    """How it was measured, and what was noted on the way."""
    notes = [("Note", note) for note in result.notes]
    told = Facts([("Yardstick", yardstick_line(result.yardstick)), *notes, *more], "brief")
    return Section("How it was measured", (told, Facts(yardstick_facts(result.yardstick), "verbose")))


def replay_section(result: Reported, left_out: Sequence[str] = ()) -> Section:
    """How to get the same again."""
    told = result.replay
    rows = [
        (Cell([Name(one.get("file", name))]), Cell([Name(name)]), f"{one['rows']:,}", one["sha256"])
        for name, one in [*told.data.items(), ("test set", told.test)]
    ]
    facts = [
        ("Command", told.command),
        ("Seed", str(told.seed)),
        ("Versions", ", ".join(f"{name} {version}" for name, version in told.versions.items())),
    ]
    facts += [("Not in this report", "; ".join(left_out))] if left_out else []
    columns = ("file or name", "as", "rows", "SHA-256 of the content")
    return Section("Replay", (Facts(facts), Table("What was given", columns, rows)))


def per_block(test_rows: int, blocks: int) -> str:
    """A block of so many test rows, for results that are always counted in blocks."""
    return f"block of {test_rows / blocks:.3g} test rows"
