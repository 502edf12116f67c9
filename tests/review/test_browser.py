"""The page of a review in a real Chromium: by the keyboard alone, on a phone, with hostile cells."""

from __future__ import annotations

import csv
import json
import os
import shutil
from pathlib import Path

import pytest

from dataworth.cli.options import Columns
from dataworth.review.server import Server
from reviews import begin, labels_of, png, world

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is in the extra test")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
ARGUMENTS += ["--disable-component-update", "--no-first-run"]
AXE, PICTURES = os.environ.get("AXE"), os.environ.get("PICTURES")
"""The path of axe.min.js, which is not part of this repository; a folder for pictures of docs."""
HOSTILE = [
    "<script>document.title = 'taken'</script>",
    "\"'><img src=x onerror=\"document.title='taken'\">",
    "<svg/onload=document.title='taken'>",
    "javascript:document.title='taken'",
    "</script><script>document.title='taken'</script>",
    "{{7*7}} ${7*7} `${document.title='taken'}`",
    "\u202eevil\u2066 ",
]
LONG = " and so on, in a text that is long enough to be read as one, not as a cell of a table"
ARABIC = "هذه جملة عربية طويلة بما يكفي لتظهر كنص يُقرأ من اليمين إلى اليسار في صفحة المراجعة"


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def visit(browser, tmp_path):
    """Serve a review and open its page; what it complains about, or asks elsewhere, fails in the end."""
    said, asked, opened, failing = [], [], [], "status of 500"

    def open_page(width=1100, rows=120, hash="", columns=None, **settings):
        cells = settings.pop("cells", {})
        if not opened:
            right, bad = world(tmp_path, n=rows, **cells)
            server = Server(begin(tmp_path))
            server.start()
            opened.append((server, right, bad))
        server, right, bad = opened[0]
        context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(server.url)
        page.wait_for_selector("#labels button")
        opened.append(context)
        return page, server, right, bad

    yield open_page
    for context in opened[1:]:
        context.close()
    opened[0][0].stop()
    assert not [one for one in said if failing not in one]
    assert all(url.startswith(opened[0][0].url) or url.endswith("/favicon.ico") for url in asked)


def row_of(page):
    return int(page.locator("#row b").inner_text().removeprefix("Row ").replace(",", ""))


def until(page, script, wanted, given=None):
    """Wait until a script finds what is wanted; not by the page, whose policy runs no text as a script."""
    for _ in range(200):
        if (found := page.evaluate(script, given)) == wanted:
            return
        page.wait_for_timeout(25)
    raise AssertionError(f"{script} is {found!r}, not {wanted!r}")


def wait_for(page, row):
    until(page, "document.querySelector('#row b').textContent", f"Row {row:,}")


def press(page, key):
    """Press a key, and wait until another row is shown."""
    before = page.locator("#row").inner_text()
    page.keyboard.press(key)
    until(page, "before => document.getElementById('row').innerText !== before", True, before)


def test_a_review_by_the_keyboard_alone(visit, tmp_path):
    """Labels, skips, takes back, asks for the audit, closes; the file has what was said."""
    page, server, right, bad = visit()
    order = server.session.order
    assert row_of(page) == order[0] + 1
    said = {}
    for k in range(14):
        row = row_of(page) - 1
        assert row == order[k]
        if k == 3:
            press(page, " ")
        else:
            press(page, "1" if right[row] == "no" else "2")
            said[row] = right[row]
    page.keyboard.press("1")
    wait_for(page, order[15] + 1)
    page.keyboard.press("u")
    wait_for(page, order[14] + 1)
    assert server.session.state()["labelled"] == 13
    page.keyboard.press("ArrowLeft")
    wait_for(page, order[13] + 1)
    chosen = page.locator("#labels [aria-pressed=true]")
    assert right[order[13]] in chosen.inner_text()
    page.keyboard.press("ArrowRight")
    wait_for(page, order[14] + 1)
    told = page.locator("#told").inner_text()
    assert "14 of 120 seen" in told
    assert f"{sum(bad[row] for row in said)} corrected" in told
    assert "of the next 50, about" in told
    reached = []
    for _ in range(12):  # to the button of the audit by Tab
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
        if reached[-1] == "audit":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("#outcome:not([hidden])", timeout=60_000)
    assert server.session.audit["state"] == "done"
    assert page.locator("#outcome .word").inner_text() == server.session.audit["verdict"]
    assert "test rows that had no say" in page.locator("#outcome").inner_text()
    with page.context.expect_page() as report:
        page.locator("#outcome a").click()
    report.value.wait_for_load_state()
    assert report.value.title().startswith("Audit:")
    page.locator("#finish").press("Enter")
    page.wait_for_selector("text=You can close this page")
    server.wait()
    server.session.save()
    before, after = labels_of(tmp_path / "raw.csv"), labels_of(tmp_path / "corrected.csv")
    assert after == [said.get(i, before[i]) for i in range(120)]


def test_a_space_on_a_button_presses_it_once_and_the_next_one_skips(visit):
    page, server, *_ = visit()
    first, second = server.session.order[:2]
    page.locator("#labels button").first.focus()
    press(page, " ")
    assert server.session.last[first + 1].after == "no"
    press(page, " ")
    assert server.session.last[second + 1].after is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_in_both_schemes(visit, scheme):
    page, server, *_ = visit(390, color_scheme=scheme, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(20, 22, 26)") == (scheme == "dark")
    for button in page.locator("#labels button").all():
        assert button.bounding_box()["height"] >= 44
        assert button.bounding_box()["width"] >= 250
    first = server.session.order[0]
    page.locator("#labels button").nth(1).tap()
    wait_for(page, server.session.order[1] + 1)
    assert server.session.last[first + 1].after == "yes"


def test_hostile_cells_are_text(visit):
    page, *_ = visit(
        cells={
            "note": lambda i: HOSTILE[i % len(HOSTILE)] + LONG * (i % 2),
            "<b>name</b>": lambda i: HOSTILE[(i + 3) % len(HOSTILE)],
        }
    )
    for _ in range(len(HOSTILE) * 2):
        row = row_of(page) - 1
        shown = page.locator("#body").inner_text()
        assert HOSTILE[row % len(HOSTILE)][:20].split("\u202e")[0] in shown
        assert "<b>name</b>" in shown
        assert "\u202e" not in shown
        press(page, " ")
    assert page.title() == "Review labels – dataworth"
    assert page.locator("#card :is(script, img, svg, b b, iframe)").count() == 0
    assert page.evaluate("document.scripts.length") == 1


def test_text_from_right_to_left_and_images(visit, tmp_path):
    for i in range(120):
        (tmp_path / f"{i}.png").write_bytes(png(2 * i))
    page, *_ = visit(cells={"text": lambda i: f"{ARABIC} {i}", "picture": lambda i: f"{i}.png"})
    text = page.locator(".text > div")
    assert ARABIC in text.inner_text()
    assert page.evaluate("e => getComputedStyle(e).direction", text.element_handle()) == "rtl"
    image = page.locator("#body img")
    until(page, "document.querySelector('#body img').naturalWidth", 24)
    assert image.get_attribute("alt") == f"The image of row {row_of(page)}"


def test_ten_thousand_rows(visit, tmp_path):
    """The page has a few rows at a time, and goes to the end of what is decided."""
    page, server, *_ = visit(rows=10_000)
    assert "of 10,000 seen" in page.locator("#told").inner_text()
    for _ in range(15):
        press(page, "1")
    assert page.evaluate("document.querySelectorAll('*').length") < 300
    page.reload()
    page.wait_for_selector("#labels button")
    assert row_of(page) == server.session.order[15] + 1
    assert len(json.dumps(server.session.batch(5000, 10**9))) < 200_000
    server.session.save()
    assert len(labels_of(tmp_path / "corrected.csv")) == 10_000


def test_an_end_of_the_server_is_told(visit):
    page, server, *_ = visit()
    page.route("**/decide", lambda route: route.fulfill(status=500, body=json.dumps({"error": "no room."})))
    page.keyboard.press("1")
    page.wait_for_selector("#alarm:not([hidden])")
    assert page.locator("#alarm").inner_text() == "no room."
    assert not server.session.last
    page.unroute("**/decide")
    press(page, "1")
    assert not page.locator("#alarm").is_visible()


PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "review-labels.md"


@pytest.mark.skipif(not PAGE.exists(), reason="a source distribution has no docs")
def test_the_picture_of_the_docs(browser, tmp_path, monkeypatch):
    """Of the data of the page; PICTURES=docs puts it there."""
    monkeypatch.chdir(tmp_path)
    exec(PAGE.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0], {})
    with open("truth.csv", newline="", encoding="utf-8") as file:
        right = [row["right"] for row in csv.DictReader(file)]
    session = begin(tmp_path, columns=Columns(), source="annotator", options={"prior_variance": None})
    for row in session.order[:15]:
        session.decide(row + 1, right[row])
    server = Server(session)
    server.start()
    page = browser.new_page(viewport={"width": 1000, "height": 1010})
    try:
        page.goto(server.url)
        page.wait_for_selector("#labels button")
        place = Path(PICTURES or tmp_path).resolve() / "review.png"
        page.screenshot(path=place)
        assert 10_000 < place.stat().st_size < 200_000
        assert "15 of 300 seen" in page.locator("#told").inner_text()
        assert "Ben" in page.locator("#people tr").first.inner_text()
    finally:
        page.close()
        server.stop()


@pytest.mark.skipif(AXE is None, reason="AXE names no axe.min.js, of the npm package axe-core")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1100])
def test_axe_finds_nothing(visit, scheme, width):
    cells = {"text": lambda i: f"row {i}{LONG}", "more": lambda i: i}
    page, *_ = visit(width, color_scheme=scheme, cells=cells)
    press(page, "1")
    page.evaluate(Path(AXE).read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")
    assert [(one["id"], [n["html"] for n in one["nodes"]]) for one in found["violations"]] == []
    assert len(found["passes"]) > 20
