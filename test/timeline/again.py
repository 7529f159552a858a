# SPDX-License-Identifier: Apache-2.0
"""again.py REPORT INPUT TIMELINE: all views find in a timeline what they find in what it was made of.

What is not so stands here, each with its reason; anything else is a fault.
"""
import gc
import json
import subprocess
import sys

import complaints
from complaints import complain

gc.disable()  # millions of objects, and no cycles among them

# A file has another pid where that could be a GPU's; names and paths of files differ.
NEVER = {"pid", "file"}

# Of traces of PyTorch's profiler, too: threads that only have steps or Python functions, and gprof's numbers of threads;
# functions of one name in a file, where stacks have no lines.
ALWAYS = {
    "threads": {"tid", "name", "start_ns", "end_ns"},
    "idle_gaps": {"thread"},
    "advice": {"sites"},
    "findings": {"places"},
}

# Of traces with arguments of collectives, which the timeline lacks.
OF_COLLECTIVES = {
    "communication": "bytes and groups",
    "arrivals": "matched by groups",
    "distributed": {"bytes"},
    "processes": {"events"},
}

# Of recordings: what the dialect of PyTorch's profiler has no word for. A set of columns, or the reason for a whole view.
OF_STREAMS = {
    "api": {"failed"},  # results of calls
    "memcpy": {"async"},  # which call it was
    "memset": {"async"},
    "steps": {"rule", "start_ns"},  # how they were found; when the recording began
    "processes": {"events", "missing", "state"},  # results and marks are no events
    "nvtx": "NVTX ranges become user ranges",
    "user_ranges": "which have their rows",
    "framework": "also in the summary of the framework",
    "critical_path": "are around what it names",
    "breakdown": "and count as time of the host",
    "benchmark": "the number of samples is not known",
    "idle_gaps": "gaps are named by what is around them, and times count from the first event",
    "utilization": "samples are counters",
    "utilization_time": "samples are counters",
    "data_loading": "and those of the CPU",
    "single_operators": "inputs without a shape are left out",
    "advice": "names what is around gaps, and views of what was imported",
}


def views(report, path):
    out = subprocess.run([report, "--all", "--top", "0", "--format", "json", path], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=False).stdout
    return {name: view for name, view in json.loads(out).items() if isinstance(view, dict)}


def whole(a, b):
    """Steps that both have: not the last of a recording, often not its first."""
    numbers = {row["step"] for row in b}
    return [row for row in a if row["step"] in numbers]


def compare(name, a, b, without):
    if isinstance(without.get(name), str):
        return
    columns = NEVER | ALWAYS.get(name, set()) | without.get(name, set())
    if name == "threads":
        a, b = ([row for row in rows if row["calls"]] for rows in (a, b))
    if name == "steps" and "steps" in without:
        a = whole(a, b)
    if len(a) != len(b):
        complain(f"{name}: {len(a)} and {len(b)} rows")
    for number, (one, other) in enumerate(zip(a, b)):
        for key in sorted((set(one) | set(other)) - columns):
            if one.get(key) != other.get(key):
                complain(f"{name}, row {number}: {key} is {one.get(key)!r} and {other.get(key)!r}")


def main():
    report, path, timeline = sys.argv[1:]
    before, after = views(report, path), views(report, timeline)
    without = OF_STREAMS if path.endswith(".gprof") else {}
    if before.get("communication", {}).get("rows"):
        without = {**OF_COLLECTIVES, **without}
    for name in sorted(set(before) | set(after)):
        if name not in before or name not in after:
            complain(f"{name} is in one of both")
            continue
        compare(name, before[name].get("rows", []), after[name].get("rows", []), without)
    print(f"{len(before)} views")
    return complaints.nr != 0


sys.exit(main())
