"""The page in a real browser, from a file: the slider, sorting, narrow screens, paper, and no word to the network."""

from __future__ import annotations

import base64
import json
import math

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from mercer._report import write_html, write_row_html
from mercer._report.counts import from_counts
from tests.report.samples import content, hostile_content, row_content

TASKS = ["binary", "multiclass", "regression"]


@pytest.fixture
def show(browser, tmp_path):
    """Opens the page of a content; at the end nothing must have been logged or asked for."""

    def show(found, width=1280, scheme="light"):
        path = tmp_path / "report.html"
        (write_row_html if found.get("kind") == "row" else write_html)(found, path)
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        browser.get(path.as_uri())
        return browser

    browser.get("about:blank")
    for kind in ("browser", "performance"):
        browser.get_log(kind)
    yield show
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"}
    assert {url.partition(":")[0] for url in asked} <= {"file", "data", "about"}
    assert sum(url.startswith("file:") for url in asked) <= 1


def _set(browser, identifier, value):
    """Give an input a value as a user's hand would, so that its event is sent."""
    script = "const e = document.getElementById(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event('input'))"
    browser.execute_script(script, identifier, str(value))


def _measures(browser):
    texts = browser.execute_script(
        "return Object.fromEntries([...document.querySelectorAll('output[id^=m-]')].map(e => [e.id.slice(2), e.dataset.value]))"
    )
    return {name: float(text) if text else None for name, text in texts.items()}


def _counts(browser):
    return [int(browser.find_element(By.ID, key).text.replace(",", "")) for key in ("tp", "fp", "tn", "fn")]


def _assert_measures(browser, expected):
    found = _measures(browser)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if value is None:
            assert found[name] is None, name
            assert browser.find_element(By.ID, f"m-{name}").text == "–"  # noqa: RUF001
        else:
            assert math.isclose(found[name], value, rel_tol=1e-14), name
            assert abs(float(browser.find_element(By.ID, f"m-{name}").text) - value) <= 0.0005000001


def test_the_slider_moves_the_numbers_to_their_exact_values(show):
    found = content("binary")
    scores = found["scores"]
    browser = show(found)
    assert _counts(browser) == [scores[key][scores["at"]] for key in ("tp", "fp", "tn", "fn")]
    last = len(scores["threshold"]) - 1
    for at in (0, 1, last // 3, last // 2, last - 1, last):
        _set(browser, "cut", at)
        counts = [scores[key][at] for key in ("tp", "fp", "tn", "fn")]
        assert _counts(browser) == counts
        _assert_measures(browser, from_counts(*counts))
    assert browser.find_element(By.ID, "cut-value").text == "above all"


def test_the_marks_move_along_the_curves(show):
    found = content("binary")
    browser, scores = show(found), found["scores"]
    at = len(scores["threshold"]) // 4
    _set(browser, "cut", at)
    values = from_counts(*(scores[key][at] for key in ("tp", "fp", "tn", "fn")))
    places = {"roc": (1 - values["specificity"], values["recall"]), "pr": (values["recall"], values["precision"])}
    for identifier, place in places.items():
        script = """const svg = document.getElementById(arguments[0]), d = svg.dataset, m = svg.querySelector('.mark');
            const [x, y] = [m.getAttribute('cx'), m.getAttribute('cy')];
            return [(x - d.left) / (d.right - d.left), (d.bottom - y) / (d.bottom - d.top)]"""
        assert browser.execute_script(script, identifier) == pytest.approx(place, abs=1e-12)
    script = """const m = document.querySelector('#threshold .mark-line'), d = m.closest('svg').dataset;
        return (m.getAttribute('x1') - d.left) / (d.right - d.left)"""
    assert browser.execute_script(script) == pytest.approx(scores["threshold"][at], abs=1e-6)


def test_beta_and_alpha_change_their_measures_alone(show):
    found = content("binary")
    browser, scores = show(found), found["scores"]
    at = len(scores["threshold"]) // 3
    counts = [scores[key][at] for key in ("tp", "fp", "tn", "fn")]
    _set(browser, "cut", at)
    for beta, alpha in ((2, 0.5), (0.5, 0.25), (0, 1), (10, 0)):
        _set(browser, "beta", beta)
        _set(browser, "alpha", alpha)
        _assert_measures(browser, from_counts(*counts, beta=beta, alpha=alpha))
    for wrong in ("", "-1", "99"):  # what is no setting counts as the usual one
        _set(browser, "beta", wrong)
        _set(browser, "alpha", wrong)
        _assert_measures(browser, from_counts(*counts))


def test_the_slider_and_its_buttons_work_from_the_keyboard(show):
    found = content("binary")
    browser, scores = show(found), found["scores"]
    slider = browser.find_element(By.ID, "cut")
    slider.send_keys(Keys.ARROW_RIGHT)
    assert _counts(browser)[0] == scores["tp"][scores["at"] + 1]
    slider.send_keys(Keys.HOME)
    assert _counts(browser)[0] == scores["tp"][0]
    assert slider.get_attribute("aria-valuetext")
    browser.find_element(By.CSS_SELECTOR, "button[data-cut]").send_keys(Keys.ENTER)
    assert _counts(browser)[0] == scores["tp"][scores["at"]]


def _order(browser):
    return browser.execute_script("return [...document.querySelectorAll('#leaderboard .model')].map(e => e.textContent)")


def test_the_leaderboard_is_sorted_by_click_and_by_keyboard(show):
    browser = show(content("binary"))
    unscored = ["GaussianNB", "SVC"]
    by_score = ["LogisticRegression", "KNeighborsClassifier", "RandomForestClassifier", "Dummy"]
    assert _order(browser) == by_score + unscored
    heads = browser.find_elements(By.CSS_SELECTOR, "#leaderboard thead th")
    fit = next(head for head in heads if head.text.startswith("Fit"))
    button = fit.find_element(By.TAG_NAME, "button")
    button.click()
    by_time = ["RandomForestClassifier", "LogisticRegression", "KNeighborsClassifier", "Dummy"]
    assert _order(browser) == by_time + unscored
    assert fit.get_attribute("aria-sort") == "descending"
    button.send_keys(Keys.ENTER)
    assert _order(browser) == by_time[::-1] + unscored
    assert fit.get_attribute("aria-sort") == "ascending"
    assert sum(head.get_attribute("aria-sort") is not None for head in heads) == 1
    heads[0].find_element(By.TAG_NAME, "button").send_keys(Keys.SPACE)
    assert _order(browser) == sorted(_order(browser))


@pytest.mark.parametrize("task", [*TASKS, "hostile"])
def test_no_page_is_wider_than_its_screen(show, task):
    for width in (360, 768, 1280):
        browser = show(hostile_content() if task == "hostile" else content(task), width)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width


def test_text_can_be_read_in_light_and_dark(show):
    script = """
        const parse = (text) => text.match(/[\\d.]+/g).map(Number);
        const linear = (v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
        const light = (colour) => colour.slice(0, 3).map((v) => linear(v / 255))
            .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
        const ground = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
            if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
        return [...document.querySelectorAll('p, th, td, dt, dd, a, .badge, figcaption, summary, code, button')].map((e) => {
            const a = light(parse(getComputedStyle(e).color)), b = light(ground(e));
            return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.outerHTML.slice(0, 80)];
        }).sort((a, b) => a[0] - b[0])[0]"""
    for scheme in ("light", "dark"):
        contrast, element = show(content("binary"), scheme=scheme).execute_script(script)
        assert contrast >= 4.5, (scheme, element)


@pytest.mark.parametrize("task", TASKS)
def test_the_page_prints(show, task):
    browser = show(content(task))
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True, "paperWidth": 8.27, "paperHeight": 11.69})
    data = base64.b64decode(printed["data"])
    assert data.startswith(b"%PDF-")
    assert data.count(b"/Type /Page\n") + data.count(b"/Type /Page ") + data.count(b"/Type /Page/") >= 3


def test_on_paper_nothing_is_folded_and_there_is_no_knob(show):
    browser = show(content("binary"))
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert not browser.find_elements(By.CSS_SELECTOR, "details:not([open])")
    assert not browser.find_elements(By.CSS_SELECTOR, "th button")
    for selector in ("#cut", "#beta", ".toc", "span.js-only"):
        assert not browser.find_element(By.CSS_SELECTOR, selector).is_displayed()
    assert browser.find_element(By.ID, "cut-still").is_displayed()
    browser.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert browser.find_elements(By.CSS_SELECTOR, "details:not([open])")
    assert browser.find_elements(By.CSS_SELECTOR, "th button")


def test_hostile_texts_are_shown_as_they_are(show):
    browser = show(hostile_content())
    assert browser.title.startswith("</script><script>document.title=")
    assert browser.execute_script("return document.images.length") == 0
    _set(browser, "cut", 0)  # the script has survived
    assert _counts(browser)[2:] == [0, 0]


def test_the_page_is_whole_without_scripts(show):
    browser = show(content("binary"))
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.refresh()
        assert not browser.find_element(By.ID, "cut").is_displayed()
        assert browser.find_element(By.ID, "cut-still").is_displayed()
        assert browser.find_element(By.ID, "m-f_beta").text
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def _broken_words(browser, *sections):
    """Words of tables, captions and pictures that stand on two lines although nothing says that they may be broken."""
    script = """
        const broken = [], range = document.createRange();
        const parts = document.querySelectorAll(arguments[0]);
        for (const e of parts) for (const node of e.childNodes) {
            if (node.nodeType !== 3) continue;
            for (const found of node.data.matchAll(/[\\p{L}\\p{N}_.]+/gu)) {
                range.setStart(node, found.index); range.setEnd(node, found.index + found[0].length);
                const tops = new Set([...range.getClientRects()].filter((r) => r.width > 0).map((r) => Math.round(r.top)));
                if (tops.size > 1) broken.push(found[0]);
            }
        }
        return broken"""
    return browser.execute_script(script, ", ".join(f"#{each} *" for each in sections))


_NEW = ("test", "segments", "table", "drift", "columns", "card", "making")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("task", TASKS)
def test_what_is_said_of_the_table_fits_its_screen(show, task, width, scheme):
    browser = show(content(task), width, scheme)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert _broken_words(browser, *_NEW) == []
    for each in browser.find_elements(By.CSS_SELECTOR, "#table svg, #drift svg"):
        label = each.get_attribute("aria-label") or each.get_attribute("aria-labelledby")
        assert each.get_attribute("aria-hidden") == "true" or label


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("task", TASKS)
def test_what_the_model_goes_by_fits_its_screen(show, task, width):
    browser = show(content(task), width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert _broken_words(browser, "explained") == []
    pictures = [each for each in browser.find_elements(By.CSS_SELECTOR, "#explained svg.chart") if each.is_displayed()]
    assert pictures
    for picture in pictures:
        box = picture.rect
        for text in picture.find_elements(By.CSS_SELECTOR, "text"):
            assert text.rect["x"] >= box["x"] - 1, text.text
            assert text.rect["x"] + text.rect["width"] <= box["x"] + box["width"] + 1, text.text


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("is_number", [False, True])
def test_an_explained_row_fits_its_screen(show, is_number, width, scheme):
    browser = show(row_content(is_number=is_number), width, scheme)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert _broken_words(browser, "contributions", "changes") == []
    bars = browser.find_elements(By.CSS_SELECTOR, "#contributions .bar")
    assert [bar.get_attribute("class") for bar in bars] == ["bar", "bar bad", "bar", "bar"]
    sizes = [bar.rect["width"] for bar in bars]
    assert sizes[0] > sizes[1] > sizes[2] > sizes[3]


def test_hostile_texts_of_an_explained_row_are_shown_as_they_are(show):
    browser = show(row_content(text=lambda text: "</script><script>document.title='broken'</script>" + text))
    assert browser.title.startswith("</script><script>document.title=")
    assert browser.execute_script("return document.images.length") == 0
