# SPDX-License-Identifier: Apache-2.0
"""hta.py TRACE TIMELINE: what HolisticTraceAnalysis keeps of a trace's GPU activities when it loads the timeline.

Of a file with several steps it drops the last one, what begins after it, and activities without a call that is left.
The timeline has to keep what the trace has: all steps, also a single one, and the streams.
"""
import collections
import gzip
import json
import sys

import complaints
from complaints import complain


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path) as file:
        events = json.load(file)["traceEvents"]
    return [event for event in events if event["ph"] == "X"]


def is_activity(event):
    return event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")


def is_step(event):
    return event["name"].startswith("ProfilerStep") and event["args"].get("stream", -1) == -1


def kept(events):
    """As hta/common/trace.py filters them."""
    steps = [event for event in events if is_step(event)]
    if len({event["name"] for event in steps}) < 2:
        return events
    last = max(event["ts"] for event in steps)
    host = [event for event in events if not is_activity(event) and event["ts"] < last]
    calls = {event["args"]["correlation"] for event in host if "correlation" in event["args"]}
    return host + [event for event in events if is_activity(event) and event["args"]["correlation"] in calls]


def streams(events, calls=None):
    """Of each stream, begins and lengths of its activities; with calls: of those alone that have one."""
    found = collections.defaultdict(list)
    for event in events:
        if is_activity(event) and (calls is None or event["args"]["correlation"] in calls):
            found[event["args"]["device"], event["args"]["stream"]].append(
                (round(event["ts"], 3), round(event["dur"], 3)))
    return {stream: sorted(times) for stream, times in found.items()}


def main():
    trace, timeline = (read(path) for path in sys.argv[1:])
    names = {event["name"] for event in trace if is_step(event)}
    calls = {event["args"]["correlation"] for event in trace
             if not is_activity(event) and "correlation" in event["args"]} if len(names) > 1 else None
    left = kept(timeline)
    if {event["name"] for event in left if is_step(event)} != names:
        complain(f"of the steps {sorted(names)} stay {sorted(event['name'] for event in left if is_step(event))}")
    before, after = streams(trace, calls), streams(left)
    if before != after:
        complain(f"streams {sorted(before)} become {sorted(after)}")
    for stream, times in before.items():
        if times != after.get(stream):
            complain(f"on {stream} {len(times)} activities become {len(after.get(stream, []))}")
    return complaints.nr != 0


sys.exit(main())
