# SPDX-License-Identifier: Apache-2.0
"""Opens a page of `gprof-report html A B` in Chromium.

usage: diff.py CHROMIUM PAGE JSON HOW REPORT [PICTURES]    HOW: see tables.look; JSON: of `gprof-report diff`; PICTURES: a folder
"""
import json
import re
import subprocess
import sys

from must import finish, must
from tables import look
from wait import drawn, frame, until

chromium, path, expected_path, how, report, pictures = (sys.argv + [""])[1:7]
expected = json.load(open(expected_path))
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
    check_verdict(page)
    significant = [row for key in sections for row in expected[key]["rows"] if row["significance"] == "significant"]
    shown = page.locator("#changes li")
    sizes = sorted((abs(row["change_ns"]) for row in significant), reverse=True)[:15]
    must(shown.count() == len(sizes), "%d changes, not the significant ones" % shown.count())
    for i, size in enumerate(sizes):
        must(shown.nth(i).locator("a").first.get_attribute("title") in [row["name"] for row in significant if abs(row["change_ns"]) == size], "change %d is not the next by size" % i)
    who = page.locator("#who").inner_text()
    paths = [row["path"].split("/") for row in expected["sides"]["rows"]]
    must(all(path[-1] in who for path in paths) and not who.startswith("A: /" + paths[0][1] + "/") or paths[0][1] != paths[1][1], "the runs are " + who)
    if sizes:
        check_views(page, shown)
        shown.first.locator("a").first.click()
        until(page, "() => document.querySelector('main h2').textContent !== 'Overview'")
        drawn(page)
        must(page.locator("section[id^=table-] tbody tr").count() == 1, "a change leads to its row")


def ns_of(text):
    value, unit = re.search(r"([0-9.,]+) (s|ms|us|ns)\b", text).groups()
    return float(value.replace(",", "")) * {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[unit] * (-1 if text.startswith("−") else 1)


def check_verdict(page):
    """The first section is the answer of `diff`; of what nobody asked, whether a condition holds, it says nothing."""
    [row] = expected["answer"]["rows"]
    section = page.locator("main > section").first
    must(section.get_attribute("id") == "verdict", "the answer does not come first")
    must(section.locator("h3").inner_text() == row["answer"].replace(" -> ", " \u2192 "), "answer: " + section.locator("h3").inner_text())
    must(not re.search("passed|FAILED|inconclusive", page.locator("main").inner_text()), "a condition that nobody gave")
    said = dict(zip(section.locator("dt").all_inner_texts(), section.locator("dd").all_inner_texts()))
    must(("99 % interval" in said) == (row["low_ns"] is not None), "interval: %s" % said)
    if row["low_ns"] is not None:
        for text, ns in zip(said["99 % interval"].split(" to "), (row["low_ns"], row["high_ns"])):
            must(abs(ns_of(text) - ns) <= 1e-3 * abs(ns) + 1, "%s, not %d ns" % (text, ns))


def check_views(page, shown):
    """A change leads to both timelines, where its name is searched for, and to the flame graph."""
    links = shown.locator(".links").first
    if not links.count():
        return
    name = links.locator("..").locator("a").first.get_attribute("title")
    for text, title in ("flame graph", "Flame graph"), ("timelines", "Timelines"):
        links.get_by_role("link", name=text).click()
        drawn(page, title)
        if title == "Flame graph" or page.locator(".pair").count():
            value = page.locator("main input[type=search]").first.input_value()
            must(value.strip('"')[:20] == " ".join(name.split())[:20], "%s searches for '%s', not '%s'" % (title, value, name))
        page.goto(page.url.split("#")[0] + "#overview")
        drawn(page, "Overview")


def printed(*arguments):
    return subprocess.run([report, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def check_root(page, weight, want, what):
    """want: of A and B."""
    said = re.match(r"all\nall, A ([0-9.,]+) (\w+), B ([0-9.,]+) (\w+), [+−]", page.locator(".flame-details").inner_text())
    must(said, "details of the root: " + page.locator(".flame-details").inner_text())
    for value, unit, each in zip(said.groups()[::2], said.groups()[1::2], want):
        factor = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}.get(unit, 1)
        must(abs(float(value.replace(",", "")) * factor - each) <= 1e-3 * each + 1, "%s of %s: %s %s, not %f" % (weight, what, value, unit, each))


def check_flame_steps(page, weight):
    """Some of the steps: as the command has them in both runs, each divided by as many as it has; the address keeps them."""
    first, last = page.get_by_label("First step"), page.get_by_label("Last step")
    if not first.count():
        return
    first.select_option(index=1)
    last.select_option(index=max(last.locator("option").count() - 2, 1))
    frame(page)
    steps = "%s-%s" % (first.input_value(), last.input_value())
    want, text = [], page.locator("main section p.note").first.inner_text()
    for row in expected["sides"]["rows"]:
        rows = json.loads(printed("summary", "--view", "steps", "--format", "json", "--top", "0", "--steps", steps, row["path"]))["steps"]["rows"]
        must(re.search(r"\b%s %d\b" % (row["side"], len(rows)), text), "%s, not %d steps of %s" % (text, len(rows), row["side"]))
        lines = printed("flame", "--by", weight, "--steps", steps, "-o", "-", row["path"]).splitlines()
        want.append(sum(int(line.rpartition(" ")[2]) for line in lines) / len(rows) if rows else 0)
    if sum(want):
        check_root(page, weight, want, "steps " + steps)
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    drawn(page, "Flame graph")
    must((first.input_value() + "-" + last.input_value()) == steps, "the address has the steps: " + address)


def check_flame(page):
    """The root has the time of both runs, per step, excluded ones among them; a click zooms."""
    steps = [(row["steps"] or 0) + (row["excluded"] or 0) for row in expected["sides"]["rows"]]
    steps = steps if all(row["steps"] for row in expected["sides"]["rows"]) else [1, 1]
    text = page.evaluate("() => document.getElementById('flame').textContent")
    data = json.loads(text) if text.strip() else None
    page.goto(page.url.split("#")[0] + "#flame")
    drawn(page, "Flame graph")
    if not data:
        must("No operator, call or GPU activity was recorded." in page.locator("main").inner_text(), "an empty flame graph says so")
        return
    weight = page.url.split("#flame")[1] or next(each for each in ("gpu", "cpu", "launches") if sum(data["trees"].get("modules", {each: [0]})[each]) +
                                                 sum(data["other"].get("modules", {each: [0]})[each]))
    check_root(page, weight, [sum(data[side].get("modules", {weight: [0]})[weight]) / nr for side, nr in zip(("trees", "other"), steps)], "all steps")
    page.locator(".flame g").nth(1).dispatch_event("click")
    until(page, "() => !document.querySelector('.flame-details').textContent.startsWith('all')")
    must("/" in page.url.split("#flame")[1], "the address has the zoom: " + page.url)
    page.goto(page.url.split("#")[0] + "#flame")
    drawn(page, "Flame graph")
    check_flame_steps(page, weight)


def check(page):
    check_flame(page)
    page.goto(page.url.split("#")[0] + "#overview")
    drawn(page, "Overview")
    check_overview(page)


look(chromium, path, expected, how, check, "diff", pictures)
finish()
