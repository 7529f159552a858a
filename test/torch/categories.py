# SPDX-License-Identifier: Apache-2.0
"""Compares bytes in use by category, at the peak and at the ends of steps, with what prog/memory.py wrote of
PyTorch's own memory profiler, to the byte.

categories.py REPORT DUMP PROFILE

What the profiler calls inputs includes buffers of modules, which are "other" here. What it calls autograd detail is
temporary here, as is most of its unknown memory: workspace that no tensor of an operator has.
"""
import json
import subprocess
import sys

SAME = {"parameters": "parameter", "gradients": "gradient", "optimizer_state": "optimizer_state",
        "activations": "activation"}
REST = ["inputs", "temporary", "other"]
THEIR_REST = ["input", "temporary", "autograd_detail", "unknown"]

report, dump, profile = sys.argv[1:]


def compare(what, ours, theirs):
    def of(name):
        return ours[name + "_bytes"]

    bad = ["%s: %s: %d, not %d" % (what, name, of(name), theirs.get(other, 0))
           for name, other in SAME.items() if of(name) != theirs.get(other, 0)]
    rest, their_rest = sum(map(of, REST)), sum(theirs.get(name, 0) for name in THEIR_REST)
    if rest != their_rest or not of("inputs") <= theirs.get("input", 0) <= rest:
        bad.append("%s: the rest: %s, not %s" % (what, {name: of(name) for name in REST}, theirs))
    return bad


command = [report, "summary", "--view", "memory-curve", "--format", "json", "--top", "0", dump]
rows = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)["memory_curve"]["rows"]
with open(profile) as file:
    want = json.load(file)
ends = [row for row in rows if row["step"] is not None]
bad = compare("peak", max(rows, key=lambda row: row["allocated_bytes"]), want["peak"])
for row, theirs in zip(ends, want["ends"]):
    bad += compare("end of step %d" % row["step"], row, theirs)
if len(ends) != len(want["ends"]) or any(row["unknown_bytes"] for row in rows):
    bad.append("%d ends, not %d; unknown %s" % (len(ends), len(want["ends"]), [row["unknown_bytes"] for row in ends]))
print("\n".join(bad))
sys.exit(1 if bad else 0)
