#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""screens.py GPROF_REPORT PATH...: is a quantity the same figure on every screen that prints it? Prints TAP.

Compares, in ns, what the first screen, the time budget, TensorBoard's breakdown, the summary of GPUs, the steps and their
statistics, the findings, `reduce`, `diff` and `whatif` print of one recording. Means are rounded to a ns for each summand.
"""
import json
import os
import subprocess
import sys
import tempfile

# Parts of the budget by the columns of the first screen, and of those by the columns of TensorBoard's breakdown.
HEADLINE = {
    "computing": ["Computing"],
    "exposed_communication": ["Communication"],
    "exposed_copies": ["Copies to the GPU", "Copies from the GPU", "Other copies", "Memsets"],
    "idle_startup": ["Idle: start-up"],
    "idle_allocation": ["Idle: allocation"],
    "idle_wait": ["Idle: waits"],
    "idle_staging": ["Idle: copy calls"],
    "idle_launch": ["Idle: launches", "Idle: other calls"],
    "idle_dataloader": ["Idle: data loader"],
    "idle_operators": ["Idle: operators"],
    "idle_os": ["Idle: OS calls"],
    "idle_user": ["Idle: user code", "Idle: user code in ranges"],
    "idle_latency": ["Idle: latency"],
    "idle_dependency": ["Idle: dependencies"],
}
BREAKDOWN = {
    "kernel_ns": ["computing"],
    "communication_ns": ["exposed_communication"],
}
PAUSES = 1.0  # at most, % of the steps
COPIES = ["memcpy_ns", "memset_ns"]


class Failed(Exception):
    """The reporter has said no."""


def run(program, *options):
    done = subprocess.run([program, *options], capture_output=True, check=False)
    if done.returncode not in (0, 3):
        raise Failed(f"{' '.join(options)}: status {done.returncode}: {done.stderr.decode('utf-8', 'replace').strip()[:200]}")
    return done.stdout


def tables(program, *options):
    document = json.loads(run(program, *options, "--format", "json"))
    return {name: table["rows"] for name, table in document.items() if isinstance(table, dict) and "rows" in table}


class Screens:
    """What does not agree, as sentences."""

    def __init__(self):
        self.nr = 0
        self.wrong = []

    def same(self, what, mine, theirs, most=0):
        self.nr += 1
        if (mine is None) != (theirs is None) or (mine is not None and abs(mine - theirs) > most):
            self.wrong.append(f"{what}: {mine} and {theirs}")

    def at_most(self, what, mine, most):
        self.nr += 1
        if mine is not None and mine > most:
            self.wrong.append(f"{what}: {mine} of {most}")


def budget_means(rows):
    """Means per step of each process, by part, as the first screen sums them."""
    by_pid = {}
    for row in rows:
        by_pid.setdefault((row["pid"], row["rank"]), {})[row["part"]] = row
    return by_pid


def check_parts(screens, found, head):
    """Budget, first screen and breakdown, of one process that all of them are about."""
    processes = budget_means(found["budget"])
    if len(processes) != 1 or head["helpers"] or head["processes"] != 1:
        return
    parts = next(iter(processes.values()))
    for column, names in HEADLINE.items():
        mean = head[column + "_ns"]
        if mean is not None:
            screens.same(f"first screen, {column}", mean, sum(parts[n]["mean_ns"] for n in names if n in parts), len(names))
    unknown = set(parts) - {name for names in HEADLINE.values() for name in names}
    screens.same("parts that the first screen lacks", len(unknown) if head["computing_ns"] is not None else 0, 0)
    averages = [row for row in found["breakdown"] if row["step"] in ("average", "all")]
    if len(averages) == 1 and head["computing_ns"] is not None:
        row = averages[0]
        for column, names in BREAKDOWN.items():
            screens.same(f"breakdown, {column}", row[column], sum(head[n + "_ns"] for n in names), 2)
        screens.same("breakdown, copies", sum(row[c] for c in COPIES), head["exposed_copies_ns"], 4)
        screens.same("breakdown, sum", row["total_ns"], sum(p["mean_ns"] for p in parts.values()), len(parts))
    if "idle" in found and found["idle"] and "part" in found["idle"][0]:
        for row in found["idle"]:
            screens.same(f"idle, {row['part']}", row["total_ns"], parts[row["part"]]["total_ns"] if row["part"] in parts else None)


def check_gpus(screens, found):
    """A kernel runs while the process computes, and at most while it computes, copies or communicates. As in TensorBoard, it is
    a share of the pauses between steps, too."""
    processes = budget_means(found["budget"])
    for key, parts in processes.items():
        rows = [row for row in found["gpu_summary"] if (row["pid"], row["rank"]) == key]
        window = sum(part["total_ns"] for part in parts.values())
        if len(rows) != 1 or rows[0]["utilization_pct"] is None or not window:
            continue
        share = {name: 100.0 * part["total_ns"] / window for name, part in parts.items()}
        least = share.get("Computing", 0) - PAUSES
        most = sum(share.get(n, 0) for n in ["Computing", "Communication"] + HEADLINE["exposed_copies"])
        screens.at_most(f"pid {key[0]}: computing, of the GPU's utilization", least, rows[0]["utilization_pct"] + 0.01)
        screens.at_most(f"pid {key[0]}: utilization, of computing, communication and copies", rows[0]["utilization_pct"], most + 0.01)


def check_steps(screens, program, path, found, head):
    if not head["steps"] or head["processes"] != 1:
        return
    for row in found["step_stats"]:
        if row["part"] == "Step":
            screens.same("median of step-stats", row["median_ns"], head["median_ns"], 1)
            screens.same("mean of step-stats", row["avg_ns"], head["mean_ns"], 1)
            screens.same("p99 of step-stats", row["p99_ns"], head["p99_ns"], 1)
            screens.same("steps of step-stats", row["steps"], head["steps"])
    compared = tables(program, "diff", path, path)
    if "answer" in compared and compared["answer"]:
        screens.same("median of diff", compared["answer"][0]["a_median_ns"], head["median_ns"], 1)
        screens.same("steps of diff", compared["answer"][0]["a_steps"], head["steps"])


def check_findings(screens, found, head):
    parts = [head[column + "_ns"] or 0 for column in HEADLINE]
    for row in found["findings"]:
        if row["reach_ns"] is not None:
            screens.at_most(f"reach of {row['cause']}", row["reach_ns"], row["step_ns"] + 1)
        if row["saved_ns"] is not None and row["reach_ns"] is not None:
            screens.at_most(f"saving of {row['cause']}", row["saved_ns"], row["reach_ns"] + 1)
        if head["processes"] == 1 and sum(parts):
            screens.same(f"what {row['cause']} is a share of", row["step_ns"], sum(parts), len(parts))
    for i, row in enumerate(found["findings"][:3]):
        sentence = head[f"finding_{i + 1}"]
        screens.same(f"finding {i + 1} of the first screen is another", 0 if sentence in ("", None, row["sentence"]) else 1, 0)


def check_reduced(screens, program, path, head):
    with tempfile.TemporaryDirectory() as folder:
        summary = os.path.join(folder, "one.sum")
        run(program, "reduce", "-o", summary, path)
        rows = tables(program, summary)["headline"]
    for column in ["steps", "median_ns", "mean_ns", "p99_ns"] + [c + "_ns" for c in HEADLINE]:
        screens.same(f"reduce, {column}", rows[0][column], head[column], 1)


def check(program, path):
    screens = Screens()
    found = tables(program, "--all", path)
    head = found["headline"][0]
    check_parts(screens, found, head)
    check_gpus(screens, found)
    check_steps(screens, program, path, found, head)
    check_findings(screens, found, head)
    check_reduced(screens, program, path, head)
    return screens


def main(program, paths):
    failed = 0
    print(f"1..{len(paths)}")
    for i, path in enumerate(paths, 1):
        name = os.path.basename(path.rstrip("/"))
        try:
            screens = check(program, path)
            wrong, nr = screens.wrong, screens.nr
        except Failed as reason:
            wrong, nr = [str(reason)], 0
        print(f"{'not ok' if wrong else 'ok'} {i} - {name}: {nr} figures are the same on all screens")
        for sentence in wrong[:20]:
            print(f"# {sentence}")
        failed += bool(wrong)
    return failed != 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
