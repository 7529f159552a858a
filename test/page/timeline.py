# SPDX-License-Identifier: Apache-2.0
"""Works with the timeline of a page of `gprof-report html` in Chromium, as people do.

usage: timeline.py CHROMIUM PAGE JSON SAVED [PICTURES]    JSON: of summary; SAVED: a folder for traces that the page saves
"""
import json
import os
import re
import sys

from playwright.sync_api import sync_playwright
from must import finish, must
from wait import drawn, launch, new_context

chromium, path, expected_path, saved, pictures = (sys.argv + [""])[1:6]
expected = json.load(open(expected_path))
name = os.path.basename(path)[:-5]
is_whole = not name.endswith("-sums")


def pixels(page):
    """How many colours the rows have."""
    return page.evaluate("""() => {
        const canvas = document.querySelector('.timeline .rows canvas');
        const copy = document.createElement('canvas');
        [copy.width, copy.height] = [canvas.width, canvas.height];
        const context = copy.getContext('2d', {willReadFrequently: true});
        context.drawImage(canvas, 0, 0);
        return new Set(new Uint32Array(context.getImageData(0, 0, copy.width, copy.height).data.buffer)).size;
    }""")


def frame(page):
    """Until what was asked for is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def shown(page):
    """The time in view, by the command line that is offered, in ns."""
    frame(page)
    found = re.search(r"--time (\d+)ns-(\d+)ns -o selection.pftrace", page.locator(".tools code").inner_text())
    return int(found.group(1)), int(found.group(2))


def span(page):
    begin, end = shown(page)
    return end - begin


def details(page):
    frame(page)
    return page.evaluate("""() => Object.fromEntries([...document.querySelectorAll('.slice > div')].map(
        (line) => [line.querySelector('dt').textContent, line.querySelector('dd').textContent]))""")


def save(page, suffix):
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the selected").click()
    download.value.save_as("%s/%s%s.pftrace" % (saved, name, suffix))


def open_page(page, hash):
    page.goto("about:blank")
    page.goto("file://" + os.path.abspath(path) + hash)
    drawn(page)


def picture(page, what):
    if pictures:
        page.screenshot(path="%s/%s-timeline-%s.png" % (pictures, name, what), full_page=True)


def check_zoom(page):
    whole = span(page)
    rows = page.locator(".timeline .rows")
    box = rows.bounding_box()
    page.mouse.move(box["x"] + box["width"] * .6, box["y"] + 60)
    page.mouse.wheel(0, -240)
    frame(page)
    must(abs(span(page) / whole - .5 / 1.0) < .06, "the wheel zooms from %d to %d" % (whole, span(page)))
    rows.focus()
    for key, grows in (("w", False), ("+", False), ("s", True), ("-", True)):
        before = span(page)
        page.keyboard.press(key)
        must((span(page) > before) == grows, "%s zooms the wrong way" % key)
    page.keyboard.press("w")
    for key, later in (("d", True), ("ArrowRight", True), ("a", False), ("ArrowLeft", False)):
        before = shown(page)[0]
        page.keyboard.press(key)
        must((shown(page)[0] > before) == later, "%s moves the wrong way" % key)
    before = shown(page)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * .5, box["y"] + 60, steps=4)
    page.mouse.up()
    must(shown(page)[0] > before[0] and abs(span(page) - (before[1] - before[0])) <= 2, "dragging moves")
    page.get_by_role("button", name="zoom in").click()
    must(span(page) < before[1] - before[0], "the button zooms")
    rows.focus()
    page.keyboard.press("0")
    must(span(page) == whole, "0 shows all")


def check_search(page):
    """Each kernel of the table is found as often as it was called; a click on it shows what is known of it."""
    rows = expected["kernel"]["rows"]
    search, status = page.get_by_label("Search events by name"), page.locator(".timeline").locator("xpath=..").get_by_role("status")
    name = max(rows, key=lambda row: row["calls"])["name"]
    search.fill(name)
    nr = sum(row["calls"] for row in rows if name.lower() in row["name"].lower())
    must(status.inner_text() == "{:,} found".format(nr), "%s of %s, not %d" % (status.inner_text(), name, nr))
    page.get_by_role("button", name="Next match").click()
    must(status.inner_text().endswith(" of {:,}".format(nr)), "which one: " + status.inner_text())
    first = details(page)
    must(any(name in value for value in first.values()), "details of the kernel: %s" % first)
    for key in ("Start", "Duration", "Track", "Correlation", "Device", "Stream", "Grid", "Block", "Registers per thread"):
        must(key in first, "no %s of a kernel" % key)
    search.press("Enter")
    must(details(page)["Start"] != first["Start"] or details(page)["Duration"] != first["Duration"] or nr == 1, "the next one is another")
    page.get_by_role("button", name="Previous match").click()
    must(details(page) == first, "back at the first")
    picture(page, "found")
    search.fill("no such slice")
    must(status.inner_text().startswith("No match"), "found what is not there: " + status.inner_text())
    search.fill(name)
    page.get_by_role("button", name="Next match").click()
    return details(page)


def check_flow(page, kernel):
    """From a kernel to its call and back; the pointer selects, too."""
    if "Launched by" not in kernel:
        return
    page.locator(".slice button").first.click()
    call = details(page)
    must("API call" in call and call["Correlation"] == kernel["Correlation"] and "Launched" in call, "the call: %s" % call)
    page.locator(".slice button").first.click()
    must(details(page) == kernel, "the kernel of its call")
    rows = page.locator(".timeline .rows")
    rows.focus()
    page.keyboard.press("f")
    page.keyboard.press("f")
    frame(page)
    box = page.locator(".timeline .rows canvas").bounding_box()
    page.keyboard.press("Escape")
    must(details(page) == {}, "Escape forgets what was selected")
    for y in range(4, int(box["height"]), 9):
        page.mouse.click(box["x"] + 208 + (box["width"] - 208) / 2, box["y"] + y)
        if details(page) == kernel:
            return
    must(False, "no click on the kernel selects it")


def check_keys(page):
    """Slices by the keyboard alone."""
    page.locator(".timeline .rows").focus()
    page.keyboard.press("0")
    page.keyboard.press("Escape")
    page.keyboard.press(".")
    first = details(page)
    must(first, "a point selects a slice")
    page.keyboard.press(".")
    second = details(page)
    page.keyboard.press(",")
    must(details(page) == first, "comma goes back")
    page.keyboard.press("]")
    must(details(page).get("Track") != first.get("Track") or details(page) != first, "] goes to the next row")
    must(second, "a second slice")
    page.get_by_label("Search events by name").fill(second["Track"] and next(iter(second.values())))
    rows = page.locator(".timeline .rows")
    rows.focus()
    page.keyboard.press("n")
    found = details(page)
    must(next(iter(found.values())) == next(iter(second.values())), "n does not go to what was found: %s" % found)
    page.keyboard.press("N")
    page.keyboard.press("n")
    must(details(page) == found, "N does not go back")
    page.keyboard.press("/")
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    must(page.get_by_label("Search events by name").input_value() == "", "/ does not go to the search")
    rows.focus()
    page.keyboard.press("Escape")
    page.keyboard.press("0")


def check_links(page):
    """Tables and the timeline lead to each other."""
    row = max(expected["kernel"]["rows"], key=lambda each: each["calls"])
    open_page(page, "#timeline/find/" + page.evaluate("encodeURIComponent", row["name"]))
    must(row["name"] in details(page).values(), "the address leads to slices of " + row["name"])
    page.locator(".slice a").first.click()
    drawn(page, "Kernels")
    must(page.locator("#table-kernel tbody tr").count() >= 1, "a slice leads to its row")
    page.locator("#table-kernel tbody tr").first.get_by_role("link", name="timeline").click()
    drawn(page, "Timeline")
    must(row["name"] in details(page).values(), "a row leads to its slices")
    steps = [each for each in expected["steps"]["rows"] if each["step"] is not None]
    if steps:
        step = steps[len(steps) // 2]
        open_page(page, "#timeline/step/%s/%s" % (step["pid"], step["step"]))
        found = details(page)
        must("step %s" % step["step"] in found.values(), "the address leads to step %s: %s" % (step["step"], found))
        if page.locator(".slice a").count():
            page.locator(".slice a").first.click()
            drawn(page, "Step ")
            page.get_by_role("main").get_by_role("link", name="timeline").first.click()
            drawn(page, "Timeline")
            must(details(page) == found, "the page of a step leads to its span")
        else:
            must(False, "a step leads to its page")


def check_sums(page):
    """What has no slice of its own is told on a click, and a frame draws no more than its pixels."""
    must("are merged into bins" in page.locator("main").inner_text(), "the page does not say that events are merged")
    box = page.locator(".timeline .rows canvas").bounding_box()
    found, nr_rows = {}, int(box["height"] - 8) // 18 + 1
    for i in range(400):
        column, row = divmod(i, nr_rows)
        page.mouse.click(box["x"] + 212 + column * 97 % (box["width"] - 220), box["y"] + 4 + row * 18)
        found = details(page)
        if "Merged" in found:
            break
    must("Merged" in found and "Longest" in found and "Name of the longest" in found, "no click finds a sum: %s" % found)
    picture(page, "sums")
    page.evaluate("""() => {
        const draw = CanvasRenderingContext2D.prototype.fillRect;
        window.drawn = 0;
        CanvasRenderingContext2D.prototype.fillRect = function (...box) { window.drawn++; draw.apply(this, box); };
    }""")
    rows = box["height"] / 18 + 1
    page.locator(".timeline .rows").focus()
    for i in range(12):
        page.evaluate("window.drawn = 0")
        page.keyboard.press("w")
        frame(page)
        nr = page.evaluate("window.drawn")
        must(0 < nr < 2 * (box["width"] + 10) * rows, "%d rectangles in a frame" % nr)


def check_deep(page):
    """However far one goes in, wherever: times of damaged streams have more digits than a double."""
    rows = page.locator(".timeline .rows")
    for place in (.3, .9):
        rows.focus()
        page.keyboard.press("0")
        box = rows.bounding_box()
        page.mouse.move(box["x"] + 208 + (box["width"] - 208) * place, box["y"] + 60)
        for i in range(14):
            page.mouse.wheel(0, -960)
            frame(page)
        page.mouse.click(box["x"] + 208 + (box["width"] - 208) * place, box["y"] + 60)
        page.keyboard.press(".")
        must(details(page), "no slice can be selected")
    save(page, "")


def check_rows(page):
    """Rows have names, fold, and none of them is markup."""
    labels = page.locator(".timeline .rows [title]").all_inner_texts()
    must(len(labels) > 2 and all(labels), "rows without names: %s" % labels)
    button = page.locator(".timeline .rows button").first
    if button.count():
        for state in ("false", "true"):
            button.click()
            must(button.get_attribute("aria-expanded") == state, "a row does not fold")
    must(page.locator(".timeline img, .timeline script, .slice img").count() == 0, "names became markup")


def check_print(page):
    """A picture in dark ink, of a page that is dark on the screen."""
    page.emulate_media(media="print", color_scheme="dark")
    open_page(page, "#timeline")
    darkest = """() => {
        const canvas = document.querySelector('.timeline > canvas'), copy = document.createElement('canvas');
        [copy.width, copy.height] = [canvas.width, canvas.height];
        const context = copy.getContext('2d', {willReadFrequently: true});
        context.drawImage(canvas, 0, 0);
        const data = context.getImageData(0, 0, copy.width, copy.height).data;
        let least = 255;
        for (let i = 0; i < data.length; i += 4) {
            least = data[i + 3] === 255 ? Math.min(least, data[i]) : least;
        }
        return least;
    }"""
    page.emulate_media(media="screen", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    on_screen = page.evaluate(darkest)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    must(page.evaluate(darkest) < on_screen, "the axis is printed as light as it is on a dark screen")
    must(pixels(page) > 4, "nothing is printed")


def work(browser, scheme):
    context = new_context(browser, viewport={"width": 1366, "height": 900}, color_scheme=scheme, accept_downloads=True)
    page = context.new_page()
    page.on("console", lambda message: must(message.type not in ("error", "warning"), "console: " + message.text))
    page.on("pageerror", lambda error: must(False, "script: %s" % error))
    page.on("dialog", lambda dialog: (must(False, "a dialog: " + dialog.message), dialog.dismiss()))
    open_page(page, "#timeline")
    must(pixels(page) > 8, "%d colours in %s" % (pixels(page), scheme))
    picture(page, scheme)
    must(("events are drawn one by one." in page.locator("main").inner_text() and "are merged" not in page.locator("main").inner_text()) == is_whole, "the page does not say whether all slices are there")
    check_rows(page)
    if name == "hostile":
        check_deep(page)
    elif not is_whole:
        check_sums(page)
    elif scheme == "light":
        save(page, "")
        check_zoom(page)
        if expected["kernel"]["rows"]:
            check_flow(page, check_search(page))
        check_keys(page)
        page.get_by_role("button", name="zoom in").click()
        page.get_by_role("button", name="zoom in").click()
        save(page, "-part")
        print("part %dns-%dns" % shown(page))
        if expected["kernel"]["rows"]:
            check_links(page)
        check_print(page)
    context.close()


with sync_playwright() as playwright:
    browser = launch(playwright, chromium)
    work(browser, "light")
    work(browser, "dark")
    browser.close()
finish()
