# SPDX-License-Identifier: Apache-2.0
"""Reads what the page saved as a viewer of Chrome JSON does, and compares it with what `timeline` writes of the same time.

    saved.py SAVED.json TIMELINE.json

Prints what is wrong, and at last the counts.
"""
import collections
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "pftrace"))
import check  # noqa: E402


class Reader:
    """The events, as check.compare() wants them."""

    def __init__(self, events):
        self.slices, self.instants, self.flows = [], [], collections.defaultdict(list)
        self.names, self.order = {}, {}
        self.counts = collections.defaultdict(list)
        rows, at = collections.defaultdict(list), {}
        for event in events:
            row = event["pid"], event.get("tid")
            if event["ph"] == "M":
                if event["name"] in ("process_name", "thread_name"):
                    self.names[(event["name"][:-5],) + row] = event["args"]["name"]
                elif event["name"].endswith("_sort_index"):
                    self.order[(event["name"][:-11],) + row] = event["args"]["sort_index"]
                continue
            if ("process", event["pid"], 0) not in self.names or event["ph"] != "C" and ("thread",) + row not in self.names:
                check.complain("an event of a row without a name: %s" % event)
            begin = round(event["ts"] * 1000)
            if event["ph"] == "X":
                entry = [event["name"], begin, round((event["ts"] + event["dur"]) * 1000), row, event["args"], event["cat"].split(",")]
                self.slices.append(entry)
                rows[row].append((event["ts"], event["ts"] + event["dur"]))
                at[row + (event["ts"],)] = entry
            elif event["ph"] == "i":
                self.instants.append(event)
            elif event["ph"] == "C":
                (_, value), = event["args"].items()
                self.counts[(event["pid"], event["name"])].append((begin, value))
            elif event["ph"] in "sf":
                if row + (event["ts"],) not in at:
                    check.complain("an arrow at no slice: %s" % event)
                else:
                    self.flows[event["id"]].append(at[row + (event["ts"],)])
                if (event["ph"] == "f") != (event.get("bp") == "e"):
                    check.complain("an end that binds to no slice: %s" % event)
            else:
                check.complain("a kind of event that is not known: %s" % event)
        for row, spans in rows.items():
            self.check_nesting(row, spans)

    def check_nesting(self, row, spans):
        """Viewers drop a slice that overlaps another partly, and add as doubles."""
        still = []
        for begin, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            while still and still[-1] <= begin:
                still.pop()
            if still and end > still[-1]:
                check.complain("%s overlaps partly at %r" % (self.names[("thread",) + row], begin))
            still.append(end)


def check_rows(reader):
    """Processes and rows have places of their own: a thread stands before what is in it, a stream before its waits and in its GPU."""
    pids = [key[1] for key in reader.names if key[0] == "process"]
    if len({reader.order[("process", pid, 0)] for pid in pids}) != len(pids):
        check.complain("processes without an order")
    for pid in pids:
        places = sorted((place, reader.names[key]) for key, place in reader.order.items() if key[:2] == ("thread", pid))
        names = [name for _, name in places]
        if len({place for place, _ in places}) != len(places) or any(key[1] == pid and key not in reader.order for key in reader.names):
            check.complain("rows without an order: %s" % names)
        gpus = [name.split(": ")[0] for name in names if name.startswith("GPU ")]
        if gpus and gpus != sorted(gpus) or [name for name in names[len(names) - len(gpus):] if not name.startswith("GPU ")]:
            check.complain("GPUs are not behind all else: %s" % names)
        for i, name in enumerate(names):
            if name.endswith(" synchronization") and name[:-16] in names and names.index(name[:-16]) > i:
                check.complain("%s stands before its stream" % name)


def check_counts(reader):
    for name, counts in reader.counts.items():
        if [ns for ns, _ in counts] != sorted({ns for ns, _ in counts}):
            check.complain("%s is not in order" % (name,))
        if name[1].startswith("Queue depth") and (min(value for _, value in counts) < 0):
            check.complain("%s: %s..." % (name, counts[-5:]))


def main():
    saved, events = (json.load(open(path)) for path in sys.argv[1:3])
    reader = Reader(saved["traceEvents"])
    first = check.compare(reader, events["traceEvents"])
    if reader.slices and int(events["baseTimeNanoseconds"]) + first != int(saved["baseTimeNanoseconds"]):
        check.complain("times begin at %s, %d ns of %s" % (saved["baseTimeNanoseconds"], first, events["baseTimeNanoseconds"]))
    check_rows(reader)
    check_counts(reader)
    print("%d slices, %d instants, %d counters, %d flows, %d rows; %d wrong" % (
        len(reader.slices), len(reader.instants), len(reader.counts), len(reader.flows), len(reader.names), len(check.bad)))
    return bool(check.bad)


if __name__ == "__main__":
    sys.exit(main())
