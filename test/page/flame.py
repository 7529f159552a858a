# SPDX-License-Identifier: Apache-2.0
"""Works with the flame graphs of a page of `gprof-report html` in Chromium, as people do.

usage: flame.py CHROMIUM PAGE REPORT INPUT [PICTURES]    INPUT: what the page was made of
"""
import os
import re
import subprocess
import sys

from must import finish, must
from wait import drawn, frame, new_context, opened_browser

chromium, path, report, source, pictures = (sys.argv + [""])[1:6]
name = os.path.basename(path)[:-5]
WEIGHTS = {"gpu": "GPU time", "cpu": "CPU time", "launches": "Launches"}


def folded(*options):
    """(path, value) for each line that `flame` prints."""
    done = subprocess.run([report, "flame", "-o", "-", *options, source], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    rows = [line.rpartition(" ") for line in done.stdout.splitlines()]
    return [(tuple(row[0].split(";")), int(row[2])) for row in rows]


def frames(page):
    """The frames drawn: (name, percent of all, row), from their titles."""
    return page.evaluate("""() => [...document.querySelectorAll('.flame g')].map((group) => {
        const [name, rest] = group.querySelector('title').textContent.split('\\n');
        return [name.replaceAll(';', ','), Number(/([0-9.]+) % of all/.exec(rest)[1]), Number(group.querySelector('rect').getAttribute('y')) / 18];
    })""")


def details(page):
    return page.locator(".flame-details").first.inner_text()


def open_page(page, hash):
    page.goto("about:blank")
    page.goto("file://" + os.path.abspath(path) + hash)
    drawn(page)


def share(rows, holds):
    total = sum(value for _, value in rows)
    return 100 * sum(value for each, value in rows if any(holds(one) for one in each)) / total


def check_weight(page, weight):
    rows = folded("--by", weight)
    button = page.get_by_role("button", name=WEIGHTS[weight], exact=True)
    must((button.count() == 1) == bool(rows), "the button of %s" % weight)
    if not rows:
        return
    button.click()
    frame(page)
    must(page.url.endswith("#flame/modules.%s///" % weight), "the address is %s" % page.url)
    shown = {one: percent for one, percent, row in frames(page) if row == 1}
    outer = {}
    for each, value in rows:
        outer[each[0]] = outer.get(each[0], 0) + value
    total = sum(outer.values())
    for one, value in outer.items():
        percent = 100 * value / total
        if percent > 1:
            must(abs(shown.get(one, 0) - percent) < .01, "%s of %s: %s, not %s" % (weight, one, shown.get(one), percent))


def check_zoom(page, rows):
    """A click zooms, the address keeps it, Escape shows all; arrows and Enter do the same."""
    open_page(page, "#flame")
    picture = page.locator(".flame > svg").first
    first = picture.locator("g").nth(1)
    name = first.locator("title").text_content().split("\n")[0]
    whole = picture.bounding_box()["width"]
    first.click(position={"x": 2, "y": 5})
    frame(page)
    must(re.search(r"#flame/\w+\.\w+/\d+//$", page.url), "the address of a zoom: %s" % page.url)
    must(details(page).startswith(name), "details of %s: %s" % (name, details(page)))
    must(abs(picture.locator("g").nth(1).bounding_box()["width"] - whole) < 3, "the frame fills the row")
    before = frames(page)
    open_page(page, page.url[page.url.index("#"):])
    must(frames(page) == before, "the address opens the same picture")
    picture.focus()
    page.keyboard.press("Escape")
    frame(page)
    must(details(page).startswith("all\n"), "Escape shows all: %s" % details(page))
    page.keyboard.press("ArrowDown")
    frame(page)
    must(details(page).startswith(name), "an arrow moves: %s" % details(page))
    page.keyboard.press("Enter")
    frame(page)
    must(abs(picture.locator("g").nth(1).bounding_box()["width"] - whole) < 3, "Enter zooms")
    page.keyboard.press("ArrowUp")
    frame(page)
    must(details(page).startswith("all\n"), "up again")
    page.get_by_role("button", name="Show all").click()
    frame(page)
    must(page.url.endswith("///"), "all is shown: %s" % page.url)


def shares(rows):
    """Percent of each outermost frame."""
    total, outer = sum(value for _, value in rows), {}
    for each, value in rows:
        outer[each[0]] = outer.get(each[0], 0) + value
    return {one: 100 * value / total for one, value in outer.items()}


def check_shares(page, rows, what):
    have = {one: percent for one, percent, row in frames(page) if row == 1}
    for one, percent in shares(rows).items():
        must(percent < 1 or abs(have.get(one, 0) - percent) < .01, "%s, %s: %s, not %s" % (what, one, have.get(one), percent))


def check_choice(page):
    """Phases, ranges of steps and the order by time, as the command has them; the address keeps them."""
    open_page(page, "#flame/modules.gpu")
    select = page.get_by_label("Phase")
    if page.get_by_role("button", name="GPU time").count() == 0 or select.count() == 0:
        return
    phases = [each.inner_text() for each in select.locator("option").all()][1:]
    must(len(phases) > 1, "phases: %s" % phases)
    for phase in phases:
        select.select_option(phase)
        frame(page)
        check_shares(page, folded("--by", "gpu", "--phase", phase.lower()), phase)
    first = page.get_by_label("First step")
    if first.count():
        numbers = [each.inner_text() for each in first.locator("option").all()]
        first.select_option(numbers[1])
        lasts = [each.inner_text() for each in page.get_by_label("Last step").locator("option").all()]
        page.get_by_label("Last step").select_option(lasts[-2])
        select.select_option("")
        frame(page)
        rows = folded("--by", "gpu", "--steps", "%s-%s" % (numbers[1], lasts[-2]))
        check_shares(page, rows, "steps")
        select.select_option(phases[-1])
        rows = folded("--by", "gpu", "--phase", phases[-1].lower(), "--steps", "%s-%s" % (numbers[1], lasts[-2]))
        check_shares(page, rows, "a phase of some steps")
    page.get_by_label("Phase").select_option("")
    page.get_by_role("button", name="As they began").click()
    frame(page)
    rows = folded("--by", "gpu", *(("--steps", "%s-%s" % (numbers[1], lasts[-2])) if first.count() else ()))
    known = [one for one in dict.fromkeys(each[0] for each, _ in rows) if shares(rows)[one] > 1]
    must([one for one, _, row in frames(page) if row == 1 and one in known] == known, "the order by time")
    before = frames(page)
    open_page(page, page.url[page.url.index("#"):])
    must(frames(page) == before and page.url.count("time"), "the address has what was chosen: %s" % page.url)


def check_search(page, rows):
    total, sums = sum(value for _, value in rows), {}
    for each, value in rows:
        for one in set(each):
            sums[one] = sums.get(one, 0) + value
    word = max((one for one in sums if sums[one] < .9 * total), key=sums.get, default=next(iter(sums))).lower()[:20]
    page.get_by_label("Search frames by name").fill(word)
    frame(page)
    want, have = share(rows, lambda one: word in one.lower()), page.locator("main").get_by_role("status").inner_text()
    # Small frames have no name on the page.
    must(abs(float(re.search(r"([0-9.]+) %", have).group(1)) - want) < .5, "%s of %s, not %.2f" % (have, word, want))
    must(page.locator(".flame g.found").count() > 0, "found frames are marked")
    before = page.url
    open_page(page, before[before.index("#"):])
    must(page.get_by_label("Search frames by name").input_value() == word, "the address has the search")


def check_sandwich(page, rows):
    """Callers and callees of the innermost frame with most: its share is that of all its places."""
    open_page(page, "#flame")
    own = {}
    for each, value in rows:
        own[each[-1]] = own.get(each[-1], 0) + value
    name = max(own, key=own.get)
    group = page.locator(".flame g").filter(has=page.locator("title", has_text=name)).first
    if not group.count():
        return
    group.dispatch_event("click")
    frame(page)
    page.get_by_role("button", name="Callers and callees").click()
    frame(page)
    heading = page.locator("main h3").first.inner_text()
    must(heading.startswith("In "), "heading %s" % heading)
    have, want = float(re.search(r"([0-9.]+) % of all$", heading).group(1)), share(rows, lambda one: one == name)
    must(abs(have - want) < .5, "%s, not %.2f" % (heading, want))
    must(page.locator(".flame > svg").count() == 2, "callees and callers")
    before = frames(page)
    open_page(page, page.url[page.url.index("#"):])
    must(frames(page) == before, "the address has the callers")


def work(browser, scheme, width):
    context = new_context(browser, color_scheme=scheme, viewport={"width": width, "height": 900})
    page = context.new_page()
    page.on("pageerror", lambda error: must(False, "an error: %s" % error))
    page.on("console", lambda message: must(message.type != "error", "the console: %s" % message.text))
    open_page(page, "#flame")
    rows = folded()
    if not rows:
        must("No operator, call or GPU activity was recorded." in page.locator("main").inner_text(), "an empty page says so")
        return
    for weight in WEIGHTS:
        check_weight(page, weight)
    check_choice(page)
    check_zoom(page, rows)
    check_search(page, rows)
    check_sandwich(page, rows)
    if pictures:
        open_page(page, "#flame")
        page.screenshot(path="%s/%s-flame-%s-%d.png" % (pictures, name, scheme, width), full_page=True)
    must(page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), "the page is as wide as the window")
    context.close()


with opened_browser(chromium) as browser:
    work(browser, "light", 1280)
    work(browser, "dark", 420)
finish()
