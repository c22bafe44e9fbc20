"""The report in a real browser: it draws, sorts, filters, saves, and is fit for keyboards and screen readers.

Needs the package playwright and a Chromium on the path; the check of accessibility needs axe-core's `axe.min.js`, named
by the variable AXE_CORE or in `node_modules`.
"""

import csv
import os
import re
import shutil
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from textgauge.bench import Plan, Store, run
from textgauge.bench.leaderboard import rank_metrics
from textgauge.bench.protocols import Ksc, Sources
from textgauge.bench.results import Results
from textgauge.data import Corpus
from textgauge.metrics import get_corpus_metrics
from textgauge.report.page import make_table
from textgauge.report.page import render_page as page_of

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
AXE = Path(os.environ.get("AXE_CORE", "node_modules/axe-core/axe.min.js"))
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    rng = np.random.default_rng(0)
    words = {"a": "red green blue cat dog bird", "b": "pay card bank loan fee cat"}
    corpora = {
        role: Corpus.of([f"{' '.join(rng.choice(known.split(), 4))} {n}" for n in range(60)])
        for role, known in words.items()
    }
    made = Store(tmp_path_factory.mktemp("run"))
    metrics = get_corpus_metrics("jsd@words,cbdf@words,zipf@words,chi@words")
    run([Plan(Ksc(k=4, n=8, repetitions=4), Sources(HOSTILE, corpora), metrics)], made)
    return made


@pytest.fixture(scope="module")
def address(store, tmp_path_factory):
    texts = [{"side": "reference", "text": HOSTILE, "contribution": 0.5, "nearest": "=1+1"}]
    texts += [{"side": "candidate", "text": f"number {n}", "contribution": 0.1, "nearest": ""} for n in range(1, 8)]
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page_of([store], texts=[replace(make_table("Texts", texts), few=5)]), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        made = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture
def seen():
    """What must not happen: requests, messages on the console, errors, dialogs."""
    return []


@pytest.fixture
def opened(browser, address, seen):
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
    page.on("request", lambda request: seen.append(request.url) if request.url != address else None)
    page.on("console", lambda message: seen.append(message.text))
    page.on("pageerror", lambda error: seen.append(str(error)))
    page.on("dialog", lambda dialog: (seen.append(dialog.message), dialog.dismiss()))
    page.goto(address)
    yield page
    page.close()


def drawn(page):
    """Wait until all figures in sight are drawn; the page's policy forbids playwright's own way of waiting."""
    for _ in range(300):
        if not page.locator("figure:not([hidden]):not([data-drawn])").count():
            return
        time.sleep(0.1)
    raise AssertionError("figures are not drawn")


def column(page, name, board="#board-1"):
    """The exact values of a column in the order of the rows in sight."""
    place = page.locator(f"{board} thead th").evaluate_all(
        "(all, name) => all.findIndex(e => e.dataset.name === name)", name
    )
    cells = page.locator(f"{board} tbody tr:not([hidden]) > :nth-child({place + 1})")
    return cells.evaluate_all("all => all.map(e => e.dataset.value ?? e.textContent.trim())")


def saved(page, button):
    with page.expect_download() as download:
        button.click()
    return download.value


def test_it_draws_everything_without_a_message_or_a_request(opened, seen):
    drawn(opened)
    assert opened.locator("figure svg.marks").count() == opened.locator(".kind").count() == 4
    assert opened.locator("figure svg.marks path").count() > 20
    assert seen == []


def test_a_click_and_a_key_sort(opened):
    assert opened.locator("#board-1 th[aria-sort]").get_attribute("data-name") == "rank"
    heading = opened.locator("#board-1 th[data-name=metric]")
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert column(opened, "metric") == sorted(column(opened, "metric"))
    opened.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"
    assert column(opened, "metric") == sorted(column(opened, "metric"), reverse=True)
    opened.locator("#board-1 th[data-name=accuracy] button").click()
    values = list(map(float, column(opened, "accuracy")))
    assert values == sorted(values, reverse=True)
    assert opened.locator("#board-1 th[aria-sort]").count() == 1


def test_words_filter(opened):
    words, status = opened.locator("#texts-1 input"), opened.locator("#texts-1 [role=status]")
    assert len(column(opened, "text", "#texts-1")) == 5
    words.fill("NUMBER 6")
    assert column(opened, "text", "#texts-1") == ["number 6"]
    assert status.text_content() == "1 of 8 rows"
    words.fill("")
    assert status.text_content() == "8 rows"
    assert len(column(opened, "text", "#texts-1")) == 5
    opened.get_by_role("button", name="Show all 8 rows").click()
    assert len(column(opened, "text", "#texts-1")) == 8


def test_a_tooltip_is_text(opened, seen):
    drawn(opened)
    point, tip = opened.locator("figure .mark-symbol path").first, opened.locator("#tip")
    point.scroll_into_view_if_needed()
    for _ in range(50):  # the figure may move once more while those around it are drawn
        point.hover(force=True)
        if tip.is_visible():
            break
        opened.mouse.move(0, 0)
        time.sleep(0.1)
    assert tip.locator("b").count() == 5
    assert tip.locator("span").first.text_content() == "corpus i"
    opened.keyboard.press("Escape")
    assert not tip.is_visible()
    assert seen == []


def test_the_theme_is_switched_and_remembered(opened):
    ground = "getComputedStyle(document.body).backgroundColor"
    light = opened.evaluate(ground)
    button = opened.get_by_role("button", name="Dark theme")
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    dark = opened.evaluate(ground)
    assert dark != light
    opened.reload()
    assert opened.evaluate(ground) == dark
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    assert opened.evaluate(ground) == light


def test_the_systems_theme_is_the_first(browser, address):
    page = browser.new_page(color_scheme="dark")
    page.goto(address)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.close()


def test_a_saved_csv_has_the_numbers_of_the_store(opened, store, tmp_path):
    download = saved(opened, opened.locator("#board-1 .csv"))
    assert download.suggested_filename == "board-1.csv"
    download.save_as(tmp_path / "board.csv")
    rows = list(csv.DictReader((tmp_path / "board.csv").read_text(encoding="utf-8").splitlines()))
    for row, exact in zip(rows, rank_metrics(Results(store).groups()).to_dicts(), strict=True):
        assert {name: type(exact[name])(value) for name, value in row.items()} == {name: exact[name] for name in row}
    assert set(rows[0]) == set(rank_metrics(Results(store).groups()).to_dicts()[0])


def test_a_saved_text_is_no_formula(opened, tmp_path):
    saved(opened, opened.locator("#texts-1 .csv")).save_as(tmp_path / "texts.csv")
    rows = list(csv.DictReader((tmp_path / "texts.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 8
    assert rows[0] == {"side": "reference", "text": HOSTILE, "contribution": "0.5", "nearest": "'=1+1"}


@pytest.mark.parametrize(("form", "start"), [("svg", b"<svg"), ("png", b"\x89PNG")])
def test_figures_are_saved(opened, tmp_path, form, start):
    drawn(opened)
    download = saved(opened, opened.locator(f".kind .save[data-form={form}]").first)
    assert download.suggested_filename.endswith(f".{form}")
    download.save_as(tmp_path / "figure")
    assert (tmp_path / "figure").read_bytes().startswith(start)


def test_another_figure_of_a_kind_is_chosen(opened, seen):
    drawn(opened)
    kind = opened.locator(".kind:has(select)").first
    kind.locator("summary").first.click()
    kind.locator("select").select_option(index=2)
    drawn(opened)
    assert kind.locator("figure:not([hidden])").count() == 1
    assert kind.locator("figure:not([hidden]) svg.marks").is_visible()
    assert seen == []


def test_a_text_of_the_corpus_shows_as_text(opened, seen):
    drawn(opened)
    assert opened.locator("#texts-1 td").nth(1).text_content() == HOSTILE
    assert opened.locator("main img").count() == 0
    assert seen == []


@pytest.mark.parametrize("width", [1400, 800, 390])
def test_nothing_is_wider_than_the_screen(browser, address, width):
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(address)
    drawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator(".answer.best .shown").first.is_visible()
    page.close()


def test_the_column_of_metrics_stays_in_sight(browser, address):
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto(address)
    page.locator("#board-1 .more").click()
    first = page.locator("#board-1 tbody th").first
    before = first.bounding_box()["x"]
    page.locator("#board-1 .scroll").evaluate("box => { box.scrollLeft = 200; }")
    assert page.locator("#board-1 .scroll").evaluate("box => box.scrollLeft") == 200
    assert abs(first.bounding_box()["x"] - before) < 1
    page.close()


def test_a_link_opens_the_card_of_its_metric(opened):
    card = opened.locator("details.card").first
    assert card.get_attribute("open") is None
    opened.locator(f"#board-1 tbody a[href='#{card.get_attribute('id')}']").click()
    assert card.get_attribute("open") is not None


def test_it_prints(opened):
    drawn(opened)
    opened.emulate_media(media="print")
    assert not opened.locator("nav").is_visible()
    assert not opened.locator("#board-1 .tools").is_visible()
    assert opened.locator("#board-1 table").is_visible()
    printed = opened.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) <= 10


@pytest.mark.skipif(not AXE.is_file(), reason="no axe-core: AXE_CORE names no axe.min.js")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_serious_fault(browser, address, theme):
    page = browser.new_page(color_scheme=theme, bypass_csp=True)
    page.goto(address)
    drawn(page)
    page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
    page.add_script_tag(content=AXE.read_text(encoding="utf-8"))
    faults = page.evaluate("axe.run().then(found => found.violations)")
    serious = [(f["id"], f["nodes"][0]["html"]) for f in faults if f["impact"] in ("serious", "critical")]
    assert serious == []
    assert page.evaluate("axe.run().then(found => found.passes.length)") > 20
    page.close()
