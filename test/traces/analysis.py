# SPDX-License-Identifier: Apache-2.0
"""analysis.py GPROF_REPORT FOLDER: the views over the time of devices, on real traces.

Their sums against reference.json: shares of the span, copies' bytes, critical paths, all in
integer ns. And what HolisticTraceAnalysis 0.5.0 finds where its times are not rounded; it leaves the last step out.
"""
import json
import os
import subprocess
import sys

from tap import check, finish

VIEWS = "time-breakdown,distributed,collectives,launch-latency,queue,bandwidth,critical-path,memcpy,memset,steps,step-stats,stragglers"
# HTA: temporal breakdown, launch statistics and queue lengths of the first five steps, in us.
HTA_TRACE = "overlap_a100_8ranks_rank3.json.gz"
HTA_STEPS = "1009-1013"
HTA = {"span_ns": 383404000, "idle_ns": 62119000, "computation_ns": 234760000, "launches": 7875,
       "delay_ns": 15865017000, "short": 3067, "long_calls": 25, "late": 5111,
       "queues": {7: 287, 20: 10, 21: 2, 22: 22}}
HTA_RANKS = "dlrm_v100_8ranks"
HTA_STRAGGLERS = [2, 7]
FULL_QUEUE = {"fullqueue_v100.json.gz": 1022}
OVERLAP = {"overlap_a100_8ranks_rank3.json.gz": "46.24"}


def report(program, path, *options):
    out = subprocess.run([program, "--format", "json", "--top", "0", "--view", VIEWS, *options, path],
                         capture_output=True, check=False)
    tables = json.loads(out.stdout)
    return {name: table["rows"] for name, table in tables.items() if isinstance(table, dict) and "rows" in table}


def total(rows, key):
    return sum(row[key] for row in rows)


def check_trace(name, tables, reference):
    devices = reference["devices"]
    check(name + ": temporal", [(row["span_ns"], row["idle_ns"], row["computation_ns"]) for row in tables["time_breakdown"]],
          [(device["span_ns"], device["idle_ns"], device["comp_ns"] if name != "eager_b200.json.gz" else
            tables["time_breakdown"][0]["computation_ns"]) for device in devices.values()])
    for row in tables["time_breakdown"]:
        check(name + ": its parts are the span", row["idle_ns"] + row["computation_ns"] + row["communication_kernels_alone_ns"]
              + row["memory_alone_ns"], row["span_ns"])
    if name != "eager_b200.json.gz":  # of which HTA does not know that it communicates
        check(name + ": distributed", [(row["communication_ns"], row["overlap_ns"]) for row in tables["distributed"]],
              [(device["comm_ns"], device["overlap_ns"]) for device in devices.values()])
    copies = [row for row in tables["bandwidth"] if row["kind"] != "operator"]
    check(name + ": bandwidth", total(copies, "total_bytes"),
          total(tables["memcpy"], "total_bytes") + total(tables["memset"], "total_bytes"))
    if reference["steps_ns"]:
        path = {}
        for row in tables["critical_path"]:
            path.setdefault(row["kind"], row["total_ns"])  # the kind's own row comes first
        check(name + ": critical path", sum(path.values()),
              sum(row["total_ns"] for row in tables["step_stats"] if row["part"] == "Step"))
    if name in FULL_QUEUE:
        check(name + ": queue", max(row["max_length"] for row in tables["queue"]), FULL_QUEUE[name])
    if name in OVERLAP:
        check(name + ": overlap", [f"{row['overlap_pct']:.2f}" for row in tables["distributed"]], [OVERLAP[name]])


def check_hta(program, path):
    tables = report(program, path, "--steps", HTA_STEPS)
    found = {key: tables["time_breakdown"][0][key] for key in ("span_ns", "idle_ns", "computation_ns")}
    found["launches"] = total(tables["launch_latency"], "calls")
    found["delay_ns"] = total(tables["launch_latency"], "total_ns")
    for key in ("short", "long_calls", "late"):
        found[key] = total(tables["launch_latency"], key)
    found["queues"] = {row["stream"]: row["max_length"] for row in tables["queue"]}
    for key, value in HTA.items():
        check(f"{HTA_TRACE}: as HTA, {key}", found[key], value)


def check_left(program, folder):
    """Frees of PyTorch 1.8 have no address: what is left of 34 GB that a GPU of 32 GB gave in all is unknown, and when each was freed."""
    for name in "resnet50_nw0_v100.json.gz", "resnet50_nw4_v100.json.gz":
        out = subprocess.run([program, "--format", "json", "--top", "0", "--view", "memory", os.path.join(folder, name)], capture_output=True, check=False)
        table = json.loads(out.stdout)["memory"]
        check(name + ": live at exit", {(row["live"], row["live_bytes"]) for row in table["rows"]}, {(None, None)})
        check(name + ": allocations that a free matches", "Live at exit is n/a for GPU 0" in json.dumps(table), True)
        out = subprocess.run([program, "--format", "json", "--top", "0", "--view", "memory-events,memory-peak", os.path.join(folder, name)], capture_output=True, check=False)
        tables = json.loads(out.stdout)
        check(name + ": times of frees", {row["release_ns"] for row in tables["memory_events"]["rows"]}, {None})
        check(name + ": in use at the peak", tables["memory_peak"]["rows"], [])


def main():
    with open(os.path.join(sys.argv[2], "reference.json"), encoding="utf-8") as file:
        references = json.load(file)
    for name, reference in references.items():
        path = os.path.join(sys.argv[2], name)
        if os.path.exists(path):
            check_trace(name, report(sys.argv[1], path), reference)
    if os.path.exists(os.path.join(sys.argv[2], HTA_RANKS)):
        late = report(sys.argv[1], os.path.join(sys.argv[2], HTA_RANKS))["stragglers"]
        check(HTA_RANKS + ": as HTA, two stragglers", sorted(row["rank"] for row in late[:2]), HTA_STRAGGLERS)
    if os.path.exists(os.path.join(sys.argv[2], HTA_TRACE)):
        check_hta(sys.argv[1], os.path.join(sys.argv[2], HTA_TRACE))
    check_left(sys.argv[1], sys.argv[2])
    return finish()


sys.exit(main())
