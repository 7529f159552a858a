# SPDX-License-Identifier: Apache-2.0
"""Random traces against plain computations: check.py GPROF_REPORT DIRECTORY [SEEDS]. Prints TAP."""
import collections
import json
import os
import subprocess
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "verdict"))
import budget
import budgets
import plain
import trace as traces

REPORT, DIRECTORY = sys.argv[1], sys.argv[2]
SEEDS = int(sys.argv[3]) if len(sys.argv) > 3 else 12
results = 0
failures = 0


def ask(path, views, *options):
    """The views as JSON."""
    done = subprocess.run([REPORT, "summary", path, "--format", "json", "--top", "0", "--view", views, *options],
                          capture_output=True, check=False)
    if done.returncode not in (0, 3):
        raise SystemExit("Bail out! %s: %s" % (path, done.stderr.decode(errors="replace")))
    return json.loads(done.stdout)


def test(name, have, want):
    global results, failures
    results += 1
    failures += have != want
    print("%s %d - %s" % ("ok" if have == want else "not ok", results, name))
    if have != want:
        keys = sorted(set(have) | set(want), key=str) if isinstance(have, dict) and isinstance(want, dict) else []
        for key in [k for k in keys if have.get(k) != want.get(k)][:5]:
            print("#   %s: have %s, want %s" % (key, have.get(key), want.get(key)))
        if not keys:
            print("#   have %s\n#   want %s" % (have, want))


def by_name(rows, like):
    """Rows of JSON with the keys that the plain rows have."""
    keys = next(iter(like.values()), {}).keys()
    return {row["name"]: {key: row[key] for key in keys} for row in rows}


TABLES = [("kernel", ["kernel"], False), ("api", ["cuda_runtime"], False), ("memcpy", ["gpu_memcpy"], True),
          ("memset", ["gpu_memset"], True)]


def check_tables(name, trace, path, *options):
    have = ask(path, ",".join(table for table, _, _ in TABLES), *options)
    for table, cats, with_bytes in TABLES:
        want = plain.rows_by_name(plain.of(trace, *cats), with_bytes)
        test("%s: %s" % (name, table), by_name(have[table]["rows"], want), want)


def check(seed):
    trace = traces.Trace(seed)
    path = os.path.join(DIRECTORY, "trace%d.json" % seed)
    trace.write(path)
    name = "seed %d" % seed
    check_tables(name, trace, path)
    again = os.path.join(DIRECTORY, "again%d.json.gz" % seed)
    subprocess.run([REPORT, "timeline", "-o", again, path], check=True)
    check_tables(name + ", written as JSON and read again", trace, again)
    steps = plain.steps(trace)
    have = ask(path, "operator,device,steps,breakdown")
    operators = plain.rows_by_name(plain.of(trace, "cpu_op"))
    test(name + ": operator", {n: r for n, r in by_name(have["operator"]["rows"], operators).items() if n in operators},
         operators)
    want = plain.gpu(trace)
    test(name + ": device", {key: have["device"]["rows"][0][key] for key in want}, want)
    test(name + ": steps", {r["step"]: r["duration_ns"] for r in have["steps"]["rows"] if r["duration_ns"] is not None},
         {number: end - begin for number, begin, end in steps})
    check_breakdown(name, trace, have["breakdown"]["rows"])
    check_joins(name, trace, path)
    chosen = [number for number, _, _ in steps][1:3]
    check_tables(name + ", steps 1-2", plain.in_steps(trace, chosen), path, "--steps", "1-2")


def check_breakdown(name, trace, rows):
    rows = {row["step"]: row for row in rows}
    for number, begin, end in plain.gpu_steps(trace):
        want = {part + "_ns": ns for part, ns in plain.breakdown(trace, begin, end).items()}
        have = {key: rows.get(str(number), {}).get(key) for key in want}
        test("%s: breakdown of step %d" % (name, number), have, want)
        test("%s: breakdown of step %d sums to it" % (name, number), sum(have.values()), end - begin)


def check_idle(name, rows, trace):
    want, have = budget.budget(trace), collections.Counter()
    for row in rows:
        have[budgets.TITLES[row["part"]]] += row["total_ns"]
    parts = budgets.PARTS[budgets.PARTS.index("wait"):]
    test(name + ": idle", {part: have[part] for part in parts}, {part: budgets.value(want, part) for part in parts})


def check_distributed(name, trace, path):
    """Of each step, and of those that count: not the first ones that warm up, nor the longest ones that are outliers."""
    rows = {row["step"]: row for row in ask(path, "distributed", "--detail")["distributed"]["rows"]}
    headline, steps = ask(path, "headline")["headline"]["rows"][0], plain.steps(trace)
    wants = {number: plain.distributed(trace, begin, end) for number, begin, end in steps}
    test(name + ": distributed by step", {number: {key: rows[number][key] for key in want} for number, want in wants.items()}, wants)
    steps = sorted(steps[headline["warm_up_steps"]:], key=lambda step: step[2] - step[1])
    counted = [wants[number] for number, _, _ in steps[:len(steps) - headline["outlier_steps"]]]
    want = {key: sum(row[key] for row in counted) for key in counted[0]}
    test(name + ": distributed", {key: ask(path, "distributed")["distributed"]["rows"][0][key] for key in want}, want)


def check_joins(name, trace, path):
    have = ask(path, "kernel-operator,launch-latency")
    check_distributed(name, trace, path)
    # Of chosen steps none is left out because it warms up.
    check_idle(name, ask(path, "idle", "--steps", "0-")["idle"]["rows"], next(budget.traces(path)))
    rows = {}
    for row in have["kernel_operator"]["rows"]:
        total = rows.setdefault((row["name"], row["operator"] or ""), [0, 0])
        total[0] += row["calls"]
        total[1] += row["total_ns"]
    test(name + ": kernels by operator", rows, plain.kernel_operator(trace))
    want = plain.delays(trace)
    test(name + ": launch", by_name([row for row in have["launch_latency"]["rows"] if row["calls"]], want), want)


for one in range(1, SEEDS + 1):
    check(one)
print("1..%d" % results)
sys.exit(failures > 0)
