"""An audit: what the curation did, and whether to believe the benchmark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from dataworth.data.labels import Vectors
from dataworth.measure.intervals import Estimate
from dataworth.valuation.audit.audit import Audit
from dataworth.valuation.audit.verdict import UP
from dataworth.valuation.disclosure import round_blocks
from dataworth.valuation.supplementary import Further

from ..document import VERDICT_TONES, Answer, Document, Facts, Forest, Plane, Point, Section, Series, Table
from ..numbers import Unit, benchmark, counted_pmi, describe_per_row, draws, number, per_what
from . import shared
from .changed import change_text, changed_blocks, twins_text

ANSWERS = {
    "informative": (
        "The curation added information that the data did not hold before.",
        "Use the curated data. The gain lies beyond every blind baseline.",
    ),
    "improved": (
        "The curated data are worth more than before; whether that is new knowledge is not yet told.",
        "Use the curated data if you have them; before paying for more, test on more rows.",
    ),
    "recycled": (
        "The curated data score higher, but no further than the best blind baseline.",
        "There is nothing wrong and nothing new in it: do not pay for it as new information.",
    ),
    "inconclusive": (
        "This test set cannot tell whether the curation helped or hurt.",
        "Decide on other grounds, or come back with more test rows.",
    ),
    "unchanged": (
        "The curation changed nothing that counts: the data say of every test row what they said before.",
        "Use either; repeated rows add confidence, not information.",
    ),
    "costly": (
        "The curated data are worth less than before, about as any set of so few rows would be.",
        "Keep the old data unless fewer rows are worth something to you.",
    ),
    "strategic": (
        "The curation makes the data look like the test set: what the test rewards holds or rises, and "
        "information is lost where it matters.",
        "Do not adopt it on the benchmark's word: away from this test set, expect it to do worse.",
    ),
    "harmful": (
        "The curation hurt the data: they are worth less than after random removal of as many rows.",
        "Keep the old data, and look at what the curation removed or changed.",
    ),
}
"""What a verdict says, and what to do."""
SAME_SIZE = {
    "harmful": "The curation hurt the data: they are worth less than before, and as many.",
    "costly": "The curated data are worth less than before, and as many.",
}
"""What these say where neither rows nor weights changed their number."""
SHARPER = 2.0
"""Ratio of temperings from which a reader is told to recalibrate."""
NO_VERDICT = "The design equal-size compares rows, not datasets: there is no verdict."
CORNERS = ("both rose", "benchmark up, information down", "both fell", "information up, benchmark down")


def document(audit: Audit, further: Further, unit: Unit) -> Document:
    """The verdict, the change, what to do; attribution, power, checks; the rest."""
    verdict, tone = audit.verdict or "", VERDICT_TONES.get(audit.verdict, "plain")
    sentence, meaning = ANSWERS.get(verdict, (audit.question, NO_VERDICT))
    needed = None if audit.power is None else audit.power.required_test_rows
    if verdict == "inconclusive" and needed is not None:
        meaning += f" A change like this one would take about {rounded(needed):,} of them."
    why = ""
    if verdict == "inconclusive" and audit.interval is not None and audit.interval[0] > 0:
        why = f" ({audit.reason})"  # an interval above zero asks for the reason
    if (
        audit.control is not None and audit.control.excess_over_random == audit.delta
    ):  # compared with the data before
        sentence = SAME_SIZE.get(verdict, sentence)
    often = {str(arm): times for arm, times in audit.table.tempering.items()}
    times = often.get("after", 1.0) / often.get("before", 1.0)  # as often as rows before count
    if verdict in UP and times >= SHARPER:
        meaning += (
            f" Recalibrate models that you train on them: their rows bear {times:.0f} times the confidence."
        )
    word, moved, also = audit.word, unit.named(delta(audit), sign=True), ""
    if "but strategic" in word:  # rows were chosen by a column that nobody declared
        tone = "neutral"
        sentence = "The curated data tell more of this test set, and less of its rows against one column."
        meaning = (
            "Whether that column should matter, only a person can know: if not, declare it an attribute."
        )
        also = "; rows were chosen so that the column goes with the label as in the test set"
    reason = audit.reason if audit.verdict else audit.reason.split(":")[0]
    answer = Answer(word, tone, sentence, meaning)
    checks, *rest = shared.last_sections(audit, further, unit)
    return Document(
        kind="Audit",
        line=f"{word}{why}: ΔPMI {moved}",
        headline=f"{word}: {reason}{also}.",
        answer=answer,
        charts=(_forest(audit, unit), _benchmark_forest(audit, unit)),
        sections=[
            _what_moved(audit, unit),
            *_who_gains(audit, unit),
            _what_could_be_seen(audit, unit),
            checks,
            _one_by_one(audit, answer, unit),
            *rest,
        ],
    )


def delta(audit: Audit) -> Estimate:
    """The change of PMI."""
    return Estimate(audit.delta, None, audit.interval)


def accuracy(audit: Audit) -> Estimate:
    """The change of test accuracy, or of R²."""
    return Estimate(audit.accuracy_delta, None, audit.accuracy_interval)


def _parts(audit: Audit) -> list[tuple[str, str, float, Estimate]]:
    """What the change is made of, or what it is against a blind control that is another: name in a table and
    in a chart, from which value, and how much."""
    if (made := audit.attribution) is not None:
        own = ("reached by the best blind baseline", "best blind baseline", audit.before, made.blind_gain)
        middle = audit.before + made.blind_gain.value
        return [own, ("beyond every blind baseline (external)", "external", middle, made.external_gain)]
    if (control := audit.control) is None or control.excess_over_random == audit.delta:
        return []
    blind = Estimate(control.excess_over_random, None, control.excess_interval)
    start = audit.after - blind.value
    return [("PMI against the blind control", "after − blind control", start, blind)]


# --- what moved --------------------------------------------------------------------------------------------


def _what_moved(audit: Audit, unit: Unit) -> Section:
    columns = ("measure", "from", "to", "change, 95 % interval")
    table = Table("Before and after curation", columns, [*_lines(audit, unit)], "brief")
    facts = [("In words", describe_per_row(audit.per_row, audit.yardstick, unit))]
    if (made := audit.attribution) is not None:
        own, outside = (unit.named(part, sign=True) for part in (made.blind_gain, made.external_gain))
        arm = next((arm for arm in audit.table.arms if str(arm) == made.best_baseline), made.best_baseline)
        how = (
            " (no change)" if made.best_baseline == "nothing" else f" ({getattr(arm, 'label', None) or arm})"
        )
        told = (
            f"{own} reached by the best blind baseline{how}; {outside} beyond every blind baseline (external)"
        )
        facts.append(("Attribution", told))
    facts.append(("Benchmark", benchmark_sentence(audit, unit)))
    if (loss := audit.calibration) is not None:
        raw, tempered = (
            f"{unit.factor * one:.3f} → {unit.factor * two:.3f}"
            for one, two in ((loss.raw_before, loss.raw_after), (loss.tempered_before, loss.tempered_after))
        )
        told = f"log loss a test row {raw} {unit.name} as trained, {tempered} after one tempering"
        facts.append(("Calibration", told))
    reason = Facts([("Reason", f"{audit.reason[0].upper()}{audit.reason[1:]}.")])
    return Section("What the change is made of", (table, reason, Facts(facts, "brief")))


def _lines(audit: Audit, unit: Unit) -> Iterator[tuple[str, str, str, str]]:
    bench = benchmark(audit.yardstick, unit)
    value, parts = (audit.before, audit.after, delta(audit)), _parts(audit)
    found: list[tuple[str, Unit, float, float, Any]] = [
        (f"PMI, {unit.name} per {per_what(audit.details, audit.table)}", unit, *value),
        (f"PMI, {unit.name} per test row", unit.per_row(audit.table), *value),
    ]
    starts = [start for _, _, start, _ in parts]
    for (name, _, start, part), end in zip(parts, [*starts[1:], audit.after], strict=False):
        found.append((f"{name}, {unit.name}", unit, start, end, part))
    before, after = (float(audit.table.column("accuracy", arm).mean()) for arm in ("before", "after"))
    found.append((bench.name, bench.unit, before, after, accuracy(audit)))
    for metric, told in audit.metrics.items():
        bench = benchmark(audit.yardstick, unit, metric)
        change = Estimate(told["change"], None, told["interval"])
        found.append((bench.name, bench.unit, told["before"], told["after"], change))
    for what, of, start, end, change in found:
        digits = of.digits(change)
        ends = (number(one * of.factor, digits) for one in (start, end))
        yield (what, *ends, of.show(change, sign=True))  # type: ignore[misc]


def benchmark_sentence(audit: Audit, unit: Unit) -> str:
    """Would the benchmark have noticed?"""
    bench, interval = benchmark(audit.yardstick, unit, audit.benchmark), audit.benchmark_interval
    moved = bench.unit.named(Estimate(audit.benchmark_delta, None, interval), sign=True)
    name = f"less {bench.short}" if audit.benchmark == "log_loss" else bench.short
    said = "accuracy alone would not have shown it"
    if interval is None:
        said = "whether the benchmark would have noticed cannot be told"
    elif interval[0] > 0:
        said = "the benchmark would have shown an improvement"
    elif interval[1] < 0:
        said = "the benchmark would have shown a loss"
    return f"{name[0].upper()}{name[1:]} moved by {moved}: {said}."


def _forest(audit: Audit, unit: Unit) -> Forest:
    tone = VERDICT_TONES.get(audit.verdict, "plain")
    marks = [unit.mark(name, part) for _, name, _, part in _parts(audit)]
    marks[-1:] = [one._replace(tone=tone) for one in marks[-1:]]
    return Forest(
        "The change of information and what it is compared with; bars are 95 % intervals.",
        f"change of PMI, {unit.name} per {per_what(audit.details, audit.table)}",
        [unit.mark("after − before", delta(audit), tone), *marks],
    )


def _benchmark_forest(audit: Audit, unit: Unit) -> Forest:
    bench = benchmark(audit.yardstick, unit)
    mark = bench.unit.mark("after − before", accuracy(audit), "neutral")
    caption = "The change of the benchmark; the bar is its 95 % interval."
    return Forest(caption, f"change of {bench.change}", [mark])


def _who_gains(audit: Audit, unit: Unit) -> Iterator[Section]:
    """Slices of the test set, and the test set in which the attribute does not tell the label."""
    if not audit.slices:
        return
    bench = benchmark(audit.yardstick, unit)
    lines = [(f"{one.column}: {one.value}", str(one.rows), one.change, one.accuracy) for one in audit.slices]
    if (free := audit.balanced) is not None:
        alone = f"where the {free.column} does not tell the label"
        lines.append((alone, "weighted", free.change, free.accuracy))
    gain, bench_change = f"change, {unit.name} a row, 95 % interval", f"change of {bench.change}"
    shown, marks = [], []
    for name, rows, change, right in lines:
        accuracy = number(right * bench.unit.factor, 1, True)
        shown.append((name, rows, unit.cell(change, sign=True), accuracy))
        marks.append(unit.mark(name, change, shared.tone_of(change, "plain")))
    table = Table("Slices of the test set", ("test rows", "number", gain, bench_change), shown, "brief")
    caption = "Who gains and who loses; intervals allow for the number of slices."
    yield Section("Who gains and who loses", (table, Forest(caption, f"{unit.name} a row", marks)))


# --- what changed, and what could have been seen ------------------------------------------------------------


def _what_could_be_seen(audit: Audit, unit: Unit) -> Section:
    facts = [
        ("Changed", _changed_rows(audit)),
        ("Measured on", f"{audit.details.test_rows} test rows, {draws(audit.details)}"),
        *power(audit, unit),
    ]
    curation, twins = audit.details.curation, audit.change.get("twins")
    more = [] if curation is None else [("Curation", str(curation["name"]))]
    more += [] if twins is None else [("Twins", twins_text(twins))]
    shown = changed_blocks(audit.change, [asdict(one) for one in audit.examples])
    blocks = (Facts(facts, "brief"), *([Facts(more)] if more else []), *shown)
    return Section("What changed, and power", blocks)


def _changed_rows(audit: Audit) -> str:
    told, rows = [change_text(audit.change)], (audit.details.before_rows, audit.details.after_rows)
    for name, count in zip(("before", "after"), rows, strict=True):
        given = audit.replay.data.get(name, {}).get("rows")
        if count is not None and given is not None and (why := shared.of_given(count, given)):
            told.append(f"{count} rows {name}{why}")
    return "; ".join(told)


def power(audit: Audit, unit: Unit) -> list[tuple[str, str]]:
    """The minimum detectable effect of this test set, and how many rows would decide what it did not."""
    if (seen := audit.power) is None:
        return []
    told, rows = [], seen.n_reference_rows
    what = "mismatched responses" if isinstance(audit.yardstick.labels, Vectors) else "label noise"
    if seen.minimum_detectable_effect is not None and seen.detectable_label_noise is not None:
        effect = f"{number(seen.minimum_detectable_effect * unit.factor, 2)} {unit.name} per block"
        noise = number(100 * seen.detectable_label_noise, 0 if seen.detectable_label_noise > 0.095 else 1)
        told.append(f"{effect}, the effect of removing {noise} % {what} from {rows} rows")
    if seen.detectable_new_rows is not None:
        new = seen.detectable_new_rows
        told.append(f"the effect of adding {new} rows to {rows - new}")
    shown = ", or ".join(told) or f"more than the effect of removing 20 % {what} from {rows} rows"
    text = f"minimum detectable effect (80 % power): {shown}"
    if audit.verdict == "inconclusive" and seen.required_test_rows is not None:
        text += f"; a change like this one would take about {rounded(seen.required_test_rows):,} test rows"
    return [("Power", text)]


def rounded(rows: int) -> int:
    """To two digits: an estimate of an estimate."""
    scale = 10 ** max(0, len(str(rows)) - 2)
    return round(rows / scale) * scale


# --- one by one --------------------------------------------------------------------------------------------


def _one_by_one(audit: Audit, answer: Answer, unit: Unit) -> Section:
    bench = benchmark(audit.yardstick, unit)
    many = "pairs" if audit.details.blocks is None else "blocks"
    pmi, arms = counted_pmi(audit) * unit.factor, [str(arm) for arm in audit.table.arms]
    after, before = arms.index("after"), arms.index("before")
    both = (pmi, audit.table.accuracy * bench.unit.factor)
    exact = [values[:, after] - values[:, before] for values in both]
    share = 100 * float(((exact[1] > 0) & (exact[0] < 0)).mean())
    moved, rewarded = map(round_blocks, exact)
    points = [Point(x, y) for x, y in zip(rewarded.tolist(), moved.tolist(), strict=True)]
    mean = Point(float(rewarded.mean()), float(moved.mean()))
    chart = Plane(
        f"Each dot is one of {len(points)} {many}. In {share:.0f} % of {many} the benchmark "
        "rose while information fell: a cloud about that corner is what strategic curation looks like.",
        f"ΔPMI, {unit.name}",
        f"Δ {bench.change}",
        [Series("", points, faint=True), Series("", [mean], answer.tone)],
        x_zero=True,
        corners=CORNERS,
    )
    return Section(f"{many.capitalize()}, one by one", (chart,))
