"""Text and figures of results: the numbers are in them, the axes are named."""

import io
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

import dataworth as dw
from dataworth.checks import run_checks
from dataworth.data.io import describe
from dataworth.measure.summary import Details
from dataworth.report import plot
from dataworth.report.numbers import number, with_interval
from dataworth.report.quantities import per_what
from dataworth.report.text import audit as audit_text
from dataworth.report.text import demo as demo_text
from dataworth.report.text import description as description_text
from dataworth.report.text import ranking as ranking_text
from dataworth.report.text import score as score_text
from dataworth.report.text import yardstick as yardstick_text


def shown(renderable, width=100):
    """The text of a renderable on a terminal of this width."""
    console = Console(width=width, file=io.StringIO(), highlight=False)
    console.print(renderable)
    return console.file.getvalue()


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(220, 2))
    return dw.Dataset(X, (X[:, 0] + 0.5 * rng.normal(size=220) > 0).astype(int))


@pytest.fixture(scope="module")
def test_set(data):
    return data.take(range(140, 220))


@pytest.fixture(scope="module")
def yardstick(test_set):
    return dw.Yardstick.fit(test_set, prior_variance=1.0)


@pytest.fixture(scope="module")
def score(data, test_set, yardstick):
    return dw.score(data.take(range(140)), test_set, yardstick=yardstick, keep=True)


@pytest.fixture(scope="module")
def audit(data, test_set, yardstick):
    return dw.audit(data.take(range(140)), data.take(range(20)), test_set, yardstick=yardstick)


@pytest.fixture(scope="module")
def ranking(data, test_set, yardstick):
    candidates = {"many": data.take(range(140)), "few": data.take(range(8))}
    return dw.rank(candidates, test_set, yardstick=yardstick)


def test_numbers_have_the_digits_that_their_error_supports():
    assert with_interval(1.23456, (1.1, 1.37), "nats") == "1.23 nats [1.10, 1.37]"
    assert with_interval(123.456, (23.4, 223.4)) == "123 [23, 223]"
    assert with_interval(0.5, None, "nats") == "0.500 nats no interval"
    assert number(float("nan"), 2) == "–"


@pytest.mark.parametrize("width", [40, 80, 200])
def test_score_report(score, width):
    out = shown(score_text.full(score, verbose=True), width)
    assert score_text.line(score) in " ".join(out.split())
    assert number(score.accuracy.value * 100, 1) in out
    assert max(map(len, out.splitlines())) <= width


def test_results_are_one_line_in_python(score, audit, ranking, yardstick):
    assert repr(score).startswith(f"Score({score.value:.3g} nats [")
    assert f"{audit.verdict}: ΔPMI {audit.delta:+.3g} nats" in repr(audit)
    assert repr(ranking).startswith(f"Ranking(best of 2: many, {ranking[0].value:.3g} nats")
    for one in (score, audit, ranking, yardstick):
        assert len(repr(one)) < 250
    assert yardstick.digest[:12] in repr(yardstick)
    assert "fired: DW002" in repr(replace(score, checks=(replace(score.checks[1], fires=True),)))


def test_score_report_in_bits(score):
    assert number(score.value / np.log(2), 2) in score_text.line(score, bits=True)
    assert "bits per block of 4 test rows" in shown(score_text.full(score, bits=True))


def test_audit_report(audit):
    out = shown(audit_text.full(audit))
    assert out.startswith(f"{audit.verdict}: {audit.reason}.")
    assert with_interval(audit.delta, audit.interval, sign=True) in out
    assert with_interval(audit.control.selection, audit.control.selection_interval, sign=True) in out
    assert "20 kept, 120 removed (rows matched by features)" in out
    assert "the benchmark would" in out
    assert audit.yardstick.digest[:12] in out


def test_the_kinds_of_changed_rows_add_up(data, test_set, yardstick):
    """A row is kept unchanged, edited, relabelled or removed; or new, or a further copy."""
    before = dw.Dataset(data.X[:140], data.y[:140], ids=[f"r{i}" for i in range(140)])
    kinds = {"edited": 60, "relabelled": 37, "removed": 15, "new": 5, "repeated": 4}
    rows = np.r_[0:125, 0:4, 0:5]  # the last fifteen are gone, four come twice, five are new
    X, y, ids = before.X[rows].copy(), before.y[rows].copy(), before.ids[rows].astype("U8")
    X[20:80] += 1.0
    y[80:117] = 1 - y[80:117]
    X[-5:], ids[-5:] = X[-5:] + 9.0, [f"n{i}" for i in range(5)]
    audit = dw.audit(before, dw.Dataset(X, y, ids=ids), test_set, yardstick=yardstick)
    told = re.search(r"Changed +(.*) \(rows matched by ids\)", shown(audit_text.full(audit), width=200))[1]
    counts = {kind: int(n) for n, kind in (part.split(" ", 1) for part in told.split(", "))}
    assert counts == {"kept unchanged": 28, **kinds}
    assert sum(counts.values()) - counts["new"] - counts["repeated"] == len(before)
    assert sum(counts.values()) - counts["removed"] == len(rows)


def test_rows_both_edited_and_relabelled_are_counted_once(data, test_set, yardstick):
    before = dw.Dataset(data.X[:140], data.y[:140], ids=[f"r{i}" for i in range(140)])
    X, y = before.X.copy(), before.y.copy()
    X[:30] += 1.0
    y[20:60] = 1 - y[20:60]
    audit = dw.audit(before, dw.Dataset(X, y, ids=before.ids), test_set, yardstick=yardstick)
    told = "80 kept unchanged, 60 changed (30 edited, 40 relabelled; rows matched by ids)"
    assert told in shown(audit_text.full(audit), width=200)


def test_audit_report_without_a_verdict(data, test_set, yardstick):
    audit = dw.audit(
        data.take(range(140)), data.take(range(20)), test_set, yardstick=yardstick, design="size", pairs=4
    )
    assert shown(audit_text.full(audit)).startswith("no verdict: equal sizes compare rows, not datasets.")
    assert audit_text.line(audit).startswith("no verdict: ΔPMI ")
    assert [axes.get_xlabel() for axes in plot.audit_figure(audit).axes]


@pytest.mark.parametrize(
    ("interval", "end"),
    [
        (
            (-0.002, 0.010),
            "Test accuracy moved by +0.40 points [−0.20, 1.00]: the benchmark would not have noticed.",
        ),
        ((0.001, 0.007), "the benchmark would have shown an improvement."),
        ((-0.007, -0.001), "the benchmark would have shown a loss."),
        (None, "whether the benchmark would have noticed cannot be told."),
    ],
)
def test_would_the_benchmark_have_noticed(audit, interval, end):
    told = replace(audit, benchmark_delta=0.004, benchmark_interval=interval)
    assert audit_text.benchmark_sentence(told).endswith(end)


def test_regression_has_no_accuracy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 2))
    data = dw.Dataset(X, X[:, 0] + rng.normal(size=160))
    score = dw.score(data.take(range(100)), data.take(range(100, 160)))
    assert "test R²" in shown(score_text.full(score))
    assert "linear" in yardstick_text.line(score.yardstick)


def test_ranking_report(ranking):
    out = shown(ranking_text.full(ranking))
    assert out.startswith("best: many, ")
    assert out.index("many") < out.index("few")
    assert "hold for all datasets at once" in out


def test_a_ranking_of_one_has_no_best(ranking):
    alone = replace(ranking, ranking=ranking.ranking[:1])
    assert ranking_text.line(alone).startswith(f"{ranking[0].name}: ")
    assert "best" not in shown(ranking_text.full(alone)).split("Yardstick")[0].replace("best first", "")
    assert plot.ranking_figure(alone)._suptitle is None


def test_blocks_of_different_sizes_have_a_decimal(score):
    whole = SimpleNamespace(test_rows=np.array([13, 13]))
    mixed = SimpleNamespace(test_rows=np.array([13, 14, 13, 13, 14]))
    assert per_what(Details(test_rows=26, blocks=2), whole) == "block of 13 test rows"
    assert per_what(Details(test_rows=67, blocks=5), mixed) == "block of 13.4 test rows"


def test_in_bits_every_number_of_information_has_its_unit(audit):
    out = shown(audit_text.full(audit, bits=True, verbose=True), width=160)
    assert "PMI against the blind control, bits" in out
    assert "s.d., bits" in out
    for line in out.splitlines():
        known = ("Yardstick", "Held out", "Doubling", "DW0")  # of the yardstick and of checks, in nats always
        assert "nats" not in line or any(word in line for word in known)


def test_details_show_every_arm(audit):
    out = shown(audit_text.full(audit, verbose=True))
    for arm in audit.table.arms:
        assert str(arm) in out
    assert audit.yardstick.digest in out


def test_a_model_that_no_tempering_mends_is_noted(score):
    """A prior ten thousand times too tight: doubling rows raises the score, and DW001 says so."""
    own = score.yardstick
    for variance in (own.model.prior_variance, 1e-4):
        model = replace(own.model, prior_variance=variance)
        case = replace(score.case, yardstick=replace(own, model=model))
        told = replace(score, checks=run_checks(case))
        assert ("DW001" in shown(score_text.full(told))) == (variance == 1e-4)


def test_a_yardstick_in_words(score):
    chosen = replace(score.yardstick.chosen, tempering=4.0, held_out=-0.321, sight=5.25)
    out = shown(yardstick_text.full(replace(score.yardstick, chosen=chosen)))
    for words in (
        chosen.features,
        "rows of the data count 4 times",
        "−0.32 nats",
        "t = 5",
        "given an eighth to a half",
    ):
        assert words in out, words
    assert "rows count 4 times" in yardstick_text.line(replace(score.yardstick, chosen=chosen))


def test_description_groups_columns_that_are_alike(tmp_path):
    file = tmp_path / "d.csv"
    file.write_text("a,b,c,d,e,f,label\n1,2,3,4,,6,0\n2,3,4,5,6,7,1\n")
    out = shown(description_text.full(describe(file)))
    assert "a, b … d (4)" in out
    assert re.search(r"\n *e +feature .* 1\n *f +feature", out), "a column with missing values stands alone"
    assert "0: 1, 1: 1" in out
    assert "a, b" not in shown(description_text.full(describe(file), verbose=True))


def test_markup_in_names_is_only_text(ranking, tmp_path):
    file = tmp_path / "d.csv"
    file.write_text("[red]a[/red],label\n1,0\n2,1\n")
    assert "[red]a[/red]" in shown(description_text.full(describe(file)))
    first = replace(ranking[0], name="[bold]many[/bold]")
    assert "[bold]many[/bold]" in shown(ranking_text.full(replace(ranking, ranking=(first, ranking[1]))))


def test_score_figure(score):
    (axes,) = plot.score_figure(score).axes
    assert axes.get_xlabel() == "PMI, nats per block of 4 test rows"
    assert axes.get_ylabel() == "blocks"
    assert score_text.line(score) in axes.texts[0].get_text()


def test_audit_figure_has_a_panel_for_each_unit(audit):
    above, below = plot.audit_figure(audit, bits=True).axes
    assert above.get_xlabel() == "change of PMI, bits per block of 4 test rows"
    assert below.get_xlabel() == "change of test accuracy, points"
    assert [label.get_text() for label in above.get_yticklabels()] == [
        "after − before",
        "after − blind control",
    ]


def test_ranking_figure_has_the_best_on_top(ranking):
    (axes,) = plot.ranking_figure(ranking).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["many", "few"]
    bottom, top = axes.get_ylim()
    assert bottom > top, "the first row is the highest"


def test_demo_report_and_figure(audit):
    chapter = SimpleNamespace(name="a cut", told="most rows go", audit=audit)
    demo = SimpleNamespace(audits=(chapter, chapter))
    out = shown(demo_text.full(demo, verbose=True))
    assert "most rows go" in out
    assert audit.reason in out
    axes, beside = plot.demo_figure(demo).axes
    assert axes.get_xlabel().startswith("change of PMI, nats")
    assert beside.get_xlabel() == "change of test accuracy,\npoints"
    assert number(100 * audit.accuracy_delta, 1, sign=True) in [
        written.get_text() for written in beside.texts
    ]
    assert audit.verdict in [written.get_text() for written in beside.texts]


def test_the_rows_of_a_column_have_the_same_decimals(audit):
    coarse = replace(audit, delta=123.4, interval=(20.0, 230.0))
    chapters = [SimpleNamespace(name=n, told="", audit=a) for n, a in (("fine", audit), ("coarse", coarse))]
    out = shown(demo_text.full(SimpleNamespace(audits=chapters)))
    numbers = [re.search(rf"{name} +[+−]?\d+\.(\d+)", out) for name in ("fine", "coarse")]
    assert len({len(found[1]) for found in numbers}) == 1


def test_every_verdict_has_a_mark_of_its_own():
    from dataworth.valuation.audit.verdict import VERDICTS

    assert set(plot.VERDICT_MARKS) == set(VERDICTS) == set(audit_text.VERDICT_STYLES)
    assert len({shape for _, shape in plot.VERDICT_MARKS.values()}) == len(VERDICTS)
