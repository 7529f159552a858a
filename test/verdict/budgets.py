#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""budgets.py GPROF_REPORT PATH...: the view `budget` of traces and recordings, against budget.py's. Prints TAP.

Each part may differ by 1 % of the window; the parts must sum to the window exactly. Recordings are read from the timeline
that the reporter makes of them.
"""
import gc
import json
import os
import subprocess
import sys
import tempfile

import budget
import verdict

gc.disable()  # millions of objects, and no cycles among them

TOLERANCE = 0.01
# The reference's parts by the titles of the view. Of calls, start-up is what does not recur; which these are is the
# reporter's to say.
TITLES = {
    "Computing": "computing", "Communication": "communication", "Communication: transfer": "transfer",
    "Communication: waiting for a rank": "waiting", "Copies to the GPU": "copies", "Copies from the GPU": "copies",
    "Other copies": "copies", "Memsets": "copies", "Idle: waits": "wait", "Idle: start-up": "calls", "Idle: allocation": "calls",
    "Idle: copy calls": "calls", "Idle: launches": "calls", "Idle: other calls": "calls", "Idle: garbage collection": "gc", "Idle: Python's lock": "gil", "Idle: compilation": "compile",
    "Idle: data loader": "loader",
    "Idle: operators": "operators", "Idle: user code": "user", "Idle: user code in ranges": "user", "Idle: OS calls": "user",
    "Idle: latency": "latency",
    "Idle: dependencies": "dependency", "Idle or not recorded": "unknown",
}
CALLS = ("alloc", "launch", "calls")
BUSY = ["computing", "transfer", "communication", "waiting", "copies"]
PARTS = [*BUSY, "compile", "wait", "calls", "gil", "gc", "loader", "operators", "user", "latency", "dependency", "unknown"]
# Of the idle parts, in gaps that a wait opened: no part of its own.
DRAINED = "drained"
# Where more launches than this have no activity, all idle time is unknown.
MOST_LOST = 0.02


class NoView(Exception):
    """The reporter does not know the view."""


def run(program, *options):
    done = subprocess.run([program, *options], capture_output=True, check=False)
    if done.returncode not in (0, 3):
        raise (NoView if done.returncode == 2 else ValueError)(f"{' '.join(options)}: status {done.returncode}: {done.stderr.decode('utf-8', 'replace').strip()[:200]}")
    return done.stdout


def rows_of(program, path):
    """A row of parts for each process."""
    # Of chosen steps none is left out: the reference has all of them.
    try:
        document = json.loads(run(program, "--view", "budget,idle", "--format", "json", "--steps", "0-", path))
    except (NoView, ValueError):
        document = json.loads(run(program, "--view", "budget,idle", "--format", "json", path))
    if "budget" not in document:
        raise NoView("--view budget: no member 'budget'")
    found = {}
    for row in document["budget"]["rows"]:
        parts = found.setdefault(row["pid"], {"pid": row["pid"], **dict.fromkeys((*PARTS, DRAINED), 0)})
        parts[TITLES.get(row["part"], "unknown")] += row["total_ns"]
    for row in document["idle"]["rows"]:
        found[row["pid"]][DRAINED] += row["drained_ns"] or 0
    return list(found.values())


def references(program, path):
    """Of each process that used a GPU."""
    traces = list(budget.traces(path))
    if traces:
        waits = budget.rank_waits(traces, False)
        return [{**budget.budget(*of), "is_exact": not any(waits)} for of in zip(traces, waits)]
    found, pids = [], []
    document = json.loads(run(program, "--view", "headline", "--format", "json", path))
    with tempfile.TemporaryDirectory() as place:
        timeline = os.path.join(place, "timeline.json")
        for process in document["processes"]["rows"]:
            run(program, "timeline", "--split-size", "0", "--pid", str(process["pid"]), "-o", timeline, path)
            traces += budget.traces(timeline)
            pids += [process["pid"]] * (len(traces) - len(pids))
    for pid, *of in zip(pids, traces, budget.rank_waits(traces, True)):
        found.append({**whole_steps(program, path, budget.budget(*of)), "pid": pid, "is_exact": False})
    return [one for one in found if one["window_ns"]]


def whole_steps(program, path, reference):
    """Without those at the begin and the end of a recording, of which a part is missing."""
    if not reference["window_ns"] or not reference["steps"]:
        return reference
    document = json.loads(run(program, "--view", "breakdown", "--format", "json", path))
    numbers = {row["step"] for row in document["breakdown"]["rows"]}
    steps = [step for step in reference["steps"] if str(step["step"]) in numbers]
    return {**reference, **{key: sum(step[key] for step in steps) for key in reference if key.endswith("_ns")}}


def value(reference, part):
    return sum(reference[f"{one}_ns"] for one in (CALLS if part == "calls" else [part]))


def settled(reference):
    """With all idle time unknown where launches are lost."""
    if reference["lost"] <= MOST_LOST:
        return reference
    idle = {f"{part}_ns": 0 for part in budget.PARTS if part not in BUSY}
    return {**reference, **idle, "drained_ns": 0, "unknown_ns": sum(reference[key] for key in idle)}


def differences(row, reference):
    window, wanted = sum(row[part] for part in PARTS), reference["window_ns"]
    # A timeline has begins and ends in whole ns, and clocks that are aligned to others are rounded.
    if abs(window - wanted) > (0 if reference["is_exact"] else 1 + len(reference["steps"])):
        yield f"the parts sum to {window}, the window is {wanted}"
    if abs(window - wanted) > TOLERANCE * wanted:
        return
    reference = settled(reference)
    for part in (*PARTS, DRAINED):
        have, want = row[part], value(reference, part)
        if abs(have - want) > TOLERANCE * wanted:
            yield f"{part} is {have} ({100 * have / wanted:.1f} %), not {want} ({100 * want / wanted:.1f} %) of {wanted}"


# What a cause can cost at most.
IDLE = ("wait", "calls", "loader", "operators", "user", "latency")
REACH = {
    "loader": ("loader",), "loader_start": ("loader", "user"), "garbage_collection": ("gc",), "gil": ("gil",), "compilation": ("compile",), "cpu_wait": ("compile", "wait", "calls", "gil", "gc", "loader", "operators", "user"), "os_calls": ("user",), "python_host": ("user",), "launch": ("calls", "operators", "user", "latency"), "comm_exposed": ("transfer", "communication"),
    "copies_h2d": ("copies", "calls"), "alloc_free": ("calls",), "sync_readback": IDLE, "startup": ("compile", *IDLE), "kernels_gpu_bound": ("computing",), "operators_cpu_bound": ("operators",),
}
# Findings leave out steps of the begin and outliers, which the parts have.
OF_OTHER_STEPS = 0.04


def beyond_reach(findings, reference):
    for row in findings:
        parts = REACH.get(row["cause"])
        if parts and row["reach_ns"] and reference["lost"] <= MOST_LOST:
            most = sum(value(reference, part) for part in parts) / reference["window_ns"]
            have = row["reach_ns"] / row["step_ns"]
            if have > most + OF_OTHER_STEPS:
                yield f"{row['cause']} is said to cost {100 * have:.1f} %; {' and '.join(parts)} are {100 * most:.1f} %: {row['sentence']}"


def badly_named(findings, path):
    """The operator that a finding names has the share of its cause that it says."""
    named = [(row, verdict.NAMED.search(row["sentence"])) for row in findings if row["cause"] in ("launch", "python_host", "gaps", "comm_exposed")]
    # A kernel may stand for communication outside of all ranges.
    named = [(row, match) for row, match in named if match and (row["cause"] != "comm_exposed" or ":" in match[2])]
    places, nr_steps = budget.places(next(budget.traces(path))) if named else ({}, 1)
    for row, match in named:
        ns = sum(ns for name, ns in places[row["cause"]].items() if name and name.startswith(match[2].removesuffix("...")))
        share = ns / nr_steps / row["reach_ns"]
        if abs(share - float(match[1]) / 100) > OF_OTHER_STEPS:
            yield f"{100 * share:.1f} %: {row['sentence']}"


def reaches(program, path, found):
    """Of one process: what the findings can reach. In recordings most steps may be outliers, on a busy machine."""
    document = json.loads(run(program, "--view", "findings", "--format", "json", path))
    if len(found) == 1 and found[0]["is_exact"] and "findings" in document:
        yield from beyond_reach(document["findings"]["rows"], found[0])
        yield from badly_named(document["findings"]["rows"], path)


def compare(program, path):
    rows = rows_of(program, path)
    found = references(program, path)
    yield from reaches(program, path, found)
    for i, reference in enumerate(found):
        same = [row for row in rows if row.get("pid") == reference["pid"]]
        row = same[0] if len(same) == 1 else rows[i] if i < len(rows) else None
        if row is None:
            yield f"process {reference['pid']} has no row"
            continue
        for problem in differences(row, reference):
            yield f"process {reference['pid']}: {problem}"


def main(program, *paths):
    count = failed = 0
    for path in paths:
        count, name = count + 1, os.path.basename(path.rstrip("/"))
        try:
            problems = list(compare(program, path))
        except NoView as problem:
            print(f"not ok {count} - views: {problem}")
            return 1
        except (ValueError, KeyError) as problem:
            problems = [f"{type(problem).__name__}: {problem}"]
        failed += bool(problems)
        print(f"{'not ok' if problems else 'ok'} {count} - {name}: budget{': ' + problems[0] if problems else ''}")
        for problem in problems:
            print(f"#   {problem}")
    print(f"1..{count}")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
