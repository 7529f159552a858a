# SPDX-License-Identifier: Apache-2.0
"""usage: module_names_check.py WANT VIEW PYTORCH

WANT: of module_names.py; VIEW: `summary --view module --format json`; PYTORCH: its version, as shapes need 2.2
"""
import collections
import json
import sys

want = json.load(open(sys.argv[1]))
rows = json.load(open(sys.argv[2]))["module"]["rows"]
bad = []


def same(want, have, what):
    if want != have:
        bad.append("%s: %s, not %s" % (what, have, want))


# ---- names ----

any_name = {tuple(key[:4]): tuple(key[:4]) for key in want}
for outer, of, names, depth, _ in want:
    for name in names.split():
        any_name[outer, of, name, depth] = outer, of, names, depth
calls = collections.Counter()
for row in rows:
    parts = row["path"].split("/")
    name = "" if row["name"] == parts[-1] else row["name"]
    key = parts[0].rpartition("_")[0], row["class"], name, len(parts)
    same(row["class"], parts[-1].rpartition("_")[0], "class of " + row["path"])
    same(True, key in any_name, "%s is where it is called" % (key,))
    calls[any_name.get(key, key)] += row["calls"]
same({tuple(key[:4]): key[4] for key in want}, dict(calls), "calls")

# ---- sums: levels are in the order of rows, each module before those inside it ----

around = []
inside = collections.defaultdict(lambda: collections.Counter())
columns = {"total_ns": "self_ns", "flops": "self_flops", "allocated_bytes": "self_allocated_bytes"}
for i, row in enumerate(rows):
    depth = row["path"].count("/")
    del around[depth:]
    same(depth, len(around), "depth of " + row["path"])
    if around:
        for column in columns:
            inside[around[-1]][column] += row[column] or 0
    around.append(i)
for i, row in enumerate(rows):
    for column, own in columns.items():
        total, have = row[column] or 0, (row[own] or 0) + inside[i][column]
        # Times are ticks, rounded for each call.
        same(True, abs(total - have) <= (2 * row["calls"] * (1 + len(inside[i])) + 100 if column == "total_ns" else 0),
             "%s of %s: %s, its parts have %s" % (column, row["path"], total, have))
same(True, any(row["allocated_bytes"] for row in rows), "memory")
has_shapes = [int(part) for part in sys.argv[3].split(".")[:2]] >= [2, 2]
same(has_shapes, any(row["flops"] for row in rows), "FLOPs")
print("\n".join(bad[:20]))
sys.exit(bool(bad))
