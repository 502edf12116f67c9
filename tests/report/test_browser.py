"""Pages in a real Chromium, without a network: they work, they ask for nothing, and names stay text."""

import os
import shutil
from dataclasses import replace

import pytest

import dataworth as dw
from golden.texts import DATA, NOISY, results
from worlds import held_out, yardstick

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is in the extra test")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
ARGUMENTS += ["--disable-component-update", "--no-first-run"]
HOSTILE = {
    "<script>document.title = 'taken'</script>": DATA,
    "\"'><img src=x onerror=\"document.title='taken'\">": NOISY,
    "\u202eשלום‎ &amp; مرحبا": DATA.take(range(40)),
    "x" * 10_000: DATA.take(range(20)),
}
JUPYTER = "dl dt { float: left; width: 20% } dl dd { margin-left: 20% } table { font-size: 12px }"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Reports as files, one of them of hostile names; and a cell of a notebook."""
    folder, audit = tmp_path_factory.mktemp("pages"), results()["audit-rise"]
    command = {"before": "raw <b>.csv", "after": "new.csv"}
    shown = {
        "rank": dw.rank(HOSTILE, held_out(), yardstick=yardstick(), ignore="all"),
        "values": results()["values"],
        "audit": replace(audit, replay=audit.replay.by("dataworth audit 'raw <b>.csv'", command, "t.csv")),
    }
    for name, result in shown.items():
        result.report(folder / f"{name}.html")
    cell = f"<main class=jp-RenderedHTMLCommon><h1>a cell</h1>{results()['forecast']._repr_html_()}</main>"
    head = f"<!doctype html><html lang=en><meta charset=utf-8><title>a</title><style>{JUPYTER}</style>"
    (folder / "notebook.html").write_text(f"{head}{cell}", encoding="utf-8")
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


@pytest.mark.parametrize("name", ["rank", "values", "audit", "notebook"])
def test_a_page_fits_its_screen(visit, name):
    for width in (390, 1280):
        page = visit(name, width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("h1").is_visible()


def test_tables_sort_up_and_down_by_numbers(visit):
    table = visit("values").locator("table.sorts").first
    head = table.locator("thead th").nth(1)

    def column():
        return [float(one) for one in table.locator("tbody td:nth-child(2)").all_text_contents()]

    before = column()
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert column() == sorted(before) != before
    head.locator("button").press("Enter")  # by the keyboard too
    assert column() == sorted(before, reverse=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_follows_the_reader_and_can_be_switched(visit, scheme):
    page = visit("audit", color_scheme=scheme)
    paper = "getComputedStyle(document.body).backgroundColor"
    given = page.evaluate(paper)
    assert (given == "rgb(20, 22, 26)") == (scheme == "dark")
    page.locator("#theme").click()
    assert page.evaluate(paper) != given
    page.emulate_media(media="print")
    assert page.evaluate(paper) == "rgb(255, 255, 255)"


def test_hostile_names_are_text(visit):
    page = visit("rank")
    assert page.title().startswith("Ranking:")
    shown = page.locator("main").inner_text()
    for name in [*list(HOSTILE)[:2], "\\u202eשלום", "x" * 50]:
        assert name in shown
    assert "x" * 200 not in str(page.locator("h1, table, svg, header").all_inner_texts())
    assert page.locator("img, script:not(:last-of-type)").count() == 0
    assert "raw <b>.csv" in visit("audit").locator("header").inner_text()


def test_it_is_read_without_scripts_and_by_the_keyboard(visit):
    page = visit("audit", java_script_enabled=False)
    assert not page.locator("#theme").is_visible()
    page.locator("summary").first.click()
    assert page.locator("details[open] table").first.is_visible()
    assert page.locator("svg[role=img] text").count() > 0
    page = visit("audit")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName"))
    assert {"A", "BUTTON", "SUMMARY", "DIV"} <= reached
