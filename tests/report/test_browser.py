"""Pages in a real Chromium, without a network: they work, they ask for nothing, and names stay text."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

import numpy as np
import pytest

import dataworth as dw
from dataworth.measure.table import PairTable
from worlds import classes, flipped, held_out, yardstick

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is in the extra test")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
ARGUMENTS += ["--disable-component-update", "--no-first-run"]
DATA = classes(60, seed=1)
NOISY, BAD = flipped(DATA, 0.3, seed=1)
HOSTILE = {
    "<script>document.title = 'taken'</script>": DATA,
    "\"'><img src=x onerror=\"document.title='taken'\">": NOISY,
    "\u202eשלום‎ &amp; مرحبا": DATA.take(range(40)),
    "x" * 10_000: DATA.take(range(20)),
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Reports as files: a ranking of hostile names, a score, audits with 20 blocks and with 1,000 pairs."""
    folder, options = tmp_path_factory.mktemp("pages"), {"yardstick": yardstick(), "ignore": "all"}
    test = held_out()
    audit = dw.audit(NOISY, NOISY.take(~BAD), test, **options)
    rng = np.random.default_rng(0)
    values = audit.table.values[rng.integers(len(audit.table), size=1000)]
    values = values + rng.normal(scale=0.1, size=values.shape)
    columns = {"log_z_test": np.zeros(1000), "test_rows": np.full(1000, 10.0)}
    table = PairTable(arms=audit.table.arms, values=values, **columns)
    details = replace(audit.details, blocks=None, pairs=1000, size=(15, 15))
    command = {"before": "raw <b>.csv", "after": "new.csv"}
    results = {
        "rank": dw.rank(HOSTILE, test, **options),
        "values": dw.values(
            dw.Dataset(NOISY.X, NOISY.y, groups=["<b>a", "b"] * 30), test, yardstick=yardstick()
        ),
        "score": dw.score(DATA, test, yardstick=yardstick(), keep=True),
        "audit": replace(audit, replay=audit.replay.by("dataworth audit 'raw <b>.csv'", command, "t.csv")),
        "pairs": replace(audit, table=table, details=details),
    }
    for name, result in results.items():
        result.report(folder / f"{name}.html")
    return folder


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def visit(browser, pages):
    """Open a page offline; whatever it asks for or complains about fails the test in the end."""
    contexts, said, asked = [], [], []

    def open_page(name, width=1280, **settings):
        viewport = {"width": width, "height": 900}
        contexts.append(browser.new_context(viewport=viewport, offline=True, **settings))
        page = contexts[-1].new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.on("request", lambda request: asked.append(request.url))
        page.goto((pages / f"{name}.html").as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not said
    assert all(url.startswith("file:") and url.endswith(".html") for url in asked)
    assert len(asked) == len(contexts)


@pytest.mark.parametrize("name", ["rank", "values", "score", "audit", "pairs"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_page_fits_its_screen(visit, name, width):
    page = visit(name, width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("h1").is_visible()


@pytest.mark.parametrize("name", ["audit", "values"])
def test_tables_of_numbers_fit_a_phone(visit, name):
    """Before, control and after; rows and sources: without scrolling sideways."""
    script = "all => all.map(e => [e.getAttribute('aria-label'), e.scrollWidth - e.clientWidth])"
    found = dict(visit(name, 390).locator("section > .scroll").evaluate_all(script))
    assert any(label.startswith(("Before, control", "The least trusted")) for label in found)
    assert {label for label, over in found.items() if over > 0} <= {"Checks", "What was given"}


def test_a_report_of_a_thousand_pairs_is_less_than_a_megabyte(pages, visit):
    assert (pages / "pairs.html").stat().st_size <= 1_000_000
    assert visit("pairs").locator("circle").count() == 1000


def test_tables_sort_up_and_down_by_numbers(visit):
    page = visit("pairs")
    page.locator("summary", has_text="by pairs").click()
    table = page.locator("details[open] table")
    head = table.locator("thead th").nth(1)

    def column():
        told = table.locator("tbody td:nth-child(2)").all_text_contents()
        return [float(one.replace("−", "-")) for one in told]

    before = column()
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert column() == sorted(before) != before
    head.locator("button").press("Enter")  # by the keyboard too
    assert head.get_attribute("aria-sort") == "descending"
    assert column() == sorted(before, reverse=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_follows_the_reader_and_can_be_switched(visit, scheme):
    page = visit("audit", color_scheme=scheme)
    paper = "getComputedStyle(document.body).backgroundColor"
    given = page.evaluate(paper)
    assert (given == "rgb(20, 22, 26)") == (scheme == "dark")
    page.locator("#theme").click()
    assert page.evaluate(paper) != given
    page.locator("#theme").click()
    assert page.evaluate(paper) == given


def test_hostile_names_are_text(visit):
    page = visit("rank")
    assert page.title().startswith("Ranking:")
    shown = page.locator("main").inner_text()
    for name in list(HOSTILE)[:2]:
        assert name in shown
    assert "\\u202eשלום" in shown
    assert "x" * 50 in shown
    assert "x" * 200 not in page.locator("h1, table, svg, header").all_inner_texts().__str__()
    assert page.locator("img, script:not(:last-of-type)").count() == 0
    assert "raw <b>.csv → new.csv" in visit("audit").locator("header").inner_text()


def test_it_is_read_without_scripts(visit):
    page = visit("audit", java_script_enabled=False)
    assert page.locator("h1").is_visible()
    assert not page.locator("#theme").is_visible()
    page.locator("summary").first.click()
    assert page.locator("details[open] table").first.is_visible()
    assert page.locator("circle title").count() == page.locator("circle").count() > 0


def test_the_keyboard_reaches_everything(visit):
    page = visit("audit")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.url.endswith("#result")
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName"))
    assert {"A", "BUTTON", "SUMMARY", "DIV"} <= reached


def test_every_table_and_chart_says_what_it_is(visit):
    page = visit("score")
    for table in page.locator("table").all():
        assert table.locator("caption").text_content()
        assert table.locator("th:not([scope])").count() == 0
    for chart in page.locator("svg[role=img]").all():
        assert page.locator(f"#{chart.get_attribute('aria-labelledby')}").text_content()


def test_hovering_tells_the_numbers(visit):
    page = visit("audit")
    assert not page.locator("#tip").is_visible()
    page.locator(".hero .chart path.mark").first.hover()
    assert "after − before" in page.locator("#tip").inner_text()


def test_it_prints_black_on_white(visit):
    page = visit("audit", color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    assert not page.locator("#theme").is_visible()
    assert page.pdf(format="A4")[:4] == b"%PDF"
