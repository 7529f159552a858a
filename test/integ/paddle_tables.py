# SPDX-License-Identifier: Apache-2.0
"""Checks tables in Paddle's layout against the events that they are made of: paddle_tables.py ROW FOLDER [ARGUMENT]...

FOLDER has `tables`, what `summary --style paddle` printed, and `op`, `kernel`, `memcpy`, `memset`, `step`, `call`: the
events as JSON, from `gprof-report sql`. Times are recomputed here, from begins and ends alone.
"""
import json
import re
import sys

FIVE = ["Total", "Avg", "Max", "Min", "Ratio"]


def tables(path):
    """Title: (lines before the rows, [(depth, name, calls, cells)]), of all tables in the file."""
    found, lines = {}, open(path).read().split("\n")
    for at, line in enumerate(lines):
        title = re.fullmatch(r"-+([A-Z][A-Za-z ]+ Summary)-+", line)
        if not title:
            continue
        end = at + 1
        while lines[end] and not lines[end].startswith("Note:"):
            end += 1
        rows = [row for row in lines[at + 1:end] if row and not re.fullmatch(r"[- ]+", row)]
        head = next(i for i, row in enumerate(rows) if re.match(r"(Name|Device|Event Type) ", row))
        found[title[1]] = rows[:head + 1], [cells(row) for row in rows[head + 1:]]
    return found


def cells(row):
    return len(row) - len(row.lstrip()), [cell for cell in re.split(r"  +", row.strip()) if cell]


def five(text):
    return [None if part == "-" else float(part) for part in text.split(" / ")]


def near(have, want, what):
    good = have is not None and abs(have - want) < 0.0051 + 1e-3 * abs(want)
    if not good:
        print("%s: %s in the table, %.4f by hand" % (what, have, want))
    return good


class Events:
    def __init__(self, folder):
        for name in ("op", "kernel", "memcpy", "memset", "step", "call"):
            with open("%s/%s" % (folder, name)) as file:
                setattr(self, name, json.load(file)["result"]["rows"])
        for rows in (self.op, self.kernel, self.memcpy, self.memset, self.call):
            for row in rows:
                row["end_ns"] = row["start_ns"] + row["dur_ns"]
        marks = [row["time_ns"] for row in self.step]
        # The first step begins with what the loop does first.
        marks[0] = min(op["start_ns"] for op in self.op if op["scope"] == 1)
        self.steps = list(zip(marks, marks[1:]))
        self.steps_ns = marks[-1] - marks[0]
        open_ops = {}
        for op in sorted(self.op, key=lambda o: (o["start_ns"], o["depth"])):
            stack = open_ops.setdefault(op["tid"], [])
            while stack and stack[-1]["depth"] >= op["depth"]:
                stack.pop()
            op["around"] = stack[::-1]
            stack.append(op)
        launched = {}
        for activity in self.kernel + self.memcpy + self.memset:
            launched.setdefault(activity["correlation"], []).append(activity)
        for call in self.call:
            call["launched"] = launched.get(call["correlation"], [])

    def in_steps(self, row):
        return any(begin <= row["start_ns"] < end for begin, end in self.steps)

    def launched_in(self, row):
        """The GPU activities of calls within an event."""
        return [activity for call in self.call if call["tid"] == row["tid"] and
                row["start_ns"] <= call["start_ns"] and call["end_ns"] <= row["end_ns"]
                for activity in call["launched"]]

    def gpu_ns(self, row):
        return sum(activity["dur_ns"] for activity in self.launched_in(row))

    def gpu_of_steps(self):
        return sum(activity["dur_ns"] for call in self.call if self.in_steps(call) for activity in call["launched"])

    def union(self, rows):
        """Ms in which at least one of them is, within the steps."""
        total, last = 0, 0
        begin, end = self.steps[0][0], self.steps[-1][1]
        for row in sorted(rows, key=lambda r: r["start_ns"]):
            low, high = max(row["start_ns"], last, begin), min(row["end_ns"], end)
            total += max(0, high - low)
            last = max(last, row["end_ns"])
        return total / 1e6


def check_five(have, times, base_ns, what):
    """The five figures of events that take so long each."""
    want = [sum(times), sum(times) / len(times), max(times), min(times)]
    good = all([near(h, w / 1e6, what) for h, w in zip(have, want)])
    return near(have[4], 100 * want[0] / base_ns if base_ns else 0, what + ", ratio") and good


def rows_of(table, name):
    return next(row for _, row in table if row[0] == name)


# ---- the rows of Paddle's document ----

def device(events, table, sampled):
    """sampled: what the view utilization has; GPU time is that of kernels."""
    have = {row[0]: row[1] for _, row in table}
    with open(sampled) as file:
        want = {row["metric"]: row["avg"] for row in json.load(file)["utilization"]["rows"]}
    good = list(have) == ["CPU(Process)", "CPU(System)", "GPU0"] and float(have["CPU(Process)"]) > 0
    for name in "CPU(Process)", "CPU(System)":
        good &= near(float(have[name]), want[name], name) if name in want else have[name] == "-"
    print(have, want)
    return near(float(have["GPU0"]), 100e6 * events.union(events.kernel) / events.steps_ns, "GPU0") and good


def overview(events, table):
    types = {0: "Operator", 1: "Dataloader", 7: "UserDefined", 8: "OperatorInner", 9: "Forward", 10: "Backward",
             11: "Optimization", 12: "Communication", 14: "PythonUserDefined", 15: "DygraphKernelLaunch"}
    head = next(i for i, (_, row) in enumerate(table) if row[0] == "Calls")
    cpu, gpu = {row[0]: row for _, row in table[:head]}, {row[0]: row for _, row in table[head + 1:]}
    base = events.steps_ns / 1e6
    good = table[0][1] == ["ProfileStep", str(len(events.steps)), "%.2f" % base, "100.00"]
    good &= table[head][1] == ["Calls", "GPU Time", "Ratio (%)"]
    for scope, name in types.items():
        if name == "Dataloader":
            ops = [op for op in events.op if op["scope"] == scope and not op["around"]]
        else:
            ops = [op for op in events.op if op["scope"] == scope and events.in_steps(op)]
        good &= cpu[name][1] == str(len(ops)) and near(float(cpu[name][2]), events.union(ops), name)
        good &= near(float(cpu[name][3]), 100 * events.union(ops) / base, name + ", ratio")
    calls = [call for call in events.call if events.in_steps(call)]
    good &= cpu["CudaRuntime"][1] == str(len(calls))
    good &= near(float(cpu["CudaRuntime"][2]), events.union(calls), "CudaRuntime")
    nccl = [k for k in events.kernel if k["name"].startswith("nccl")]
    for name, rows in ("Kernel", events.kernel), ("Memcpy", events.memcpy), ("Memset", events.memset), \
            ("Communication", nccl):
        good &= near(float(gpu[name][2]), events.union(rows), name)
    falling = [float(row[2]) for row in cpu.values()]
    return good and falling == sorted(falling, reverse=True) and list(gpu)[:3] == ["Kernel", "Memcpy", "Memset"]


def model(events, table):
    scopes = {"Dataloader": 1, "Forward": 9, "Backward": 10, "Optimization": 11}
    good = [(depth, row[0]) for depth, row in table] == \
        [(0, "ProfileStep")] + [(2, name) for name in scopes] + [(2, "Others")]
    rows = {row[0]: row for _, row in table}
    times = [end - begin for begin, end in events.steps]
    good &= check_five(five(rows["ProfileStep"][2]), times, events.steps_ns, "ProfileStep")
    left_ns, left_gpu_ns = events.steps_ns, events.gpu_of_steps()
    for name, scope in scopes.items():
        ops = [op for op in events.op if op["scope"] == scope and not [o for o in op["around"] if o["scope"] == scope]]
        times, gpu = [op["dur_ns"] for op in ops], [events.gpu_ns(op) for op in ops]
        good &= rows[name][1] == str(len(ops))
        good &= check_five(five(rows[name][2]), times, events.steps_ns, name)
        good &= check_five(five(rows[name][3]), gpu, events.gpu_of_steps(), name + " on the GPU")
        left_ns, left_gpu_ns = left_ns - sum(times), left_gpu_ns - sum(gpu)
    others = five(rows["Others"][2]), five(rows["Others"][3])
    good &= rows["Others"][1] == "-" and others[0][1:4] == [None, None, None]
    return near(others[0][0], left_ns / 1e6, "Others") and near(others[1][0], left_gpu_ns / 1e6, "Others, GPU") and good


def distributed(events, table):
    nccl = [k for k in events.kernel if k["name"].startswith("nccl")]
    rest = [k for k in events.kernel if not k["name"].startswith("nccl")]
    communication, computation = events.union(nccl), events.union(rest)
    want = {"ProfileStep": events.steps_ns / 1e6, "Communication": communication, "Computation": computation,
            "Overlap": communication + computation - events.union(events.kernel)}
    good = [row[0] for _, row in table] == list(want) and want["Overlap"] > 0
    for _, (name, time, ratio) in table:
        good &= near(float(time), want[name], name)
        good &= near(float(ratio), 100e6 * want[name] / events.steps_ns, name + ", ratio")
    return good


def operator(events, table, detail="detail"):
    """Operators, the stages directly in them, and below these what was launched; no stage on its own."""
    ops = [op for op in events.op if op["scope"] == 0]
    names = {op["name"] for op in ops}
    good = {row[0] for depth, row in table if depth == 0 and "Thread:" not in row[0]} == names
    outer, inner = None, None
    for depth, row in table:
        if "Thread:" in row[0]:
            continue
        if depth == 0:
            outer, mine = row[0], [op for op in ops if op["name"] == row[0]]
            base, gpu_base = sum(op["dur_ns"] for op in ops), sum(events.gpu_ns(op) for op in ops)
        elif depth == 2:
            inner = row[0]
            mine = [op for op in events.op if op["name"] == inner and op["around"] and
                    op["around"][0]["name"] == outer]
            around = [op["around"][0] for op in mine]
            base, gpu_base = sum(op["dur_ns"] for op in around), sum(events.gpu_ns(op) for op in around)
        else:
            within = [op for op in events.op if op["name"] == inner and op["around"] and
                      op["around"][0]["name"] == outer]
            times = [a["dur_ns"] for op in within for a in events.launched_in(op)
                     if a.get("name", "").startswith(row[0].split("(")[0])]
            good &= row[2] == "- / - / - / - / -" and row[1] == str(len(times))
            good &= check_five(five(row[3]), times, sum(events.gpu_ns(op) for op in within), row[0])
            continue
        good &= row[1] == str(len(mine)) and check_five(five(row[2]), [op["dur_ns"] for op in mine], base, row[0])
        good &= check_five(five(row[3]), [events.gpu_ns(op) for op in mine], gpu_base, row[0] + " on the GPU")
    depths = {depth for depth, row in table if "Thread:" not in row[0]}
    return good and depths == ({0, 2, 4} if detail == "detail" else {0})


def kernel(events, table):
    total = sum(k["dur_ns"] for k in events.kernel)
    good = {row[0] for _, row in table} == {k["name"].split("(")[0] for k in events.kernel}
    for _, row in table:
        times = [k["dur_ns"] for k in events.kernel if k["name"].split("(")[0] == row[0]]
        good &= row[1] == str(len(times)) and check_five(five(row[2]), times, total, row[0])
    totals = [five(row[2])[0] for _, row in table]
    return good and totals == sorted(totals, reverse=True)


def in_steps_ratio(events, have, rows, times, base_ns, what):
    """Totals are of all; the ratio is of those that begin in whole steps."""
    part = sum(time for row, time in zip(rows, times) if events.in_steps(row))
    good = check_five(have[:4] + [100 * sum(times) / 1e9], times, 1e9, what)
    return near(have[4], 100 * part / base_ns, what + ", ratio of the steps") and good


def manipulation(events, table):
    kinds = {(1, "cudaMemcpy"): "GpuMemcpySync:CPU->GPU", (2, "cudaMemcpy"): "GpuMemcpySync:GPU->CPU",
             (8, "cudaMemcpyAsync"): "GpuMemcpyAsync(same_gpu):GPU->GPU"}
    want = {}
    for call in events.call:
        for activity in call["launched"]:
            if "copy_kind" in activity:
                want.setdefault(kinds[activity["copy_kind"], call["name"]], []).append((call, activity["dur_ns"]))
            elif "name" not in activity:
                want.setdefault("GpuMemsetAsync:GPU", []).append((call, activity["dur_ns"]))
    for op in events.op:
        if op["name"] == "BufferedReader:MemoryCopy":
            want.setdefault(op["name"], []).append((op, events.gpu_ns(op)))
    good = {row[0] for _, row in table} == set(want)
    for _, row in table:
        hosts = [host for host, _ in want[row[0]]]
        good &= row[1] == str(len(hosts))
        good &= in_steps_ratio(events, five(row[2]), hosts, [host["dur_ns"] for host in hosts], events.steps_ns, row[0])
        good &= in_steps_ratio(events, five(row[3]), hosts, [ns for _, ns in want[row[0]]], events.gpu_of_steps(),
                               row[0] + " on the GPU")
    return good


def userdefined(events, table):
    rows = [row for _, row in table if "Thread:" not in row[0]]
    ops = [op for op in events.op if op["scope"] == 14]
    good = [row[0] for row in rows] == ["my forward"] and rows[0][1] == str(len(ops))
    good &= in_steps_ratio(events, five(rows[0][2]), ops, [op["dur_ns"] for op in ops], events.steps_ns, "CPU")
    gpu = [events.gpu_ns(op) for op in ops]
    return good and in_steps_ratio(events, five(rows[0][3]), ops, gpu, events.gpu_of_steps(), "GPU")


TITLES = {"device": "Device Summary", "overview": "Overview Summary", "model": "Model Summary",
          "distributed": "Distribution Summary", "operator": "Operator Summary", "kernel": "Kernel Summary",
          "manipulation": "Memory Manipulation Summary", "userdefined": "UserDefined Summary"}
HEADS = {"device": ["Device", "Utilization (%)"], "overview": ["Event Type", "Calls", "CPU Time", "Ratio (%)"],
         "distributed": ["Name", "Total Time", "Ratio (%)"],
         "kernel": ["Name", "Calls", "GPU Total / Avg / Max / Min / Ratio(%)"]}


def main(row, folder, *arguments):
    head, table = tables(folder + "/tables")[TITLES[row]]
    want = HEADS.get(row, ["Name", "Calls", "CPU Total / Avg / Max / Min / Ratio(%)",
                           "GPU Total / Avg / Max / Min / Ratio(%)"])
    if cells(head[-1])[1] != want:
        print("columns:", head[-1])
        return False
    if row != "device" and head[0] != "Time unit: ms":
        print("unit:", head[0])
        return False
    return globals()[row](Events(folder), table, *arguments)


if __name__ == "__main__":
    sys.exit(not main(*sys.argv[1:]))
