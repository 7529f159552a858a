# SPDX-License-Identifier: Apache-2.0
"""parts.py MB WHOLE.json PART.json...: each event of the whole is in one part, by the time it begins at, and no
part is much larger than asked for. Arrows are in a part that has both ends."""
import collections
import gc
import json
import os
import sys

import complaints
from complaints import complain

gc.disable()  # millions of objects, and no cycles among them


def slices(trace):
    """Rows aside may differ: what overlaps may be in different parts. Each part numbers its operators, and has the
    ranges on streams and counters of its own events."""
    kept = collections.Counter()
    for event in trace["traceEvents"]:
        if event["ph"] in "Xibe" and event["name"] != "Record Window End" and event.get("cat") != "gpu_user_annotation":
            args = {key: value for key, value in event.get("args", {}).items() if key != "External id"}
            kept[(event["ph"], event["name"], event["ts"], event.get("dur"), json.dumps(args, sort_keys=True))] += 1
    return kept


most = float(sys.argv[1]) * 1e6
whole = json.load(open(sys.argv[2]))
together = collections.Counter()
last = 0
for number, path in enumerate(sys.argv[3:], 1):
    part = json.load(open(path))
    if part["gprof"]["part"] != number or part["gprof"]["parts"] != len(sys.argv) - 3:
        complain(f"{path} says it is part {part['gprof']}")
    if part["baseTimeNanoseconds"] != whole["baseTimeNanoseconds"]:
        complain(f"{path} has another base")
    if os.path.getsize(path) > most * 1.1:
        complain(f"{path} has {os.path.getsize(path)} bytes")
    found = slices(part)
    times = [key[2] for key in found]
    if min(times) < last:
        complain(f"{path} begins before the last one ended")
    last = max(times)
    together += found
    for key in ("deviceProperties", "schemaVersion"):
        if part[key] != whole[key]:
            complain(f"{path}: {key}")
missing, more = slices(whole) - together, together - slices(whole)
for key in list(missing)[:5]:
    complain(f"in no part: {key}")
for key in list(more)[:5]:
    complain(f"in parts alone: {key}")
print(f"{sum(together.values())} events in {len(sys.argv) - 3} parts")
sys.exit(complaints.nr != 0)
