#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""memory_viz.py PICKLE [TRACE | damaged]: is it what PyTorch's memory viewer reads?

The viewer's unpickler knows some opcodes; the viewer itself goes back from the segments at the end, event by event, and needs a
segment for each block at each time, and a category "unknown" where there are any. TRACE is the trace of PyTorch's profiler that
the snapshot was made from: the same allocations are in both. What was made of a damaged recording is read alone."""
import bisect
import gzip
import json
import pickle
import pickletools
import sys

OPCODES = set("PROTO APPEND APPENDS LIST TUPLE NEWFALSE NEWTRUE NONE BINGET BININT BININT1 BININT2 EMPTY_DICT EMPTY_LIST FRAME LONG1"
              " LONG_BINGET MARK MEMOIZE BINPUT LONG_BINPUT SETITEMS SETITEM DICT SHORT_BINUNICODE BINUNICODE STOP EMPTY_TUPLE TUPLE1"
              " TUPLE2 TUPLE3 BINFLOAT".split())
MOST_ARGUMENTS = 65535  # of a call in JavaScript, by the strictest engine: elements of a list that are appended at once
STATES = {"active_allocated", "inactive"}


def fail(text):
    sys.exit(f"memory_viz.py: {text}")


def opcodes(data):
    unknown = {op.name for op, _, _ in pickletools.genops(data)} - OPCODES
    if unknown:
        fail(f"the viewer does not read {unknown}")


def frames(of):
    for frame in of["frames"]:
        if set(frame) != {"name", "filename", "line"}:
            fail(f"a frame is {frame}")


def state_at_end(snapshot, device):
    segments, blocks = {}, {}
    for segment in snapshot["segments"]:
        frames(segment)
        at, used = segment["address"], 0
        for block in segment["blocks"]:
            frames(block)
            if block["address"] != at or block["state"] not in STATES or not block["size"]:
                fail(f"a block is {block}, its segment goes on at {at}")
            at += block["size"]
            used += block["size"] if block["state"] == "active_allocated" else 0
            if segment["device"] == device and block["state"] == "active_allocated":
                blocks[block["address"]] = block["size"]
        if at != segment["address"] + segment["total_size"] or used != segment["allocated_size"]:
            fail(f"blocks end at {at} and {used} bytes are in use, the segment is {segment['address']} + {segment['total_size']}")
        if segment["device"] == device:
            segments[segment["address"]] = segment["total_size"]
    return segments, blocks


def back(events, segments, blocks):
    """From the end to the begin, as the viewer goes; what is in use after each event."""
    addresses = sorted(segments)

    def is_inside(address):
        i = bisect.bisect_right(addresses, address)
        return i and address < addresses[i - 1] + segments[addresses[i - 1]]

    in_use = sum(blocks.values())
    for event in reversed(events):
        frames(event)
        yield in_use
        action, address = event["action"], event["addr"]
        if action == "free_completed":
            blocks[address] = event["size"]
            in_use += event["size"]
            if not is_inside(address):
                fail(f"a block is in no segment: {event}")
        elif action == "alloc":
            if blocks.pop(address, None) != event["size"] or not is_inside(address):
                fail(f"a block that begins is not there, or in no segment: {event}")
            in_use -= event["size"]
        elif action == "segment_free":
            segments[address] = event["size"]
            bisect.insort(addresses, address)
        elif action == "segment_alloc":
            if segments.pop(address, None) != event["size"]:
                fail(f"a segment that begins is not there: {event}")
            addresses.remove(address)
        elif action not in ("free_requested", "oom", "snapshot"):
            fail(f"an event is {event}")


def trace_events(path):
    """Allocations and frees of GPU memory: (address, bytes), in their order."""
    with gzip.open(path) as file:
        for event in json.load(file)["traceEvents"]:
            args = event.get("args", {})
            if event.get("name") == "[memory]" and args.get("Device Type") == 1 and args["Bytes"]:
                yield event["ts"], args["Addr"], args["Bytes"]


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    opcodes(data)
    snapshot, peak = pickle.loads(data), 0
    nr_events = sum(map(len, snapshot["device_traces"]))
    if nr_events > MOST_ARGUMENTS * sum(op.name == "APPENDS" for op, _, _ in pickletools.genops(data)):
        fail("lists are not in parts")
    if set(snapshot) != {"segments", "device_traces"}:
        fail(f"it has {set(snapshot)}")
    if sys.argv[2:] == ["damaged"]:
        return
    seen = []
    for device, events in enumerate(snapshot["device_traces"]):
        if events[-1]["action"] != "snapshot" or events[-1]["category"] != "unknown":
            fail(f"it ends with {events[-1]}")
        if [event["time_us"] for event in events] != sorted(event["time_us"] for event in events):
            fail("times fall")
        peak = max([peak, *back(events, *state_at_end(snapshot, device))])
        seen += [(event["addr"], event["size"] if event["action"] == "alloc" else -event["size"])
                 for event in events if event["action"] in ("alloc", "free_completed")]
    if len(sys.argv) > 2:
        wanted = [(address, size) for _, address, size in sorted(trace_events(sys.argv[2]), key=lambda event: event[0])]
        if sorted(seen) != sorted(wanted):
            fail(f"{len(seen)} allocations and frees, the trace has {len(wanted)}")
    print(peak)


main()
