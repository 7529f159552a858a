# SPDX-License-Identifier: Apache-2.0
"""Opens a page of a summary of `gprof-report reduce` in Chromium.

usage: reduced.py CHROMIUM PAGE JSON HOW [PICTURES]    HOW: see tables.look; JSON: of `summary` of the same; PICTURES: a folder
"""
import json
import sys

from must import finish, must
from tables import look

chromium, path, expected_path, how, pictures = (sys.argv + [""])[1:6]
expected = json.load(open(expected_path))
nr = len(expected["processes"]["rows"])


def rows_of(key):
    return expected.get(key, {"rows": []})["rows"]


def near(shown, ns):
    value, unit = shown.split()
    return abs(float(value) * {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[unit] - ns) <= 1e-3 * ns + 1


def check_overview(page):
    cards = {card.locator("h3").inner_text().lower(): card for card in page.locator(".card").all()}
    headline = rows_of("headline")[0]
    shown = cards["step time"].locator("b").inner_text()
    must((shown == "n/a") == (headline["median_ns"] is None), "step time: " + shown)
    if headline["median_ns"] is not None:
        must(near(shown, headline["median_ns"]), "step time %s, not %s ns" % (shown, headline["median_ns"]))
    spreads = {row["name"]: row for row in rows_of("breakdown_over_processes")}
    for title, name in ("computing", "Kernel"), ("exposed communication", "Communication"):
        must((title in cards) == (name in spreads), "a card of " + title)
        if title in cards and name in spreads:
            shown, want = cards[title].locator("b").inner_text(), spreads[name]["median_ns"]
            must(near(shown, want), "%s is %s, not %s ns" % (title, shown, want))
            if spreads[name]["max_rank"]:
                must("(rank %s)" % spreads[name]["max_rank"] in cards[title].inner_text(), "who has most of " + title)
    bad = any(row["state"] != "complete" or row["missing"] for row in rows_of("processes"))
    must(cards["data"].locator("b").inner_text() == ("INCOMPLETE" if bad else "complete"), "whether the data are complete")
    must(("%d process" % nr) in cards["data"].inner_text(), "how many processes")
    field = page.evaluate("JSON.parse(document.getElementById('data').textContent).page.tables.steps.figure || null")
    durations = [row["max_ns"] for row in rows_of("steps") if row["max_ns"] is not None]
    must((field is None) == (nr < 2 or not durations), "a field of ranks and steps")
    if field:
        must(field["nr_ranks"] == nr, "ranks of the field")
        longest = max(cell[1] for rank in field["ranks"] for cell in rank["cells"] if cell)
        must(longest == max(durations), "the longest step of the field")
        must(page.locator("h3", has_text="Step time per rank").count() == 1, "the field is on the first page")


look(chromium, path, expected, how, check_overview, "reduced", pictures)
finish()
