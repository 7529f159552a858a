#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""names.py REPORT TRACE...: names in text are cut and shortened, but no two different ones look alike."""
import gc
import json
import os
import re
import subprocess
import sys

import tap

gc.disable()  # millions of objects, and no cycles among them

report, *paths = sys.argv[1:]


def run(width, *arguments):
    return subprocess.run([report, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                          env={**os.environ, "COLUMNS": str(width)}).stdout.decode()


def first_column(text):
    """Of the last table; two blanks end the column."""
    lines = text.splitlines()
    title = max(i for i, line in enumerate(lines) if line and not line.startswith(" "))
    cells = [re.match(r"  (\S.*?)  +[\d,.-]+", line) for line in lines[title + 1:]]
    return {match.group(1) for match in cells if match}


def alike(path):
    problems = []
    for view, key in (("kernel", "name"), ("operator", "name"), ("launch-latency", "name"), ("python", "stack")):
        rows = json.loads(run(80, "--view", view, "--format", "json", path))[view.replace("-", "_")]["rows"]
        names = {row[key] for row in rows}
        for width in (80, 120):
            text = run(width, "--view", view, "--top", "0", path)
            shown = first_column(text)
            if len(shown) != len(names):
                problems.append(f"{view} at {width}: {len(shown)} names of {len(names)}")
            if max(map(len, text.splitlines())) > width:
                problems.append(f"{view} at {width}: lines are too long")
    return problems


for path in paths:
    name = os.path.basename(path)
    tap.test(f"{name}: names that differ look different", alike(path))
    if name.startswith("resnet50_nw4"):
        short = first_column(run(80, "--view", "kernel", "--top", "0", path))
        expected = {"elementwise<threshold>", "gemm f32 64x64 nt", "gemm f32 64x64 nn", "gemm f32 128x32"}
        tap.check(f"{name}: short names of kernels", expected & short, expected)
sys.exit(tap.finish())
