# SPDX-License-Identifier: Apache-2.0
# usage: calls_check.py TIMELINE. Does it have as many calls as the names in calls.py say, each within
# the one that it was called from?
import collections
import json
import re
import sys

events = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e.get("cat") == "python_function"]
counts = collections.Counter(e["name"].split(": ")[-1] for e in events if "calls.py(" in e["name"])
source = open("test/python/calls.py").read()
bad = 0
for name, want in re.findall(r"^def (\w+_(\d+))\(", source, re.M):
    made = 2 if name == "generator_8" else 0  # from 3.11 on, to make one is a call of its own
    if counts[name] not in (int(want), int(want) + made):
        print("%s: %d calls" % (name, counts[name]))
        bad = 1
threads = {e["tid"] for e in events}
if len(threads) != 2:
    print("threads", threads)
    bad = 1
for inner, outer in (("inner_14", "seven_7"), ("raises_3", "through_3")):
    outers = [e for e in events if e["name"].endswith(": " + outer)]
    for e in events:
        if e["name"].endswith(": " + inner) and not any(
            o["tid"] == e["tid"] and o["ts"] <= e["ts"] and e["ts"] + e["dur"] <= o["ts"] + o["dur"]
            for o in outers
        ):
            print("%s is not in %s" % (inner, outer))
            bad = 1
sys.exit(bad)
