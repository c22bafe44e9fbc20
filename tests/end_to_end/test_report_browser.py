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
import polars as pl
import pytest

import textgauge
from textgauge.bench import Ksc, Plan, Sources, Store, run
from textgauge.bench.leaderboard import rank_metrics
from textgauge.bench.results import Results
from textgauge.data import Corpus
from textgauge.metrics import get_corpus_metrics
from textgauge.report.page import read_result
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
    """A comparison with its texts, two systems with theirs, and a run."""
    folder = tmp_path_factory.mktemp("page")
    reference = [HOSTILE, "=1+1, a red cat", *(f"the red cat number {n}" for n in range(28))]
    candidate = [f"pay the bank fee number {n}" for n in range(30)]
    report = textgauge.compare(reference, candidate, metrics="cbdf@words,irpr@levenshtein,jsd@words", explain=True)
    # no model is needed for a map whose places are given
    places = [(side == "candidate", n / 60) for n, side in enumerate(report.texts["source"])]
    texts = report.texts.with_columns(x=pl.Series([float(x) for x, _ in places]), y=pl.Series([y for _, y in places]))
    replace(report, texts=texts).save(folder / "found.json")
    systems = {"left": candidate, "baseline": reference, "right": ["pay the fee"] * 30}
    textgauge.score(**systems, metrics="jaccard,levenshtein", explain=True).save(folder / "systems.json")
    results = [read_result(folder / name) for name in ("found.json", "systems.json")]
    path = folder / "report.html"
    path.write_text(page_of([store], results), encoding="utf-8")
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
    page.locator(".texts[data-ready]").nth(1).wait_for()
    yield page
    page.close()


def drawn(page):
    """Wait until all figures and texts are drawn; the page's policy forbids playwright's own way of waiting."""
    waiting = ".kind figure:not([hidden]):not([data-drawn]), .texts:not([data-ready])"
    for _ in range(300):
        if not page.locator(waiting).count():
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
    assert opened.locator(".kind figure svg.marks").count() == opened.locator(".kind").count() == 4
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


BEHIND = "#result-1-texts"


def rows(page, box=BEHIND):
    return page.locator(f"{box} tbody tr")


def test_texts_are_searched_filtered_and_sorted(opened):
    status = opened.locator(f"{BEHIND} .count")
    assert (rows(opened).count(), status.text_content()) == (25, "60 rows")
    opened.locator(f"{BEHIND} > .tools button.more").click()
    assert rows(opened).count() == 60
    opened.locator(f"{BEHIND} input").fill("NUMBER 27 bank")
    assert (rows(opened).count(), status.text_content()) == (2, "2 of 60 rows")  # one as the nearest of the other
    opened.locator(f"{BEHIND} .tags select").first.select_option("candidate")
    assert rows(opened).locator(".text").first.all_text_contents() == ["pay the bank fee number 27"]
    opened.get_by_role("button", name="Clear filters").first.click()
    assert status.text_content() == "60 rows"
    values = list(map(float, rows(opened).locator("td.number").all_text_contents()))
    assert values == sorted(values, reverse=True)
    opened.locator(f"{BEHIND} thead button").click()
    values = list(map(float, rows(opened).locator("td.number").all_text_contents()))
    assert values == sorted(values)


def test_a_number_leads_to_its_texts(opened):
    opened.locator(f"#result-1-1 a[data-by='irpr@levenshtein'][href='{BEHIND}']").first.click()
    assert opened.locator(f"{BEHIND} .by").input_value() == "irpr@levenshtein"
    assert opened.locator(f"{BEHIND} thead button").text_content() == "adds to irpr@levenshtein"
    assert opened.locator("#result-1-1 tbody tr").nth(2).locator("a[data-by]").count() == 0  # jsd is no sum over texts


def test_the_map_shows_texts_and_filters_by_pointer_and_keys(opened, seen):
    canvas, tip = opened.locator("#result-1-texts-map canvas"), opened.locator("#tip")
    box = canvas.bounding_box()
    opened.mouse.move(box["x"] + 2, box["y"] + 2)
    opened.mouse.down()
    opened.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 2)
    opened.mouse.up()
    assert opened.locator(f"{BEHIND} .count").text_content() == "30 of 60 rows"
    assert set(rows(opened).locator(".tag").all_text_contents()) == {"reference"}
    canvas.press("Escape")
    assert opened.locator(f"{BEHIND} .count").text_content() == "60 rows"
    canvas.press("ArrowRight")
    assert tip.is_visible()
    assert opened.locator("#result-1-texts-near").text_content().partition(":")[0] in ("reference", "candidate")
    canvas.press("Enter")
    assert rows(opened).count() < 25
    assert seen == []


def test_items_that_got_worse_are_shown_side_by_side(opened):
    box = "#result-2-texts"
    heads = opened.locator(f"{box} thead th").all_text_contents()
    assert heads == ["better by jaccard", "reference", "baseline", "candidate"]
    opened.locator(f"{box} .way").select_option("1")
    assert float(rows(opened, box).locator("td.number").first.text_content()) > 0
    opened.locator(f"{box} .way").select_option("-1")
    assert rows(opened, box).count() == 0
    assert opened.locator(f"{box} .count").text_content() == "0 of 30 rows"


def test_a_tooltip_is_text(opened, seen):
    drawn(opened)
    opened.evaluate("document.querySelectorAll('.kind').forEach(e => { e.open = true; })")
    point, tip = opened.locator("figure[data-name^=box] .mark-symbol path").first, opened.locator("#tip")
    point.scroll_into_view_if_needed()
    for _ in range(50):  # the figure may move once more while those around it are drawn
        point.scroll_into_view_if_needed()
        point.hover(force=True)
        time.sleep(0.1)
        if tip.is_visible():
            break
        opened.mouse.move(0, 0)
    assert tip.locator("b").count() >= 3
    assert tip.locator("span").first.text_content() == "metric"
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
    saved(opened, opened.locator(f"{BEHIND} .csv")).save_as(tmp_path / "texts.csv")
    found = list(csv.DictReader((tmp_path / "texts.csv").read_text(encoding="utf-8").splitlines()))
    assert len(found) == 60
    assert {HOSTILE, "'=1+1, a red cat"} < {row["text"] for row in found}


@pytest.mark.parametrize(("form", "start"), [("svg", b"<svg"), ("png", b"\x89PNG")])
def test_figures_are_saved(opened, tmp_path, form, start):
    drawn(opened)
    opened.locator(".kind summary").first.click()
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
    opened.locator(f"{BEHIND} input").fill("onerror")
    assert HOSTILE in rows(opened).locator(".text").all_text_contents()
    assert opened.locator("main img").count() == 0
    assert seen == []


def test_the_first_screen_has_the_verdict_the_figure_and_texts(browser, address):
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto(address)
    drawn(page)
    for part in (".result .shown", "#result-1-1 .mark", "#result-1-texts-map canvas", f"{BEHIND} tbody td.text"):
        box = page.locator(part).first.bounding_box()
        assert box["y"] + box["height"] <= 900, part
    page.close()


@pytest.mark.parametrize("width", [1400, 800, 390])
def test_nothing_is_wider_than_the_screen(browser, address, width):
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(address)
    drawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator(".answer.best strong").first.is_visible()
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
    assert not opened.locator("header nav").is_visible()
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
