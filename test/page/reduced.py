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


def check_overview(page):
    cards = {card.locator("h3").inner_text().lower(): card for card in page.locator(".card").all()}
    spreads = {row["name"]: row for row in rows_of("distributed_over_processes")}
    for title, name in ("step time", "Duration"), ("computation", "Computation"), ("communication", "Communication"):
        must((title in cards) == (name in spreads), "a card of " + title)
        if title in cards and name in spreads:
            value, unit = cards[title].locator("b").inner_text().split()
            ns = float(value) * {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[unit]
            want = spreads[name]["median_ns"]
            must(abs(ns - want) <= 1e-3 * want + 1, "%s is %s ns, not %s" % (title, ns, want))
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
