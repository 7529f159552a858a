# SPDX-License-Identifier: Apache-2.0
"""events.py REPORT TRACE...: rows of events and of launches with their kernels, against a plain reading."""
import collections
import csv
import gc
import gzip
import io
import json
import subprocess
import sys
from decimal import Decimal

gc.disable()  # millions of objects, and no cycles among them

GPU = {"kernel", "gpu_memcpy", "memcpy", "gpu_memset", "memset"}
CALLS = {"cuda_runtime", "runtime", "cuda_driver"}
report = sys.argv[1]
wrong = 0


def run(trace, *options):
    done = subprocess.run([report, "summary", *options, trace], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{trace}: {done.stderr}")
    return done.stdout


def check(what, have, want):
    global wrong
    if have != want:
        wrong += 1
        print(f"{what}: {have} instead of {want}")


def ns(text):
    return int(Decimal(text) * 1000)


def read(trace):
    with gzip.open(trace) as file:
        text = file.read().decode("utf-8", "replace")
    events = json.loads(text, strict=False, parse_float=str, parse_int=str)["traceEvents"]
    work, calls = [], {}
    for event in events:
        kind = event.get("cat", "").lower()
        if event.get("ph") != "X" or kind not in GPU | CALLS:
            continue
        begin = ns(event["ts"])
        row = (begin, begin + ns(event["dur"]), kind, event["name"])
        correlation = event.get("args", {}).get("correlation")
        if kind in GPU:
            work.append((correlation, row))
        elif correlation is not None:
            calls[correlation] = row
    return work, calls


for trace in sys.argv[2:]:
    name = trace.split("/")[-1]
    work, calls = read(trace)

    rows = json.loads(run(trace, "--view", "gpu-trace", "--format", "json"))["gpu_trace"]["rows"]
    starts = [row["start_ns"] for row in rows]
    base = min(begin for _, (begin, *_) in work) - starts[0]
    check(f"{name}: order of gpu-trace", starts, sorted(starts))
    check(f"{name}: rows of gpu-trace",
          collections.Counter((row["start_ns"] + base, row["duration_ns"]) for row in rows),
          collections.Counter((row[0], row[1] - row[0]) for _, row in work))
    queues = collections.Counter()
    for correlation, row in work:
        call = calls.get(correlation)
        queues[row[0] - call[1] if call and row[0] > call[1] else None] += 1
    check(f"{name}: queue times", collections.Counter(row["queue_ns"] for row in rows), queues)

    table = run(trace, "--report", "cuda_kern_exec_trace", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(table[table.index("API Start"):].strip() + "\n")))
    plain = collections.Counter()
    for correlation, row in work:
        call = calls.get(correlation)
        if call and row[2] == "kernel":
            plain[(call[0] - base, call[1] - call[0], row[0] - base, row[1] - row[0],
                   max(row[1], call[1]) - call[0], call[3])] += 1
    keys = ("API Start (ns)", "API Dur (ns)", "Kernel Start (ns)", "Kernel Dur (ns)", "Total Dur (ns)")
    check(f"{name}: rows of cuda_kern_exec_trace",
          collections.Counter((*(int(row[key]) for key in keys), row["API Function"]) for row in rows), plain)

    table = run(trace, "--report", "cuda_kern_exec_sum", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(table[table.index("PID"):].strip() + "\n")))
    check(f"{name}: kernels of cuda_kern_exec_sum", sum(int(row["Count"]) for row in rows), sum(plain.values()))
    check(f"{name}: queued ones",
          sum(int(row["QCount"]) for row in rows),
          sum(nr for (begin, ns_, start, *_), nr in plain.items() if start > begin + ns_))
print(f"events of {len(sys.argv) - 2} traces, {wrong} wrong")
sys.exit(wrong != 0)
