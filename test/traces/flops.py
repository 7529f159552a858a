# SPDX-License-Identifier: Apache-2.0
"""flops.py GPROF_REPORT TRACE...: FLOPs of ResNet-50 in traces without strides, as the trace itself gives them.

Each convolution's output is what the batch norm behind it reads; a gradient takes as much as the forward call. The
model needs 4.09 G multiplications and additions an image in the forward pass, at 224 x 224. The same of the trace
without its backward calls, and without anything between the convolutions.
"""
import bisect
import collections
import gzip
import json
import math
import os
import subprocess
import sys
import tempfile

from tap import check, finish, test

V100_FLOPS_PER_S = 15.7e12
IMAGE_MACS = 4.09e9
IMAGES = 32
TORCH = {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::conv2d", "aten::mul", "aten::add"}
CONVOLUTIONS = ("aten::conv2d", "aten::convolution", "aten::_convolution", "aten::cudnn_convolution")


def run(program, path, *options):
    return subprocess.run([program, *options, path], capture_output=True, check=False).stdout.decode()


def rows(program, path, view):
    return json.loads(run(program, path, "--format", "json", "--top", "0", "--view", view))[view]["rows"]


def operators(trace):
    """(begin, end, name, sizes of inputs) by thread, in order."""
    found = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event.get("cat") == "Operator":
            found[event["tid"]].append((event["ts"], event["ts"] + event["dur"], event["name"],
                                        event.get("args", {}).get("Input Dims")))
    for thread in found.values():
        thread.sort(key=lambda op: (op[0], -op[1]))
    return found.values()


def steps_of(trace):
    return sorted((event["ts"], event["ts"] + event["dur"]) for event in trace["traceEvents"]
                  if str(event.get("name")).startswith("ProfilerStep#"))


def convolve(output, weights):
    return 2 * output[0] * math.prod(output[2:]) * math.prod(weights)


def convolutions(trace):
    """(begin, name, FLOPs) of convolutions and matrix products."""
    for thread in operators(trace):
        backward = None
        for i, (begin, _, name, sizes) in enumerate(thread):
            if name == "aten::conv2d":
                output = next(op[3][0] for op in thread[i:] if op[2] == "aten::batch_norm")
                yield begin, name, convolve(output, sizes[1])
            elif name == "aten::cudnn_convolution_backward":
                backward = sizes
            elif name.startswith("aten::cudnn_convolution_backward_"):
                yield begin, name, convolve(backward[1], backward[2])
            elif name in ("aten::mm", "aten::addmm"):
                a, b = [size for size in sizes if len(size) == 2][:2]
                yield begin, name, 2 * math.prod(a) * b[1]


def without(program, trace, keep, view):
    """The rows of a view over what is kept of the trace."""
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "trace.json")
        with open(path, "w", encoding="ascii") as file:
            json.dump(dict(trace, traceEvents=[event for event in trace["traceEvents"] if keep(event)]), file)
        return rows(program, path, view)


def check_utilization(program, path, name, trace, found):
    """Of the whole steps that do not warm up: elementwise operators add less than 0.2 %."""
    row = rows(program, path, "headline")[0]
    steps = steps_of(trace)[row["warm_up_steps"]:]
    flops = sum(one for begin, _, one in found
                if any(first <= begin < end for first, end in steps[bisect.bisect(steps, (begin, 0)) - 1:][:1]))
    rate = flops / sum(end - begin for begin, end in steps) * 1e6
    test(name + ": FLOP/s and MFU", [] if rate <= row["flops_per_s"] <= 1.002 * rate
         and abs(row["mfu_pct"] - 100 * row["flops_per_s"] / V100_FLOPS_PER_S) < 0.01
         else [f"{row['flops_per_s']:.4g} FLOP/s, {row['mfu_pct']} %, and not {rate:.4g}"])


def check_trace(program, path):
    name = os.path.basename(path)
    with gzip.open(path) as file:
        trace = json.load(file)
    found = list(convolutions(trace))
    want = collections.Counter()
    for _, operator, flops in found:
        want[operator] += flops
    have = {row["name"]: row["flops"] for row in rows(program, path, "operator")}
    check(name + ": FLOPs", {operator: have[operator] for operator in want}, dict(want))
    macs = want["aten::conv2d"] / 2 / IMAGES / len(steps_of(trace))
    test(name + ": those of the model", [] if abs(macs / IMAGE_MACS - 1) < 0.005 else [f"{macs} an image"])
    check_utilization(program, path, name, trace, found)

    forward = without(program, trace, lambda event: "ackward" not in str(event.get("name")), "operator")
    check(name + ": FLOPs without backward calls", [row["flops"] for row in forward if row["name"] == "aten::conv2d"],
          [want["aten::conv2d"]])
    lone = without(program, trace, lambda event: event.get("cat") != "Operator" or event["name"] in CONVOLUTIONS, "headline")
    check(name + ": none of which nothing tells the sizes", (lone[0]["flops_per_s"], lone[0]["mfu_pct"]), (None, None))
    roof = run(program, path, "--view", "roofline", "--detail", "--top", "0")
    check(name + ": a V100 has no TF32", ("Above 100 %" in roof, "TF32" in roof), (True, False))
    table = run(program, path, "--style", "torch", "--format", "csv", "--top", "0").splitlines()
    counted = {line.split(",")[0].strip('"') for line in table[1:] if not line.endswith(",")}
    check(name + ": PyTorch counts no others", sorted(counted - TORCH), [])
    test(name + ": PyTorch counts", [] if "aten::conv2d" in counted else [str(counted)])


for trace_path in sys.argv[2:]:
    check_trace(sys.argv[1], trace_path)
sys.exit(finish())
