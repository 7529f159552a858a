# SPDX-License-Identifier: Apache-2.0
"""rules.py TIMELINE.json...: what viewers and tools want of Chrome JSON in Kineto's dialect.

Says what is wrong; with several files (ranks or parts of a job) also what they must have in common.
"""
import collections
import decimal
import functools
import gc
import gzip
import json
import re
import sys

gc.disable()  # millions of objects, and no cycles among them

bad = 0


def complain(path, text):
    global bad
    bad += 1
    if bad <= 20:
        print(f"{path}: {text}")


def no_constant(text):
    raise ValueError(f"{text} is no JSON")


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


@functools.lru_cache(maxsize=None)  # each time is asked for some ten times
def ns(text):
    """Times are read as text: three decimals are whole nanoseconds. Durations may have more, see check_doubles."""
    return int(decimal.Decimal(text).scaleb(3).to_integral_value()) if re.fullmatch(r"\d+\.\d{3,20}", text) else None


def check_events(path, events):
    """Ids are integers, times have three decimals, each kind of event has what it needs."""
    for event in events:
        for key in ("pid", "tid"):
            if not is_integer(event.get(key)):
                complain(path, f"{key} of {event} is no integer")
        if not re.fullmatch(r"\d+\.\d{3}", event.get("ts", "")) or ("dur" in event and ns(event["dur"]) is None):
            complain(path, f"a time of {event} does not have three decimals")
        if "dur" in event and abs(decimal.Decimal(event["dur"]) * 1000 - ns(event["dur"])) > decimal.Decimal("0.1"):
            complain(path, f"the duration of {event} is no whole number of nanoseconds")
        if not isinstance(event.get("name"), str):
            complain(path, f"{event} has no name")
        if (event["ph"] == "X") != ("dur" in event):
            complain(path, f"a length, or none: {event}")
        stack = event.get("args", {}).get("Call stack")
        if stack is not None and not all(re.search(r"\(\d+\): .", frame) for frame in stack.split(";")):
            complain(path, f"the frames of {event} are not those of PyTorch")
        if event["ph"] not in "XMsfiCbe":
            complain(path, f"what is {event}")


def check_nesting(path, events):
    """Slices of a row lie in each other or apart: what partly overlaps is dropped by viewers."""
    rows = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            rows[(event["pid"], event["tid"])].append(event)
    for row, slices in rows.items():
        slices.sort(key=lambda event: (ns(event["ts"]), -ns(event["dur"])))
        stack = []
        for event in slices:
            begin, end = ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])
            while stack and stack[-1][0] <= begin:
                stack.pop()
            if stack and end > stack[-1][0]:
                complain(path, f"on {row} {event['name']!r} {begin}-{end} begins in {stack[-1][1]!r} that ends "
                               f"{stack[-1][0]}")
            stack.append((end, event["name"]))


def check_doubles(path, events):
    """As check_nesting, as readers do it: sums of doubles. An end is the double of its nanosecond. Speedscope first
    subtracts the first ts of its rows."""
    rows = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            begin, dur = float(event["ts"]), float(event["dur"])
            rows[(event["pid"], event["tid"])].append((begin, dur, event["name"]))
            if begin + dur != (ns(event["ts"]) + ns(event["dur"])) / 1000:
                complain(path, f"as doubles, {event} ends at {begin + dur:.9f}")
    for row, slices in rows.items():
        for first in {0, min(slices)[0], min(min(other)[0] for other in rows.values())}:
            ends = []
            for begin, minus_end, name in sorted((begin - first, -(begin - first + dur), name)
                                                 for begin, dur, name in slices):
                while ends and ends[-1] <= begin:
                    ends.pop()
                if ends and -minus_end > ends[-1]:
                    complain(path, f"as doubles from {first} on, {name!r} on {row} overlaps the end {ends[-1]:.9f}")
                ends.append(-minus_end)


def check_flows(path, events):
    """Both ends of an arrow stand where a slice begins, and there are both. Viewers bind an arrow to the last slice that
    stands before it in the file: one without a length that begins with the launch must not."""
    longest, empty = {}, collections.defaultdict(set)
    for event in events:
        if event["ph"] == "X":
            place = event["pid"], event["tid"], ns(event["ts"])
            longest[place] = max(longest.get(place, 0), ns(event["dur"]))
    ends = collections.defaultdict(collections.Counter)
    for event in events:
        if event["ph"] in "sf":
            ends[(event["cat"], event["id"])][event["ph"]] += 1
            pid, tid, at = event["pid"], event["tid"], ns(event["ts"])
            is_launch = event["ph"] == "s" and event["cat"] == "ac2g"
            if (pid, tid, at) not in longest:
                complain(path, f"no slice begins with {event}")
            if is_launch and empty[pid, tid, at] - {event["id"]} and longest[pid, tid, at] > 0:
                complain(path, f"{event} stands behind a slice without a length")
        elif event["ph"] in "Xi" and not ns(event.get("dur", "0.000")):
            empty[event["pid"], event["tid"], ns(event["ts"])].add(event.get("args", {}).get("correlation"))
            if event["ph"] == "f" and event.get("bp") != "e":
                complain(path, f"{event} is not bound to its slice")
    for key, both in ends.items():
        if not both["s"] or not both["f"]:
            complain(path, f"the arrow {key} has {dict(both)}")


def check_external_ids(path, events):
    """A call has the id of the innermost operator around it, what it launched has its id; ids of operators differ."""
    rows = collections.defaultdict(list)
    ids = collections.Counter()
    calls = {}
    processes = {event["pid"]: number for number, event in
                 enumerate(e for e in events if e["name"] == "process_labels" and e["args"]["labels"] == "CPU")}
    for event in events:
        if event.get("cat") in ("cpu_op", "cuda_runtime", "cuda_driver", "user_annotation") and event["ph"] == "X" \
                and "External id" in event["args"]:
            rows[(event["pid"], event["tid"])].append(event)
    for slices in rows.values():
        slices.sort(key=lambda event: (ns(event["ts"]), -ns(event["dur"]), event["cat"] != "cpu_op"))
        stack = []
        for event in slices:
            begin, number, args = ns(event["ts"]), event["args"]["External id"], event["args"]
            while stack and stack[-1][0] <= begin:
                stack.pop()
            if event["cat"] in ("cpu_op", "user_annotation"):
                ids[number] += 1
                if event["cat"] == "cpu_op":
                    stack.append((begin + ns(event["dur"]), number))
                continue
            if args["correlation"] and number != (stack[-1][1] if stack else 0):
                complain(path, f"{event} is in the operator {stack[-1:]}")
            calls.setdefault((processes[event["pid"]], args["correlation"]), []).append(number)
    for number, nr in ids.items():
        if nr > 1:
            complain(path, f"{nr} operators have the external id {number}")
    for event in events:
        args = event.get("args", {})
        if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            if args["External id"] not in calls.get((event["pid"] // 64, args["correlation"]), [0]):
                complain(path, f"{event} was launched by a call with the external id "
                               f"{calls[(event['pid'] // 64, args['correlation'])]}")


def check_gpu_ranges(path, events):
    """A range on a stream is there once, and lasts from the begin of one of its activities to the end of one. Of a
    process there is the step that HolisticTraceAnalysis drops."""
    begins, ends = collections.defaultdict(set), collections.defaultdict(set)
    devices = {event["pid"] for event in events
               if event["name"] == "process_labels" and event["args"]["labels"].startswith("GPU")}
    for event in events:
        if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            row = (event["pid"], event["tid"] % 1000000)
            begins[row].add(ns(event["ts"]))
            ends[row].add(ns(event["ts"]) + ns(event["dur"]))
    for event in events:
        if event.get("cat") == "gpu_user_annotation" and event["pid"] in devices:
            row = (event["pid"], event["tid"] % 1000000)
            if ns(event["ts"]) not in begins[row] or ns(event["ts"]) + ns(event["dur"]) not in ends[row]:
                complain(path, f"no activities where {event} begins or ends")


def check_device(path, events):
    """Streams are CUPTI's also where a row was moved aside; waits are no work of a stream."""
    devices = {event["pid"] for event in events
               if event["name"] == "process_labels" and event["args"]["labels"].startswith("GPU")}
    for event in events:
        cat, args = event.get("cat"), event.get("args", {})
        if cat in ("kernel", "gpu_memcpy", "gpu_memset"):
            if event["pid"] not in devices:
                complain(path, f"no device has the pid of {event}")
            if not is_integer(args.get("stream")) or min(args["stream"], 999999) != event["tid"] % 1000000:
                complain(path, f"not in a row of its stream: {event}")
        if cat == "cuda_sync" and args.get("stream", -1) != -1:
            complain(path, f"a wait with a stream: {event}")


def check_names(path, events):
    """Each row that has slices is named once."""
    named = collections.Counter((e["pid"], e["tid"]) for e in events if e["name"] == "thread_name")
    for row in {(e["pid"], e["tid"]) for e in events if e["ph"] == "X"}:
        if named[row] != 1:
            complain(path, f"row {row} is named {named[row]} times")
    for event in events:
        if event["name"] == "thread_name" and (str(event["tid"]) in re.findall(r"\d+", event["args"]["name"])
                                               and not event["args"]["name"].startswith("stream ")
                                               or "()" in event["args"]["name"]):
            complain(path, f"a name without what it names, or with the tid that viewers add: {event}")
    order = {event["pid"]: event["args"]["sort_index"] for event in events if event["name"] == "process_sort_index"}
    if len(set(order.values())) != len(order):
        complain(path, f"processes without an order: {order}")
    for event in events:
        if "sort_index" in event.get("args", {}) and not 0 <= event["args"]["sort_index"] < 1 << 31:
            complain(path, f"viewers sort by a signed number of 32 bits: {event}")
    labels = {event["pid"]: event["args"]["labels"] for event in events if event["name"] == "process_labels"}
    kinds = [labels[pid][:3] for pid in sorted(order, key=order.get)]
    if kinds[:1] == ["GPU"] or len(set(order) - set(labels)):
        complain(path, f"a GPU before its process: {order}")


def check_head(path, trace, text):
    keys = list(trace)
    if keys[0] != "schemaVersion" or trace["schemaVersion"] != 1 or keys[-1] != "traceName":
        complain(path, f"the order of {keys}")
    if trace["displayTimeUnit"] != "ms" or not is_integer(trace["baseTimeNanoseconds"]) \
            or trace["baseTimeNanoseconds"] % 1000:
        complain(path, "the unit, or the base")
    for device in trace["deviceProperties"]:
        if not is_integer(device["id"]) or not isinstance(device["name"], str):
            complain(path, f"device {device}")
    # What HolisticTraceAnalysis looks for, before it reads the file as JSON.
    if "distributedInfo" in trace:
        found = re.search(r'"rank":\s+(\d+)', text)
        if not found or int(found[1]) != trace["distributedInfo"]["rank"]:
            complain(path, "the rank cannot be found by a pattern")


def check_steps(path, trace, events):
    steps = [event for event in events if event["name"].startswith("ProfilerStep#") and event["cat"] != "gpu_user_annotation"]
    numbers = [int(event["name"][13:]) for event in steps]
    if len(set(numbers)) != len(numbers):
        complain(path, "steps with the same number")
    return len(steps)


def main():
    bases = set()
    for path in sys.argv[1:]:
        raw = (gzip.open if path.endswith(".gz") else open)(path, "rb").read()
        text = raw.decode("utf-8")  # strictly
        if re.search(r"[\x00-\x09\x0b-\x1f]", text):
            complain(path, "controls in a text")
        # Numbers of events as text; what is checked as a number is made one.
        trace = json.loads(text, parse_float=str, parse_constant=no_constant)
        events = trace["traceEvents"]
        bases.add(trace["baseTimeNanoseconds"])
        check_head(path, trace, text)
        check_events(path, events)
        check_nesting(path, events)
        check_doubles(path, events)
        check_flows(path, events)
        check_external_ids(path, events)
        check_gpu_ranges(path, events)
        check_device(path, events)
        check_names(path, events)
        nr_steps = check_steps(path, trace, events)
        nr = collections.Counter(event["ph"] for event in events)
        print(f"{path.rsplit('/')[-1]}: {nr['X']} slices, {nr['s']} arrows, {nr_steps} steps")
    if len(bases) > 1:
        complain(sys.argv[1], f"bases differ: {bases}")
    return bad != 0


sys.exit(main())
