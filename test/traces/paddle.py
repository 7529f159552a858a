# SPDX-License-Identifier: Apache-2.0
"""paddle.py GPROF-REPORT FOLDER: what must hold among the tables in Paddle's layout, for each trace of FOLDER."""
import json
import os
import subprocess
import sys

from tap import finish, test

REPORT, FOLDER = sys.argv[1:3]


def ask(path, views, *options):
    done = subprocess.run([REPORT, "summary", "--format", "json", "--top", "0", "--view", views, *options, path],
                          capture_output=True, check=False)
    return {key: value["rows"] for key, value in json.loads(done.stdout).items() if isinstance(value, dict)}


def inner_of(rows, at):
    """The rows directly in one."""
    inner = []
    for row in rows[at + 1:]:
        if row["level"] <= rows[at]["level"]:
            break
        if row["level"] == rows[at]["level"] + 1:
            inner.append(row)
    return inner


def not_summed(rows):
    """Operators whose parts do not add up to the time of what they launched."""
    wrong = []
    for at, row in enumerate(rows):
        have = sum(part["gpu_total_ns"] or 0 for part in inner_of(rows, at))
        if row["kind"] == "operator" and have != (row["gpu_total_ns"] or 0):
            wrong.append((row["name"], row["gpu_total_ns"], have))
    return wrong


def differing(detailed, plain):
    keys = ("calls", "total_ns", "min_ns", "max_ns", "gpu_total_ns")
    by_name = {row["name"]: row for row in plain}
    return [(row["name"], key, row[key], by_name[row["name"]][key]) for row in detailed if row["level"] == 0
            for key in keys if row["name"] not in by_name or row[key] != by_name[row["name"]][key]]


def check_overview(name, rows, device):
    of = {row["name"]: row["total_ns"] for row in rows if row["pid"] is None}
    test(name + ": no share of the steps is above 100 %", [row for row in rows if (row["ratio_pct"] or 0) > 100.0001])
    overlap = of.get("Communication", 0) + of.get("Computation", 0) - of["Kernel"] if "Communication" in of else 0
    test(name + ": kernels within the steps", [
        (what, have, most) for what, have, most in [("kernels", of.get("Kernel", 0), device["kernel_union_ns"]),
                                                    ("overlap", overlap, device["overlap_ns"])] if not 0 <= have <= most])


def check_framework(name, rows):
    events = [row for row in rows if row["section"] == "event"]
    total = sum(row["total_ns"] for row in events if row["level"] == 0)
    test(name + ": the total is that of events in no other one", [total] if total != rows[0]["total_ns"] else [])
    test(name + ": the longest is one of all", [row for row in events if not row["max_ns"] <= row["total_ns"] <= row["calls"] * row["max_ns"]])


def check(name, reference):
    path = os.path.join(FOLDER, name)
    plain = ask(path, "operator,overview,framework")
    detailed = ask(path, "operator", "--detail=op")["operator"]
    test(name + ": operators by what lies in them", differing(detailed, plain["operator"]))
    test(name + ": parts add up", not_summed(detailed))
    check_overview(name, plain["overview"], next(iter(reference["devices"].values())))
    if plain["framework"]:
        check_framework(name, plain["framework"])


with open(os.path.join(FOLDER, "reference.json"), encoding="utf-8") as file:
    for trace, figures in json.load(file).items():
        if os.path.exists(os.path.join(FOLDER, trace)) and len(figures["devices"]) == 1:
            check(trace, figures)
sys.exit(finish())
