# SPDX-License-Identifier: Apache-2.0
# A training loop under PyTorch's profiler: every row of its key_averages must be in the table that
# `--style torch` makes of its trace, with the same times. usage: averages.py REPORT DIRECTORY
import csv
import io
import subprocess
import sys

import torch
from torch.profiler import ProfilerActivity, profile, record_function

report, work = sys.argv[1:]
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 14 * 14, 10)
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True) as profiler:
    for _ in range(3):
        with record_function("a range"):
            output = model(torch.randn(4, 3, 16, 16))
        loss = torch.nn.functional.cross_entropy(output, torch.zeros(4, dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.sum()  # an operator in which there is nothing but one of the same name
profiler.export_chrome_trace(f"{work}/trace.json")


def rows(*options):
    command = [report, "--style", "torch", "--format", "csv", *options, f"{work}/trace.json"]
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def wrong(ours, theirs):
    wanted = {
        "Self CPU (us)": theirs.self_cpu_time_total,
        "CPU total (us)": theirs.cpu_time_total,
        "# of Calls": theirs.count,
        "CPU Mem (bytes)": theirs.cpu_memory_usage,
        "Self CPU Mem (bytes)": theirs.self_cpu_memory_usage,
    }
    return [
        f"{theirs.key}: {column} {ours[column]}, not {value}"
        for column, value in wanted.items()
        if abs(float(ours[column]) - value) > 0.002 * theirs.count
    ]


bad = []
averages = profiler.key_averages()
by_name = {row["Name"]: row for row in rows()}
for theirs in averages:
    ours = by_name.get(theirs.key)
    bad += wrong(ours, theirs) if ours else [f"{theirs.key} is missing"]
if len(by_name) != len(averages):
    bad.append(f"{len(by_name)} rows, not {len(averages)}")
by_shape = sorted(int(row["# of Calls"]) for row in rows("--detail") if row["Name"] == "aten::copy_")
wanted = sorted(e.count for e in profiler.key_averages(group_by_input_shape=True) if e.key == "aten::copy_")
if by_shape != wanted:
    bad.append(f"aten::copy_ by shapes: {by_shape}, not {wanted}")
print("\n".join(bad[:20]))
sys.exit(1 if bad else 0)
