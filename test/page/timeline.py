# SPDX-License-Identifier: Apache-2.0
"""Works with the timeline of a page of `gprof-report html` in Chromium, as people do.

usage: timeline.py CHROMIUM PAGE JSON SAVED [PICTURES]    JSON: of summary; SAVED: a folder for traces that the page saves
"""
import json
import os
import re
import sys

from must import finish, must
from wait import drawn, new_context, opened_browser, until

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
    download.value.save_as("%s/%s%s.saved.json" % (saved, name, suffix))


def open_page(page, hash):
    page.goto("about:blank")
    page.goto("file://" + os.path.abspath(path) + hash)
    drawn(page)


def picture(page, what):
    if pictures:
        page.screenshot(path="%s/%s-timeline-%s.png" % (pictures, name, what), full_page=True)


def settled(page):
    """The address, once it says what is shown."""
    until(page, "() => document.querySelector('.timeline').dataset.address === 'written'")
    return page.evaluate("location.hash")


def wheel(page, down, key):
    """Turns the wheel, with a key if there is one."""
    if key:
        page.keyboard.down(key)
    page.mouse.wheel(0, down)
    if key:
        page.keyboard.up(key)
    frame(page)


def lines(page):
    """[name, is a group, is open, top] of the lines that are shown, from top to bottom."""
    frame(page)
    return sorted(page.evaluate("""() => [...document.querySelectorAll('.timeline .label:not([hidden])')].map((label) => {
        const name = label.firstElementChild;
        return [name.textContent, label.classList.contains('group'), name.getAttribute('aria-expanded') === 'true', label.getBoundingClientRect().top];
    })"""), key=lambda each: each[3])


def tip(page):
    """The texts of the box beside the pointer; None while it is hidden."""
    frame(page)
    return page.evaluate("""() => {
        const tip = document.querySelector('.tip');
        return tip.checkVisibility() ? {name: tip.querySelector('b').textContent, ...Object.fromEntries([...tip.querySelectorAll('dt')].map(
            (name) => [name.textContent, name.nextElementSibling.textContent]))} : null;
    }""")


def gutter(page):
    return page.evaluate("parseFloat(getComputedStyle(document.querySelector('.timeline')).getPropertyValue('--gutter'))")


def rows_box(page):
    """Where rows are drawn: x, y, width, height."""
    box, names = page.locator(".timeline .rows canvas").bounding_box(), gutter(page)
    return box["x"] + names, box["y"], box["width"] - names, box["height"]


def check_opening(page):
    """At first the steps are in view, and what leads to them is not; then all is. The command names the recording."""
    first = shown(page)
    page.keyboard.press("0")
    whole = shown(page)
    steps = [(row["start_ns"], row["start_ns"] + row["duration_ns"]) for row in expected["steps"]["rows"] if row["duration_ns"] is not None]
    if steps and name == "opening":
        begin, end = min(each[0] for each in steps), max(each[1] for each in steps)
        must(abs(first[0] - begin) < .05 * (end - begin) and abs(first[1] - end) < .05 * (end - begin), "%s at first, not the steps: %d-%d" % (first, begin, end))
        must(whole[0] < begin - (end - begin), "0 does not show what is before the steps: %s" % (whole,))
    must(first[0] >= whole[0] and first[1] <= whole[1], "%s at first of %s" % (first, whole))
    paths = json.loads(page.evaluate("document.getElementById('data').textContent"))["page"]["paths"]
    must(paths and page.locator(".tools code").inner_text().endswith(" -o selection.pftrace " + " ".join(paths)), "the command does not name %s" % paths)


def check_windows(page):
    """A single record window is shown only where it is looked for. Those that overlap have further rows, with a number."""
    if not expected["windows"]["rows"]:
        return
    names = [each[0] for each in lines(page)]
    page.get_by_label("Filter rows").fill("record windows")
    kept = [each[0] for each in lines(page) if not each[1]]
    page.get_by_label("Filter rows").fill("")
    most = max(sum(row["pid"] == each["pid"] for each in expected["windows"]["rows"]) for row in expected["windows"]["rows"])
    must(("record windows" in names) == (most > 1) and {re.sub(r" [(]\d+[)]$", "", each) for each in kept} <= {"record windows"},
         "windows: %s in %s, %s by their name" % (most, names, kept))


def check_zoom(page):
    """Gestures and keys, without a click on the timeline first."""
    whole = span(page)
    rows = page.locator(".timeline .rows")
    box = rows.bounding_box()
    x, y, width, height = rows_box(page)
    must(abs(box["y"] + box["height"] + 172 - 900) < 40, "the rows end at %g of 900" % (box["y"] + box["height"]))
    page.mouse.move(x + width * .25, y + 60)
    wheel(page, -240, "")
    must(span(page) == whole, "the wheel alone zooms")
    wheel(page, -240, "Control")
    begin, end = shown(page)
    must(abs((end - begin) / whole - .5) < .01, "Ctrl and the wheel zoom from %d to %d" % (whole, end - begin))
    must(abs(begin + (end - begin) * .25 - whole * .25) < whole * .01, "Ctrl and the wheel do not zoom at the pointer: %d to %d of %d" % (begin, end, whole))
    before = shown(page)
    wheel(page, 100, "Shift")
    must(shown(page)[0] > before[0] and abs(span(page) - (before[1] - before[0])) <= 2, "Shift and the wheel do not pan")
    page.keyboard.press("0")
    page.keyboard.press("w")
    begin, end = shown(page)
    must(abs((end - begin) / whole - .7) < .01 and abs(begin + (end - begin) * .25 - whole * .25) < whole * .01, "W does not zoom at the pointer: %d to %d of %d" % (begin, end, whole))
    page.get_by_label("Search events by name").focus()
    before = shown(page)
    page.keyboard.type("wasd0")
    must(shown(page) == before, "keys of the timeline act in a field")
    page.get_by_label("Search events by name").fill("")
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
    page.mouse.move(x + width * .6, y + 60)
    page.mouse.down()
    page.mouse.move(x + width * .5, y + 60, steps=4)
    page.mouse.up()
    must(shown(page)[0] > before[0] and abs(span(page) - (before[1] - before[0])) <= 2, "dragging moves")
    page.get_by_role("button", name="zoom in").click()
    must(span(page) < before[1] - before[0], "the button zooms")
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
    x, y, width, height = rows_box(page)
    page.keyboard.press("Escape")
    must(details(page) == {}, "Escape forgets what was selected")
    for down in range(4, int(height), 9):
        page.mouse.move(x + width / 2, y + down)
        over = tip(page)
        page.mouse.click(x + width / 2, y + down)
        if details(page) == kernel:
            check_tip(page, over, kernel, x + width / 2, y + down)
            return
    must(False, "no click on the kernel selects it")


def check_tip(page, over, kernel, x, y):
    """What the box beside the pointer says of a kernel is what its details say."""
    must(over and over["name"] in kernel["Kernel"] and kernel["Duration"].startswith(over["Duration"]), "over the kernel: %s" % over)
    must(over["Stream"] == kernel["Stream"] and over["Grid, block"] == "%s, %s" % (kernel["Grid"], kernel["Block"]), "over the kernel: %s" % over)
    must(over["Launch delay"] == kernel["Launch delay"] and over.get("Operator") == kernel.get("Operator"), "over the kernel: %s" % over)
    page.mouse.move(x + 1, y)
    must(tip(page) == over, "the box says something else of the same kernel")
    bounds = page.locator(".tip").bounding_box()
    must(not bounds["y"] <= y <= bounds["y"] + bounds["height"], "the box covers what is under the pointer")
    page.mouse.move(x, 2)
    must(tip(page) is None, "the box stays after the pointer left")
    page.mouse.move(x, y)
    page.emulate_media(media="print")
    must(tip(page) is None, "the box is printed")
    page.emulate_media(media="screen")
    wheel(page, -240, "Control")
    must(tip(page) is None, "the box stays while zooming")


def check_measure(page):
    """Shift and a drag over all of the time: counts, totals and means are those of the table."""
    page.keyboard.press("0")
    x, y, width, height = rows_box(page)
    page.keyboard.down("Shift")
    page.mouse.move(x + width - 1, y + 8)
    page.mouse.down()
    page.mouse.move(x - 20, y + 8, steps=3)
    page.mouse.up()
    page.keyboard.up("Shift")
    frame(page)
    texts = page.evaluate("[...document.querySelectorAll('.measure table')].map((table) => [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.title || cell.textContent)))")
    must(len(texts) == 2, "a drag with Shift measures nothing")
    names, busy = texts
    begin, end = shown(page)
    title = page.locator(".measure h3").inner_text()
    nr = int(title.split(", ", 1)[1].split()[0].replace(",", ""))
    counts = [int(row[1].replace(",", "")) for row in names]
    more = page.locator(".measure .note").all_inner_texts()[1:]
    must(sum(counts) == nr or more, "%d of %d events have a name" % (sum(counts), nr))
    kernels = {row["name"]: row for row in expected["kernel"]["rows"]}
    for name, count, total, mean in names:
        if name in kernels and kernels[name]["calls"] > 1:
            must(int(count.replace(",", "")) <= kernels[name]["calls"], "%s calls of %s" % (count, name))
    must(all(0 <= float(share) <= 100 for _, share in busy) and any(float(share) > 0 for _, share in busy), "rows are busy: %s" % busy)
    shown_rows = [name for name, is_group, _, _ in lines(page) if not is_group]
    must([name for name, _ in busy] == shown_rows, "measured rows %s of %s" % (busy, shown_rows))
    chosen = shown(page)
    page.keyboard.press("f")
    must(shown(page) == chosen, "F does not fit what was selected")
    return title


def check_measured_busy(page):
    """The busy share of a stream over the whole time is that of its slices."""
    device = [row for row in expected.get("device", {}).get("rows", []) if row.get("busy_ns")]
    streams = [name for name, is_group, _, _ in lines(page) if not is_group and name.startswith("stream") and "sync" not in name]
    if len(device) != 1 or len(streams) != 1:
        return
    begin, end = shown(page)
    share = page.evaluate("""(name) => Number([...document.querySelectorAll('.measure tr')].find((row) => row.cells[0].textContent === name).cells[1].textContent)""", streams[0])
    must(abs(share - 100 * device[0]["busy_ns"] / (end - begin)) < 3, "%s is busy for %g %%" % (streams[0], share))


def check_layout(page):
    """The order of rows; they fold, filter and stick to the top."""
    page.keyboard.press("Escape")
    names = [name for name, _, _, _ in lines(page)]
    kinds = ["steps", "record windows", "phases", "main thread", "autograd thread", "loader thread", "thread", "GPU", "Counters"]
    order = []
    for name in names:
        if re.search(r"(^|, )pid \d+$", name):
            order.append([])
        order[-1] += [i for i, kind in enumerate(kinds) if name.startswith(kind)][:1]
    must(all(each == sorted(each) for each in order), "rows in another order: %s" % names)
    processes = expected["processes"]["rows"]
    must(len(order) == len(processes), "%d processes of %d" % (len(order), len(processes)))
    if len(processes) > 1:
        page.get_by_role("button", name="Fold or unfold all").click()
        must(len(lines(page)) == len(processes), "processes do not fold")
        page.get_by_role("button", name="Fold or unfold all").click()
        must([each[0] for each in lines(page)] == names, "processes do not unfold")
    streams = [name for name in names if re.match(r"stream \d+$", name)]
    must(not streams, "streams without a use: %s" % streams)
    counters = page.locator(".timeline .group button", has_text="Counters").first
    if counters.count():
        must(counters.get_attribute("aria-expanded") == "false", "counters are not folded")
        before, colors = len(names), pixels(page)
        counters.scroll_into_view_if_needed()
        counters.click()
        must(len(lines(page)) > before, "counters do not unfold")
        x, y, width, _ = rows_box(page)
        line = lines(page)[names.index("Counters") + 1]
        page.locator(".timeline .label > :first-child", has_text=line[0]).first.scroll_into_view_if_needed()
        page.mouse.move(x + width / 2, next(each for each in lines(page) if each[0] == line[0])[3] + 4)
        must(tip(page) and tip(page)["name"] == line[0] and "Value" in tip(page), "a counter has no value: %s" % tip(page))
        picture(page, "counters")
        counters.click()
    head = page.locator(".timeline .group button").first
    head.click()
    must(len(lines(page)) < len(names), "a process does not fold")
    head.click()
    must([each[0] for each in lines(page)] == names, "a process does not unfold")
    row = next(name for name, is_group, _, _ in reversed(lines(page)) if not is_group)
    page.get_by_label("Filter rows").fill(row)
    kept = [name for name, is_group, _, _ in lines(page) if not is_group]
    must(kept and all(row in name for name in kept), "filtered to %s by %s" % (kept, row))
    page.get_by_label("Filter rows").fill("no such row")
    must(lines(page) == [], "rows are left that do not match")
    page.get_by_label("Filter rows").fill("")
    pin = page.get_by_label("Pin " + row, exact=True).last
    row = page.evaluate("(pin) => pin.parentElement.firstElementChild.title", pin.element_handle())
    pin.focus()
    page.keyboard.press("Enter")
    page.locator(".timeline .rows").evaluate("(rows) => { rows.scrollTop = 0; }")
    must(lines(page)[0][0] == row, "the pinned row is not at the top: %s" % lines(page))
    x, y, width, _ = rows_box(page)
    page.set_viewport_size({"width": 1366, "height": 420})
    page.mouse.move(x + width / 2, y + 90)
    box = page.locator(".timeline .rows")
    before = span(page)
    page.mouse.wheel(0, 60)
    frame(page)
    moved = box.evaluate("(rows) => rows.scrollTop > 0 || rows.scrollHeight <= rows.clientHeight || scrollY > 0")
    must(moved and span(page) == before, "the wheel does not scroll the rows")
    top_now = next(each[3] for each in lines(page) if each[0] == row)
    must(0 <= top_now - box.bounding_box()["y"] < 8, "the pinned row does not stay at the top")
    page.set_viewport_size({"width": 1366, "height": 900})
    page.evaluate("scrollTo(0, 0)")
    page.locator(".timeline .rows").evaluate("(rows) => { rows.scrollTop = 0; }")
    page.mouse.move(x + width / 2, lines(page)[0][3] + 4)
    page.keyboard.press("p")
    must(lines(page)[0][0] == names[0], "P does not take the pin away: %s" % lines(page)[0])


def check_keys_list(page):
    page.keyboard.press("?")
    keys = page.locator(".keys")
    must(keys.is_visible(), "? lists no keys")
    missing = {"W", "S", "A", "D", "F", "P", "n", "N", "0", "/", "?", "Esc", "Ctrl+wheel", "Shift+drag"} - set(keys.locator("kbd").all_inner_texts())
    must(not missing, "the keys lack %s" % missing)
    page.keyboard.press("Escape")
    must(not keys.is_visible(), "Escape leaves the list of keys open")


def look_of(page):
    """All that an address must bring back."""
    frame(page)
    return {"time": shown(page), "details": page.locator(".slice").inner_text(), "lines": [each[:3] for each in lines(page)],
            "fields": [page.get_by_label(label).input_value() for label in ("Search events by name", "Filter rows")],
            "scroll": page.locator(".timeline .rows").evaluate("(rows) => rows.scrollTop"),
            "picture": page.evaluate("document.querySelector('.timeline .rows canvas').toDataURL()")}


def check_address(page):
    """A copied address opens the same picture."""
    open_page(page, "#timeline")
    must(settled(page) == "#timeline", "the address changes by itself")
    x, y, width, _ = rows_box(page)
    page.mouse.move(x + width * .3, y + 60)
    page.keyboard.press("w")
    page.keyboard.press("w")
    page.keyboard.press(".")
    page.keyboard.press(".")
    page.get_by_label("Search events by name").fill("a/b&c %")
    page.get_by_label("Search events by name").fill(expected["kernel"]["rows"][0]["name"][:6] if expected["kernel"]["rows"] else "e")
    row = next(name for name, is_group, _, _ in reversed(lines(page)) if not is_group)
    page.get_by_label("Pin " + row, exact=True).last.focus()
    page.keyboard.press("Enter")
    page.locator(".timeline .group button").last.click()
    page.mouse.move(2, 2)
    for what in ("an event", "a time"):
        page.evaluate("document.activeElement.blur()")
        before, hash = look_of(page), settled(page)
        must(hash.startswith("#timeline/view/"), "the address of %s: %s" % (what, hash))
        open_page(page, hash)
        page.evaluate("document.activeElement.blur()")
        after = look_of(page)
        must(after == before, "%s is not the same by its address %s: %s" % (what, hash, [(key, before[key], after[key]) for key in before if before[key] != after[key] and key != "picture"]))
        must(settled(page) == hash, "the address changes by opening it")
        page.keyboard.press("Escape")
        page.keyboard.down("Shift")
        page.mouse.move(x + width * .3, y + 60)
        page.mouse.down()
        page.mouse.move(x + width * .5, y + 60, steps=2)
        page.mouse.up()
        page.keyboard.up("Shift")
        page.mouse.move(2, 2)
    for hash in ("#timeline/view", "#timeline/view/x~y/e9999.1_t5/%22/z/f9999_p-1_ynan", "#timeline/view/5~5/e0.99999999", "#timeline/step/0/0"):
        open_page(page, hash)
        must(pixels(page) > 8, "nothing is drawn at " + hash)
    open_page(page, "#timeline")


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
        must(page.get_by_label("Search events by name").input_value() == "", "a link to a step dims other events")
        must(abs(span(page) / step["span_ns"] - 1.2) < .05 if step.get("span_ns") else True, "a link to a step does not zoom to it")
        if page.locator(".slice a").count():
            page.locator(".slice a").first.click()
            drawn(page, "Step ")
            page.get_by_role("main").get_by_role("link", name="timeline").first.click()
            drawn(page, "Timeline")
            must(details(page) == found, "the page of a step leads to its span")
        else:
            must(False, "a step leads to its page")


def check_phases(page):
    """Phases have a row, with the times of the table of steps."""
    for key, title in (("dataloader_ns", "Dataloader"), ("forward_ns", "Forward"), ("backward_ns", "Backward"), ("optimization_ns", "Optimization")):
        times = [row[key] for row in expected["steps"]["rows"] if row[key]]
        if times:
            open_page(page, "#timeline/find/" + title)
            facts = details(page)
            found = int(re.search(r"([\d,]+) ns", facts["Duration"]).group(1).replace(",", ""))
            must(facts["Track"] == "phases", "%s is on %s" % (title, facts["Track"]))
            must(any(found <= time for time in times) and (key == "optimization_ns" or found in times), "%s lasts %d ns, in steps %s" % (title, found, times[:5]))


def check_sums(page):
    """A click describes what has no slice of its own, and a frame draws no more than its pixels."""
    must("are merged into bins" in page.locator("main").inner_text(), "the page does not say that events are merged")
    box = page.locator(".timeline .rows canvas").bounding_box()
    lowest = min(box["height"], page.locator(".timeline .rows > div").bounding_box()["height"])
    found, nr_rows, names = {}, int(lowest - 44) // 18 + 1, gutter(page)
    page.mouse.move(box["x"] + names + 2, box["y"] + 60)
    wheel(page, -1440, "Control") # a bin has many pixels then
    for i in range(400):
        column, row = divmod(i, nr_rows)
        x, y = box["x"] + names + 4 + column * 97 % (box["width"] - names - 12), box["y"] + 40 + row * 18
        page.mouse.click(x, y)
        found = details(page)
        if "Merged" in found:
            break
    page.mouse.move(2, 2)
    page.mouse.move(x, y)
    over = tip(page)
    must(over and over.get("Longest") == found["Longest"] and over["name"] == found["Merged"].split(" between ")[0].replace(" event", " merged event"), "over a sum: %s" % over)
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
        names = gutter(page)
        page.mouse.move(box["x"] + names + (box["width"] - names) * place, box["y"] + 60)
        for i in range(14):
            wheel(page, -960, "Control")
        page.mouse.click(box["x"] + names + (box["width"] - names) * place, box["y"] + 60)
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


def check_touch(browser):
    """A finger selects and leaves no box; nothing is wider than a narrow window."""
    context = new_context(browser, viewport={"width": 420, "height": 900}, has_touch=True, is_mobile=True)
    page = context.new_page()
    open_page(page, "#timeline")
    x, y, width, height = rows_box(page)
    for down in range(40, int(height), 9):
        page.touchscreen.tap(x + width * .8, y + down)
        must(tip(page) is None, "a finger shows the box beside the pointer")
        if details(page):
            break
    must(details(page), "a finger selects nothing")
    must(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "a selection is wider than a narrow window")
    context.close()


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
    check_opening(page)
    check_windows(page)
    must(("events are drawn one by one." in page.locator("main").inner_text() and "are merged" not in page.locator("main").inner_text()) == is_whole, "the page does not say whether all slices are there")
    check_rows(page)
    if name == "hostile":
        check_deep(page)
    elif not is_whole:
        check_sums(page)
    elif len(expected["processes"]["rows"]) > 1:
        if scheme == "light":
            check_layout(page)
            check_address(page)
    elif scheme == "light":
        save(page, "")
        check_zoom(page)
        if expected["kernel"]["rows"]:
            check_flow(page, check_search(page))
        check_keys(page)
        check_keys_list(page)
        check_measure(page)
        check_measured_busy(page)
        check_layout(page)
        page.get_by_role("button", name="zoom in").click()
        page.get_by_role("button", name="zoom in").click()
        save(page, "-part")
        print("part %dns-%dns" % shown(page))
        if expected["kernel"]["rows"]:
            check_links(page)
        check_phases(page)
        open_page(page, "#timeline")
        check_address(page)
        check_print(page)
    context.close()


with opened_browser(chromium) as browser:
    work(browser, "light")
    work(browser, "dark")
    if is_whole and name != "hostile" and len(expected["processes"]["rows"]) == 1:
        check_touch(browser)
finish()
