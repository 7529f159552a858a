# SPDX-License-Identifier: Apache-2.0
# The pages that `--style tensorboard` makes of a trace against those that the plugin itself makes of it, row by
# row. The plugin's recommendations and charts are left out. With `loads` for PAGE, the trace is one of gprof's
# own: the plugin finds nothing wrong in it. usage: pages.py REPORT TRACE PAGE
import csv
import gzip
import json
import logging
import subprocess
import sys

from torch_tb_profiler.profiler.data import RunProfileData
from torch_tb_profiler.profiler.run_generator import RunGenerator

report, path, page = sys.argv[1:]
bad = []


def theirs():
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        trace = json.loads(file.read().decode("utf-8", "replace"), strict=False)
    return RunGenerator("w", "", RunProfileData.from_json("w", "", trace)).generate_run_profile()


def ours():
    """Tables by title: rows by name, each a list of numbers and texts. A note follows its title."""
    command = [report, "--style", "tensorboard", "--format", "csv", "--view", page, path]
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    tables, title, last = {}, "", ""
    for line in text.splitlines():
        if line.startswith("# ") and not last.startswith("# "):
            title = line[2:]
        elif line.startswith('"') and not last.startswith("# "):
            cells = next(csv.reader([line]))
            tables.setdefault(title, {})[cells[0]] = cells[1:]
        last = line
    return tables


def compare(name, have, want, tolerance=1.01):
    """The plugin rounds to whole us."""
    have = [float(value or 0) for value in have]
    if any(abs(a - b) > max(tolerance, 1e-3 * abs(b)) for a, b in zip(have, map(float, want))):
        bad.append(f"{name}: {have}, not {want}")


def operator():
    rows = ours()["Operator"]
    keys = ("calls", "device_self_duration", "device_total_duration", "host_self_duration", "host_total_duration")
    wanted = theirs().operation_table_by_name["data"]
    for want in wanted:
        compare(want["name"], rows[want["name"]][:5], [want[key] for key in keys])
    return len(wanted) == len(rows)


def kernel():
    rows = ours()["Kernel: Name"]
    wanted = theirs().kernel_table["data"]["rows"]
    for name, uses, *numbers in wanted:
        compare(name, rows[name][1:], numbers)
        if rows[name][0] != uses:
            bad.append(f"{name}: tensor cores {rows[name][0]}, not {uses}")
    return len(wanted) == len(rows)


def memory():
    tables, is_whole = ours(), True
    for device, wanted in theirs().get_memory_stats(memory_metric="K")["rows"].items():
        rows = tables[f"Memory View: {device}"]
        for name, *numbers in wanted:
            # What is given back at the very end of an operator is its parent's to the plugin.
            if "AccumulateGrad" not in name:
                compare(name, rows[name], numbers)
        is_whole &= len(wanted) == len(rows)
    return is_whole


class Complaints(logging.Handler):
    def emit(self, record):
        bad.append(record.getMessage())


def loads():
    logging.getLogger("pytorch_profiler").addHandler(Complaints(logging.WARNING))
    return [view.name for view in theirs().views][:2] == ["overall", "operator"]


if not {"operator": operator, "kernel": kernel, "memory": memory, "loads": loads}[page]():
    bad.append("not as many rows, or pages")
print("\n".join(bad[:20]))
sys.exit(1 if bad else 0)
