# SPDX-License-Identifier: Apache-2.0
"""Works with the two timelines of a page in Chromium: those of two runs, or of two ranks.

usage: pair.py CHROMIUM PAGE runs A.json B.json [PICTURES]    JSON: of `summary` of each run
       pair.py CHROMIUM PAGE ranks JSON [PICTURES]            JSON: of `summary` of the job
"""
import json
import os
import re
import sys

from must import finish, must
from wait import drawn, frame, new_context, opened_browser, until

chromium, path, kind = sys.argv[1:4]
nr = 2 if kind == "runs" else 1
sums = [json.load(open(each)) for each in sys.argv[4:4 + nr]]
pictures = (sys.argv[4 + nr:] + [""])[0]
hash_ = "#timelines" if kind == "runs" else "#ranks"
title = "Timelines" if kind == "runs" else "Ranks side by side"
FACTORS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}


def open_page(page, hash):
    page.goto("about:blank")
    page.goto("file://" + os.path.abspath(path) + hash)
    drawn(page, title)


def steps_of(summary):
    """{step: ns}: from the first begin to the last end of all processes."""
    spans = {}
    for row in summary["steps"]["rows"]:
        if row["duration_ns"] is not None:
            begin, end = spans.get(row["step"], (row["start_ns"], 0))
            spans[row["step"]] = min(begin, row["start_ns"]), max(end, row["start_ns"] + row["duration_ns"])
    return {step: end - begin for step, (begin, end) in spans.items()}


def near(text, ns):
    """Is "14.46 ms" that many ns?"""
    value, unit = re.search(r"([0-9.,]+) (s|ms|us|ns)\b", text).groups()
    return abs(float(value.replace(",", "")) * FACTORS[unit] - ns) <= 1e-3 * ns + 1


def chosen(page, label):
    return page.get_by_label(label, exact=True).evaluate("(list) => [list.value, list.selectedOptions[0].textContent]")


def times(page):
    """The times of both views, by their labels, and of the address."""
    until(page, "() => location.hash.includes('~')")
    return page.locator(".timeline .rows canvas").evaluate_all("(all) => all.map((each) => each.getAttribute('aria-label'))")


def span(page):
    return page.evaluate("() => /(-?[0-9.]+)~(-?[0-9.]+)/.exec(decodeURIComponent(location.hash)).slice(1).map(Number)")


def changed(page, act):
    """The times in the address after an action that changes them."""
    before = page.url
    act()
    frame(page)
    until(page, "(before) => location.href !== before && document.querySelector('.pair').dataset.address === 'written'", before)
    return span(page)


def check_threads(page):
    """The thread with the number of its process is the main thread, whatever runs on it."""
    labels = page.locator(".timeline .label").all_inner_texts()
    for pid in (row["pid"] for summary in sums for row in summary["processes"]["rows"]):
        named = [label for label in labels if re.search(r"thread %d\b" % pid, label)]
        must(all(label.startswith("main thread") for label in named), "the main thread of process %d: %s" % (pid, named))


def check_runs(page):
    check_threads(page)
    for side, summary in zip("AB", sums):
        steps = steps_of(summary)
        if not steps:
            continue
        step, text = chosen(page, "Step of " + side)
        ordered = sorted(steps.values())
        must(steps[int(step)] == ordered[(len(ordered) - 1) // 2], "step %s of %s is not the median" % (step, side))
        must(near(text.split(": ")[1], steps[int(step)]), "%s: %s, not %d ns" % (side, text, steps[int(step)]))
    if len(steps_of(sums[0])) > 1:
        other = page.get_by_label("Step of A", exact=True).evaluate("(list) => [...list.options].find((each) => !each.selected).value")
        page.get_by_label("Step of A", exact=True).select_option(other)
        until(page, "(step) => location.hash.startsWith('#timelines/' + step + '/')", other)
        drawn(page, title)
        must(page.locator(".pair h3").first.inner_text().startswith("A, step %s," % other), "the step that was chosen")


def check_ranks(page):
    rows = sums[0]["steps"]["rows"]
    step = chosen(page, "Step")[0]
    own = sorted((row for row in rows if str(row["step"]) == step and row["duration_ns"] is not None), key=lambda row: -row["duration_ns"])
    for label, row, word in ("Above", own[0], "slowest"), ("Below", own[max(1, len(own) // 2)], "median"):
        text = chosen(page, label)[1]
        must(near(text.split(": ")[1], row["duration_ns"]), "%s: %s, not %d ns" % (label, text, row["duration_ns"]))
        must(text.endswith(", the " + word), "%s is not the %s" % (text, word))
    first = page.locator(".pair h3").first.inner_text()
    page.get_by_label("Below", exact=True).select_option(index=len(own) - 1)
    drawn(page, title)
    until(page, "() => location.hash.split('/').length > 4")
    drawn(page, title)
    must(near(page.locator(".pair h3").nth(1).inner_text().split(": ")[1], own[-1]["duration_ns"]), "the rank that was chosen")
    must(page.locator(".pair h3").first.inner_text() == first, "the other rank stays")
    page.get_by_label("Align by", exact=True).select_option("step")
    until(page, "() => location.hash.includes('/step')")
    drawn(page, title)
    both = page.evaluate("() => [...document.querySelectorAll('.pair canvas')].length")
    must(both == 4, "%d canvases" % both)


def check_moves(page):
    """Keys, wheel and pointer move both, and the address opens the same picture."""
    open_page(page, hash_)
    upper, lower = page.locator(".pair .rows").nth(0), page.locator(".pair .rows").nth(1)
    lower.scroll_into_view_if_needed()
    box = lower.bounding_box()
    x, y = box["x"] + box["width"] * .7, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    whole = changed(page, lambda: page.keyboard.press("w"))
    part = changed(page, lambda: page.keyboard.press("w"))
    must(part[1] - part[0] < .75 * (whole[1] - whole[0]), "w zooms: %s after %s" % (part, whole))
    must(len(set(map(length, times(page)))) == 1, "both show as much time: %s" % times(page))
    panned = changed(page, lambda: page.keyboard.press("d"))
    must(panned[0] > part[0], "d pans: %s after %s" % (panned, part))

    def drag():
        page.mouse.down()
        page.mouse.move(x + 90, y, steps=4)
        page.mouse.up()
    dragged = changed(page, drag)
    must(dragged[0] < panned[0], "dragging pans: %s after %s" % (dragged, panned))

    def wheel():
        page.keyboard.down("Control")
        page.mouse.wheel(0, -240)
        page.keyboard.up("Control")
    zoomed = changed(page, wheel)
    must(zoomed[1] - zoomed[0] < .8 * (dragged[1] - dragged[0]), "Ctrl+wheel zooms: %s after %s" % (zoomed, dragged))
    before = times(page)
    open_page(page, page.url[page.url.index("#"):])
    must(times(page) == before, "the address opens the same picture: %s, not %s" % (times(page), before))
    page.mouse.move(*[box[one] + 40 for one in "xy"])
    fit = changed(page, lambda: page.keyboard.press("0"))
    must(fit[0] < 0 < fit[1], "0 shows the step: %s" % fit)
    must(upper.count() == 1, "the upper one stays")


def length(label):
    """The time between both of "Timeline from 12.3 ms to 1.2 s": shown with four digits, so nearly."""
    begin, end = [float(value.replace(",", "")) * FACTORS[unit] for value, unit in re.findall(r"([0-9.,]+) (s|ms|us|ns)\b", label)]
    return 0 if begin == end else 1


def check_twin(page):
    """What is selected or under the pointer in one is marked in the other."""
    open_page(page, hash_)
    lists = page.locator(".pair-details > div")
    page.locator(".pair .rows").first.hover()
    page.keyboard.press(".")
    frame(page)
    titles = [lists.nth(at).locator("dd").first.inner_text() if lists.nth(at).locator("dd").count() else "" for at in (0, 1)]
    must(titles[0], "a key selects the first event")
    found = None
    box = page.locator(".pair .rows").first.bounding_box()
    for share in .3, .45, .6, .75:
        for down in range(30, int(box["height"]) - 6, 9):
            page.mouse.move(box["x"] + box["width"] * share, box["y"] + down)
            frame(page)
            tip = page.locator(".tip:visible")
            if tip.count() and "In " in tip.inner_text() and re.search(r"begins .* (earlier|later)", tip.inner_text()):
                found = tip.locator("b").inner_text()
                break
        if found:
            break
    if not found:
        return False
    page.mouse.click(box["x"] + box["width"] * share, box["y"] + down)
    frame(page)
    names = [lists.nth(at).locator("dd").first.inner_text() for at in (0, 1)]
    must(names[0][:20] == names[1][:20] or kind == "runs", "the counterpart of %s is %s" % tuple(names))
    must(found[:8] in names[0], "%s is selected, not %s" % (names[0], found))
    return True


def work(browser, scheme, width):
    page = new_context(browser, color_scheme=scheme, viewport={"width": width, "height": 900}).new_page()
    page.on("pageerror", lambda error: must(False, "an error: %s" % error))
    page.on("console", lambda message: must(message.type not in ("error", "warning"), "the console: %s" % message.text))
    open_page(page, hash_)
    if not page.locator(".pair").count():
        must(re.search("No step was recorded from begin to end on two ranks|No timeline", page.locator("main").inner_text()), "an empty page says so")
        return
    if pictures:
        page.screenshot(path="%s/%s-%s-%s-%d.png" % (pictures, os.path.basename(path)[:-5], kind, scheme, width), full_page=True)
    (check_runs if kind == "runs" else check_ranks)(page)
    check_moves(page)
    if width > 1000:
        must(check_twin(page), "no event has a counterpart")
    must(page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), "the page is as wide as the window")
    page.context.close()


with opened_browser(chromium) as browser:
    work(browser, "light", 1280)
    work(browser, "dark", 420)
finish()
