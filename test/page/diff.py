# SPDX-License-Identifier: Apache-2.0
"""Opens a page of `gprof-report html A B` in Chromium.

usage: diff.py CHROMIUM PAGE JSON [PICTURES]    JSON: of `gprof-report diff`; PICTURES: a folder
"""
import json
import re
import sys

from must import finish, must
from tables import look
from wait import drawn, until

chromium, path, expected_path, pictures = (sys.argv + [""])[1:5]
expected = json.load(open(expected_path))
expected.pop("checks", None)
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
        want = "" if row["significance"] != "significant" else "bad" if row["change_ns"] > 0 else "good"
        must((want in mood.split()) if want else not {"good", "bad"} & set((mood or "").split()), "mood of " + row["name"])
    significant = [row for key in sections for row in expected[key]["rows"] if row["significance"] == "significant"]
    shown = page.locator("#changes li")
    must(shown.count() == min(12, len(significant)), "%d changes, not the significant ones" % shown.count())
    largest = sorted((abs(row["change_ns"]) for row in significant), reverse=True)
    if largest:
        must(shown.first.locator("a").get_attribute("title") in
             [row["name"] for row in significant if abs(row["change_ns"]) == largest[0]], "the largest change is not the first")
        shown.first.locator("a").click()
        until(page, "() => document.querySelector('main h2').textContent !== 'Overview'")
        drawn(page)
        must(page.locator("section[id^=table-] tbody tr").count() == 1, "a change leads to its row")


def check_flame(page):
    """The root has the time of both runs, per step; a click zooms."""
    steps = [row["steps"] for row in expected["sides"]["rows"]]
    steps = steps if all(steps) else [1, 1]
    text = page.evaluate("() => document.getElementById('flame').textContent")
    data = json.loads(text) if text.strip() else None
    page.goto(page.url.split("#")[0] + "#flame")
    drawn(page, "Flame graph")
    if not data:
        must("No operator, call or GPU activity was recorded." in page.locator("main").inner_text(), "an empty flame graph says so")
        return
    weight = page.url.split("#flame")[1] or next(each for each in ("gpu", "cpu", "launches") if sum(data["trees"].get("modules", {each: [0]})[each]) +
                                                 sum(data["other"].get("modules", {each: [0]})[each]))
    details = page.locator(".flame-details")
    said = re.match(r"all\nall, A ([0-9.,]+) (\w+), B ([0-9.,]+) (\w+), [+−]", details.inner_text())
    must(said, "details of the root: " + details.inner_text())
    for side, value, unit, nr in zip(("trees", "other"), said.groups()[::2], said.groups()[1::2], steps):
        factor = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}.get(unit, 1)
        want = sum(data[side].get("modules", {weight: [0]})[weight]) / nr
        must(abs(float(value.replace(",", "")) * factor - want) <= 1e-3 * want + 1, "%s of %s: %s %s, not %f" % (weight, side, value, unit, want))
    page.locator(".flame g").nth(1).dispatch_event("click")
    until(page, "() => !document.querySelector('.flame-details').textContent.startsWith('all')")
    must("/" in page.url.split("#flame")[1], "the address has the zoom: " + page.url)


def check(page):
    check_flame(page)
    page.goto(page.url.split("#")[0] + "#overview")
    drawn(page, "Overview")
    check_overview(page)


look(chromium, path, expected, check, "diff", pictures)
finish()
