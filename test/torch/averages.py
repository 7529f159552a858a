# SPDX-License-Identifier: Apache-2.0
"""Compares `--style torch` of a dump with what operators.py wrote of PyTorch's own profiler.

averages.py REPORT DUMP PROFILE memory     CPU memory of operators, own and with those inside, to the byte
averages.py REPORT DUMP PROFILE flops      FLOPs of each operator with each shape, where the profiler has them
"""
import collections
import csv
import json
import subprocess
import sys

report, dump, profile, what = sys.argv[1:5]
# Operators that operators.py calls and whose blocks are not of their first or last us.
CALLED = ("randn mm matmul addmm linear bmm baddbmm einsum conv2d conv1d conv3d conv_transpose2d sub div relu gelu"
          " sigmoid softmax batch_norm embedding mv cat").split()


def ours():
    command = [report, "--style", "torch", "--detail", "--top", "0", "--format", "csv", dump]
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    for row in csv.DictReader(text.splitlines()):
        yield {"name": row["Name"], "calls": int(row["# of Calls"]), "flops": find_flops(row),
               "memory": int(row["CPU Mem (bytes)"]),
               "self_memory": int(row["Self CPU Mem (bytes)"])}


def find_flops(row):
    """The title has the unit."""
    for title, value in row.items():
        if title.startswith("Total ") and title.endswith("FLOPs"):
            unit = " KMGTP".index(title[len("Total "):].replace("FLOPs", "") or " ")
            return round(float(value or 0) * 1000 ** unit)
    return 0


def by_name(rows):
    sums = collections.defaultdict(lambda: [0, 0])
    for row in rows:
        if row["name"].startswith("aten::"):
            sums[row["name"]][0] += row["self_memory"]
            sums[row["name"]][1] += row["memory"]
    return sums


def memory(have, want):
    """Before 2.2 the profiler joins memory to operators, and operators to each other, by times in whole us: only
    operators that the program itself calls, some us apart, are sure to have what is theirs."""
    have, want = by_name(have), by_name(want)
    if not any(row["flops"] for row in ours()):
        have, want = ({"aten::" + name: of["aten::" + name][1] for name in CALLED} for of in (have, want))
    return ["%s: %s, not %s" % (name, have[name], want[name]) for name in want if have[name] != want[name]]


def flops(have, want):
    def rows(of):
        return collections.Counter((row["name"], row["calls"], row["flops"]) for row in of if row["flops"])
    have, want = rows(have), rows(want)
    print(sorted(want))
    return ["%s: ours" % (key,) for key in have - want] + ["%s: theirs" % (key,) for key in want - have]


with open(profile) as file:
    bad = {"memory": memory, "flops": flops}[what](list(ours()), json.load(file))
print("\n".join(bad))
sys.exit(1 if bad else 0)
