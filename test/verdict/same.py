#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""same.py GPROF_REPORT PATH...: a quantity is the same figure on every screen that prints it. Prints TAP.

To the nanosecond: the view `idle` has the idle parts of `budget`; no gap of `idle-gaps` counts for more than its part has;
the times of the headline and of TensorBoard's breakdown are the parts of the steps that they cover, added up. The headline's
steps, medians and means are those of `step-stats`, `diff` and `reduce`; its findings are those of `findings`, of its step; the
places of a finding take at most what it costs; a GPU is in use as long as the process computes. The critical path is as long
as the steps that count, and what-if replays no others. `model` has the phases of the headline; `model`, `overview`, `distributed`
and the summary's `distributed` have the steps that count, which last as long as in `step-stats`. Of a recording without steps,
`overview` and `time-breakdown` have the busy time of the budget; of steps `time-breakdown` has no less than what counts.
OpenMetrics and the page have the tables of `summary`, and `watch` has the steps of `steps`.
"""
import collections
import gc
import json
import os
import re
import subprocess
import sys
import tempfile

import verdict

gc.disable()  # millions of objects, and no cycles among them

VIEWS = "budget,idle,idle-gaps,breakdown,gpu-summary,step-stats,findings,headline,critical-path,what-if,time-breakdown,overview,steps,model,distributed,benchmark,data-loading,device"
# Whose figures other formats print, too.
SHOWN = ("headline", "findings", "budget", "idle", "breakdown", "gpu_summary", "step_stats", "time_breakdown", "overview")
# Parts of the time of a GPU in `time-breakdown`.
BUSY = ("computation_ns", "communication_kernels_alone_ns", "memory_alone_ns")
IDLE = ("Idle: ", "Idle or not recorded")
# The parts of a budget by columns of the headline: on a GPU, and on the CPU alone.
GPU = {
    "computing": ["Computing"], "exposed_communication": ["Communication", "Communication: transfer", "Communication: waiting for a rank"],
    "exposed_copies": ["Copies to the GPU", "Copies from the GPU", "Other copies", "Memsets"],
    "idle_startup": ["Idle: start-up"], "idle_allocation": ["Idle: allocation"], "idle_wait": ["Idle: waits"],
    "idle_staging": ["Idle: copy calls"], "idle_launch": ["Idle: launches", "Idle: other calls"],
    "idle_compilation": ["Idle: compilation"], "idle_gil": ["Idle: Python's lock"], "idle_gc": ["Idle: garbage collection"], "idle_dataloader": ["Idle: data loader"], "idle_operators": ["Idle: operators"], "idle_os": ["Idle: OS calls"],
    "idle_user": ["Idle: user code in ranges", "Idle: user code"], "idle_latency": ["Idle: latency"],
    "idle_dependency": ["Idle: dependencies"], "idle_unknown": ["Idle or not recorded"],
}
PHASES = ("dataloader", "forward", "backward", "optimization", "others")
CPU = {
    "cpu_operators": ["Idle: operators"], "cpu_dataloader": ["Idle: data loader"], "cpu_communication": GPU["exposed_communication"],
    "cpu_calls": ["Idle: start-up", "Idle: allocation", "Idle: waits", "Idle: copy calls", "Idle: launches", "Idle: other calls"],
    "cpu_compilation": ["Idle: compilation"], "cpu_gil": ["Idle: Python's lock"], "cpu_gc": ["Idle: garbage collection"], "cpu_os": ["Idle: OS calls"], "cpu_other": ["Idle: user code in ranges", "Idle: user code", "Idle: latency", "Idle: dependencies"],
}
# What the communication was for, where any of it is known.
WAITS = {"transfer": ["Communication: transfer"], "rank_wait": ["Communication: waiting for a rank"]}


# Larger times are nonsense of a damaged recording, and no number of JSON is exact.
MOST_EXACT = 1 << 53
# watch takes ticks for ns: it does not wait for the end, when it is known how fast the clock was.
CLOCK = 1e-4


def rows_of(program, *options):
    """Rows by table, and its notes; None if the recording cannot be read."""
    done = subprocess.run([program, *options], capture_output=True, check=False)
    if done.returncode not in (0, 3):
        return None
    found = {name: table for name, table in json.loads(done.stdout).items() if isinstance(table, dict) and "rows" in table}
    return {name: table["rows"] for name, table in found.items()} | {"notes": {name: table.get("note") or "" for name, table in found.items()}}


def tables(program, path, *options):
    return rows_of(program, "--format", "json", "--top", "0", "--view", VIEWS, *options, path)


def sums(rows, name, value):
    found = collections.Counter()
    for row in rows:
        found[row["pid"], row[name]] += row[value]
    return found


def is_mean(mean, total, number):
    """Is it the nearest integer, of two either?"""
    return 2 * abs(mean * number - total) <= number


def idle(have, steps):
    parts = sums(have["budget"], "part", "total_ns")
    own = sums(have["idle"], "part", "total_ns")
    on_gpu = {pid for pid, _ in own}
    for key in sorted(set(parts) | set(own)):
        want = parts[key] if key[1].startswith(IDLE) and key[0] in on_gpu else 0
        if own[key] != want:
            yield f"idle has {own[key]} of {key[1]} of process {key[0]}, budget {want}"
    for row in have["idle"]:
        if row["drained_ns"] is not None and row["drained_ns"] > row["total_ns"]:
            yield f"{row['part']}: more after waits than in all: {row}"
        if (row["mean_ns"] is None) != (steps[row["pid"]] == 0) or (steps[row["pid"]] and not is_mean(row["mean_ns"], row["total_ns"], steps[row["pid"]])):
            yield f"{row['part']}: {row['mean_ns']} is no mean of {steps[row['pid']]} steps: {row}"


def gaps(have):
    parts = sums(have["idle"], "part", "total_ns")
    for key, ns in sums(have["idle_gaps"], "cause", "cause_ns").items():
        if ns > parts[key]:
            yield f"gaps have {ns} of {key[1]} of process {key[0]}, idle {parts[key]}"
    every = collections.Counter()
    for (pid, _), ns in parts.items():
        every[pid] += ns
    for row in have["idle_gaps"]:
        every[row["pid"]] -= row["duration_ns"]
        if not 0 < row["cause_ns"] <= row["duration_ns"] or row["cause_ns"] * len(parts) < row["duration_ns"]:
            yield f"a gap of {row['duration_ns']} counts for {row['cause']} with {row['cause_ns']}"
    for pid, ns in every.items():
        if ns < 0:
            yield f"the gaps of process {pid} are {-ns} longer than its idle time"


def headline(have, steps):
    """Of recordings all of whose processes count."""
    row = have["headline"][0] if have["headline"] else None
    processes = {row["pid"] for row in have["budget"]}
    if not row or row["helpers"] or row["processes"] != len(processes):
        return
    parts = collections.Counter()
    for (_, part), ns in sums(have["budget"], "part", "total_ns").items():
        parts[part] += ns
    if not any(steps.values()) and row["processes"] == 1 and row["span_ns"] != sum(parts.values()):
        yield f"the headline is of {row['span_ns']}, the budget of {sum(parts.values())}"
    number = sum(steps.values()) or 1
    is_divided = any(parts[part] for of in WAITS.values() for part in of)
    if (row.get("rank_wait_ns") is not None) != is_divided:
        yield f"the headline has {row.get('rank_wait_ns')} of waiting for ranks, budget {parts}"
    wanted = {**(GPU if row["computing_ns"] is not None else CPU), **(WAITS if is_divided else {})}
    for column, of in wanted.items():
        mean, total = row[column + "_ns"], sum(parts[part] for part in of)
        if mean is not None and mean < MOST_EXACT and not is_mean(mean, total, number):
            yield f"the headline has {mean} of {column} in each of {number} steps, budget {total} in all"


def breakdown(have, steps):
    parts = sums(have["budget"], "part", "total_ns")
    for row in have["breakdown"]:
        if row["step"] not in ("all", "average"):
            continue
        number = steps[row["pid"]] or 1
        for columns, of in ((["kernel_ns"], GPU["computing"]), (["communication_ns"], GPU["exposed_communication"]),
                            (["memcpy_ns", "memset_ns"], GPU["exposed_copies"])):
            mean, total = sum(row[column] for column in columns), sum(parts[row["pid"], part] for part in of)
            if abs(mean * number - total) > number * len(columns):
                yield f"breakdown has {mean} of {columns[0]} in each of {number} steps, budget {total} in all"


def use(have):
    """A kernel runs while the process computes, and at most while it computes, communicates or copies."""
    parts = sums(have["budget"], "part", "total_ns")
    for pid in {row["pid"] for row in have["budget"]}:
        rows = [row for row in have["gpu_summary"] if row["pid"] == pid and row["utilization_pct"] is not None]
        window = sum(ns for (of, _), ns in parts.items() if of == pid)
        if len(rows) != 1 or not window:
            continue
        least = 100.0 * parts[pid, "Computing"] / window
        most = 100.0 * sum(parts[pid, part] for name in list(GPU)[:3] for part in GPU[name]) / window
        if not least - 0.01 <= rows[0]["utilization_pct"] <= most + 0.01:
            yield f"process {pid} computes {least:.2f} % of its steps, and its GPU is in use {rows[0]['utilization_pct']} %"


def findings(have):
    row = have["headline"][0]
    step = sum(row[column + "_ns"] or 0 for column in GPU)
    for number, finding in enumerate(have["findings"], 1):
        if number <= 3 and row[f"finding_{number}"] not in ("", None, finding["sentence"]):
            yield f"finding {number} is '{row[f'finding_{number}']}' and '{finding['sentence']}'"
        if finding["reach_ns"] is not None and finding["reach_ns"] > finding["step_ns"] + 1:
            yield f"{finding['cause']} reaches beyond the step: {finding['reach_ns']} of {finding['step_ns']}"
        if None not in (finding["saved_ns"], finding["reach_ns"]) and finding["saved_ns"] > finding["reach_ns"] + 1:
            yield f"{finding['cause']} saves more than it reaches: {finding['saved_ns']} of {finding['reach_ns']}"
        want = max(step, row["mean_ns"] or 0)
        if finding["cause"] in ("garbage_collection", "compilation") and row["outlier_steps"]:
            continue  # of these steps, too
        is_share = finding["cause"] not in ("kernels_gpu_bound", "operators_cpu_bound", "lost_data")
        if row["processes"] > 1 and row["steps"] and is_share and abs(finding["step_ns"] - want) > len(GPU) + 1e-12 * want:
            yield f"{finding['cause']} is of a step of {finding['step_ns']}, the job's takes {want}"
        if row["processes"] == 1 and step and abs(finding["step_ns"] - step) > len(GPU) + 1e-12 * step:
            yield f"{finding['cause']} is of a step of {finding['step_ns']}, the headline's takes {step}"
    yield from verdict.places_are_in_reach(None, have["findings"], None)
    yield from verdict.named_places_have_their_share(None, have["findings"], None)


def owners(have):
    """Of one process: what has most of a part in the budget is the first place of the finding that the part alone costs."""
    parts = {row["part"]: row for row in have["budget"]}
    for finding in have["findings"]:
        row = parts.get({"loader": "Idle: data loader", "garbage_collection": "Idle: garbage collection", "compilation": "Idle: compilation", "os_calls": "Idle: OS calls", "gaps": "Idle: latency"}.get(finding["cause"]))
        places = verdict.PLACE.findall(finding["places"] or "")
        if have["headline"][0]["processes"] == 1 and have["headline"][0]["helpers"] == 0 and row and places:
            ns = float(places[0][0].replace(",", "")) * verdict.UNITS[places[0][1]]
            most = (row["longest_pct"] or 0) / 100 * row["total_ns"] / (have["headline"][0]["steps"] or 1)
            if abs(ns - most) > verdict.DIGITS * ns + 1:
                yield f"the budget has most of {row['part']} in {row['longest']}, {most}, the finding {finding['places']}"


def statistics(have, compared):
    """Of one process: `have` with step-stats, and `diff` of the recording and itself."""
    row = have["headline"][0]
    if not row["steps"] or row["processes"] != 1:
        return
    for of in have["step_stats"]:
        if of["part"] == "Step" and (of["steps"], of["median_ns"], of["avg_ns"], of["p99_ns"]) != tuple(row[n] for n in ("steps", "median_ns", "mean_ns", "p99_ns")):
            yield f"step-stats and headline differ: {of} and {row['steps']} steps, {row['median_ns']}, {row['mean_ns']}, {row['p99_ns']}"
    for of in compared["answer"]:
        if (of["a_steps"], of["a_median_ns"]) != (row["steps"], row["median_ns"]):
            yield f"diff has {of['a_steps']} steps of {of['a_median_ns']}, the headline {row['steps']} of {row['median_ns']}"


def reduced(have, other, text):
    """The headline of a summary is that of the recording; of ranks that were read one by one it says that their waiting is unknown,
    unless they measured it."""
    row, is_divided = have["headline"][0], other["headline"][0]["rank_wait_ns"] is not None
    is_shown = any((row[name + "_pct"] or 0) > 0.05 for name in ("exposed_communication", "cpu_communication"))
    if is_shown and (row["processes"] > 1 and not is_divided) != ("communication (waiting unknown)" in text):
        yield f"reduce says of the communication of {row['processes']} processes: {text}"
    waits = [name + "_ns" for name in WAITS] if row["processes"] == 1 else []
    for column in ["steps", "median_ns", "mean_ns", "p99_ns", *waits] + [name + "_ns" for name in [*GPU, *PHASES]]:
        mine, theirs = have["headline"][0][column], other["headline"][0][column]
        if (mine is None) != (theirs is None) or (mine is not None and abs(mine - theirs) > 1):
            yield f"reduce has {theirs} of {column}, the headline {mine}"


def busy(parts, pid, columns):
    return sum(parts[pid, part] for column in columns for part in GPU[column])


def counted(have, steps, other):
    """How many steps the tables have, and how long they take together: by process, and those that sum processes up."""
    lengths = {row["pid"]: row["total_ns"] for row in have["step_stats"] if row["part"] == "Step"}
    total, number = sum(lengths.values()), sum(row["steps"] for row in have["step_stats"] if row["part"] == "Step")
    if not lengths:
        return
    for name in "model", "overview":
        for row in have[name]:
            if row["name"] == "ProfileStep" and (row["calls"], row["total_ns"]) != (number, total):
                yield f"{name} has {row['calls']} steps of {row['total_ns']}, step-stats {number} of {total}"
    for row in have["distributed"]:
        if row["pid"] in lengths and row["time_ns"] != lengths[row["pid"]]:
            yield f"distributed has {row['time_ns']} of steps of process {row['pid']}, step-stats {lengths[row['pid']]}"
    for row in have["benchmark"]:
        if row["pid"] in lengths and (row["steps"] != steps[row["pid"]] or not is_mean(row["batch_cost_avg_ns"], lengths[row["pid"]], row["steps"])):
            yield f"benchmark has {row['steps']} steps of {row['batch_cost_avg_ns']}, step-stats {steps[row['pid']]} of {lengths[row['pid']]}"
    for row in other["distributed"] if other else []:
        if row["pid"] in lengths and row["steps"] and (row["steps"], row["duration_ns"]) != (steps[row["pid"]], lengths[row["pid"]]):
            yield f"the summary's distributed has {row['steps']} steps of {row['duration_ns']}, step-stats {steps[row['pid']]} of {lengths[row['pid']]}"


def phases(have):
    """Of one process: those of the headline, as means of its steps."""
    row = have["headline"][0]
    for of in have["model"]:
        mean = row.get(f"{of['name'].lower()}_ns")
        if mean is not None and row["processes"] == 1 and row["helpers"] == 0 and row["steps"] and not is_mean(mean, of["total_ns"], row["steps"]):
            yield f"the headline has {mean} of {of['name']} in each of {row['steps']} steps, model {of['total_ns']} in all"
    for of in have["data_loading"]:
        want = row["dataloader_pct"]
        if None not in (of["wait_pct"], want) and row["processes"] == 1 and row["helpers"] == 0 and row["steps"] and abs(of["wait_pct"] - want) > 0.01:
            yield f"the loader takes {want} % of the headline's steps, by data-loading {of['wait_pct']} %"


def path_of(have):
    """From the begin of each step to the next one; of a recording all of it."""
    length = sum(row["total_ns"] for row in have["critical_path"] if row["name"] == row["kind"])
    steps = sum(row["total_ns"] for row in have["step_stats"] if row["part"] == "Step")
    recordings = sum(sums(have["budget"], "pid", "total_ns").values())
    want = steps if have["step_stats"] else recordings
    if length and length != want:
        yield f"the critical path takes {length}, what it is of {want}"


def replay(have):
    """Of one process: the steps that are replayed count, and last as long as in the budget."""
    if len({row["pid"] for row in have["step_stats"]}) == 1 and have["what_if"]:
        of, row = next(row for row in have["step_stats"] if row["part"] == "Step"), have["what_if"][0]
        lengths = [row["total_ns"] for row in have["breakdown"] if row["step"] not in ("all", "average")]
        mean = sum(row["total_ns"] for row in have["budget"] if row["pid"] == of["pid"]) / of["steps"]
        if row["steps"] > of["steps"] or not min(lengths) - 1 <= row["step_ns"] <= max(lengths) + 1:
            yield f"what-if replays {row['steps']} steps of {row['step_ns']}, of {of['steps']} that take {min(lengths)} to {max(lengths)}"
        if row["steps"] == of["steps"] and abs(row["step_ns"] - mean) > 1:
            yield f"what-if replays all {row['steps']} steps of {row['step_ns']}, which take {mean}"


def replayed_job(have):
    """Of ranks that are replayed together: the longest step of any, as long as in the budget if all of its steps are replayed."""
    rows, totals = have["what_if"], sums(have["budget"], "pid", "total_ns")
    means, lengths = {}, collections.defaultdict(list)
    for row in have["step_stats"]:
        if row["part"] == "Step":
            means[row["pid"]] = sum(ns for (pid, _), ns in totals.items() if pid == row["pid"]) / row["steps"], row["steps"]
    for row in have["breakdown"]:
        if row["step"] not in ("all", "average"):
            lengths[row["pid"]].append(row["total_ns"])
    if len(means) < 2 or not rows or rows[0]["pid"] is not None:
        return
    slowest, number = max(means.values())
    if all(row["steps"] == nr for row in rows for _, nr in means.values()):
        if abs(rows[0]["step_ns"] - slowest) > 1:
            yield f"what-if replays all {number} steps of the job of {rows[0]['step_ns']}, those of the slowest rank take {slowest}"
    elif rows[0]["step_ns"] > max(map(max, lengths.values())) + 1 or rows[0]["step_ns"] < max(map(min, lengths.values())) - 1:
        yield f"what-if replays steps of the job of {rows[0]['step_ns']}, those of its ranks take {dict(lengths)}"


def unions(have, most, has_steps):
    """`overview`, `distributed` and `time-breakdown` compute as the budget does, here of all steps or of a recording without any."""
    if any("cut off" in note for note in have["notes"].values()):
        return
    parts, every, all_pids = sums(have["budget"], "part", "total_ns"), 0, {row["pid"] for row in have["budget"]}
    for pid in all_pids:
        want = parts[pid, "Computing"]
        limit = sum(row["computation_ns"] for row in most["time_breakdown"] if row["pid"] == pid)
        every += want
        if want > limit:
            yield f"process {pid} computes for {want} in its steps, by time-breakdown {limit} in all of the recording"
        for table in "distributed", "time_breakdown":
            own = [row["computation_ns"] for row in have[table] if row["pid"] == pid and row["device"] is not None]
            if own and max(own) < MOST_EXACT and (max(own) > want or (not has_steps and sum(own) < want)):
                yield f"{table} has {own} of computation of process {pid}, budget {want}"
    rows = {row["name"]: row["total_ns"] for row in have["overview"] if row["side"] == "GPU" and row["name"] != "Kernel of one GPU"}
    own = rows.get("Computation", rows.get("Kernel", 0))
    if own < MOST_EXACT and (own > every or (not has_steps and not have["headline"][0]["helpers"] and own != every)):
        yield f"overview has {own} of computation, budget {every}"


def layouts(have, steps):
    """Of other tools: each GPU by itself, all whole steps and what lies between them."""
    parts = sums(have["budget"], "part", "total_ns")
    devices = collections.defaultdict(list)
    for row in have["time_breakdown"]:
        if row["span_ns"] < MOST_EXACT:
            devices[row["pid"]].append(row)
    for pid, rows in devices.items():
        for keys, columns in (BUSY[:1], ["computing"]), (BUSY, list(GPU)[:3]):
            own = [sum(row[key] for key in keys) for row in rows]
            want = busy(parts, pid, columns)
            if sum(own) < want or (not steps[pid] and max(own) > want):
                yield f"GPUs of process {pid} have {own} of {', '.join(columns)}, budget {want}"
    row = have["headline"][0] if have["headline"] else None
    for of in have["overview"]:
        if of["name"] == "ProfileStep" and row and row["processes"] == 1 and row["helpers"] == 0 and of["calls"] != row["steps"]:
            yield f"overview has {of['calls']} steps, the headline {row['steps']}"


LOST = re.compile(r"Process (\d+): \d+ of \d+ launches have no GPU (?:activity|times), so idle time is unknown")


def lost(have):
    """Where too many launches lack their activity, each screen of idle time says so, and none has any."""
    said = {view: set(map(int, LOST.findall(have["notes"].get(view, "")))) for view in ("budget", "idle", "gpu_summary", "device", "time_breakdown", "distributed")}
    for view, pids in said.items():
        if pids != said["budget"]:
            yield f"{view} says that idle time of processes {sorted(pids)} is unknown, budget {sorted(said['budget'])}"
    for view in "device", "time_breakdown":
        for row in have[view]:
            is_whole = row["idle_ns"] is not None and (view == "device" or row["idle_ns"] + sum(row[key] for key in BUSY) == row["span_ns"])
            if is_whole == (row["pid"] in said["budget"]):
                yield f"{view} has {row['idle_ns']} of idle time of process {row['pid']}, which is {'un' * is_whole}known"
    for row in have["idle"]:
        if (row["part"] == "Idle or not recorded") != (row["pid"] in said["budget"]):
            yield f"idle has {row['part']} of process {row['pid']}"


def base_units(column, value):
    """A figure of JSON as OpenMetrics names and prints it."""
    for end, name, factor in ("_ns", "_seconds", 1e-9), ("ratio_pct", "ratio", 1e-2), ("_pct", "_ratio", 1e-2), ("bytes_per_s", "bytes_per_second", 1), ("_per_s", "_per_second", 1):
        if column.endswith(end):
            return column[:-len(end)] + name, value * factor
    return column, value


def openmetrics(have, lines):
    """Each figure of the tables is printed as often as they have it."""
    printed = collections.defaultdict(list)
    for line in lines:
        match = re.match(r"(gprof_\w+)(?:\{.*\})? (\S+)$", line)
        if match:
            printed[match[1]].append(float(match[2]))
    for table in SHOWN:
        want = collections.defaultdict(list)
        for row in have[table]:
            for column, value in row.items():
                if isinstance(value, (int, float)) and column not in ("pid", "rank", "device", "step"):
                    name, value = base_units(column, value)
                    want[f"gprof_{table}_{name}"].append(value)
        for name, values in want.items():
            own = sorted(printed[name])
            least = 1e-5 if name.endswith("_ratio") else 1e-9 if name.endswith("_seconds") else 1e-3  # as exact as JSON has it
            if len(own) != len(values) or any(abs(a - b) > 1e-6 * abs(b) + least for a, b in zip(own, sorted(values))):
                yield f"OpenMetrics has {own[:3]} of {name}, the table {sorted(values)[:3]}"


def page_of(have, text):
    """The rows that its cards and tables show."""
    own = json.loads(re.search(r'<script[^>]*id="?data"?[^>]*>(.*?)</script', text, re.S)[1])
    for table in SHOWN:
        if table in own and own[table]["rows"] != have[table]:
            yield f"the page has other rows of {table}"


def watched(have, text):
    """All steps but the first of a process, whose begin watch does not know."""
    durations = collections.defaultdict(list)
    for row in have["steps"]:
        durations[row["pid"]].append(row["duration_ns"])
    for name, pid, value in re.findall(r'^gprof_step_duration_seconds_(sum|count)\{.*pid="(\d+)".*\} (\S+)$', text, re.M):
        known = [ns for ns in durations[int(pid)][1:] if ns is not None]
        want = len(known) if name == "count" else sum(known) / 1e9
        if abs(float(value) - want) > CLOCK * want + 1e-9:
            yield f"watch has {value} as the {name} of steps, the view steps {want}"


def steps_of(have):
    """How many steps of each process count, by the mean of its largest part; 0: it has none."""
    found = collections.Counter()
    has_steps = {row["pid"] for row in have["breakdown"] if row["step"] != "all"}
    for pid in has_steps:
        row = max((row for row in have["budget"] if row["pid"] == pid), key=lambda row: row["total_ns"], default=None)
        found[pid] = round(row["total_ns"] / row["mean_ns"]) if row and row["mean_ns"] else 0
    return found


def read(file):
    with open(file, encoding="utf-8") as opened:
        return opened.read()


def formats(program, path, have, folder):
    views = ",".join(SHOWN).replace("_", "-")
    done = subprocess.run([program, "--format", "openmetrics", "--top", "0", "--view", views, path], capture_output=True, check=False)
    yield from openmetrics(have, done.stdout.decode("utf-8", "replace").splitlines())
    html, metrics = os.path.join(folder, "page.html"), os.path.join(folder, "metrics.prom")
    subprocess.run([program, "html", "--top", "0", "-o", html, path], capture_output=True, check=False)
    yield from page_of(have, read(html))
    if path.endswith(".gprof"):
        os.symlink(os.path.abspath(path), os.path.join(folder, os.path.basename(path)))
    if path.endswith(".gprof") or os.path.isdir(path):
        subprocess.run([program, "watch", "--once", "--metrics", metrics, folder if path.endswith(".gprof") else path], capture_output=True, check=False)
        yield from watched(have, read(metrics) if os.path.exists(metrics) else "")


def screens(program, path, have):
    with tempfile.TemporaryDirectory() as folder:
        summary = os.path.join(folder, "one.sum")
        subprocess.run([program, "reduce", "-o", summary, path], capture_output=True, check=False)
        other = rows_of(program, "--format", "json", summary)
        text = subprocess.run([program, "--view", "headline", summary], capture_output=True, check=False).stdout.decode("utf-8", "replace")
        yield from formats(program, path, have, folder)
    if other:
        yield from reduced(have, other, text)
    yield from counted(have, steps_of(have), other)
    yield from phases(have)
    yield from statistics(have, rows_of(program, "diff", "--format", "json", path, path) or {"answer": []})


def compare(program, path):
    have = tables(program, path)
    if have is None:
        return
    options, most = [], have
    numbers = [int(row["step"]) for row in have["breakdown"] if row["step"] not in ("all", "average")]
    if have["headline"]:
        yield from findings(have)
        yield from owners(have)
        yield from screens(program, path, have)
    # Steps that warm up are left out, unless they are asked for.
    while have:
        steps = steps_of(have)
        for problems in (idle(have, steps), headline(have, steps), breakdown(have, steps), use(have), path_of(have), replay(have), replayed_job(have)):
            yield from problems
        if not options:  # else what the chosen steps launched
            yield from layouts(have, steps)
            yield from lost(have)
        if options or not numbers:  # gaps are of all steps
            yield from gaps(have)
            if have["headline"]:
                yield from unions(have, most, bool(numbers))
        if options or not numbers:
            return
        options = ["--steps", f"{min(numbers)}-{max(numbers)}"]
        have = tables(program, path, *options)


def main(program, *paths):
    failed = 0
    for count, path in enumerate(paths, 1):
        problems = list(compare(program, path))
        failed += bool(problems)
        print(f"{'not ok' if problems else 'ok'} {count} - {os.path.basename(path.rstrip('/'))}: screens print the same{': ' + problems[0] if problems else ''}")
        for problem in problems:
            print(f"#   {problem}")
    print(f"1..{len(paths)}")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
