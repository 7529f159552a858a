# SPDX-License-Identifier: Apache-2.0
"""Works with the charts of memory and of the roofline of a page in Chromium: their figures are those of `summary`.

usage: memory.py CHROMIUM PAGE JSON [PICTURES]    JSON: of `summary --all`
"""
import json
import os
import re
import sys

from must import finish, must
from wait import drawn, frame, new_context, opened_browser, until

chromium, path, json_path = sys.argv[1:4]
pictures = (sys.argv[4:] + [""])[0]
with open(json_path) as file:
    tables = json.load(file)
CATEGORIES = [each + "_bytes" for each in
              "parameters gradients optimizer_state activations inputs temporary other unknown".split()]
UNITS = {"GB": 1e9, "MB": 1e6, "KB": 1e3, "B": 1}
# Sums of a chart's series at each of its times, without what is no category; and where its points are on the screen.
SUMS = """() => { const chart = Chart.getChart(document.querySelector('main canvas')), unit = chart.options.scales.y.title.text;
    const sets = chart.data.datasets.filter((set) => set.stack === 'categories');
    return [unit, sets[0].data.map((point, i) => sets.reduce((sum, set) => sum + set.data[i].y, 0))]; }"""
PLACE = """([set, at]) => { const canvas = document.querySelector('main canvas'), box = canvas.getBoundingClientRect();
    const point = Chart.getChart(canvas).getDatasetMeta(set).data[at];
    return [box.x + point.x, box.y + point.y]; }"""
POINTS = "() => Chart.getChart(document.querySelector('main canvas')).data.datasets.filter((set) => set.rows).map((set) => set.rows.map((row) => row.name))"
TIP = "() => { const tip = Chart.getChart(document.querySelector('main canvas')).tooltip; return tip.opacity ? [...tip.title, ...tip.body.flatMap((each) => each.lines)] : []; }"


def open_page(page, hash, title):
    page.goto("about:blank")
    page.goto("file://" + os.path.abspath(path) + hash)
    drawn(page, title)


def in_use(row):
    """Of the blocks in the table: those in use at the time of a row of the curve."""
    return [block for block in tables["memory_blocks"]["rows"]
            if (block["pid"], block["place"]) == (row["pid"], row["device"]) and block["allocation_ns"] <= row["time_ns"] and
            (block["release_ns"] is None or block["release_ns"] > row["time_ns"])]


def same_time(title, ns):
    """Does "Largest blocks in use at 1.131 ms, GPU 0" name that time?"""
    value, unit = re.search(r" at ([0-9.,]+) (s|ms|us|ns),", title).groups()
    return abs(float(value.replace(",", "")) * {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[unit] - ns) <= 1e-3 * ns


def check_memory(page, name):
    rows = [row for row in tables["memory_curve"]["rows"] if row["parameters_bytes"] is not None]
    top = max(rows, key=lambda row: row["allocated_bytes"])
    rows = [row for row in rows if (row["pid"], row["device"]) == (top["pid"], top["device"])]
    unit, sums = page.evaluate(SUMS)
    must(len(sums) == len(rows), "%d times, not %d" % (len(sums), len(rows)))
    for row, value in zip(rows, sums):
        must(sum(row[each] for each in CATEGORIES) == row["allocated_bytes"], "categories of %s do not add up" % row)
        must(abs(value * UNITS[unit] - row["allocated_bytes"]) < 1, "%s %s, not %d" % (value, unit, row["allocated_bytes"]))
    shown = page.locator("#blocks-then")
    must(shown.locator("tbody tr").count() == min(25, len(in_use(top))), "blocks of the peak")
    must(page.locator("#table-memory_categories tbody tr").count() == len(tables["memory_categories"]["rows"]), "categories")
    for at in range(0, len(rows), max(1, len(rows) // 3)):
        page.mouse.click(*page.evaluate(PLACE, [0, at]))
        frame(page)
        want = in_use(rows[at])
        must(page.locator("#blocks-then tbody tr").count() == min(25, len(want)), "blocks at %d ns" % rows[at]["time_ns"])
        must(same_time(page.locator("#blocks-then h3").inner_text(), rows[at]["time_ns"]), "the title of those at %d ns" % rows[at]["time_ns"])
    if pictures:
        page.screenshot(path="%s/memory-%s.png" % (pictures, name), full_page=True)


def check_roofline(page, name):
    rows = tables["roofline"]["rows"]
    sets = page.evaluate(POINTS)
    must(sorted(sum(sets, [])) == sorted(row["name"] for row in rows), "the points are %s" % sets)
    longest = max((row for row in rows if row["kind"] == "operator"), key=lambda row: row["gpu_total_ns"])
    at = page.evaluate(PLACE, [0, sets[0].index(longest["name"])])
    page.mouse.move(*at)
    until(page, "(name) => { const tip = Chart.getChart(document.querySelector('main canvas')).tooltip; return tip.opacity && tip.title.join().includes(name); }",
          longest["name"])
    tip = " ".join(page.evaluate(TIP))
    must("%s calls" % format(longest["calls"], ",") in tip, "the tip is " + tip)
    must(("%.1f %% of the roof" % longest["roof_pct"] if longest["roof_pct"] is not None else "roof not known") in tip, "the tip is " + tip)
    if pictures:
        page.screenshot(path="%s/roofline-%s.png" % (pictures, name), full_page=True)
    page.mouse.click(*at)
    drawn(page, "Operators", "#operators/operator/")
    must(page.locator("#table-operator tbody tr td").first.inner_text() == longest["name"], "the row of " + longest["name"])


with opened_browser(chromium) as browser:
    for name, how in ("light", {"viewport": {"width": 1280, "height": 900}}), \
            ("narrow-dark", {"viewport": {"width": 420, "height": 900}, "color_scheme": "dark"}):
        page = new_context(browser, **how).new_page()
        page.on("console", lambda message: must(message.type not in ("error", "warning"), "console: " + message.text))
        page.on("pageerror", lambda error: must(False, "script: %s" % error))
        open_page(page, "#memory", "Memory")
        check_memory(page, name)
        open_page(page, "#roofline", "Roofline")
        check_roofline(page, name)
finish()
