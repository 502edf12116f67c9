"""Reports: JSON by its schemas, Markdown that is only text, pages by their numbers, size and contrast."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files
from types import SimpleNamespace

import numpy as np
import pytest

import dataworth as dw
from dataworth.report.content import outlook as outlook_content
from dataworth.report.content import values as values_content
from dataworth.report.content.audit import MEANINGS, SENTENCES, TONES, document
from dataworth.report.document import Section, Table
from dataworth.report.html.elements import shortened
from dataworth.report.html.page import asset, page
from dataworth.report.markdown import folded, markdown
from dataworth.report.numbers import with_interval
from dataworth.report.views import report
from dataworth.valuation import further as again
from dataworth.valuation.audit.verdict import VERDICTS
from dataworth.valuation.further import Further, by_group, groups_of
from worlds import classes, flipped, held_out, numeric_labels, refusal, yardstick

FOLDER = files("dataworth.report").joinpath("schemas")
PLAIN = classes(60, seed=1)
DATA = dw.Dataset(PLAIN.X, PLAIN.y, attributes=["north", "south"] * 30)
NOISY, BAD = flipped(DATA, 0.3, seed=1)
PAIRS = {"pairs": 4, "size": 20}
EVIL = "</td><script>alert(1)</script>|`@me` \u202e\x00"


@pytest.fixture(scope="module")
def score():
    return dw.score(DATA, held_out(), yardstick=yardstick(), keep=True)


@pytest.fixture(scope="module")
def audit():
    return dw.audit(NOISY, NOISY.take(~BAD), held_out(), yardstick=yardstick(), ignore="all", keep=True)


@pytest.fixture(scope="module")
def ranking():
    return dw.rank({"a": DATA, EVIL: NOISY}, held_out(), yardstick=yardstick(), ignore="all", keep=True)


def closed(schema):
    """The same schema, refusing what it does not name."""
    if isinstance(schema, dict):
        schema = {key: closed(value) for key, value in schema.items()}
        if "properties" in schema:
            schema["additionalProperties"] = False
    return [closed(one) for one in schema] if isinstance(schema, list) else schema


def checker(name):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is in the extra test")
    from referencing import Registry, Resource

    common, wanted = (json.loads(FOLDER.joinpath(f"{one}.json").read_text()) for one in ("common", name))
    jsonschema.Draft202012Validator.check_schema(common)
    jsonschema.Draft202012Validator.check_schema(wanted)
    registry = Registry().with_resource("common.json", Resource.from_contents(closed(common)))
    return jsonschema.Draft202012Validator(closed(wanted), registry=registry)


def others():
    """Results of all other designs, which cost next to nothing."""
    test, options = held_out(), {"yardstick": yardstick(), "ignore": "all"}
    yield "score", dw.score(DATA, test, **options, **PAIRS)
    yield "score", dw.score(DATA, test, **options, truncate=3.0)
    yield "score", dw.score(dw.seal(DATA, yardstick()), test, **options)
    yield "score", dw.score(numeric_labels(60, seed=1), numeric_labels(80, seed=2), ignore="all")
    for design in ("row", "rate", "size"):
        yield "audit", dw.audit(NOISY, NOISY.take(~BAD), test, design=design, **options, **PAIRS)
    yield "audit", dw.audit(NOISY, test=test, curate=lambda data: data.take(range(10)), **options, **PAIRS)


@pytest.fixture(scope="module")
def valued():
    """Values with sources, a split and an outlook; one of the sources has a hostile name."""
    options = {"yardstick": yardstick()}
    sourced = dw.Dataset(NOISY.X, NOISY.y, groups=["a", EVIL] * 30)
    return {
        "values": dw.values(sourced, held_out(), cross_fit=2, **options),
        "split": dw.split({"a": DATA.take(range(30)), EVIL: DATA.take(range(30, 60))}, held_out(), **options),
        "outlook": dw.outlook(DATA, held_out(), target=1.0, **options),
    }


def test_every_result_and_its_report_fit_their_schema(score, audit, ranking, valued):
    checked = {name: checker(name) for name in ("score", "audit", "rank", *valued)}
    for name, result in [("score", score), ("audit", audit), ("rank", ranking), *others(), *valued.items()]:
        for told in (json.loads(json.dumps(result.to_dict(bits=True))), json.loads(report(result, ".json"))):
            faults = [
                f"{'/'.join(map(str, one.path))}: {one.message}" for one in checked[name].iter_errors(told)
            ]
            assert not faults, (result, faults[:3])
        assert "</html>" in report(result, ".html")
        assert "</details>" in report(result, ".md")


def test_values_are_told_by_row_numbers_the_listed_ones_marked_and_no_id(valued):
    found = replace(valued["values"], ids=tuple(f"patient-{i}" for i in range(60)))
    told = Reader(report(found, ".html"))
    assert "patient" not in told.words
    assert EVIL.split(">")[0] in valued["values"].groups[0].name + valued["values"].groups[1].name
    made = values_content.document(found, Further())
    doubted = int((found.rows.p_wrong > 0.5).sum())
    assert made.figures[0].value == str(doubted)
    (table,) = [one for one in made.sections[0].blocks if isinstance(one, Table)]
    assert [int(row[0].shown) - 1 for row in table.rows] == found.least_trusted[: doubted or 10]
    counts = {one.name: len(one.points) for one in values_content.against_trust(found, False).series}
    assert sum(counts.values()) == 60
    assert counts["on the list: value shown below zero"] == found.rows.harmful.sum()


def test_a_long_list_of_labels_is_cut_and_says_so(valued):
    table = values_content.row_table(valued["values"], [0] * 250, "Labels", bits=False)
    assert len(table.rows) == 100
    assert "the first 100 of 250" in table.caption


def test_an_outlook_says_more_helps_only_if_its_range_is_above_what_there_is(valued):
    found = replace(valued["outlook"], value=3.0, gain=1.0, falls=False)
    for low, said in ((2.1, "more would help"), (1.9, "cannot tell")):
        assert outlook_content.answer(replace(found, interval=(low, 4.0)))[0] == said
    assert outlook_content.answer(replace(found, interval=(2.1, 4.0), falls=True))[0] == "more may hurt"


def test_a_schema_can_fail(score):
    told, fits = score.to_dict(), checker("score").is_valid
    assert fits(told)
    assert not fits({**told, "interval": [1.0]})
    assert not fits({**told, "new": 1})
    assert not fits({key: value for key, value in told.items() if key != "replay"})


class Reader(HTMLParser):
    """The words of a page, its elements, and what is open at its end."""

    VOID = ("meta", "link", "br", "hr", "img", "input")

    def __init__(self, text):
        super().__init__()
        self.words, self.elements, self.open, self.wrong = "", [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.words += data.replace("\u00a0", " ")


def test_a_page_says_what_the_result_says(audit):
    read = Reader(report(audit, ".html"))
    assert not read.open
    assert not read.wrong
    for said in (
        audit.verdict,
        SENTENCES[audit.verdict],
        MEANINGS[audit.verdict],
        with_interval(audit.delta, audit.interval, "nats", sign=True),
        audit.yardstick.digest,
        audit.replay.command,
        audit.replay.data["before"]["sha256"],
        f"{audit.change['removed']} removed",
        f"dataworth {dw.__version__}",
    ):
        assert said in read.words, said
    tags = [tag for tag, _ in read.elements]
    assert tags.count("h1") == tags.count("main") == 1
    dots = [told for tag, told in read.elements if tag == "circle"]
    assert len(dots) == len(audit.table)


def test_a_page_asks_for_nothing_and_holds_no_row(audit):
    """No address but those in the page, and no number of the data, whose decimals would be recognised."""
    text = report(audit, ".html")
    assert not re.search(r"https?:|url\(|@import|src=", text)
    for value in (*NOISY.X[:20].ravel(), *held_out().X[:20].ravel()):
        assert f"{abs(value):.4f}" not in text


def test_names_are_text_in_all_forms(ranking):
    read, told = Reader(report(ranking, ".html")), report(ranking, ".md")
    assert [tag for tag, _ in read.elements].count("script") == 1
    assert "<script>alert(1)</script>" in read.words
    assert "\\u202e" in read.words
    assert "\u202e" not in read.words + told
    assert "\x00" not in read.words + told
    assert "<script>" not in re.sub(r"(?s)(```+)sh\n.*?\1", "", told)  # but in the fence, where it is text
    rows = [line for line in told.splitlines() if line.startswith("|") and "script" in line]
    assert rows
    for line in rows:
        assert "&lt;script&gt;" in line
        assert "@me" not in line  # nobody is called
        assert "\\|" in line
        assert "\\`" in line


def test_every_verdict_has_its_words_and_no_two_the_same():
    for words in (SENTENCES, MEANINGS, TONES):
        assert set(words) == set(VERDICTS)
    assert len(set(SENTENCES.values())) == len(set(MEANINGS.values())) == len(VERDICTS)


@pytest.mark.parametrize("verdict", [*VERDICTS, None])
def test_every_verdict_has_a_page(audit, verdict):
    made = document(replace(audit, verdict=verdict), Further())
    assert SENTENCES.get(verdict, audit.question) in Reader(page(made, "2026-01-01")).words
    assert f"Audit: {verdict or 'no verdict'}" in markdown(made, "2026-01-01")


def test_what_cannot_be_measured_again_is_said(audit):
    forgotten = replace(audit, case=None)
    assert "measure with keep=True" in Reader(report(forgotten, ".html")).words
    told = json.loads(report(forgotten, ".json"))
    assert "parts" not in told
    assert told["further"]["left_out"]


def test_groups_are_scored_alone(score):
    """As `dw.score` of their rows does."""
    for one in by_group(score.case):
        alone = dw.score(
            DATA.take(DATA.attributes == one.group), held_out(), yardstick=yardstick(), ignore="all"
        )
        assert one.rows == 30
        np.testing.assert_allclose(one.value.value, alone.value, rtol=1e-9)
        np.testing.assert_allclose(one.value.interval, alone.interval, rtol=1e-9)


def test_reports_of_the_same_result_agree_in_bits(score):
    nats, bits = (json.loads(report(score, ".json", bits=b)) for b in (False, True))
    assert bits["value"] == pytest.approx(nats["value"] / np.log(2))
    for one, other in zip(nats["further"]["groups"], bits["further"]["groups"], strict=True):
        assert other["value"] == pytest.approx(one["value"] / np.log(2))


def test_notebooks_and_texts(score, ranking, tmp_path):
    assert score._repr_html_().startswith("<div")
    assert "<script" not in ranking._repr_html_()
    assert score.text().splitlines()[0].startswith("worth ")
    assert "\x1b" not in score.text()
    score.plot(tmp_path / "score.png")
    assert (tmp_path / "score.png").stat().st_size > 1000
    assert "a report is one of .html .md .json" in refusal(score.report, tmp_path / "score.docx")


def test_a_result_without_a_report_is_shown_all_the_same(score, tmp_path):
    over = dw.sensitivity(score, priors=[1.0])
    assert over.text() in unescape(over._repr_html_())
    assert over.plot().axes
    assert "there is no report of a Sensitivity" in refusal(over.report, tmp_path / "over.html")


def luminance(colour):
    """WCAG's, of #rrggbb."""
    values = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4) @ [
        0.2126,
        0.7152,
        0.0722,
    ]


def test_every_colour_can_be_read_on_its_paper():
    """Text at 4.5 to 1 in light, dark and print; axe does not see the words of a chart."""
    themes = re.findall(r"\{\s*(--paper:[^}]*)\}", asset("page.css"))
    assert len(themes) == 4
    for theme in themes:
        colours = dict(re.findall(r"--(\w+): (#\w{6});", theme))
        for ink in ("ink", "soft", "plain", "good", "better", "spent", "neutral", "bad", "worst"):
            for paper in ("paper", "card", "faint", "alarm"):
                light, dark = sorted((luminance(colours[ink]), luminance(colours[paper])), reverse=True)
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (ink, paper, colours)


def test_groups_have_ten_rows_and_are_twelve_at_most():
    sizes = [9, *range(10, 24)]
    names = [name for i, n in enumerate(sizes) for name in [f"g{i}"] * n]
    data = dw.Dataset(np.zeros((len(names), 1)), np.arange(len(names)) % 2, groups=names)
    assert [len(rows) for rows in groups_of(data).values()] == sorted(sizes)[:2:-1]
    few = data.take(np.isin(data.groups, ["g0", "g1", "g2"]))
    assert [len(rows) for rows in groups_of(few).values()] == [11, 10]
    assert groups_of(data.take(np.isin(data.groups, ["g0", "g1"]))) == {}


@pytest.mark.parametrize(
    ("work", "fits", "others"),
    [(5e8, 625, 4), (5.1e8, 100, 2), (1e9, 1250, 2), (1e8, 626, 2), (1.1e9, 100, None), (1e8, 1251, None)],
)
def test_other_priors_are_measured_while_that_is_cheap(monkeypatch, work, fits, others):
    """2e9 multiplications and 2,500 fits, for four other priors or two; else none, and it is said."""
    model = SimpleNamespace(prior_variance=1.0)
    case = SimpleNamespace(
        repeated=False,
        options=SimpleNamespace(own_model=None),
        yardstick=SimpleNamespace(model=model, labels=None),
        work=lambda: work,
        table=type("Table", (), {"arms": [None], "__len__": lambda self: fits})(),
    )
    monkeypatch.setattr(again, "sensitivity", lambda result, priors: len(priors) - 1)
    if others is None:
        assert "'dataworth sensitivity' does" in refusal(again.over_priors, None, case)
    else:
        assert again.over_priors(None, case) == others


def test_long_tables_are_no_reading_for_a_pull_request():
    for n, there in ((40, True), (41, False)):
        table = Table(caption="c", columns=("a",), rows=[("x",)] * n)
        assert ("| x |" in folded(Section(title="t", blocks=(table,)))) == there


def test_names_are_shown_up_to_120_characters():
    assert shortened("x" * 120) == "x" * 120
    assert len(shortened("x" * 121)) == 120
