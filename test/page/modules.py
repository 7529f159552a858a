# SPDX-License-Identifier: Apache-2.0
"""Works with the tree of modules of a page of `gprof-report html` in Chromium, as people do.

usage: modules.py CHROMIUM PAGE TABLES [PICTURES]    TABLES: `summary --format json --all`
"""
import json
import os
import sys

from must import finish, must
from wait import drawn, frame, new_context, opened_browser

chromium, path, tables, pictures = (sys.argv + [""])[1:5]
rows = json.load(open(tables))["module"]["rows"]
depths = [row["path"].count("/") for row in rows]


def shown(page):
    """The rows: their names, and whether they can be folded and are not."""
    return page.evaluate("""() => [...document.querySelectorAll('#table-module tbody tr')].map((row) => {
        const fold = row.querySelector('button.fold');
        return [row.cells[0].innerText.trim(), fold ? fold.getAttribute('aria-expanded') === 'true' : null];
    })""")


def inside(at):
    """The rows in a row: directly, and all of them."""
    end = at + 1
    while end < len(rows) and depths[end] > depths[at]:
        end += 1
    return [i for i in range(at + 1, end) if depths[i] == depths[at] + 1], range(at + 1, end)


def check_largest(page):
    """At first a row is open only if each larger one is, or has too many rows inside for what room is left."""
    at = {row["name"]: i for i, row in enumerate(rows)}
    size = lambda i: rows[i]["gpu_total_ns"] or rows[i]["total_ns"] or 0
    folded = [at[name] for name, is_open in shown(page) if is_open is False]
    opened = [at[name] for name, is_open in shown(page) if is_open]
    room = 25 - len(shown(page))
    must(all(len(inside(i)[0]) > room for i in folded), "rows that have room are folded: %s" % [rows[i]["name"] for i in folded])
    for i in folded:
        smaller = [k for k in opened if size(k) < size(i) and len(inside(k)[0]) >= len(inside(i)[0])]
        must(not smaller, "%s is folded, %s are not" % (rows[i]["name"], [rows[k]["name"] for k in smaller]))


def check_fold(page):
    """A press of a button shows what lies in a row, another one hides it; all at once, too."""
    section = page.locator("#table-module")
    section.get_by_role("button", name="Unfold all").click()
    while section.get_by_role("button", name="more rows").is_visible():
        section.get_by_role("button", name="more rows").click()
    must([name for name, _ in shown(page)] == [row["name"] for row in rows], "all rows, in their order")
    section.get_by_role("button", name="Fold all").click()
    outer = [i for i, depth in enumerate(depths) if depth == 0]
    must([name for name, _ in shown(page)] == [rows[i]["name"] for i in outer], "only the outermost rows")
    must("%d of them folded" % (len(rows) - len(outer)) in section.get_by_role("status").inner_text(), "how many are folded")
    at = max(outer, key=lambda i: len(inside(i)[1]))
    section.locator("tbody tr").nth(outer.index(at)).get_by_role("button").click()
    frame(page)
    names = [name for name, _ in shown(page)]
    must(names[outer.index(at) + 1:][:len(inside(at)[0])] == [rows[i]["name"] for i in inside(at)[0]], "rows in %s: %s" % (rows[at]["name"], names))
    must(page.evaluate("document.activeElement.className") == "fold", "the button stays in focus")
    page.keyboard.press("Enter")
    frame(page)
    must(len(shown(page)) == len(outer), "a key folds it")


def check_search(page):
    """Finds rows that are folded, with the rows around them."""
    section = page.locator("#table-module")
    at = max(range(len(rows)), key=lambda i: depths[i])
    section.get_by_role("searchbox").fill(rows[at]["name"])
    frame(page)
    want = [i for i in range(len(rows)) if any(rows[at]["name"].lower() in str(rows[k][key]).lower() for k in [i, *inside(i)[1]] for key in ("name", "class"))]
    must([name for name, _ in shown(page)] == [rows[i]["name"] for i in want], "the rows of %s: %s" % (rows[at]["name"], shown(page)))
    section.get_by_role("searchbox").fill("")


def check_numbers(page):
    """The class stands beside the name, and figures are those of the table."""
    cells = page.evaluate("""() => [...document.querySelectorAll('#table-module tbody tr')].map((row) => {
        const titles = [...document.querySelectorAll('#table-module th')].map((cell) => cell.innerText.split('\\n').join(' '));
        return Object.fromEntries(titles.map((title, i) => [title, row.cells[i].innerText.trim()]));
    })""")
    order = ["Module", "% of outermost", "Go to", "Class"] if page.viewport_size["width"] < 800 else ["Module", "Go to", "Class", "% of outermost"]
    must(list(cells[0])[:4] == order, "columns: %s" % list(cells[0]))
    for cell in cells:
        row = next(row for row in rows if row["name"] == cell["Module"])
        must(cell["Class"] == row["class"], "class of %s" % cell["Module"])
        must(float(cell["Calls"].replace(",", "")) == row["calls"], "calls of %s: %s" % (cell["Module"], cell["Calls"]))
        must(abs(float(cell["% of outermost"]) - row["share_pct"]) < .01, "share of %s" % cell["Module"])


def work(browser, scheme, width):
    page = new_context(browser, color_scheme=scheme, viewport={"width": width, "height": 900}).new_page()
    page.on("pageerror", lambda error: must(False, "an error: %s" % error))
    page.goto("file://" + os.path.abspath(path) + "#modules")
    drawn(page, "Modules")
    must(len(shown(page)) <= 25, "at first as many rows as are read at once")
    must(any(is_open for _, is_open in shown(page)), "the outermost ones are open")
    check_largest(page)
    check_numbers(page)
    if pictures:
        page.screenshot(path="%s/modules-%s-%d.png" % (pictures, scheme, width), full_page=True)
    check_fold(page)
    check_search(page)
    page.locator("#table-module").get_by_role("link", name="flame graph").first.click()
    drawn(page, "Flame graph")
    must(page.locator(".flame g.found").count() > 0, "the link finds the module in the flame graph: %s" % page.url)


with opened_browser(chromium) as browser:
    work(browser, "light", 1280)
    work(browser, "dark", 420)
finish()
