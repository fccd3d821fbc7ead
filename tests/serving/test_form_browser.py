"""The form in a real browser: filled in, sent, answered, by hand and by keyboard, without a word to the network."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from tests.serving.test_server import Server


@pytest.fixture(scope="module")
def server(numbers_run):
    found = Server(numbers_run)
    yield found
    found.process.kill()
    found.process.communicate()


@pytest.fixture
def show(browser, server):
    """Opens the form; at the end nothing must have been logged, or asked of anyone else."""

    def show(path="/", width=1280, scheme="light"):
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        browser.get(server.about["address"].rstrip("/") + path)
        return browser

    browser.get("about:blank")
    for kind in ("browser", "performance"):
        browser.get_log(kind)
    yield show
    logged = [entry["message"] for entry in browser.get_log("browser") if "422 (" not in entry["message"]]
    assert logged == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"}
    assert all(url.startswith((server.about["address"], "data:", "about:")) for url in asked)


def _fill(browser, label, text):
    key = browser.find_element(By.XPATH, f"//label[normalize-space()='{label}']").get_attribute("for")
    found = browser.find_element(By.ID, key)
    if found.tag_name == "select":
        Select(found).select_by_visible_text(text)
    else:
        found.clear()
        found.send_keys(text)
    return found


def _awaited(browser, selector):
    """What the next page has: unlike a click, a key is not waited for."""
    return WebDriverWait(browser, 60).until(lambda _: browser.find_element(By.CSS_SELECTOR, selector))


def test_typed_values_are_predicted_and_explained(show, server):
    browser = show()
    row = {column["name"]: column["typical"] for column in server.ask("/schema")[1]["columns"]}
    _fill(browser, "weight", "2000")
    _fill(browser, "origin", "Japan")
    _fill(browser, "name", "a small car")
    browser.find_element(By.CSS_SELECTOR, "button[type=submit]").click()
    said = server.ask(value={"row": {**row, "weight": 2000, "origin": "Japan", "name": "a small car"}})[1]
    assert _awaited(browser, "#prediction").text == f"{said['prediction']:.1f}"
    assert (
        f"{said['interval']['lower']:.1f} and {said['interval']['upper']:.1f}" in browser.find_element(By.ID, "interval").text
    )
    cells = [cell.text for cell in browser.find_elements(By.CSS_SELECTOR, "#contributions td, #contributions th")]
    assert {"weight", "2000", "Japan", "a small car"} <= set(cells)
    assert browser.find_element(By.XPATH, "//label[.='weight']/../input").get_attribute("value") == "2000"  # for the next try


def test_a_wrong_value_is_said_beside_its_field_and_mended_by_keyboard(show):
    browser = show(width=390)
    _fill(browser, "weight", "heavy").send_keys(Keys.ENTER)
    link = _awaited(browser, "[role=alert] a")
    assert "weight: 'heavy' cannot be used; it takes a number" in link.text
    link.send_keys(Keys.ENTER)
    found = browser.switch_to.active_element
    wrong = browser.find_element(By.CSS_SELECTOR, "[aria-invalid=true]")
    assert wrong.get_attribute("id") in (found.get_attribute("id"), browser.current_url.partition("#")[2])
    described = wrong.get_attribute("aria-describedby").split()
    assert "'heavy' cannot be used" in browser.find_element(By.ID, described[-1]).text
    wrong.clear()
    wrong.send_keys("3000", Keys.ENTER)
    assert _awaited(browser, "#prediction").text
    assert not browser.find_elements(By.CSS_SELECTOR, "[aria-invalid]")


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_no_page_is_wider_than_its_screen_and_all_text_can_be_read(show, path):
    script = """
        const parse = (text) => text.match(/[\\d.]+/g).map(Number);
        const linear = (v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
        const light = (colour) => colour.slice(0, 3).map((v) => linear(v / 255))
            .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
        const ground = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
            if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
        const all = document.querySelectorAll('p, th, td, dt, dd, a, label, span, summary, code, button, input, select');
        return [...all].map((e) => {
            const a = light(parse(getComputedStyle(e).color)), b = light(ground(e));
            return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.outerHTML.slice(0, 80)];
        }).sort((a, b) => a[0] - b[0])[0]"""
    for width, scheme in ((360, "light"), (768, "dark"), (1280, "light")):
        browser = show(path, width, scheme)
        if path == "/":
            browser.find_element(By.CSS_SELECTOR, "button[type=submit]").click()
            assert _awaited(browser, "#prediction").is_displayed()
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        contrast, element = browser.execute_script(script)
        assert contrast >= 4.5, (scheme, element)


def test_every_field_has_a_label_and_headings_are_in_order(show):
    browser = show()
    browser.find_element(By.CSS_SELECTOR, "button[type=submit]").click()
    for found in browser.find_elements(By.CSS_SELECTOR, "input, select, textarea"):
        assert browser.execute_script("return arguments[0].labels.length", found) == 1
    script = "return [...document.querySelectorAll('h1, h2, h3, h4')].map((e) => Number(e.tagName[1]))"
    levels = browser.execute_script(script)
    assert levels[0] == 1
    assert all(below - above <= 1 for above, below in pairwise(levels))
    ids = browser.execute_script("return [...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))
