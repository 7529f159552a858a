#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two runs of ResNet-50, without and with loader workers: `diff` answers first, by the steps of the first screen, with one test.

usage: diff.py GPROF_REPORT FOLDER"""
import json
import re
import statistics
import subprocess
import sys

import steps
from tap import check, finish, test


def printed(*arguments):
    return subprocess.run([report, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def first_screen(path):
    row = json.loads(printed("summary", "--view", "headline", "--format", "json", path))["headline"]["rows"][0]
    return row["steps"], row["warm_up_steps"], row["median_ns"]


def warm_median(path, nr_warm_up):
    """A second reading of the steps' marks: how many there are, and the median of those that do not warm up."""
    marks, _, _ = steps.sort_out(steps.read(path))
    return len(marks), statistics.median(end - begin for _, begin, end in marks[nr_warm_up:])


def ns_of(number, unit):
    return float(number) * {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[unit]


def compare(a, b):
    text, result = printed("diff", a, b), json.loads(printed("diff", "--format", "json", a, b))
    [answer], sides = result["answer"]["rows"], result["sides"]["rows"]
    [step] = [row for row in result["step"]["rows"] if row["name"] == "step_time"]
    name = "diff " + " ".join(path.rsplit("/", 1)[-1].split("_")[1] for path in (a, b)) + ": "
    is_faster = answer["b_median_ns"] < answer["a_median_ns"]
    lines = text[:text.index("\n\n")].split("\n")
    for side, path, row in ("a", a, sides[0]), ("b", b, sides[1]):
        nr, warm_up, median = first_screen(path)
        check(name + "steps of the first screen of " + side, (answer[side + "_steps"], row["excluded"], answer[side + "_median_ns"]), (nr, warm_up, median))
        check(name + "median of the marks of " + side, (nr + warm_up, answer[side + "_median_ns"]), warm_median(path, warm_up))
    percent = 100 * abs(answer["b_median_ns"] / answer["a_median_ns"] - 1)
    said = re.match(r"B is ([0-9]+) % (faster|slower): .* ms a step, warm-up excluded \(p < 0\.01; ", answer["answer"])
    check(name + "the answer", said and said.groups(), ("%.0f" % percent, "faster" if is_faster else "slower"))
    starts = [i for i, line in enumerate(lines) if line.startswith("Changes ")]
    check(name + "the first lines", " ".join(lines[:starts[0]]) if starts else lines, answer["answer"])
    items = [ns_of(*each) for each in re.findall(r" [-+]([0-9.]+) (s|ms|us|ns) \(", " ".join(lines[starts[0]:]))]
    check(name + "changes by size", items, sorted(items, reverse=True))
    phases = [row for row in result["phase"]["rows"] if row["significance"] == "significant"]
    check(name + "what the sentence names", re.findall(r"(\w+) [-+][0-9.]+ m?u?s", answer["answer"].split("; ")[-1]), [row["name"] for row in phases][:2])
    check(name + "the row of the step", (step["a_ns"], step["b_ns"], step["p"], step["significance"]),
          (answer["a_median_ns"], answer["b_median_ns"], answer["p"], answer["significance"]))
    test(name + "what nobody asked", re.findall("passed|FAILED|inconclusive|Conditions", text) + ["a table of conditions"] * ("checks" in result))
    wide = printed("diff", "--wide", "--top", "0", a, b)
    test(name + "p that rounds to 0", [line for line in wide.split("\n") if re.search(r"significant +0\.00 ", line)])


def main(folder):
    paths = [folder + "/resnet50_%s_v100.json.gz" % each for each in ("nw0", "nw4")]
    compare(*paths)
    compare(*reversed(paths))


report = sys.argv[1]
main(sys.argv[2])
sys.exit(finish())
