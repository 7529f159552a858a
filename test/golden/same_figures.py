#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""same_figures.py OLD NEW FILE...: do two builds of gprof-report print the same figures?

Compares the JSON of all views of each stream, trace or summary, cell by cell. RENAMED maps the names that an
older build has to those of today. Texts may change in words; each pair that differs is printed once.
"""
import json
import re
import subprocess
import sys

RENAMED = {
    "views": {
        "temporal": "time-breakdown", "pending": "missing-collectives", "launch": "launch-latency", "gaps": "idle-gaps",
        "userdefined": "user-ranges", "dataprep": "data-loading", "dataprep-steps": "data-loading-steps", "experts": "moe-balance",
        "stall": "hang", "optype": "operator-types", "manipulation": "memops", "gpu-use": "gpu-summary",
    },
    "columns": {
        "*": {"stake_ns": "cost_ns", "stake_pct": "cost_pct", "stake_of": "cost_of", "seen_by": "recorded_by"},
        "operator": {"works": "gpu_activities"}, "operator_types": {"works": "gpu_activities"},
        "launch_latency": {"work_avg_ns": "activity_avg_ns"}, "data_loading_steps": {"held_back": "delayed"},
        "threads": {"began_ns": "start_ns", "ended_ns": "end_ns"}, "bandwidth": {"without_time": "untimed"},
        "critical_path": {"pieces": "segments"}, "idle_gaps": {"work": "activity"}, "hang": {"stall": "hang"},
        "device": {"sets": "memsets"},
    },
}


def views_of(report):
    text = subprocess.run([report, "help", "summary"], stdout=subprocess.PIPE, text=True).stdout
    part = re.search(r"^Views.*?\n(.*?)^Reports", text, re.S | re.M).group(1)
    return re.findall(r"^  ([a-z-]+) ", part, re.M)


def tables_of(report, view, path, detail):
    done = subprocess.run([report, "--format", "json", "--view", view] + (["--detail"] if detail else []) + [path],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        tables = json.loads(done.stdout or b"{}")
    except ValueError:
        sys.exit("%s --view %s %s: not JSON" % (report, view, path))
    return done.returncode, {key: table["rows"] for key, table in tables.items() if isinstance(table, dict) and "rows" in table}


def renamed(view):
    return RENAMED["views"].get(view, view)


def mapped(tables):
    out = {}
    for key, rows in tables.items():
        if key == "gpu":  # the rows of device, twice
            continue
        key = renamed(key.replace("gpu_use", "gpu-use")).replace("-", "_")
        names = {**RENAMED["columns"]["*"], **RENAMED["columns"].get(key, {})}
        out[key] = [{names.get(name, name): value for name, value in row.items()} for row in rows]
    return out


def main(old, new, paths):
    figures = failures = 0
    words = set()
    for path in paths:
        for view in views_of(old):
            for detail in (False, True):
                where = "%s --view %s%s" % (path, view, " --detail" if detail else "")
                old_status, before = tables_of(old, view, path, detail)
                new_status, after = tables_of(new, renamed(view), path, detail)
                before = mapped(before)
                if old_status != new_status or before.keys() != after.keys():
                    print("%s: status %d and %d, tables %s and %s" % (where, old_status, new_status, sorted(before), sorted(after)))
                    failures += 1
                    continue
                for key, rows in before.items():
                    if len(rows) != len(after[key]):
                        print("%s: %s has %d and %d rows" % (where, key, len(rows), len(after[key])))
                        failures += 1
                        continue
                    for row, (mine, theirs) in enumerate(zip(rows, after[key])):
                        for name in mine.keys() | theirs.keys():
                            have = (mine.get(name, "no such column"), theirs.get(name, "no such column"))
                            figures += not isinstance(have[0], str)
                            if have[0] == have[1]:
                                continue
                            if isinstance(have[0], str) and isinstance(have[1], str) and "no such column" not in have:
                                words.add((key, name) + have)
                            else:
                                print("%s: %s, row %d, %s: %r and %r" % ((where, key, row, name) + have))
                                failures += 1
    for pair in sorted(words):
        print("words: %s %s: %r -> %r" % pair)
    print("%d figures of %d files, %d differ; %d texts differ" % (figures, len(paths), failures, len(words)))
    return failures != 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
