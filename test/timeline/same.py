# SPDX-License-Identifier: Apache-2.0
"""same.py SUMMARY-OF-STREAM.json SUMMARY-OF-TIMELINE.json VIEWS [rounded]: the tables must be the same, exactly, but
for what the dialect of PyTorch's profiler has no word for. Rounded: clocks whose ticks are no nanoseconds. Both ends of
a slice are whole ones, so a duration may be 1 ns longer or shorter, and no sum is more than chance makes of it."""
import gc
import json
import math
import sys

import complaints
from complaints import complain

gc.disable()  # millions of objects, and no cycles among them

# Not in Chrome JSON as PyTorch's profiler writes it, whoever does.
NOT_THERE = {
    "api": {"failed"},  # results of calls
    "memcpy": {"async"},  # which call it was
    "memset": {"async"},
    "steps": {"rule"},  # how they were found
}


def whole_steps(stream, timeline):
    """The timeline has no step whose begin or end is unknown: the last of a stream, often its first."""
    steps = [row for row in stream if row.get("duration_ns") is not None]
    return steps[1:] if steps and timeline and steps[0]["step"] < timeline[0]["step"] else steps


def from_first(steps):
    """A timeline does not say when the recording began, where that is before its first event."""
    return [{**row, "start_ns": row["start_ns"] - steps[0]["start_ns"]} for row in steps]


def is_rounded(row, key, a, b):
    """Are both as near as rounded times are? A sum may differ by six standard deviations of what each call is off, and
    by the ppm of a clock that is nearly one of ns: durations much shorter than a second lose these."""
    if a is None or b is None:
        return False
    if key.endswith("_pct"):
        return abs(a - b) < 0.01
    if key in ("total_ns", "self_ns"):
        return abs(a - b) <= 3 * math.sqrt(row["calls"]) + 2e-5 * a
    return key.endswith("_ns") and abs(a - b) <= 2


def main():
    may_round = sys.argv[4:] == ["rounded"]
    stream, timeline = (json.load(open(path)) for path in sys.argv[1:3])
    for view in sys.argv[3].split(","):
        if (view in stream) != (view in timeline):
            complain(f"{view} is in one of both")
            continue
        rows = [summary.get(view, {}).get("rows", []) for summary in (stream, timeline)]
        if view == "steps":
            rows = [from_first(steps) for steps in (whole_steps(*rows), rows[1])]
        if len(rows[0]) != len(rows[1]):
            complain(f"{view}: {len(rows[0])} and {len(rows[1])} rows")
        for number, (a, b) in enumerate(zip(*rows)):
            for key in sorted(set(a) | set(b)):
                if a.get(key) == b.get(key) or key in NOT_THERE.get(view, ()):
                    continue
                if not (may_round and is_rounded(a, key, a.get(key), b.get(key))):
                    complain(f"{view}, row {number}: {key} is {a.get(key)!r} and {b.get(key)!r}")
        print(f"{view}: {len(rows[0])} rows")
    return complaints.nr != 0


sys.exit(main())
