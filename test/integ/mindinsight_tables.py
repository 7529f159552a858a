# SPDX-License-Identifier: Apache-2.0
"""Checks tables against the events that they are made of: mindinsight_tables.py ROW FOLDER

FOLDER has `tables`, what `summary --format json` printed, and `op`, `kernel`, `copy`, `call`, `sample` and `step`: the events
as JSON, from `gprof-report sql`, and `stat`, /proc/stat as it was before. Figures are recomputed here, from begins and ends alone.
"""
import json
import os
import re
import sys
from collections import defaultdict
from statistics import median

row_name, folder = sys.argv[1:3]
bad = []


def must(condition, what):
    if not condition:
        bad.append(what)


def near(have, want, what):
    """Percentages have three digits, means in ns none."""
    must(have is not None and abs(have - want) <= (.51 if abs(want) > 100 else 2e-3) + 1e-9 * abs(want), "%s: %s in the table, %s by hand" % (what, have, want))


def read(name):
    with open("%s/%s" % (folder, name)) as file:
        data = json.load(file)
    return data if name == "tables" else data["result"]["rows"]


tables = read("tables")


def rows_of(key):
    return tables[key]["rows"]


# ---- operators ----

def type_of(name):
    name = name.split(": ")[0].split("::")[-1]
    name = re.sub(r"(Backward)\d+$", r"\1", name)
    return name[:-1] if len(name) > 1 and name.endswith("_") and not name.endswith("__") else name


class Operators:
    """Operators with what lies in them and what they launched themselves, by begins and ends."""

    def __init__(self):
        threads = defaultdict(list)
        for op in sorted(read("op"), key=lambda each: (each["start_ns"], -each["dur_ns"], each["depth"])):
            op["end_ns"], op["child_ns"], op["gpu"] = op["start_ns"] + op["dur_ns"], 0, []
            stack = threads[op["tid"]]
            while stack and stack[-1]["end_ns"] <= op["start_ns"]:
                stack.pop()
            op["outer"] = stack[-1] if stack else None
            op["is_module"] = op["framework"] == 2 and op["scope"] == 1
            stack.append(op)
            threads[op["tid"], "all"].append(op)
        self.all = [op for tid, ops in threads.items() if isinstance(tid, tuple) for op in ops]
        for op in self.all:
            outer = op["outer"]  # what lies in a module is no time of the operator around it either
            while outer and not op["is_module"]:
                outer["child_ns"] += op["dur_ns"]
                outer = outer["outer"] if outer["is_module"] else None
        self.ops = [op for op in self.all if not op["is_module"] and op["scope"] != 7 and not op["name"].startswith("ProfilerStep#")]
        calls = {call["correlation"]: call for call in read("call")}
        activities = read("kernel") + read("copy")
        for activity in activities:
            call = calls.get(activity["correlation"])
            inside = [op for op in threads[call["tid"], "all"] if op["start_ns"] <= call["start_ns"] and call["start_ns"] + call["dur_ns"] <= op["end_ns"]] if call else []
            activity["op"] = max(inside, key=lambda op: (op["start_ns"], op["depth"])) if inside else None
            if activity["op"]:
                activity["op"]["gpu"].append(activity["dur_ns"])
        self.activities = activities

    def full_name(self, op):
        modules, outer = [], op["outer"]
        while outer:
            if outer["is_module"]:
                modules.insert(0, outer["name"].replace("nn.Module: ", ""))
            outer = outer["outer"]
        return "/".join(modules + [op["name"]])


def check_operators(key, name_of, columns):
    groups = defaultdict(list)
    operators = Operators()
    for op in operators.ops:
        groups[name_of(operators, op)].append(op)
    rows = rows_of(key)
    must(len(rows) == len(groups), "%d rows, %d by hand" % (len(rows), len(groups)))
    has_gpu = any(op["gpu"] for op in operators.ops)
    times = {name: (sum(sum(op["gpu"]) for op in ops), sum(op["dur_ns"] - op["child_ns"] for op in ops)) for name, ops in groups.items()}
    total = sum(time[0 if has_gpu else 1] for time in times.values())
    for row in rows:
        name = tuple(row[column] for column in columns)
        if name not in groups:
            must(False, "%s is no operator" % (name,))
            continue
        ops, (gpu_ns, cpu_ns) = groups[name], times[name]
        time = gpu_ns if has_gpu else cpu_ns
        must(row["calls"] == len(ops), "calls of %s: %s, not %d" % (name, row["calls"], len(ops)))
        near(row["self_ns"], cpu_ns, "self time of %s" % (name,))
        near(row["total_ns"], time, "total of %s" % (name,))
        near(row["time_avg_ns"], time / len(ops), "average of %s" % (name,))
        near(row["share_pct"], 100 * time / total, "share of %s" % (name,))
        if has_gpu:
            must(row["gpu_activities"] == sum(len(op["gpu"]) for op in ops), "activities of %s" % (name,))
        if key == "single_operators":
            must(row["side"] == ("Device" if any(op["gpu"] for op in ops) else "Host"), "side of %s" % (name,))
            must(row["type"] == type_of(row["name"]), "type of %s" % (name,))
    averages = [row["time_avg_ns"] for row in rows]
    must(averages == sorted(averages, reverse=True), "the order is not that of the average")


def types():
    check_operators("operator_types", lambda operators, op: (type_of(op["name"]),), ["type"])


def singles():
    check_operators("single_operators", lambda operators, op: (operators.full_name(op), op["shapes"] or ""), ["full_name", "shapes"])


def kernels():
    operators, groups = Operators(), defaultdict(list)
    for activity in operators.activities:
        if "kernel_name" in activity:
            op = activity["op"]
            while op and (op["is_module"] or op["scope"] == 7):
                op = op["outer"]
            groups[activity["kernel_name"], operators.full_name(op) if op else "(no operator)"].append(activity["dur_ns"])
    found = defaultdict(list)
    for row in rows_of("kernel_operator"):
        found[row["name"], row["full_name"]].append(row)
    must(set(found) == set(groups), "kernels and operators: %s" % sorted(set(found) ^ set(groups))[:4])
    total = sum(map(sum, groups.values()))
    for key in set(found) & set(groups):
        must(sum(row["calls"] for row in found[key]) == len(groups[key]), "calls of %s in %s" % key)
        near(sum(row["total_ns"] for row in found[key]), sum(groups[key]), "total of %s in %s" % key)
        near(sum(row["avg_ns"] * row["calls"] for row in found[key]) / len(groups[key]), sum(groups[key]) / len(groups[key]), "average of %s in %s" % key)
        near(sum(row["share_pct"] for row in found[key]), 100 * sum(groups[key]) / total, "share of %s in %s" % key)


# ---- the others ----

def timeline():
    operators, (row,) = Operators(), rows_of("timeline_summary")
    must(row["operators"] == len({op["name"] for op in operators.ops}), "operators")
    must(row["calls"] == len(operators.ops), "calls")
    must(row["streams"] == len({(each["device"], each["stream"]) for each in operators.activities}), "streams")
    must(row["activities"] == len(operators.activities), "activities")
    near(row["operators_ns"], sum(op["dur_ns"] - op["child_ns"] for op in operators.ops), "time of operators")
    near(row["gpu_ns"], sum(each["dur_ns"] for each in operators.activities), "time of GPUs")


def steps_of(ops):
    """Begin and end of each step that has both; the first begins with the first operator."""
    ends = [row["time_ns"] for row in read("step")]
    return list(zip([min(op["start_ns"] for op in ops)] + ends[1:], ends[1:]))


def usual(steps):
    """Without those that warm up, and without outliers (`help headline`)."""
    def limit(times):
        middle = median(times)
        most = max(2 * middle, middle + 5 * median(abs(each - middle) for each in times))
        return most if 5 * sum(each > most for each in times) <= len(times) else float("inf")

    times = [step["duration_ns"] for step in steps]
    later = times[len(times) // 2:]
    longest = max(each for each in later if each <= limit(later))
    first = 0
    while len(times) >= 4 and first < len(times) // 2 and times[first] > max(longest, 1.25 * median(later)):
        first += 1
    return [step for step in steps[first:] if step["duration_ns"] <= limit(times[first:])]


def step_trace():
    ops = Operators().all
    steps = [row for row in rows_of("steps") if row["duration_ns"] is not None]
    bounds = steps_of(ops)
    must(len(bounds) == len(steps), "%d steps, %d by hand" % (len(steps), len(bounds)))
    for row, (begin, end) in zip(steps, bounds):
        inside = [op for op in ops if begin <= op["start_ns"] < end and op["tid"] == min(each["tid"] for each in ops)]
        loader_end = max(op["end_ns"] for op in inside if "DataLoader" in op["name"])
        forward = min(op["start_ns"] for op in inside if op["start_ns"] >= loader_end and op["name"].startswith("aten::"))
        backward = max(op["end_ns"] for op in ops if begin <= op["start_ns"] < end and "autograd::engine" in op["name"])
        for key, want in (("duration_ns", end - begin), ("interval_ns", forward - begin), ("fp_bp_ns", backward - forward), ("tail_ns", end - backward)):
            must(row[key] == want, "%s of step %s: %s, not %d" % (key, row["step"], row[key], want))
    for part, key in (("Step", "duration_ns"), ("Iteration interval", "interval_ns"), ("Forward+Backward", "fp_bp_ns"), ("Tail", "tail_ns")):
        row = next(each for each in rows_of("step_stats") if each["part"] == part)
        counted = usual(steps)
        must(row["steps"] == len(counted), "%s of %s steps, %d by hand" % (row["steps"], part, len(counted)))
        near(row["avg_ns"], sum(step[key] for step in counted) / len(counted), "average of " + part)
        near(row["share_pct"], 100 * sum(step[key] for step in counted) / sum(step["duration_ns"] for step in counted), "share of " + part)


def data():
    ops = Operators()
    busy = sorted((each["start_ns"], each["start_ns"] + each["dur_ns"]) for each in ops.activities)
    rows = rows_of("data_loading_steps")
    for row, (begin, end) in zip(rows, steps_of(ops.all)):
        waits = [(op["start_ns"], op["end_ns"]) for op in ops.all if "DataLoader" in op["name"] and begin <= op["start_ns"] < end]
        wait = sum(b - a for a, b in waits)
        worked = sum(max(0, min(b, to) - max(a, start)) for a, b in waits for start, to in busy)  # no two overlap here
        must(row["batches"] == len(waits) and row["wait_ns"] == wait, "batches and wait of step %s" % row["step"])
        near(row["wait_pct"], 100 * wait / (end - begin), "wait of step %s" % row["step"])
        must(row["gpu_idle_ns"] == wait - worked, "idle time of step %s: %s, not %d" % (row["step"], row["gpu_idle_ns"], wait - worked))
        late = min(wait, wait - worked) > .05 * (end - begin)
        must(row["delayed"] == ("yes" if late else "no"), "step %s is delayed: %s" % (row["step"], row["delayed"]))


def stolen_ticks(path):
    with open(path) as file:
        return int(file.readline().split()[8])


def cpu():
    looks = defaultdict(list)
    for sample in read("sample"):
        looks[sample["metric"]].append((sample["time_ns"], sample["value"]))

    def rise(metric):
        return looks[metric][-1][1] - looks[metric][0][1]

    def of(metric, who):
        (row,) = [row for row in rows_of("utilization") if row["metric"] == metric and row["device"] == who]
        return row["avg"]

    for metric, key in (("CPU(System)", "busy"), ("CPU(System), user", "user"), ("CPU(System), system", "system"), ("CPU(System), iowait", "iowait")):
        near(of(metric, "host"), 100 * rise("host_cpu_%s_ns" % key) / rise("host_cpu_all_ns"), metric)
    for metric, key in (("CPU(Process)", "cpu"), ("CPU(Process), user", "user"), ("CPU(Process), system", "system")):
        samples = looks["process_%s_ns" % key]
        near(of(metric, "process"), 100 * rise("process_%s_ns" % key) / (samples[-1][0] - samples[0][0]), metric)
    curve = [row for row in rows_of("utilization_time") if row["cpu_user_pct"] is not None]
    must(len(curve) >= 5, "%d values over time" % len(curve))
    # The rest is what other virtual machines took, which is busy time, too: at most what the kernel says since the test began.
    rest = rise("host_cpu_busy_ns") - rise("host_cpu_user_ns") - rise("host_cpu_system_ns")
    stolen = (stolen_ticks("/proc/stat") - stolen_ticks("%s/stat" % folder)) * 10**9 // os.sysconf("SC_CLK_TCK")
    must(0 <= rest <= stolen, "user and system time are not the busy time: the rest is %s ns of %s stolen ones" % (rest, stolen))


{"types": types, "singles": singles, "kernels": kernels, "timeline": timeline, "step_trace": step_trace, "data": data, "cpu": cpu}[row_name]()
for what in bad[:8]:
    print(what)
sys.exit(1 if bad else 0)
