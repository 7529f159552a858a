# SPDX-License-Identifier: Apache-2.0
"""Opens a page of `gprof-report html A B` in Chromium.

usage: diff.py CHROMIUM PAGE JSON [PICTURES]    JSON: of `gprof-report diff`; PICTURES: a folder
"""
import json
import os
import sys

from playwright.sync_api import sync_playwright
from must import finish, must
from wait import until

chromium, path, expected_path, pictures = (sys.argv + [""])[1:5]
expected = json.load(open(expected_path))
sections = ["phase", "operator", "kernel", "copy"]


def check_overview(page):
    cards = page.locator(".card")
    must(cards.count() == len(expected["step"]["rows"]), "%d cards" % cards.count())
    for i, row in enumerate(expected["step"]["rows"]):
        value = cards.nth(i).locator("b")
        text, mood = value.inner_text(), value.get_attribute("class")
        must(text.startswith("−" if row["change_ns"] < 0 else "+"), "the sign of " + row["name"])
        number, unit = text[1:].split(" (")[0].split()
        factor = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[unit]
        must(abs(float(number) * factor - abs(row["change_ns"])) <= 1e-3 * abs(row["change_ns"]) + 1, "change of " + row["name"])
        want = "" if row["noise"] != "beyond" else "bad" if row["change_ns"] > 0 else "good"
        must((want in mood.split()) if want else not {"good", "bad"} & set((mood or "").split()), "mood of " + row["name"])
    beyond = [row for key in sections for row in expected[key]["rows"] if row["noise"] == "beyond"]
    shown = page.locator("#changes li")
    must(shown.count() == min(12, len(beyond)), "%d changes, not those beyond noise" % shown.count())
    largest = sorted((abs(row["change_ns"]) for row in beyond), reverse=True)
    if largest:
        must(shown.first.locator("a").get_attribute("title") in
             [row["name"] for row in beyond if abs(row["change_ns"]) == largest[0]], "the largest change is not the first")
        shown.first.locator("a").click()
        until(page, "() => document.querySelector('main h2').textContent !== 'Overview'")
        must(page.locator("section[id^=table-] tbody tr").count() == 1, "a change leads to its row")


def look(browser, scheme):
    page = browser.new_context(viewport={"width": 1366, "height": 900}, color_scheme=scheme).new_page()
    page.on("console", lambda message: must(message.type not in ("error", "warning"), "console: " + message.text))
    page.on("pageerror", lambda error: must(False, "script: %s" % error))
    page.on("dialog", lambda dialog: (must(False, "a dialog: " + dialog.message), dialog.dismiss()))
    page.goto("file://" + os.path.abspath(path))
    have = json.loads(page.evaluate("document.getElementById('data').textContent"))
    have.pop("page")
    expected.pop("checks", None)
    must(have == expected, "the page's data are not those of diff")
    seen = set()
    for name in page.locator("#nav a").all_inner_texts():
        page.locator("#nav").get_by_role("link", name=name, exact=True).click()
        until(page, "(name) => document.querySelector('main h2').textContent === name", name)
        for section in page.locator("section[id^=table-]").all():
            key = section.get_attribute("id")[6:]
            seen.add(key)
            while section.get_by_role("button", name="more rows").is_visible():
                section.get_by_role("button", name="more rows").click()
            must(section.locator("tbody tr").count() == len(expected[key]["rows"]), "rows of " + key)
        over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        must(over <= 0, "%s is %d pixels wider than the window" % (name, over))
        if pictures:
            page.screenshot(path="%s/diff-%s-%s.png" % (pictures, scheme, name.lower()), full_page=True)
    must(seen == {key for key in expected if isinstance(expected[key], dict)}, "tables that are shown: %s" % seen)
    must(page.locator("main img, main iframe, main script").count() == 0, "names became markup")
    page.goto("about:blank")
    page.goto("file://" + os.path.abspath(path))
    check_overview(page)


with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
    look(browser, "light")
    look(browser, "dark")
    browser.close()
finish()
