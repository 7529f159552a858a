# SPDX-License-Identifier: Apache-2.0
"""Computes the views of hardware counters again, from the tables: counters.py REPORT DUMP JSON.

JSON has the views utilization-kernels, -operators, -phases and -steps of s_counters with `operators`.
Prints what differs; nothing where all is the same.
"""

import csv
import io
import json
import subprocess
import sys
from collections import defaultdict

report, dump, shown = sys.argv[1:]
COUNTERS = {
    "sm_active_pct": "gpu_sm_active_milli_percent",
    "tensor_active_pct": "gpu_tensor_milli_percent",
    "bandwidth_pct": "gpu_dram_milli_percent",
    "bandwidth_read_pct": "gpu_dram_read_milli_percent",
    "bandwidth_write_pct": "gpu_dram_write_milli_percent",
    "achieved_occupancy_pct": "gpu_occupancy_milli_percent",
}
PHASES = {"aten::mm": "Forward", "aten::mul": "Backward", "Optimizer.step#SGD.step": "Optimization"}


def rows(query):
    """The rows of a query."""
    out = subprocess.run([report, "sql", query, "--format", "csv", dump], check=True, stdout=subprocess.PIPE, text=True).stdout
    return list(csv.DictReader(io.StringIO(out)))


def samples():
    """Each sample of a GPU: begin, end and the values of its counters, in percent."""
    found = defaultdict(dict)
    for row in rows("SELECT * FROM sample WHERE metric LIKE 'gpu_%'"):
        found[int(row["device"]), int(row["time_ns"])][row["metric"]] = int(row["value"])
    return [(device, end - values["gpu_means_ns"], end, {key: values[name] / 1e3 for key, name in COUNTERS.items() if name in values})
            for (device, end), values in found.items() if values.get("gpu_means_ns", 1 << 60) < 1000000]


def operator_of(launch, operators):
    """The innermost operator around a launch: the one that began last."""
    at = int(launch["start_ns"])
    around = [op for op in operators if op["tid"] == launch["tid"]
              and int(op["start_ns"]) <= at < int(op["start_ns"]) + int(op["dur_ns"])]
    return max(around, key=lambda op: int(op["start_ns"]))["name"]


def compute():
    """By view and row: calls, time, calls with samples, samples, their time, and sums by counter."""
    launches = {row["correlation"]: row for row in rows("SELECT * FROM api_launch")}
    operators, of_gpu = rows("SELECT * FROM op"), samples()
    groups = defaultdict(lambda: [0, 0, 0, 0, 0, defaultdict(float), defaultdict(float)])
    for kernel in rows("SELECT * FROM kernel"):
        begin, length = int(kernel["start_ns"]), int(kernel["dur_ns"])
        launch = launches[kernel["correlation"]]
        operator = operator_of(launch, operators)
        inside = [(ends - begins, values) for device, begins, ends, values in of_gpu
                  if device == int(kernel["device"]) and begins >= begin and ends <= begin + length]
        for key in (("kernels", kernel["kernel_name"]), ("operators", operator), ("phases", PHASES[operator]), ("steps", launch["step"])):
            group = groups[key]
            for place, value in enumerate((1, length, bool(inside), len(inside), sum(ns for ns, _ in inside))):
                group[place] += value
            for ns, values in inside:
                for counter, value in values.items():
                    group[5][counter] += ns * value
                    group[6][counter] += ns
    return groups


def expected(group):
    """The columns of a row."""
    calls, total, sampled, number, ns, sums, weights = group
    cells = {"calls": calls, "total_ns": total, "samples": number, "sampled_calls_pct": 100 * sampled / calls, "sampled_pct": 100 * ns / total}
    cells.update({counter: sums[counter] / weights[counter] if counter in sums else None for counter in COUNTERS})
    return cells


def check():
    """Each row of each view."""
    with open(shown, encoding="utf-8") as file:
        views = json.load(file)
    groups = compute()
    found = {(view, str(row[key])): row for view, key in (("kernels", "name"), ("operators", "name"), ("phases", "phase"), ("steps", "step"))
             for row in views["utilization_" + view]["rows"]}
    if set(found) != set(groups):
        print("rows:", sorted(found), "instead of", sorted(groups))
    for key in set(found) & set(groups):
        for column, value in expected(groups[key]).items():
            have = found[key][column]
            if (have is None) != (value is None) or (value is not None and abs(have - value) > 0.001):
                print(*key, column, "is", have, "instead of", value)


check()
