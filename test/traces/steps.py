#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps that are chosen, against a slow second reading of the trace: for each step the calls that began
in it, by name, and the kernels and copies that these launched, by correlation ID.

usage: steps.py GPROF_REPORT TRACE..."""
import collections
import decimal
import gc
import gzip
import json
import subprocess
import sys

gc.disable()  # millions of objects, and no cycles among them


def ns(number):
    return int(decimal.Decimal(number) * 1000)


def read(path):
    opened = gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")
    with opened as file:
        text = file.read().decode("utf-8", "replace")
    # Digits are kept: a float has lost the nanoseconds.
    return json.loads(text, strict=False, parse_float=str, parse_int=str)["traceEvents"]


def sort_out(events):
    steps, calls, works = [], [], []
    for event in events:
        kind = event.get("cat", "").lower()
        if event.get("ph") != "X":
            continue
        begin, dur, name = ns(event["ts"]), ns(event.get("dur", "0")), event["name"]
        correlation = event.get("args", {}).get("correlation")
        if name.startswith("ProfilerStep") and kind in ("user_annotation", "operator", "cpu_op"):
            steps.append((int(name.split("#")[1]), begin, begin + dur))
        elif kind in ("cuda_runtime", "cuda_driver", "runtime"):
            calls.append((correlation, begin, dur, name))
        elif kind in ("kernel", "gpu_memcpy", "memcpy"):
            works.append((correlation, kind == "kernel", dur, name))
    return sorted(steps), calls, works


def add_up(rows):
    """By name: how many, and their time."""
    result = collections.defaultdict(lambda: [0, 0])
    for name, dur in rows:
        result[name][0] += 1
        result[name][1] += dur
    return {name: tuple(sums) for name, sums in result.items()}


def expected(step, calls, works):
    _, first, last = step
    chosen = [call for call in calls if first <= call[1] < last]
    launched = {call[0] for call in chosen}
    return {
        "api": add_up((name, dur) for _, _, dur, name in chosen),
        "kernel": add_up((name, dur) for c, is_kernel, dur, name in works if is_kernel and c in launched),
        "memcpy": add_up((name, dur) for c, is_kernel, dur, name in works if not is_kernel and c in launched),
    }


# Their rows are of one step each, and the same whatever else is chosen.
BY_STEP = ("steps", "breakdown")


def tables_of(report, trace, *options):
    run = subprocess.run(
        [report, "summary", "--view", "api,kernel,memcpy," + ",".join(BY_STEP), "--format", "json", "--mangled",
         "--top", "0", *options, trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if run.returncode not in (0, 3):
        sys.exit(f"{trace}: status {run.returncode}: {run.stderr.decode()}")
    return json.loads(run.stdout)


def row_of(tables, view, step):
    return [row for row in tables[view]["rows"] if str(row["step"]) == str(step)]


def sums(tables):
    result = {}
    for view in ("api", "kernel", "memcpy"):
        by_name = collections.defaultdict(lambda: [0, 0])
        for row in tables[view]["rows"]:
            by_name[row["name"]][0] += row["calls"]
            by_name[row["name"]][1] += row["total_ns"]
        result[view] = {name: tuple(both) for name, both in by_name.items()}
    return result


def main():
    report, traces = sys.argv[1], sys.argv[2:]
    bad = nr = 0
    for trace in traces:
        steps, calls, works = sort_out(read(trace))
        whole = tables_of(report, trace)
        for step in steps:
            tables = tables_of(report, trace, "--steps", str(step[0]))
            want, have = expected(step, calls, works), sums(tables)
            for view in BY_STEP:
                nr += 1
                if row_of(tables, view, step[0]) != row_of(whole, view, step[0]):
                    bad += 1
                    print(f"# {trace}: step {step[0]}: {view}: alone it is another")
            for view, rows in want.items():
                nr += 1
                if rows == have[view]:
                    continue
                bad += 1
                for name in sorted(rows.keys() | have[view].keys()):
                    if rows.get(name) != have[view].get(name):
                        print(f"# {trace}: step {step[0]}: {view}: {name[:60]!r}: "
                              f"{have[view].get(name)} and not {rows.get(name)}")
                        break
    print(f"# steps: {nr - bad} of {nr} tables as computed")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
