# SPDX-License-Identifier: Apache-2.0
"""Looks at what `ops` printed (a line of JSON for each thing recorded).

check.py steps OPS PROFILE     operators of each step are those that PyTorch's own profiler saw
check.py profiles A B          the same for two results of that profiler
check.py total OPS PROFILE     those of the whole training are
check.py shapes OPS PROFILE    shapes and types of inputs are
check.py nests OPS             depths are those that the times of each thread say
check.py forward OPS           backward nodes name the operators and threads that made them
check.py elsewhere OPS NAME    it ended on another thread, and later than the next operator
check.py allocations OPS       those of fake_c10_cuda.c and fake_c10.c
check.py workers OPS NAME...   each of these was run by a process that ran no optimizer
"""
import collections
import json
import re
import sys


def read(path, kind="op"):
    with open(path) as file:
        if path.endswith(".json"):
            return json.load(file)
        rows = [json.loads(line) for line in file]
    return [row for row in rows if row["kind"] == kind]


def step_ranges(events):
    """torch.compile of PyTorch 2.0 to 2.2 takes Optimizer.step's range away."""
    found = [[e for e in events if e["name"].startswith("Optimizer.%s#" % what)]
             for what in ("step", "zero_grad")]
    return found[0] or found[1]


def trainer(ops):
    """The operators of the process that has the optimizer."""
    pids = {op["pid"] for op in step_ranges(ops)}
    return [op for op in ops if op["pid"] in pids]


# What PyTorch marks only while its own profiler runs.
OWN = ("Pregraph bytecode", "AOTDispatcher Runtime Wrapper Prologue", "## Call CompiledFxGraph ")


def by_step(events):
    events = [event for event in events if not event["name"].startswith(OWN)]
    ends = sorted(e["end"] for e in step_ranges(events))
    steps = [collections.Counter() for _ in ends]
    for event in events:
        step = sum(1 for end in ends if end < event["begin"])
        if 0 < step < len(ends):
            # The profiler gives the frame around a backward node the numbers of the node.
            node = not event["name"].startswith("autograd::engine::")
            sequence = event["sequence"] if node else -1
            forward = event["forward_thread"] if sequence != -1 else 0
            steps[step][event["name"], event["scope"], sequence, forward] += 1
    return steps[1:]


def without_gloo(ops):
    """The profiler of PyTorch 2.2 does not see what gloo does on its own threads."""
    gloo = {op["thread"] for op in ops if op["name"].startswith("gloo:")}
    gloo -= {op["thread"] for op in step_ranges(ops)}
    return [op for op in ops if op["thread"] not in gloo or op["name"].startswith("gloo:")]


def steps(ops, profile):
    want = by_step(read(profile))
    have = by_step(trainer(ops))
    if want != have:
        have = by_step(without_gloo(trainer(ops)))
    if want != have:
        print("%d steps, %d wanted" % (len(have), len(want)))
        for step, (a, b) in enumerate(zip(want, have)):
            for key in sorted(set(a) | set(b)):
                if a[key] != b[key]:
                    print("step %d: %s: %d recorded, %d wanted" % (step, key, b[key], a[key]))
    print("%s operators in steps" % [sum(step.values()) for step in have])
    return want == have and len(have) > 0 and max(sum(step.values()) for step in have) > 100


def total(ops, profile):
    """Batches of loader workers arrive during any step."""
    def between(events):
        first = min(e["begin"] for e in events if e["name"].startswith("enumerate(DataLoader)#"))
        last = max(e["end"] for e in events if e["name"].startswith("Optimizer.step#"))
        return collections.Counter((e["name"], e["scope"]) for e in events
                                   if first <= e["begin"] <= last)
    want, have = between(read(profile)), between(trainer(ops))
    for key in sorted(set(want) | set(have)):
        if want[key] != have[key]:
            print("%s: %d recorded, %d wanted" % (key, have[key], want[key]))
    return want == have and sum(have.values()) > 1000


TYPES = {"float": "float32", "long int": "int64", "long": "int64", "bool": "bool",
         "double": "float64", "int": "int32"}


def shapes(ops, profile):
    """Of tensors with sizes; the profiler says nothing of a scalar's and of those in lists."""
    def asked(event):
        return "; ".join("%s%s" % (TYPES.get(kind, kind), sizes)
                         for kind, sizes in zip(event["types"], event["shapes"])
                         if sizes and kind in TYPES)

    def told(op):
        tensors = re.findall(r"([a-z0-9]+)\[([0-9,]+)\]", op.get("shape", ""))
        return "; ".join("%s%s" % (kind, [int(size) for size in sizes.split(",")])
                         for kind, sizes in tensors)

    def by_name(events, tensors):
        last = sorted(e["end"] for e in events if e["name"].startswith("Optimizer.step#"))
        return collections.Counter((e["name"], tensors(e)) for e in events
                                   if last[0] < e["begin"] < last[-1] and e["scope"] == 0)
    want, have = by_name(read(profile), asked), by_name(ops, told)
    for key in sorted(set(want) | set(have)):
        if want[key] != have[key]:
            print("%s: %d recorded, %d wanted" % (key, have[key], want[key]))
    return want == have and len([key for key in want if key[1]]) > 20


def profiles(have, want):
    return by_step(read(want)) == by_step(have)


def nests(ops):
    good = len(ops) > 0
    threads = collections.defaultdict(list)
    for op in ops:
        threads[op["pid"], op["thread"]].append(op)
    for key, mine in threads.items():
        stack = []
        for op in sorted(mine, key=lambda op: (op["begin"], -op["end"])):
            while stack and stack[-1]["end"] <= op["begin"]:
                stack.pop()
            if op["end_thread"] == op["thread"] and (
                    op["depth"] != len(stack) or (stack and op["end"] > stack[-1]["end"])):
                print(key, op, "in", [outer["name"] for outer in stack])
                good = False
            stack.append(op)
    return good


def forward(ops):
    """From the end of the first step on: what torch.compile traces before shows no forward."""
    first = min(op["end"] for op in step_ranges(ops))
    made = {(op["sequence"], op["framework_thread"]) for op in ops if op["scope"] == 0}
    nodes = [op for op in ops if op["scope"] == 1 and op["sequence"] >= 0 and op["begin"] > first]
    bad = [op for op in nodes if (op["sequence"], op["forward_thread"]) not in made]
    print(len(nodes), bad[:3])
    return nodes and not bad and all(op["framework_thread"] for op in ops)


def elsewhere(ops, name):
    moved = [op for op in ops if op["end_thread"] != op["thread"]]
    after = [op for op in ops if op["name"] == "aten::asinh"]
    print(moved, after)
    return [op["name"] for op in moved] == [name] and moved[0]["end"] > after[0]["end"]


def allocations(rows):
    have = [(row["address"] - 0x7f0000000000, row["bytes"], row["allocated_bytes"],
             row["reserved_bytes"], row["device_type"], row["device"]) for row in rows]
    times = [row["time"] for row in rows]
    print(have, times)
    return times == sorted(times) and have == [(0x1000, 512, 512, 2097152, 1, 3),
                                               (0x2000, 1024, 1536, 2097152, 1, 3),
                                               (0x1000, -512, 1024, 2097152, 1, 3),
                                               (0x3000, 2048, 3072, 2097152, 1, 3),
                                               (0x4000, 64, 64, 0, 0, 255),
                                               (0x5000, 128, 192, 0, 0, 255),
                                               (0x4000, -64, 128, 0, 0, 255),
                                               (0x4000, 32, 160, 0, 0, 255),
                                               (0x7000, 4096, 4256, 0, 0, 255),
                                               (0x7000, -4096, 160, 0, 0, 255),
                                               (0x5000, -128, 32, 0, 0, 255)]


def workers(ops, *names):
    main = {op["pid"] for op in trainer(ops)}
    good = True
    for name in names:
        if not [op for op in ops if op["name"] == name and op["pid"] not in main]:
            print("no worker ran", name)
            good = False
    return good


function = {f.__name__: f for f in (steps, total, shapes, profiles, nests, forward, elsewhere,
                                    allocations, workers)}[sys.argv[1]]
sys.exit(not function(read(sys.argv[2], "alloc" if function is allocations else "op"),
                      *sys.argv[3:]))
