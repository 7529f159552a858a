# SPDX-License-Identifier: Apache-2.0
"""first.py GPROF_REPORT FOLDER: the first screen of real traces: lines that fit, with shares that sum to 100 %.

It has a line for each figure, two for the shares at 80 columns, and at most two for each of three findings, whole sentences.
The share of the loader is beside the TensorBoard plugin's, of the same steps, which counts it until the next kernel begins; so it is
less here by what lies behind its end.
"""
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

LINES = {80: 13, 120: 11}
# The loader's share of a step, by the plugin.
LOADER_PCT = {"resnet50_nw0_v100.json.gz": 33.37}
LOADER_LESS_PCT = 0.5
RANKS = {"dlrm_v100_8ranks": 8}
PARTS = ["computing", "exposed_communication", "exposed_copies", "idle_startup", "idle_allocation", "idle_wait",
         "idle_staging", "idle_launch", "idle_gc", "idle_dataloader", "idle_operators", "idle_os", "idle_user", "idle_latency", "idle_dependency",
         "idle_unknown"]


def run(program, path, *options, columns=80):
    return subprocess.run([program, *options, path], capture_output=True, check=False, env=dict(os.environ, COLUMNS=str(columns))).stdout.decode()


def problems(program, path, name):
    for columns in (80, 120):
        screen = run(program, path, columns=columns).split("\n\n")[0].split("\n")
        if len(screen) > LINES[columns]:
            yield f"{len(screen)} lines at {columns} columns"
        if max(map(len, screen)) > columns:
            yield f"a line of {max(map(len, screen))} at {columns} columns"
        findings = re.findall(r"^\d\. .*(?:\n   .*)*", "\n".join(screen), re.M)
        if any(finding.count("\n") > 1 for finding in findings):
            yield f"a finding of more than two lines at {columns} columns"
        time = re.search(r"^Time +(.*?)(?=^\S)", "\n".join(screen + ["."]), re.M | re.S).group(1)
        busy, _, idle = time.partition(" idle (")
        shares = [round(10 * float(share)) for share in re.findall(r"([\d.]+) %", busy)]
        causes = [round(10 * float(share)) for share in re.findall(r"([\d.]+)(?=[,)])", idle)]
        if sum(shares) != 1000 or (causes and sum(causes) != shares[-1]):
            yield f"the shares sum to {sum(shares) / 10} %, those of idle to {sum(causes) / 10} %: {time}"
    row = json.loads(run(program, path, "--format", "json", "--view", "headline"))["headline"]["rows"][0]
    whole = sum(row[part + "_pct"] for part in PARTS)
    if abs(whole - 100) > 0.01:
        yield f"shares in JSON sum to {whole}"
    if row["median_ns"] is not None and not row["median_ns"] <= row["p99_ns"]:
        yield f"median {row['median_ns']}, p99 {row['p99_ns']}"
    if name in LOADER_PCT and not 0 <= LOADER_PCT[name] - row["idle_dataloader_pct"] <= LOADER_LESS_PCT:
        yield f"the loader takes {row['idle_dataloader_pct']} %, not {LOADER_PCT[name]}"
    if row["ranks"] != RANKS.get(name, row["ranks"]):
        yield f"{row['ranks']} ranks"


def without_device(program, folder):
    """A trace that does not describe its GPU has what its kernels say: the figures of the TensorBoard plugin."""
    with gzip.open(os.path.join(folder, "resnet50_nw0_v100.json.gz")) as file:
        trace = json.load(file)
    del trace["deviceProperties"]
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "trace.json")
        with open(path, "w", encoding="ascii") as file:
            json.dump(trace, file)
        row = json.loads(run(program, path, "--format", "json", "--view", "gpu-summary"))["gpu_summary"]["rows"][0]
    for key, want in (("sm_efficiency_pct", 54.68), ("occupancy_pct", 49.13)):
        if row[key] is None or abs(row[key] - want) > 0.01:
            yield f"{key} is {row[key]}, not {want}"


def document(program, folder):
    """What the page of first screens shows of traces is what the program prints."""
    root = os.path.join(os.path.dirname(__file__), "..", "..")
    with open(os.path.join(root, "test", "first_screens.sh"), encoding="utf-8") as file:
        titles = re.findall(r'screen "(.*)" "\$GPROF_TRACES/(.*)"', file.read())
    with open(os.path.join(root, "docs", "first-screens.md"), encoding="utf-8") as file:
        sections = dict(re.findall(r"^## (.*)\n((?:.*\n)*?)(?=## |\Z)", file.read(), re.M))
    if len(titles) < 3:
        yield f"the page has {len(titles)} traces"
    for title, name in titles:
        screens = [run(program, os.path.join(folder, name), "--view", "headline", columns=columns) for columns in (80, 120)]
        wanted = [re.sub("\n+", "\n", screen) for screen in screens]
        if re.findall(r"```\n(.*?)```", sections[title], re.S) != wanted:
            yield f"docs/first-screens.md differs in '{title}'"


def main(program, folder):
    wrong = 0
    for problem in document(program, folder):
        print(f"the page: {problem}")
        wrong += 1
    for problem in without_device(program, folder):
        print(f"without deviceProperties: {problem}")
        wrong += 1
    names = sorted(name for name in os.listdir(folder) if name.endswith(".json.gz") or os.path.isdir(os.path.join(folder, name)))
    for name in names:
        for problem in problems(program, os.path.join(folder, name), name):
            print(f"{name}: {problem}")
            wrong += 1
    print(f"first screens of {len(names)} traces: {wrong} wrong")
    return wrong != 0


sys.exit(main(*sys.argv[1:]))
