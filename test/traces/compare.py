# SPDX-License-Identifier: Apache-2.0
"""compare.py GPROF-REPORT FOLDER: every figure of FOLDER/reference.json, exactly, in integer ns.

The reference has a member for each trace: devices, steps_ns, the first rows by time of kernels, api,
memcpy, memset and operators, and how many rows and calls there are of each.
"""
import gc
import json
import os
import subprocess
import sys

from tap import check, finish

gc.disable()  # millions of objects, and no cycles among them

VIEWS = ("kernel", "api", "memcpy", "memset", "operator")
PLURAL = {"kernel": "kernels", "operator": "operators"}
DEVICE = {"events": "events", "span_ns": "span_ns", "busy_ns": "busy_ns", "idle_ns": "idle_ns",
          "computation_ns": "comp_ns", "communication_kernels_ns": "comm_ns", "kernels_overlap_ns": "overlap_ns"}


def figures(row, keys):
    return {key: row.get(key) for key in keys}


def merge_steps(reference):
    """Steps are one row among operators."""
    steps = [row for row in reference["operators"] if row["name"].startswith("ProfilerStep#")]
    if steps:
        reference["operators"] = [row for row in reference["operators"] if row not in steps] + [
            {"name": "ProfilerStep*", "calls": sum(row["calls"] for row in steps),
             "total_ns": sum(row["total_ns"] for row in steps), "min_ns": min(row["min_ns"] for row in steps),
             "max_ns": max(row["max_ns"] for row in steps)}]
        reference["operators_rows"] -= len(steps) - 1


def check_view(trace, view, rows, reference):
    key = PLURAL.get(view, view)
    by_name = {}
    for row in rows:
        by_name.setdefault(row["name"], []).append(row)
    keys = ["calls", "total_ns", "min_ns", "max_ns"]
    expected, found = {}, {}
    for row in reference[key]:
        name = row["name"]
        expected[name] = figures(row, keys)
        found[name] = figures(by_name[name][0], keys) if len(by_name.get(name, [])) == 1 else None
        if "bytes" in row:
            expected[name]["total_bytes"] = row["bytes"]
            if found[name]:
                found[name]["total_bytes"] = by_name[name][0]["total_bytes"]
    for name in [name for name in expected if found[name] == expected[name]]:
        if len(expected) > 1:
            del expected[name], found[name]
    check(f"{trace}: {view}", found, expected)
    if f"{key}_rows" in reference:
        check(f"{trace}: {view}: all rows and calls", (len(rows), sum(r["calls"] for r in rows)),
              (reference[f"{key}_rows"], reference[f"{key}_calls"]))


def check_trace(report, folder, trace, reference):
    run = subprocess.run([report, "summary", "--view", ",".join(VIEWS) + ",steps,device", "--format",
                          "json", "--top", "0", os.path.join(folder, trace)], capture_output=True)
    check(f"{trace}: whole", (run.returncode, run.stderr), (0, b""))
    summary = json.loads(run.stdout)
    merge_steps(reference)
    for view in VIEWS:
        check_view(trace, view, summary[view]["rows"], reference)
    check(f"{trace}: steps", {str(r["step"]): r["duration_ns"] for r in summary["steps"]["rows"]},
          reference["steps_ns"])
    for row in reference["devices"].values() if trace == "eager_b200.json.gz" else ():
        # Its all-reduce through symmetric memory, which overlaps with nothing: the reference does not know that it communicates.
        multimem_ns = sum(r["total_ns"] for r in summary["kernel"]["rows"] if "multimem_all_reduce" in r["name"])
        row["comm_ns"] += multimem_ns
        row["comp_ns"] -= multimem_ns
    check(f"{trace}: devices", {str(r["device"]): figures(r, DEVICE) for r in summary["device"]["rows"]},
          {device: {ours: row[theirs] for ours, theirs in DEVICE.items()}
           for device, row in reference["devices"].items()})


folder = sys.argv[2]
for trace, figures_of in json.load(open(os.path.join(folder, "reference.json"))).items():
    check_trace(sys.argv[1], folder, trace, figures_of)
sys.exit(finish())
