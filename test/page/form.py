# SPDX-License-Identifier: Apache-2.0
"""Looks at the form of a page of `gprof-report html` in Chromium: what stays in sight, what is left out, how tables are copied, saved
and found again, and whether all text can be read, on screen and on paper.

usage: form.py CHROMIUM PAGE JSON    JSON: of summary --all
"""
import csv
import io
import json
import os
import sys

from must import finish, must
from wait import drawn, frame, new_context, opened_browser, until

chromium, path, expected_path = sys.argv[1:4]
expected = json.load(open(expected_path))
address = "file://" + os.path.abspath(path)

# Texts with a contrast below 4.5 (WCAG 2) with what they stand on: [class and text, contrast].
CONTRASTS = """() => {
    const parts = (color) => color.startsWith('color(srgb') ? color.match(/[\\d.]+/g).map((part, i) => (i < 3 ? 255 * part : Number(part)))
        : color.match(/[\\d.]+/g).map(Number);
    const light = (rgb) => rgb.slice(0, 3).map((part) => (part <= 10 ? part / 3294.6 : ((part / 255 + .055) / 1.055) ** 2.4))
        .reduce((sum, part, i) => sum + part * [.2126, .7152, .0722][i], 0);
    const belowOf = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const rect = at.parentElement && at.parentElement.closest('g') && at.parentElement.closest('g').querySelector(':scope > rect');
            const color = parts(rect ? getComputedStyle(rect).fill : getComputedStyle(at).backgroundColor);
            if (rect || color.length < 4 || color[3] > .9) {
                return color;
            }
        }
        return [255, 255, 255];
    };
    const seen = new Map(), found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const element = node.parentElement;
        if (!node.textContent.trim() || element.closest('script, noscript, style, option') || !element.checkVisibility() || element.tagName === 'title') {
            continue;
        }
        const style = getComputedStyle(element), ink = parts(element.closest('svg') ? style.fill : style.color), below = belowOf(element);
        const key = ink + ' ' + below;
        if (!seen.has(key)) {
            const [more, less] = [light(ink), light(below)].sort((a, b) => b - a);
            seen.set(key, (more + .05) / (less + .05));
        }
        if (seen.get(key) < 4.5) {
            found.push([element.tagName + '.' + (element.className.baseVal ?? element.className) + ' ' + node.textContent.slice(0, 30), seen.get(key).toFixed(2)]);
        }
    }
    return found.slice(0, 4);
}"""


def open_page(page, hash):
    page.goto("about:blank")
    page.goto(address + hash)
    drawn(page)


def check_read(page, where):
    must(not page.evaluate(CONTRASTS), "texts that are hard to read on %s: %s" % (where, page.evaluate(CONTRASTS)))


def check_empty(page, name):
    """No card or section without content; tables without rows are lines."""
    empty = page.evaluate("""() => [...document.querySelectorAll('main section, main .card')].filter(
        (each) => !each.querySelector('canvas, svg, table, p, li, dl, button, summary')).map((each) => each.textContent.slice(0, 60))""")
    must(not empty, "sections without content on %s: %s" % (name, empty))
    must(page.locator("main section:has(> h3:only-child)").count() == 0, "titles alone on " + name)
    for key in page.evaluate("[...document.querySelectorAll('main [id^=table-]')].map((each) => each.id.slice(6))"):
        has_rows = bool(expected[key]["rows"])
        must(page.locator("[id='table-%s'] table" % key).count() == has_rows, "the table %s" % key)
    unknown = page.locator(".card b", has_text="n/a")
    must(unknown.count() <= page.locator(".card", has_text="no complete step").count(), "cards of what is not known: %s" % unknown.all_inner_texts())


def check_in_sight(page, name):
    """Header, navigation and the titles of a table that scrolls."""
    page.evaluate("scrollTo(0, 1e6)")
    frame(page)
    tops = page.evaluate("['header', '#who', '#nav a[aria-current]'].map((each) => document.querySelector(each).getBoundingClientRect().top)")
    height = page.evaluate("innerHeight")
    must(all(0 <= top < height for top in tops), "out of sight on %s: %s" % (name, tops))
    scrolled = page.evaluate("""() => [...document.querySelectorAll('.scroll')].filter((each) => each.querySelector('thead') && each.checkVisibility()).map((each) => {
        each.scrollTop = 1e6;
        return each.querySelector('th').getBoundingClientRect().top - each.getBoundingClientRect().top;
    })""")
    must(all(abs(each) < 2 for each in scrolled), "titles of tables that scrolled on %s: %s" % (name, scrolled))
    page.evaluate("scrollTo(0, 0)")


def show_all(section):
    while section.get_by_role("button", name="More rows").is_visible():
        section.get_by_role("button", name="More rows").click()


def table_of(page, key):
    return page.evaluate("""(key) => [...document.querySelectorAll('#table-' + key + ' tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))""", key)


def check_copies(page, key):
    """By buttons and by keys: what is copied is what is shown, what is saved is what `summary` printed."""
    rows, section = expected[key]["rows"], page.locator("#table-" + key)
    show_all(section)
    shown = [" ".join(row[0].split()) for row in table_of(page, key)]
    for act in (lambda: section.get_by_role("button", name="Copy").click(), lambda: page.keyboard.press("c")):
        page.evaluate("navigator.clipboard.writeText('')")
        act()
        until(page, "async () => (await navigator.clipboard.readText()) !== ''")
        lines = page.evaluate("navigator.clipboard.readText()").split("\n")
        must([" ".join(line.split("\t")[0].split()) for line in lines[1:]] == shown, "%d rows of %s are copied, of %d" % (len(lines) - 1, key, len(shown)))
        must(len({line.count("\t") for line in lines}) == 1, "columns that are copied of " + key)
        page.evaluate("document.activeElement.blur()")
    for act in (lambda: section.get_by_role("button", name="as CSV").click(), lambda: page.keyboard.press("e")):
        with page.expect_download() as download:
            act()
        must(download.value.suggested_filename == key + ".csv", "the name of " + download.value.suggested_filename)
        with open(download.value.path(), encoding="utf-8", newline="") as file:
            saved = list(csv.DictReader(io.StringIO(file.read())))
        must(len(saved) == len(rows), "%d rows of %s are saved, of %d" % (len(saved), key, len(rows)))
        for a, b in zip(saved, rows):
            must(list(a) == list(b) and all(text == ("" if b[id] is None else str(b[id])) or (isinstance(b[id], float) and abs(float(text) - b[id]) < 1e-9)
                                            for id, text in a.items()), "a row of %s: %s, not %s" % (key, a, b))
        page.evaluate("document.activeElement.blur()")


def check_address(page, key):
    """Search, order, columns and rows of a table come back with its address; / goes to the search."""
    section = page.locator("#table-" + key)
    page.keyboard.press("/")
    must(page.evaluate("document.activeElement.closest('section').id") == "table-" + key, "the search of the first table is not where / goes")
    page.keyboard.type("a")
    section.locator("thead button").nth(1).click()
    section.locator("thead button").nth(1).click()
    section.get_by_role("button", name="All columns").click()
    before, hash = table_of(page, key), page.evaluate("location.hash")
    open_page(page, hash)
    must(table_of(page, key) == before and before, "another table %s at %s" % (key, hash))
    must(section.get_by_role("searchbox").input_value() == "a" and section.locator("th[aria-sort=ascending]").count() == 1, "the state of %s at %s" % (key, hash))
    page.locator("#nav a").first.click()
    drawn(page, "Overview")
    page.go_back()
    drawn(page, "")
    must(table_of(page, key) == before, "another table %s after going back" % key)


def check_folds(page):
    """Rows with rows inside fold, and stay folded at their address."""
    folding = page.locator("main [id^='table-']:has(button.fold)")
    if not folding.count():
        return
    key = folding.first.get_attribute("id")[len("table-"):]
    link = page.locator("main [id='table-%s']" % key)
    show_all(link)
    before, name = len(table_of(page, key)), link.locator("tr:has(button.fold) td").first.inner_text()
    is_open = link.locator("button.fold").first.get_attribute("aria-expanded") == "true"  # large tables begin folded
    link.locator("button.fold").first.press("Enter")
    show_all(link)
    after = len(table_of(page, key))
    must(after < before if is_open else after > before, "%s of %s does not fold" % (name, key))
    must(page.evaluate("document.activeElement.className") == "fold", "the focus after folding")
    open_page(page, page.evaluate("location.hash"))
    show_all(link)
    must(len(table_of(page, key)) == after, "what was folded or opened is not so at the address")
    page.locator("main [id='table-%s'] button.fold" % key).first.click()
    must(len(table_of(page, key)) == before, "%s of %s does not fold back" % (name, key))


def check_paper(page):
    """On paper: no navigation, all that folds is open, and nothing is cut off."""
    open_page(page, "#about")
    page.evaluate("document.querySelectorAll('main details').forEach((each) => { each.open = false; })")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    must(page.locator("main details:not([open])").count() == 0, "closed on paper")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    must(page.locator("main details[open]").count() == 0, "still open after printing")
    page.emulate_media(media="print")
    for hash in "#overview", "#operators", "#kernels":
        open_page(page, hash)
        must(not page.locator("#nav").is_visible() and page.locator("main .tools:visible").count() == 0, "navigation on paper")
        must(page.evaluate("[...document.querySelectorAll('.scroll')].every((each) => each.scrollHeight <= each.clientHeight + 1)"), "tables that are cut off on paper")
        check_read(page, "paper")
    must(len(page.pdf()) > 10000, "the PDF is empty")


def look(browser, scheme):
    context = new_context(browser, viewport={"width": 1280, "height": 800}, color_scheme=scheme)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.on("pageerror", lambda error: must(False, "script: %s" % error))
    open_page(page, "")
    for link in page.locator("#nav a").all():
        name = link.inner_text()
        link.click()
        drawn(page, name, link.get_attribute("href"))
        check_read(page, name)
        if scheme == "light":
            check_empty(page, name)
            check_in_sight(page, name)
            check_folds(page)
    key = next((key for key in ("kernel", "operator", "api") if expected[key]["rows"]), None)
    if scheme == "light" and key:
        open_page(page, {"kernel": "#kernels", "operator": "#operators", "api": "#api"}[key])
        must(page.locator("main > *").nth(1).get_attribute("id") == "table-" + key, "the table %s does not stand before charts" % key)
        check_copies(page, key)
        check_address(page, key)
        check_paper(page)
    context.close()


with opened_browser(chromium) as browser:
    look(browser, "light")
    look(browser, "dark")
finish()
