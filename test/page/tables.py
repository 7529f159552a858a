# SPDX-License-Identifier: Apache-2.0
"""Pages that have their tables alone, without links to steps and slices: of two runs, of summaries."""
import json
import os

from must import must
from wait import drawn, new_context, opened_browser


def look_narrow(browser, path):
    """On a telephone nothing is wider than the window."""
    page = new_context(browser, viewport={"width": 390, "height": 844}).new_page()
    page.goto("file://" + os.path.abspath(path))
    for link in page.locator("#nav a").all():
        link.click()
        drawn(page, link.inner_text(), link.get_attribute("href"))
        over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        must(over <= 0, "%s is %d pixels wider than a narrow window" % (link.inner_text(), over))


def look_in(browser, scheme, path, expected, check, name, pictures):
    page = new_context(browser, viewport={"width": 1366, "height": 900}, color_scheme=scheme).new_page()
    page.on("console", lambda message: must(message.type not in ("error", "warning"), "console: " + message.text))
    page.on("pageerror", lambda error: must(False, "script: %s" % error))
    page.on("dialog", lambda dialog: (must(False, "a dialog: " + dialog.message), dialog.dismiss()))
    page.goto("file://" + os.path.abspath(path))
    have = json.loads(page.evaluate("document.getElementById('data').textContent"))
    have.pop("page")
    must(have == expected, "the page's data are not those of the tables")
    seen = set()
    for link in page.locator("#nav a").all():
        title = link.inner_text()
        link.click()
        drawn(page, title, link.get_attribute("href"))
        for section in page.locator("main [id^=table-]").all():
            key = section.get_attribute("id")[6:]
            seen.add(key)
            if section.get_by_role("button", name="Unfold all").is_visible():
                section.get_by_role("button", name="Unfold all").click()
            while section.get_by_role("button", name="more rows").is_visible():
                section.get_by_role("button", name="more rows").click()
            must(section.locator("tbody tr").count() == len(expected[key]["rows"]), "rows of " + key)
        over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        must(over <= 0, "%s is %d pixels wider than the window" % (title, over))
        if pictures:
            page.screenshot(path="%s/%s-%s-%s.png" % (pictures, name, scheme, title.lower()), full_page=True)
    must(seen == {key for key in expected if isinstance(expected[key], dict)}, "tables that are shown: %s" % seen)
    must(page.locator("main img, main iframe, main script").count() == 0, "names became markup")
    page.goto("about:blank")
    page.goto("file://" + os.path.abspath(path))
    drawn(page)
    check(page)


def look(chromium, path, expected, how, check, name, pictures):
    """Opens all its pages; how: "light dark narrow" or some of these. The data are `expected` (of --format json), all tables are there and
    whole. check(page) is asked on the first one; pictures: a folder, or nothing."""
    with opened_browser(chromium) as browser:
        for scheme in "light", "dark":
            if scheme in how:
                look_in(browser, scheme, path, expected, check, name, pictures)
        if "narrow" in how:
            look_narrow(browser, path)
