"""Results as text for a terminal: a sentence first, then the numbers it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dataworth.checks import CHECKS
from dataworth.clipping import Array, clip
from dataworth.models import Linear
from dataworth.parts import AuditParts, MeanParts
from dataworth.pmi import NATS_PER_BIT
from dataworth.sensitivity import QUANTITIES
from dataworth.wording import counted

from .numbers import bounds, digits_for, number, scaled, with_interval

if TYPE_CHECKING:
    from dataworth.audit import Audit
    from dataworth.checks import Finding
    from dataworth.evaluate import PairTable
    from dataworth.io import Description
    from dataworth.rank import Ranking
    from dataworth.score import Score
    from dataworth.sensitivity import Sensitivity
    from dataworth.yardstick import Yardstick

VERDICT_STYLES = {
    "informative": "bold green",
    "recycled": "bold yellow",
    "inconclusive": "bold",
    "costly": "bold yellow",
    "strategic": "bold red",
    "harmful": "bold red",
}


def unit_of(bits: bool) -> tuple[str, float]:
    """Name of the unit, and the factor from nats to it."""
    return ("bits", 1.0 / NATS_PER_BIT) if bits else ("nats", 1.0)


def per_what(details: dict[str, Any], table: PairTable) -> str:
    """What a value is counted over: a block of the test set, or a pair."""
    if "blocks" in details:
        rows = float(table.test_rows.mean())
        return f"block of {number(rows, 0 if rows.is_integer() else 1)} test rows"
    data, test = details["size"]
    return f"pair of {data} data and {test} test rows"


def counted_pmi(result: Score | Audit | Ranking) -> Array:
    """PMI as it was counted, clipped if it was (k × arms, in nats); the result's own table is raw."""
    clipping = result.details.get("clipping")
    pmi = result.table.pmi
    return pmi if clipping is None else clip(pmi, **{clipping["rule"]: clipping["bound"]}).values


# --- score -------------------------------------------------------------------------------------------------


def score_line(score: Score, bits: bool = False) -> str:
    """The score in one line."""
    unit, factor = unit_of(bits)
    return with_interval(score.value * factor, scaled(score.interval, factor), unit)


def score_report(score: Score, bits: bool = False, verbose: bool = False) -> RenderableType:
    """The score, its accuracy, and what it was measured with."""
    unit, factor = unit_of(bits)
    interval = scaled(score.interval, factor)
    rows = float(score.table.test_rows.mean())
    name, points, _ = _benchmark(score.yardstick)
    accuracy = scaled(score.accuracy.interval, points)
    table = _table("measure", "value, 95 % interval")
    per = per_what(score.details, score.table)
    _add_row(table, f"PMI, {unit} per {per}", with_interval(score.value * factor, interval))
    per_row = with_interval(score.per_row * factor, scaled(interval, 1 / rows))
    _add_row(table, f"PMI, {unit} per test row", per_row)
    _add_row(table, name, with_interval(score.accuracy.value * points, accuracy))
    details = score.details
    size = f"{counted(details['data_rows'], 'data row')}, {counted(details['test_rows'], 'test row')}"
    return _report(
        Text(f"worth {score_line(score, bits)} per {per}.", style="bold"),
        f"{score.question} {score.answer[0].upper()}{score.answer[1:]}.",
        table,
        [("Measured on", f"{size}, {_draws(score.details)}"), *_common_facts(score)],
        _details(score, bits) if verbose else [],
    )


# --- audit -------------------------------------------------------------------------------------------------


def verdict_text(audit: Audit) -> Text:
    """Verdict and reason, the verdict in its colour."""
    if audit.verdict is None:
        return Text(f"no verdict: {audit.reason.split(':')[0]}.")
    return Text.assemble(
        (audit.verdict, VERDICT_STYLES.get(audit.verdict, "bold")), (f": {audit.reason}.", "bold")
    )


def audit_line(audit: Audit, bits: bool = False) -> str:
    """Verdict and change in one line."""
    unit, factor = unit_of(bits)
    change = with_interval(audit.delta * factor, scaled(audit.interval, factor), unit, sign=True)
    why = ""
    if audit.verdict == "inconclusive" and audit.interval is not None and audit.interval[0] > 0:
        # an interval above zero asks for the reason
        rose = audit.reason.startswith("it rose")
        why = f" ({'rose, but not shown beyond re-using the data' if rose else audit.reason})"
    return f"{audit.verdict or 'no verdict'}{why}: ΔPMI {change}"


def benchmark_sentence(audit: Audit) -> str:
    """Would the benchmark have noticed?"""
    name, points, unit = _benchmark(audit.yardstick)
    name = name.split(",")[0]
    interval = scaled(audit.accuracy_interval, points)
    moved = f"{name} moved by {with_interval(audit.accuracy_delta * points, interval, unit, sign=True)}"
    moved = moved[0].upper() + moved[1:]
    if interval is None:
        return f"{moved}: whether the benchmark would have noticed cannot be told."
    if interval[0] > 0:
        return f"{moved}: the benchmark would have shown an improvement."
    if interval[1] < 0:
        return f"{moved}: the benchmark would have shown a loss."
    return f"{moved}: the benchmark would not have noticed."


def change_text(change: dict[str, Any]) -> str:
    """What the curation did to the rows."""
    kinds = ("kept", "removed", "new", "repeated", "relabelled")
    parts = [f"{change[kind]} {kind}" for kind in kinds if change[kind]]
    return f"{', '.join(parts)} (rows matched by {change['matched_by']})"


def audit_report(audit: Audit, bits: bool = False, verbose: bool = False) -> RenderableType:
    """The verdict, the three intervals it rests on, and what changed."""
    return _report(
        verdict_text(audit),
        audit.question,
        _audit_table(audit, bits),
        [
            ("Benchmark", benchmark_sentence(audit)),
            ("Changed", change_text(audit.change)),
            ("Measured on", f"{audit.details['test_rows']} test rows, {_draws(audit.details)}"),
            *_common_facts(audit),
        ],
        _details(audit, bits) if verbose else [],
    )


def _audit_table(audit: Audit, bits: bool) -> Table:
    unit, factor = unit_of(bits)
    table = _table("measure", "from", "to", "change, 95 % interval")

    def add(name: str, start: float, end: float, change: float, interval: Sequence[float] | None) -> None:
        digits = digits_for(change, interval)
        shown = with_interval(change, interval, sign=True)
        _add_row(table, name, number(start, digits), number(end, digits), shown)

    rows = float(audit.table.test_rows.mean())
    value = [n * factor for n in (audit.before, audit.after, audit.delta)]
    interval = scaled(audit.interval, factor)
    add(f"PMI, {unit} per {per_what(audit.details, audit.table)}", value[0], value[1], value[2], interval)
    per_row = [n / rows for n in value]
    add(f"PMI, {unit} per test row", per_row[0], per_row[1], per_row[2], scaled(interval, 1 / rows))
    if audit.control is not None:
        start, change = audit.control.value * factor, audit.control.selection * factor
        add(
            f"PMI against the blind control, {unit}",
            start,
            value[1],
            change,
            scaled(audit.control.selection_interval, factor),
        )
    name, points, _ = _benchmark(audit.yardstick)
    start, end = (float(audit.table.column("accuracy", arm).mean()) * points for arm in ("before", "after"))
    add(name, start, end, audit.accuracy_delta * points, scaled(audit.accuracy_interval, points))
    return table


# --- rank --------------------------------------------------------------------------------------------------


def ranking_line(ranking: Ranking, bits: bool = False) -> str:
    """The best, and who is tied with it."""
    unit, factor = unit_of(bits)
    best = ranking[0]
    tied = [other.name for other in ranking.ranking[1:] if other.tied]
    shown = with_interval(best.value * factor, scaled(best.interval, factor), unit)
    also = f"; cannot be told from it: {', '.join(tied)}" if tied else ""
    return f"best: {best.name}, {shown}{also}" if len(ranking) > 1 else f"{best.name}: {shown}"


def ranking_report(ranking: Ranking, bits: bool = False, verbose: bool = False) -> RenderableType:
    """The datasets, best first."""
    unit, factor = unit_of(bits)
    name, points, _ = _benchmark(ranking.yardstick)
    compared = ("to the best",) if len(ranking) > 1 else ()
    table = _table("dataset", f"value, {unit}", *compared, "rows", name.removeprefix("test "))
    digits = max(digits_for(one.value * factor, scaled(one.interval, factor)) for one in ranking)
    for place, one in enumerate(ranking):
        gap = number(one.to_best.value * factor, digits, sign=True)
        gap = "" if place == 0 else f"{gap} {bounds(scaled(one.to_best.interval, factor), digits)}"
        _add_row(
            table,
            one.name,
            f"{number(one.value * factor, digits)} {bounds(scaled(one.interval, factor), digits)}",
            *(gap for _ in compared),
            str(one.rows),
            number(one.accuracy * points, 1 if points > 1 else 3),
        )
    per = per_what(ranking.details, ranking.table)
    facts = [
        (
            "Values",
            f"per {per}; the 95 % intervals hold for all datasets at once" if compared else f"per {per}",
        ),
        ("Measured on", f"{ranking.details['test_rows']} test rows, {_draws(ranking.details)}"),
        *_common_facts(ranking),
    ]
    headline = Text(f"{ranking_line(ranking, bits)}.", style="bold")
    return _report(headline, ranking.question, table, facts, _details(ranking, bits) if verbose else [])


# --- sensitivity -------------------------------------------------------------------------------------------


def sensitivity_line(sensitivity: Sensitivity, bits: bool = False) -> str:
    """Whether the prior decides, in one line."""
    return f"{'steady' if sensitivity.steady else 'depends on the prior'}: {sensitivity.summary}"


def sensitivity_report(sensitivity: Sensitivity, bits: bool = False, verbose: bool = False) -> RenderableType:
    """One row a prior variance."""
    unit, factor = unit_of(bits)
    value, held_out = f"{QUANTITIES[sensitivity.what]}, {unit}, 95 % interval", f"held out, {unit}"
    table = _table("C", value, "conclusion", held_out, "accuracy, CV", "plausible")
    for point in sensitivity.points:
        _add_row(
            table,
            f"{point.prior_variance:g}" + (" *" if point.prior_variance == sensitivity.chosen else ""),
            with_interval(point.value.value * factor, scaled(point.value.interval, factor), sign=True),
            point.conclusion or "no verdict",
            number(point.held_out * factor, 2),
            number(point.accuracy, 4),
            "yes" if point.plausible else "",
        )
    facts = [
        ("*", "the yardstick's own prior variance"),
        ("Held out", f"mean log-likelihood of half the test set; best at C = {sensitivity.by_held_out:g}"),
        (
            "Accuracy",
            f"{sensitivity.folds}-fold cross-validation on the test set (R² for amounts); best at C = "
            f"{sensitivity.by_accuracy:g}",
        ),
        ("Plausible", "not excluded by the test set, and doubling rows does not look informative (DW009)"),
    ]
    return _report(Text(f"{sensitivity_line(sensitivity)}.", style="bold"), None, table, facts, [])


# --- describe, yardstick, demo -----------------------------------------------------------------------------


def description_line(description: Description) -> str:
    """A file in one line."""
    features = sum(role.role == "feature" for role in description.roles)
    label = next(role.column for role in description.roles if role.role == "label")
    unusable = sum(role.role == "unusable" for role in description.roles)
    also = f", {unusable} unusable" if unusable else ""
    counts = f"{counted(description.rows, 'row')}, {counted(features, 'feature column')}"
    return f"{description.path}: {counts}, label {label!r}{also}"


def description_report(description: Description, verbose: bool = False) -> RenderableType:
    """What each column would be used as, and why; features of one kind share a line unless verbose."""
    table = _table("column", "used as", "holds", "why", "missing")
    for names, role in _alike(description.roles, description.missing, apart=verbose):
        missing = sum(description.missing.get(name, 0) for name in names)
        _add_row(table, _enumerated(names), role.role, role.kind, role.why, str(missing) if missing else "")
    facts = [("Labels", str(description.labels)), *(("Note", note) for note in description.notes)]
    return _report(Text(f"{description_line(description)}.", style="bold"), None, table, facts, [])


def _alike(roles: Iterable[Any], missing: Mapping[str, int], apart: bool) -> list[tuple[list[str], Any]]:
    """Neighbouring columns with the same role, kind and reason; one with missing values stands alone."""
    runs: list[tuple[list[str], Any]] = []
    for role in roles:
        last = runs[-1][1] if runs else None
        same = (
            last is not None
            and (last.role, last.kind, last.why) == (role.role, role.kind, role.why)
            and not missing.keys() & {last.column, role.column}
        )
        if same and not apart:
            runs[-1][0].append(role.column)
        else:
            runs.append(([role.column], role))
    return runs


def _enumerated(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{names[0]}, {names[1]} … {names[-1]} ({len(names)})"


def yardstick_line(yardstick: Yardstick) -> str:
    """A yardstick in one line."""
    chosen = yardstick.chosen
    how = yardstick.kind + (f" ({yardstick.inference})" if yardstick.inference else "")
    probe = "none" if chosen.probe is None else number(chosen.probe, 2, sign=True)
    return (
        f"{_axes(chosen.size)}, variance exponent {chosen.exponent:g}, {how}, prior variance "
        f"{chosen.prior_variance:g}, doubling probe {probe} nats, {yardstick.digest[:12]}"
    )


def _axes(size: int) -> str:
    return f"{size} principal {'axis' if size == 1 else 'axes'}"


def yardstick_report(yardstick: Yardstick, verbose: bool = False) -> RenderableType:
    """What was chosen, and the doubling probe."""
    headline = "calibrated" if yardstick.calibrated else "not calibrated"
    meaning = "repeating data does not look informative on it"
    if not yardstick.calibrated:
        meaning = "repeating data can look informative on it"
    return _report(Text(f"{headline}: {meaning}.", style="bold"), None, None, _yardstick_facts(yardstick), [])


def demo_line(demo: Any, bits: bool = False) -> str:
    """Chapters and verdicts in one line."""
    return ", ".join(f"{chapter.name}: {chapter.audit.verdict}" for chapter in demo.audits)


def demo_report(demo: Any, bits: bool = False, verbose: bool = False) -> RenderableType:
    """One row a chapter, then what each of them did."""
    unit, factor = unit_of(bits)
    table = _table("curation", f"ΔPMI, {unit}, 95 % interval", "accuracy, points", "verdict")
    changes = [(c.audit.delta * factor, scaled(c.audit.interval, factor)) for c in demo.audits]
    digits = max(digits_for(value, interval) for value, interval in changes)
    for chapter, (value, interval) in zip(demo.audits, changes, strict=True):
        audit = chapter.audit
        _add_row(
            table,
            chapter.name,
            with_interval(value, interval, sign=True, digits=digits),
            number(audit.accuracy_delta * 100, 1, sign=True),
            Text(audit.verdict or "no verdict", style=VERDICT_STYLES.get(audit.verdict or "", "bold")),
        )
    stories = [(chapter.name, chapter.story) for chapter in demo.audits]
    findings = [finding for chapter in demo.audits for finding in chapter.audit.checks]
    stories.append(("checks of all six", check_counts(findings)))
    chapters: list[RenderableType] = [
        Group(Text(f"\n{chapter.name}", style="bold"), audit_report(chapter.audit, bits))
        for chapter in demo.audits
    ]
    headline = Text("Did these curations add information?", style="bold")
    return _report(headline, None, table, stories, chapters if verbose else [])


# --- parts of reports --------------------------------------------------------------------------------------


def _report(
    headline: Text,
    question: str | None,
    table: Table | None,
    facts: Iterable[tuple[str, str]],
    details: list[RenderableType],
) -> RenderableType:
    parts: list[RenderableType] = [headline]
    if question is not None:
        parts.append(Text(question))
    parts.append(Text(""))
    if table is not None:
        parts += [table, Text("")]
    parts.append(_grid(facts))
    return Group(*parts, *details)


def _grid(facts: Iterable[tuple[str, str]]) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    for name, fact in facts:
        _add_row(grid, name, fact)
    return Padding(grid, (0, 0, 0, 1))


TEXT_COLUMNS = (
    "measure",
    "dataset",
    "curation",
    "verdict",
    "conclusion",
    "arm",
    "column",
    "used as",
    "holds",
    "why",
)
SHORT_COLUMNS = ("from", "to", "rows", "verdict")


def _table(*headers: str) -> Table:
    """A table of numbers, except in columns that are known to hold text; short columns never break."""
    table = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True, header_style="dim"
    )
    for header in headers:
        side: Literal["left", "right"] = "left" if header in TEXT_COLUMNS else "right"
        table.add_column(header, justify=side, overflow="fold", no_wrap=header in SHORT_COLUMNS)
    return table


def _add_row(table: Table, *cells: str | Text) -> None:
    """A row of plain text: brackets in somebody's column names are not markup."""
    table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in cells))


def _benchmark(yardstick: Yardstick) -> tuple[str, float, str]:
    """Name of the benchmark score, the factor it is shown with, and the unit of its changes."""
    if isinstance(yardstick.model, Linear):
        return "test R²", 1.0, ""
    return "test accuracy, %", 100.0, "points"


def _draws(details: dict[str, Any]) -> str:
    if "blocks" in details:
        return f"in {details['blocks']} blocks"
    return f"in {details['pairs']} pairs"


def _common_facts(result: Score | Audit | Ranking) -> list[tuple[str, str]]:
    notes = [("Note", note) for note in result.notes]
    return [("Yardstick", yardstick_line(result.yardstick)), *notes, *_check_facts(result.checks)]


def _check_facts(checks: Sequence[Finding]) -> list[tuple[str, str]]:
    """How many checks passed, and each that did not."""
    if not checks:
        return [("Checks", "none: all were ignored")]
    told = [("Checks", check_counts(checks, ignored=len(CHECKS) - len(checks)))]
    for finding in (one for one in checks if one.fires):
        seen = f" ({finding.detail})" if finding.detail else ""
        told.append((finding.code, f"{finding.name}: {finding.meaning}{seen}; {finding.advice}"))
    return told


def check_counts(checks: Sequence[Finding], ignored: int = 0) -> str:
    """How many passed, fired, were ignored, and were not run."""
    passed, fired, left = (sum(one.fires is kind for one in checks) for kind in (False, True, None))
    also = f", {left} not run (-v says why)" if left else ""
    without = f", {ignored} ignored" if ignored else ""
    return f"{passed} passed, {fired or 'none'} fired{without}{also}"


def check_details(checks: Sequence[Finding]) -> list[tuple[str, str]]:
    """Every check with what it saw, for -v."""
    words = {True: "fires", False: "passed", None: "not run"}
    told = []
    for finding in checks:
        detail = f"; {finding.detail}" if finding.detail else ""  # numbers stand there, with their units
        told.append((finding.code, f"{finding.name}: {words[finding.fires]}{detail}"))
    return told


def _details(result: Score | Audit | Ranking, bits: bool) -> list[RenderableType]:
    """Each arm and the yardstick, for -v."""
    unit, factor = unit_of(bits)
    pairs, values = result.table, counted_pmi(result) * factor
    name, points, _ = _benchmark(result.yardstick)
    arms = _table("arm", "rows", f"PMI, {unit}", f"s.d., {unit}", name, f"information gain, {unit}")
    for arm, pmi in zip(pairs.arms, values.T, strict=True):
        spread = float(pmi.std(ddof=1)) if len(pmi) > 1 else float("nan")
        _add_row(
            arms,
            arm,
            number(float(pairs.column("data_rows", arm).mean()), 0),
            number(float(pmi.mean()), 3),
            number(spread, 3),
            number(float(pairs.column("accuracy", arm).mean()) * points, 2),
            number(float(pairs.column("information_gain", arm).mean()) * factor, 2),
        )
    return [
        Text(""),
        arms,
        Text("yardstick", style="dim"),
        _grid(_yardstick_facts(result.yardstick)),
        Text("checks", style="dim"),
        _grid(check_details(result.checks)),
    ]


PART_NAMES = {
    "confidence": "confidence gained, KL(both‖prior)",
    "against_data": "− disagreement with the data, KL(both‖data)",
    "against_test": "− disagreement with the test set, KL(both‖test)",
    "unexplained": "not explained",
    "value": "= PMI",
    "information_data": "information in the data, PI(data)",
    "information_test": "information in the test set, PI(test)",
}


def parts_report(result: Score | Audit | Ranking, bits: bool = False) -> RenderableType:
    """What a value, or a change of it, is made of; for --explain and -v."""
    unit, factor = unit_of(bits)
    columns: dict[str, MeanParts]
    parts = result.parts
    if isinstance(parts, MeanParts):
        columns = {"value, 95 % interval": parts}
    elif isinstance(parts, AuditParts):
        columns = {"from": parts.before, "to": parts.after, "change, 95 % interval": parts.change}
    else:
        columns = parts
    table = _table("measure", *columns)
    first = next(iter(columns.values()))
    for name, shown in PART_NAMES.items():
        found = {header: getattr(means, name) for header, means in columns.items()}
        if name == "unexplained" and all(abs(one.value) < 5e-4 for one in found.values()):
            continue
        cells = []
        for header, one in found.items():
            value, interval = one.value * factor, scaled(one.interval, factor)
            if "interval" in header:
                cells.append(with_interval(value, interval, sign=header.startswith("change")))
            else:
                last = scaled(list(found.values())[-1].interval, factor)
                cells.append(number(value, digits_for(value, last)))
        _add_row(table, shown, *cells)
    some = "" if first.pairs == first.all_pairs else f", the first {first.pairs} of {first.all_pairs}"
    return Group(Text(""), Text(f"why, in {unit}{some}", style="dim"), table)


def _yardstick_facts(yardstick: Yardstick) -> list[tuple[str, str]]:
    chosen = yardstick.chosen
    probe = "not probed" if chosen.probe is None else number(chosen.probe, 3, sign=True)
    passed = "passed" if yardstick.calibrated else "failed"
    return [
        ("Features", f"{_axes(chosen.size)} of {len(yardstick.recipe.center)} standardised columns"),
        ("Exponent", f"{chosen.exponent:g} (1: variances as they are, 0: whitened)"),
        ("Model", repr(yardstick.model)),
        ("Held out", f"{number(chosen.held_out, 2)} nats, mean log-likelihood of half the test set"),
        ("Doubling", f"{probe} nats from doubling half the test set: {passed}"),
        ("Test set", f"{yardstick.rows} rows, {yardstick.test_hash[:12]}"),
        ("Digest", yardstick.digest),
    ]
