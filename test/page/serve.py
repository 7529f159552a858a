# SPDX-License-Identifier: Apache-2.0
"""The page of `gprof-report serve` in Chromium: where the page has merged events, zooming in draws each one, as `timeline` has it.

usage: serve.py CHROMIUM REPORT STREAM FOLDER [PICTURES]    FOLDER: for files of its own
"""
import atexit
import collections
import json
import os
import re
import subprocess
import sys

from must import finish, must
from wait import drawn, frame, new_context, opened_browser, until

chromium, report, stream, folder, pictures = (sys.argv + [""])[1:6]
name = os.path.basename(stream)
MOST = 16000  # events that the page asks for at once, so that small recordings do
TRACKS = "api,ops,nvtx,python,gpu,steps,marks"

# The data of the view, which nothing else of the page hands out.
SEE = """() => {
    const update = timelineDetail.Asker.prototype.update;
    timelineDetail.Asker.prototype.update = function () {
        window.seen = this.view.data;
        return update.call(this);
    };
}"""
# [begin, length, name] of the slices that are drawn one by one in a time. Steps are no slices of `timeline`, phases are made by the page.
SLICES = """([from, to]) => window.seen.rows.filter((row) => !window.seen.tracks[row.track].isOfPhases).flatMap((row) => {
    const found = [];
    for (let i = 0; i < row.nr; i++) {
        const {begin, end} = row, set = window.seen.sets[row.set[i]];
        if (begin[i] < to && (end[i] > from || begin[i] === from) && !set[1] && window.seen.categories[set[0]] !== 'step') {
            found.push([begin[i], end[i] - begin[i], window.seen.strings[row.name[i]]]);
        }
    }
    return found;
})"""
COUNTS = """() => ({nr: window.seen.nr, dropped: window.seen.dropped, all: window.seen.all, version: window.seen.version, base: window.seen.base_ns, first: window.seen.first_ns,
    shown: window.seen.rows.reduce((sum, row) => sum + (window.seen.tracks[row.track].isOfPhases ? 0 : row.nr), 0), merged: window.seen.rows.reduce((sum, row) => sum + row.buckets.reduce((all, each) => all + each.nr, 0), 0),
    busy: window.seen.rows.reduce((sum, row) => sum + (window.seen.tracks[row.track].isOfPhases ? 0 : row.busy[row.nr] + row.buckets.reduce((all, each) => all + each.busy, 0)), 0)})"""


def detailed(page):
    """Until the page has nothing more to ask for."""
    frame(page)
    until(page, "() => ['drawn', 'lost'].includes(document.querySelector('.timeline').dataset.detail)")


def with_less(route):
    """The page as it would be if the server sent less at once."""
    answer = route.fetch()
    route.fulfill(response=answer, body=answer.text().replace('"window_events": 250000', '"window_events": %d' % MOST))


def opened(page, url):
    page.goto("about:blank")
    page.goto(url)
    drawn(page)
    page.evaluate(SEE)
    page.keyboard.press("0")
    frame(page)


def shown(page):
    frame(page)
    found = re.search(r"--time (\d+)ns-(\d+)ns -o selection.pftrace", page.locator(".tools code").inner_text())
    return int(found.group(1)), int(found.group(2))


def check_counts(page, before):
    counts = page.evaluate(COUNTS)
    must(counts["nr"] + counts["dropped"] == counts["all"], "%(nr)d and %(dropped)d of %(all)d events" % counts)
    must(counts["nr"] == counts["shown"] and counts["dropped"] == counts["merged"], "%s" % counts)
    must(counts["busy"] == before["busy"], "%d ns are busy, %d were" % (counts["busy"], before["busy"]))
    return counts


def expected(begin, end, counts):
    """The same of `timeline`."""
    path = folder + "/expected.json"
    subprocess.run([report, "timeline", "--time", "%dns-%dns" % (begin, end), "--tracks", TRACKS, "-o", path, stream], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    trace, found, begun = json.load(open(path)), [], {}
    shift = int(trace["baseTimeNanoseconds"]) - int(counts["base"]) - counts["first"]
    for event in trace["traceEvents"]:
        ns = round(event.get("ts", 0) * 1000) + shift
        if event["ph"] == "X" and event.get("cat") != "gpu_user_annotation" and not re.match(r"ProfilerStep#\d+$", event["name"]):
            found.append((ns, round(event["dur"] * 1000), event["name"]))
        elif event["ph"] == "b":
            begun[event["id"]] = ns
        elif event["ph"] == "e":
            found.append((begun[event["id"]], ns - begun.pop(event["id"]), event["name"]))
    return found


def check_time(page, what):
    """What is in view is what `timeline` has of that time."""
    begin, end = shown(page)
    counts = page.evaluate(COUNTS)
    mine, theirs = [tuple(each) for each in page.evaluate(SLICES, [begin, end])], expected(begin, end, counts)
    strip = lambda events: collections.Counter(each[:2] for each in events)
    must(strip(mine) == strip(theirs), "%s: %d events, %d of timeline; %s" % (what, len(mine), len(theirs), list(((strip(mine) - strip(theirs)) + (strip(theirs) - strip(mine))).items())[:3]))
    must(collections.Counter(mine) == collections.Counter(theirs), "%s: other names, %s" % (what, list((collections.Counter(mine) - collections.Counter(theirs)).items())[:2]))
    return mine


def check_zoom(page, before, requests):
    """Zooming in asks for what is merged, and for nothing twice."""
    must(not requests, "the whole is asked for: %s" % requests)
    for _ in range(30):
        page.keyboard.press("w")
        detailed(page)
        if page.evaluate(COUNTS)["version"]:
            break
    check_counts(page, before)
    nr = len(check_time(page, "zoomed in"))
    must(nr > 1000, "only %d events in view" % nr)
    must(len(set(requests)) == len(requests) and requests, "requests %s" % requests)
    nr_asked = len(requests)
    for key in ("w", "w", "s", "d", "a"):
        page.keyboard.press(key)
        detailed(page)
    must(len(requests) == nr_asked, "asked again for %s" % requests[nr_asked:])
    for _ in range(14):
        page.keyboard.press("d")
        frame(page)
    detailed(page)
    must(len(requests) > nr_asked, "panning asks for nothing")
    check_counts(page, before)
    check_time(page, "moved")
    return shown(page)


def check_measure(page):
    """Counts and times by name of a selected time."""
    box = page.locator(".timeline .rows canvas").bounding_box()
    gutter = page.evaluate("parseFloat(getComputedStyle(document.querySelector('.timeline')).getPropertyValue('--gutter'))")
    width = box["width"] - gutter
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + gutter + width * .3, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + gutter + width * .7, box["y"] + 60, steps=3)
    page.mouse.up()
    page.keyboard.up("Shift")
    begin, end = shown(page)
    rows = page.evaluate("""() => [...document.querySelectorAll('.measure table')[0].querySelectorAll('tbody tr')].map(
        (row) => [row.firstElementChild.title, row.children[1].textContent])""")
    counts = collections.Counter(each[2] for each in expected(begin, end, page.evaluate(COUNTS)))
    phases = ("Dataloader", "Forward", "Backward", "Optimization", "Others", "step ")
    checked = [(title, int(nr.replace(",", ""))) for title, nr in rows if not title.startswith(phases)]
    must(checked and all(counts[title] == nr for title, nr in checked), "measured %s, not %s" % (checked, [counts[title] for title, _ in checked]))
    must("merged" not in page.locator(".measure > p").inner_text(), "merged events in " + page.locator(".measure > p").inner_text())
    page.keyboard.press("Escape")


def details(page):
    frame(page)
    return page.evaluate("""() => Object.fromEntries([...document.querySelectorAll('.slice > div')].map(
        (line) => [line.querySelector('dt').textContent, line.querySelector('dd').textContent]))""")


def check_address(page, base):
    """An address with an event that only the server has opens the same picture."""
    page.keyboard.press(".")
    page.keyboard.press(".")
    selected = details(page)
    must("Start" in selected, "nothing is selected: %s" % selected)
    until(page, "() => document.querySelector('.timeline').dataset.address === 'written'")
    where = page.evaluate("location.hash")
    page.goto("about:blank")
    page.goto(base + where)
    drawn(page)
    detailed(page)
    must(details(page) == selected, "%s is selected, not %s" % (details(page), selected))
    must(page.evaluate("location.hash") == where, "the address is %s, not %s" % (page.evaluate("location.hash"), where))
    page.evaluate(SEE)
    page.keyboard.press("d")
    frame(page)
    detailed(page)
    page.keyboard.press("Escape")


def check_search(page, before):
    """The search knows events that came later; the selected one stays so while others come."""
    page.keyboard.press(".")
    word = page.evaluate("""() => {
        const names = new Map();
        window.seen.rows.forEach((row) => row.name.forEach((each) => names.set(each, (names.get(each) || 0) + 1)));
        return window.seen.strings[[...names].sort((a, b) => b[1] - a[1])[0][0]];
    }""")
    page.get_by_label("Search events by name").fill('"%s"' % word)
    frame(page)
    page.keyboard.press("Enter")
    selected = details(page)
    page.locator("h2").click()
    for _ in range(12):
        page.keyboard.press("a")
        frame(page)
    detailed(page)
    must(details(page)["Start"] == selected["Start"], "%s is selected, not %s" % (details(page), selected))
    nr = page.evaluate("(word) => window.seen.rows.reduce((sum, row) => sum + row.name.filter((each) => window.seen.strings[each] === word).length, 0)", word)
    status = page.locator(".timeline").locator("xpath=..").get_by_role("status").inner_text()
    must(status.endswith("of {:,}".format(nr)) or status == "{:,} found".format(nr), "%s, not %d" % (status, nr))
    check_counts(page, before)
    page.get_by_label("Search events by name").fill("")
    page.locator("h2").click()


def check_forget(page, before):
    """The page can go back to what it has of itself."""
    page.evaluate("() => timelineDetail.forget(window.seen)")
    must({**page.evaluate(COUNTS), "version": 0} == before, "%s, not %s" % (page.evaluate(COUNTS), before))
    page.keyboard.press("w")
    frame(page)
    detailed(page)
    check_counts(page, before)
    check_time(page, "asked for again")


def check_file(page, span):
    """The page from disk has fewer events, and asks for nothing."""
    path, requests = folder + "/alone.html", []
    subprocess.run([report, "html", "--timeline-size", "20k", "-o", path, stream], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    page.on("request", lambda request: requests.append(request.url))
    opened(page, "file://%s#timeline/view/%d~%d" % (os.path.abspath(path), *span))
    must(not [url for url in requests if not url.startswith(("file:", "data:"))], "a page from disk asks for %s" % requests)
    must(page.evaluate("document.querySelector('.timeline').dataset.detail") is None and "--timeline-size" in page.locator(".timeline ~ p.note").inner_text(), "a page from disk waits for a server")
    alone = page.evaluate(COUNTS)
    must(alone["dropped"] > 0 and alone["version"] == 0, "a page from disk has %s" % alone)
    return page.evaluate(SLICES, list(span))


server = subprocess.Popen([report, "serve", "--timeline-size", "20k", stream], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
atexit.register(server.kill)
base = re.search(r"http://\S+", server.stdout.readline()).group(0)
with opened_browser(chromium) as browser:
    context = new_context(browser, viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page, errors, requests = context.new_page(), [], []
    context.route(re.compile("/$"), with_less)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: requests.append(request.url) if "/window?" in request.url else None)
    opened(page, base + "#timeline")
    before = page.evaluate(COUNTS)
    must(before["dropped"] > before["nr"], "the page has most events: %s" % before)
    must("all of them are drawn one by one" in page.locator(".timeline ~ p.note").inner_text(), page.locator(".timeline ~ p.note").inner_text())
    span = check_zoom(page, before, requests)
    served = page.evaluate(SLICES, list(span))
    check_measure(page)
    if pictures:
        page.screenshot(path="%s/%s-served.png" % (pictures, name))
    check_address(page, base)
    check_search(page, before)
    check_forget(page, before)
    alone = check_file(context.new_page(), span)
    must(len(alone) < len(served) and not [each for each in alone if each not in served], "%d events from disk, %d from the server" % (len(alone), len(served)))
    must(not errors, "errors %s" % errors)
    # Without the server the page stays as it is.
    server.terminate()
    must(server.wait() == 0, "status %d" % server.returncode)
    counts = page.evaluate(COUNTS)
    for _ in range(40):
        page.keyboard.press("d")
        frame(page)
        if page.evaluate("document.querySelector('.timeline').dataset.detail") == "lost":
            break
    detailed(page)
    must("serve has ended" in page.locator(".timeline ~ p.note").inner_text() and page.evaluate(COUNTS) == counts, "without the server: " + page.locator(".timeline ~ p.note").inner_text())
finish()
