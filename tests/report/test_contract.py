"""Every kind of result in every form: all forms say the same, names stay text, no row is in them."""

import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import dataworth as dw
from dataworth.measure.intervals import Estimate
from dataworth.report import views
from dataworth.report.document import LOOKS, VERDICT_TONES, Section, Table, shortened
from dataworth.report.documents import audit as audit_document
from dataworth.report.documents import shared
from dataworth.report.documents import values as values_document
from dataworth.report.markdown import folded
from dataworth.report.numbers import unit_of
from dataworth.report.page import asset
from dataworth.report.terminal import tamed
from dataworth.valuation.audit.verdict import VERDICTS
from dataworth.valuation.supplementary import Further
from dataworth.valuation.values.values import Labels
from golden import texts
from golden.texts import BAD, DATA, NOISY, results, shown
from worlds import held_out, yardstick

KINDS = [path.stem for path in sorted(texts.FOLDER.glob("*.txt"))]
SCHEMAS = files("dataworth.report").joinpath("schemas")
PAIRS = {"pairs": 4, "size": 20}
NATS = unit_of(bits=False)
EVIL = "</td><script>alert(1)</script>|`@me` [red]x[/red] \u202e\x00"


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
            self.words += data.replace("\u00a0", " ") + " "

    def count(self, tag):
        return sum(one == tag for one, _ in self.elements)


@pytest.mark.parametrize("kind", KINDS)
def test_all_forms_have_the_numbers_of_the_terminal_and_the_same_charts(kind):
    """The terminal's text is recorded: `python tests/golden/texts.py --write` writes it again."""
    result, recorded = results()[kind], (texts.FOLDER / f"{kind}.txt").read_text(encoding="utf-8")
    assert texts.same(shown(result, verbose=True), recorded)
    assert not texts.same(recorded.replace(" ", " other ", 1), recorded)
    html, markdown = views.report(result, ".html"), views.report(result, ".md").replace("\\", "")
    page = Reader(html)
    assert not page.open
    assert not page.wrong
    assert [page.count(tag) for tag in ("h1", "main", "script")] == [1, 1, 1]
    for number in set(texts.NUMBER.findall(shown(result, width=1000, verbose=True))):
        assert number in page.words, number
        assert number in markdown, number
    assert json.loads(views.report(result, ".json"))
    assert views.line(result)
    fragment = Reader(views.fragment(result))
    assert not {"script", "dl", "dt", "dd"} & {tag for tag, _ in fragment.elements}, "notebooks lay out lists"
    assert not fragment.open

    charts = views.document(result, bits=True).charts
    drawn = [told for tag, told in page.elements if tag == "svg" and told.get("role") == "img"]
    assert (len(drawn) > 0) == (len(charts) > 0) == (kind not in ("yardstick", "description"))
    ids = [told["id"] for _, told in page.elements if "id" in told]
    assert len(set(ids)) == len(ids), "of several charts"
    assert {told["aria-labelledby"] for told in drawn} <= set(ids), "a caption is its chart's name"
    assert not re.findall("#[0-9a-f]{6}", html.partition("<body>")[2]), "colours of the style"
    axes = views.plot(result, bits=True).axes if charts else []
    assert [one.get_xlabel() for one in axes] == [getattr(c, "across", c.unit) for c in charts]


@pytest.mark.parametrize(
    ("kind", "field"), [("rank", "ranking"), ("contributions", "vendors"), ("values", "groups")]
)
def test_names_are_text_in_all_forms(kind, field):
    given = results()[kind]
    first, *rest = getattr(given, field)
    replay = replace(given.replay, data={EVIL: next(iter(given.replay.data.values()))})
    case = {"case": None} if kind == "rank" else {}
    result = replace(given, **{field: (replace(first, name=EVIL), *rest)}, replay=replay, **case)
    page, markdown = Reader(views.report(result, ".html")), views.report(result, ".md")
    assert page.count("script") == 1
    assert "<script>alert(1)</script>" in page.words
    assert "\\u202e" in page.words
    for unseen in ("\u202e", "\x00"):
        assert unseen not in page.words + markdown
    assert "<script>" not in markdown
    rows = [line for line in markdown.splitlines() if line.startswith("|") and "script" in line]
    assert rows
    for line in rows:
        assert "&lt;script&gt;" in line
        assert "@me" not in line  # nobody is called
        assert "\\|" in line
        assert "\\`" in line
    assert "<script>" not in views.fragment(result)
    assert "[red]x[/red]" in shown(result, width=1000)
    assert views.plot(result).axes


def test_a_page_asks_for_nothing_and_holds_no_row():
    """No address but those in the page, and no number of the data, whose decimals would be recognised."""
    for kind in ("audit-rise", "values"):
        found = results()[kind].without_rows()
        text = views.report(found, ".html")
        assert views.report(found, ".html") == text
        assert not re.search(r"https?:|url\((?!#)|@import|src=", text)
        for value in (*NOISY.X[:20].ravel(), *held_out().X[:20].ravel()):
            assert f"{abs(value):.4f}" not in text
    assert len(Reader(views.report(results()["audit-rise"], ".html")).words) < 30_000


def test_reports_of_audits_show_five_rows_of_each_kind_of_change_and_json_none():
    found = results()["audit-rise"]
    told = [dict(one.cells)["x0"] for one in found.examples]
    assert len(told) == 5
    for ending in (".html", ".md"):
        text = unescape(views.report(found, ending))
        assert all(cell in text for cell in told)
        assert "Rows that were removed: 5 examples" in text
    assert not any(cell in views.report(found, ".json") for cell in told)
    assert not any(cell in shown(found, verbose=True) for cell in told)
    cells = (("<script>|@x", "`[a](b)`"),)
    hostile = replace(found, examples=(replace(found.examples[0], row="<img src=x>", cells=cells),))
    page, told = views.report(hostile, ".html"), views.report(hostile, ".md")
    assert "<img" not in page
    assert "<script>|" not in page + told
    assert "\\|@\u200bx" in told
    assert "\\`\\[a\\](b)\\`" in told


def test_pages_of_values_are_small_and_name_rows_by_number():
    found = results()["values"]
    n = 5000
    many = {
        name: np.resize(getattr(found.rows, name), n)
        for name in ("value", "stderr", "p_mislabeled", "loo_log_likelihood", "harmful")
    }
    rows = replace(found.rows, **many)
    labels = Labels(("angina",) * n, ("asthma",) * n, tuple(f"Dr. {i % 7}" for i in range(n)))
    large = replace(found, rows=rows, labels=labels, ids=tuple(f"patient-{i}" for i in range(n)))
    page = views.report(large, ".html")
    assert len(page) < 300_000
    for name in ("patient", "angina", "asthma", "Dr. "):
        assert name not in page
        assert name in shown(large)
    table = values_document.row_table(large, [0] * 250, "Labels", NATS)
    assert len(table.rows) == 100
    assert "the first 100 of 250" in table.caption
    counts = [len(one.points) for one in values_document.against_trust(found, NATS).series]
    assert (sum(counts), counts[-1]) == (len(found.rows), found.rows.harmful.sum())


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

    common, wanted = (json.loads(SCHEMAS.joinpath(f"{one}.json").read_text()) for one in ("common", name))
    for schema in (common, wanted):
        jsonschema.Draft202012Validator.check_schema(schema)
    registry = Registry().with_resource("common.json", Resource.from_contents(closed(common)))
    return jsonschema.Draft202012Validator(closed(wanted), registry=registry)


def others():
    """Results of all other designs, which cost next to nothing."""
    test, options = held_out(), {"yardstick": yardstick(), "ignore": "all"}
    yield "score", dw.score(DATA, test, **options, **PAIRS)
    yield "score", dw.score(DATA, test, **options, truncate=3.0)
    yield "score", dw.score(dw.seal(DATA, yardstick()), test, **options)
    for design in ("matched", "proportional"):
        yield "audit", dw.audit(NOISY, NOISY.take(~BAD), test, design=design, **options, **PAIRS)
    yield "audit", dw.audit(NOISY, test=test, curate=lambda data: data.take(range(10)), **options, **PAIRS)


def test_every_result_and_its_report_fit_their_schema():
    named = [(kind.split("-")[0], result) for kind, result in results().items()]
    known = {path.name.removesuffix(".json") for path in Path(str(SCHEMAS)).glob("*.json")}
    for name, result in [*((name, one) for name, one in named if name in known), *others()]:
        for told in (
            json.loads(json.dumps(result.to_dict(bits=True))),
            json.loads(views.report(result, ".json")),
        ):
            faults = [f"{'/'.join(map(str, e.path))}: {e.message}" for e in checker(name).iter_errors(told)]
            assert not faults, (result, faults[:3])
    told, fits = results()["score"].to_dict(), checker("score").is_valid
    assert not fits({**told, "interval": [1.0]})
    assert not fits({**told, "new": 1})


def test_parts_of_pairs_are_shown_only_if_they_add_up_to_the_score():
    score = dw.score(DATA, held_out(), yardstick=yardstick(), ignore="all", keep_data=True, **PAIRS)
    further = Further(parts=score.parts)
    assert shared.parts_section(score, further, NATS)
    off = replace(score.parts, unexplained=Estimate(1e-3, None, None))
    assert not shared.adds_up(off, score.value)
    assert not shared.parts_section(replace(score, value=score.value + 1e-4), further, NATS)


def test_the_ladder_is_told_as_the_score_is():
    """In nats and in bits; the share of the ceiling has no unit. Pairs have none."""
    score = results()["score"]
    for bits, unit in ((False, 1.0), (True, np.log(2.0))):
        told = score.to_dict(bits=bits)
        ladder = told["ladder"]
        assert ladder["data"] == pytest.approx(told["value"])
        assert ladder["data_interval"] == pytest.approx(told["interval"])
        for name in ("nothing", "ceiling"):
            assert ladder[name] == pytest.approx(getattr(score.ladder, name).value / unit)
        assert ladder["of_ceiling"] == pytest.approx(ladder["data"] / ladder["ceiling"])
    pairs = dw.score(DATA, held_out(), yardstick=yardstick(), ignore="all", **PAIRS)
    assert pairs.to_dict()["ladder"] is None


def test_no_two_verdicts_look_or_sound_the_same():
    for verdict in (*VERDICTS, None):
        audit = replace(results()["audit-cut"], verdict=verdict)
        told = views.report(audit, ".md").replace("\\", "")
        for words in audit_document.ANSWERS.get(verdict, (audit.question, audit_document.NO_VERDICT)):
            assert words in told
        assert f"Audit: {verdict or 'no verdict'}" in told
    assert set(VERDICT_TONES) == set(audit_document.ANSWERS) == set(VERDICTS)
    looks = [LOOKS[tone] for tone in VERDICT_TONES.values()]
    for column in zip(*((look.colour, look.shape, look.emoji) for look in looks), strict=True):
        assert len(set(column)) == len(VERDICTS)
    for column in zip(*audit_document.ANSWERS.values(), strict=True):
        assert len(set(column)) == len(VERDICTS)


def luminance(colour):
    values = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


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


def test_long_tables_and_names_are_cut():
    for n, first, there in ((40, None, 40), (41, None, 0), (41, 10, 10)):
        table = Table("c", ("a",), [("x",)] * n, first=first)
        assert folded(Section("t", (table,))).count("| x |") == there
    assert (shortened("x" * 120), len(shortened("x" * 121))) == ("x" * 120, 120)
    assert len(tamed("x" * 10**6)) == 4003
