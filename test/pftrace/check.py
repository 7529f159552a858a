# SPDX-License-Identifier: Apache-2.0
"""Reads a Perfetto trace as its viewer does, and compares it with the Chrome JSON of the same run.

    check.py TRACE.pftrace TRACE.json [PROTOC PROTO]

With PROTOC and our PROTO the bytes are decoded by protoc, else by Perfetto's own schema (PyPI's package
perfetto).
Slices are closed as the viewer closes them: events by time, then by place in the file; an end is of the
innermost open slice of its track. Prints what is wrong, and at last the counts.
"""
import collections
import gc
import json
import re
import subprocess
import sys

gc.disable()  # millions of objects, and no cycles among them

bad = []


def complain(text):
    bad.append(text)
    if len(bad) <= 20:
        print("not ok:", text)


def parse_text(lines):
    """protoc's text format: a dict of lists by field."""
    found = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            return found
        if line.endswith("{"):
            found[line[:-1].strip()].append(parse_text(lines))
            continue
        key, value = line.split(": ", 1)
        if value.startswith('"'):
            raw = re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8)]), value[1:-1].encode())
            raw = raw.replace(b'\\"', b'"').replace(b"\\'", b"'").replace(b"\\\\", b"\\")
            found[key].append(raw.decode("utf-8", "replace"))
        elif value == "true" or value == "false":
            found[key].append(value == "true")
        elif re.fullmatch(r"-?\d+", value):
            found[key].append(int(value))
        elif re.match(r"-?[\d.]|inf|-inf|nan", value):
            found[key].append(float(value))
        else:
            found[key].append(value)
    return found


def by_protoc(path, protoc, proto):
    with open(path, "rb") as file:
        out = subprocess.run([protoc, "--decode=gprof.perfetto.Trace", proto], stdin=file,
                             stdout=subprocess.PIPE, check=True).stdout.decode()
    return parse_text(iter(out.splitlines()))["packet"]


def plain(message):
    found = collections.defaultdict(list)
    for field, value in message.ListFields():
        values = value if field.is_repeated else [value]
        for one in values:
            if field.message_type:
                one = plain(one)
            elif field.enum_type:
                one = field.enum_type.values_by_number[one].name.replace("TYPE_", "")
            elif isinstance(one, bytes):
                one = one.decode("utf-8", "replace")
            found[field.name].append(one)
    return found


def by_schema(path):
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2

    trace = perfetto_trace_pb2.Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    unknown = []
    for packet in trace.packet:
        if packet.WhichOneof("data") is None and not packet.HasField("interned_data"):
            unknown.append(packet)
    if unknown:
        complain("%d packets that Perfetto does not know" % len(unknown))
    return [plain(packet) for packet in trace.packet]


class Reader:
    def __init__(self, packets):
        self.tables = {key: {} for key in ("event_names", "event_categories", "debug_annotation_names",
                                           "debug_annotation_string_values")}
        self.tracks = {}
        self.events = []
        self.sequences = collections.defaultdict(set)
        self.counts = collections.defaultdict(list)
        self.slices = []
        self.instants = []
        self.flows = collections.defaultdict(list)
        for packet in packets:
            self.take(packet)
        self.events.sort(key=lambda event: event[0])  # stable
        self.close()

    def take(self, packet):
        for data in packet["interned_data"]:
            for key, table in self.tables.items():
                for row in data[key]:
                    if row["iid"][0] in table:
                        complain("%s %d twice" % (key, row["iid"][0]))
                    table[row["iid"][0]] = (row["name"] or row["str"] or [""])[0]
        for kind in ("track_descriptor", "track_event"):
            if packet[kind]:
                self.sequences[kind].update(packet["trusted_packet_sequence_id"])
        for track in packet["track_descriptor"]:
            if track["uuid"][0] in self.tracks:
                complain("track %d twice" % track["uuid"][0])
            for parent in track["parent_uuid"]:
                if parent not in self.tracks:
                    complain("track %d before its parent" % track["uuid"][0])
            self.tracks[track["uuid"][0]] = track
        for event in packet["track_event"]:
            track = event["track_uuid"][0]
            if track not in self.tracks:
                complain("an event of a track that is not there")
            name = ""
            if event["name_iid"]:
                name = self.tables["event_names"].get(event["name_iid"][0])
                if name is None:
                    complain("a name before its text")
            args = {}
            for arg in event["debug_annotations"]:
                key = self.tables["debug_annotation_names"].get(arg["name_iid"][0])
                value = (arg["uint_value"] or arg["int_value"] or arg["double_value"] or [None])[0]
                for iid in arg["string_value_iid"]:
                    value = self.tables["debug_annotation_string_values"].get(iid)
                if key is None or value is None:
                    complain("an argument without key or value")
                args[key] = value
            categories = [self.tables["event_categories"].get(iid) for iid in event["category_iids"]]
            if None in categories:
                complain("a category before its text")
            self.events.append((packet["timestamp"][0], event["type"][0], track, name, args, categories,
                                event["flow_ids"], event["double_counter_value"]))

    def close(self):
        open_slices = collections.defaultdict(list)
        for ns, kind, track, name, args, categories, flows, value in self.events:
            if kind == "SLICE_BEGIN":
                entry = [name, ns, None, track, args, categories]
                open_slices[track].append(entry)
                self.slices.append(entry)
                for flow in flows:
                    self.flows[flow].append(entry)
            elif kind == "SLICE_END":
                if not open_slices[track]:
                    complain("an end without a begin")
                    continue
                open_slices[track].pop()[2] = ns
            elif kind == "INSTANT":
                self.instants.append((name, ns, track, args))
            elif kind == "COUNTER":
                if not self.tracks[track]["counter"]:
                    complain("a count on a track that is no counter's")
                self.counts[track].append((ns, value[0]))
        for track, left in open_slices.items():
            if left:
                complain("%d slices of track %d without an end" % (len(left), track))


def compare_counters(reader, events, first):
    """The JSON has the same values at the same times."""
    mine, theirs = collections.Counter(), collections.Counter()
    for track, counts in reader.counts.items():
        descriptor = reader.tracks[track]
        unit = (descriptor["counter"][0]["unit_name"] or ["value"])[0]
        for ns, value in counts:
            mine[(descriptor["name"][0], unit, ns + first, "%.12g" % value)] += 1
    for event in events:
        if event["ph"] == "C":
            (unit, value), = event["args"].items()
            theirs[(event["name"], unit, round(event["ts"] * 1000), "%.12g" % value)] += 1
    for key, nr in ((mine - theirs) + (theirs - mine)).items():
        complain("a count that one of both has: %r, %d times" % (key, nr))


def compare(reader, events):
    """Every slice of the JSON is there with its name, begin (apart from the axis) and length, and no other; so is
    every flow. Returns where the axis of the trace begins on that of the JSON."""
    cats = {"cuda_runtime", "cuda_driver", "cpu_op", "python_function", "kernel", "gpu_memcpy", "gpu_memset",
            "cuda_sync", "overhead", "user_annotation", "library", "nccl"}
    mine, theirs = collections.Counter(), collections.Counter()
    steps = re.compile(r"(ProfilerStep#|step )\d+$")
    base = min((s[1] for s in reader.slices), default=0)
    for name, begin, end, _, _, categories in reader.slices:
        if not steps.match(name) and not {"step", "collective"} & set(categories) and end is not None:
            mine[(name, begin, end - begin)] += 1
    offsets = collections.Counter()
    begun = {}
    for event in events:
        ns = round(event["ts"] * 1000) if "ts" in event else 0
        if event["ph"] == "X" and event.get("cat") in cats:
            if not steps.match(event["name"]):
                theirs[(event["name"], ns, round(event["dur"] * 1000))] += 1
        elif event["ph"] == "b":
            begun[event["id"]] = (event["name"], ns)
        elif event["ph"] == "e":
            name, begin = begun.pop(event["id"])
            theirs[(name, begin, ns - begin)] += 1
    if sum(mine.values()) != sum(theirs.values()):
        complain("%d slices, the JSON has %d" % (sum(mine.values()), sum(theirs.values())))
    # The axes differ by one number, found by what begins first.
    first = min((key[1] for key in theirs), default=0) - min((key[1] for key in mine), default=base)
    shifted = collections.Counter()
    for (name, ns, dur), nr in mine.items():
        shifted[(short(name), ns + first, dur)] += nr
    plain_theirs = collections.Counter()
    for (name, ns, dur), nr in theirs.items():
        plain_theirs[(short(name), ns, dur)] += nr
    for key, nr in (shifted - plain_theirs).items():
        complain("not in the JSON: %r, %d times" % (key, nr))
    for key, nr in (plain_theirs - shifted).items():
        complain("not in the trace: %r, %d times" % (key, nr))
    arrows = collections.Counter((e["cat"], e["id"]) for e in events if e["ph"] == "s")
    ends = {(e["cat"], e["id"]) for e in events if e["ph"] == "f"}
    wanted = len([1 for key in arrows if key in ends])
    joined = len([1 for found in reader.flows.values() if len(found) > 1 and "collective" not in found[0][5]])
    if joined != wanted:
        complain("%d flows join slices, the JSON has %d" % (joined, wanted))
    for flow, found in reader.flows.items():
        if len(found) < 2:
            complain("flow %d joins nothing" % flow)
    return first


def check_queues(reader):
    """What was launched on a stream begins: a queue is never less than empty, and at last it is empty."""
    queues = [track for track in reader.counts if reader.tracks[track]["name"][0].startswith("launch queue depth")]
    for track in queues:
        counts = [value for _, value in reader.counts[track]]
        if min(counts) < 0 or counts[-1] or not reader.tracks[track]["parent_uuid"]:
            complain("%s: %s..." % (reader.tracks[track]["name"][0], counts[-5:]))
    streams = collections.Counter(reader.tracks[track]["name"][0] + str(reader.tracks[track]["parent_uuid"])
                                  for track in queues)
    if streams and max(streams.values()) > 1:
        complain("queues twice: %s" % streams)
    return len(queues)


def check_tracks(reader):
    """All tracks are in processes, which are in order; a GPU has its streams, each with its waits, then its counters."""
    if reader.sequences["track_descriptor"] & reader.sequences["track_event"]:
        complain("events take their thread from descriptors of the same sequence")
    if reader.tracks.get(0, {}).get("process_ordering") != ["PROCESS_ORDERING_EXPLICIT"]:
        complain("the order of processes is not explicit")
    children = collections.defaultdict(list)
    for uuid, track in reader.tracks.items():
        name = (track["name"] + [thread for one in track["thread"] for thread in one["thread_name"]] + [""])[0]
        if uuid and not track["process"] and not track["parent_uuid"]:
            complain("%s is in no process" % name)
        if "()" in name and not track["parent_uuid"] or "?" in "".join(one["process_labels"][0] for one in track["process"]
                                                                     if one["process_labels"]):
            complain("a name without what it names: %s" % track)
        for one in track["thread"]:
            if str(one["tid"][0]) in "".join(one["thread_name"]):
                complain("the viewer adds the tid to %s" % name)
        for parent in track["parent_uuid"]:
            children[parent].append((track["sibling_order_rank"][0], name, bool(track["counter"])))
    for inner in children.values():
        inner.sort()
        names = [re.sub(r" \(\d+\)$", "", name) for _, name, _ in inner]
        if "counters" in names and names[-1] != "counters" and not names[-1].startswith("GPU "):
            complain("counters before %s" % names[-1])
        if any(is_counter for _, _, is_counter in inner) and not all(is_counter for _, _, is_counter in inner):
            complain("counters among %s" % names)
        for i, name in enumerate(names):
            if name.endswith(" synchronization") and name[:-16] in names and names[i - 1] not in (name, name[:-16]):
                complain("%s after %s" % (name, names[i - 1]))


def short(name):
    """NVTX's domains stand before the name in the JSON, and in the track here."""
    return re.sub(r"[^ -~]|\\x[0-9a-f]{2}", "?", re.sub(r"^(\w+):(?!:)", "", name))


def main():
    packets = by_protoc(*([sys.argv[1]] + sys.argv[3:5])) if len(sys.argv) > 3 else by_schema(sys.argv[1])
    with open(sys.argv[2]) as file:
        events = json.load(file)["traceEvents"]
    reader = Reader(packets)
    compare_counters(reader, events, compare(reader, events))
    check_tracks(reader)
    nr_queues = check_queues(reader)
    if not nr_queues and any("kernel" in s[5] for s in reader.slices) and any("ac2g" == e.get("cat") for e in events) \
            and reader.counts:
        complain("no queue of any stream")
    print("%d slices, %d instants, %d counters, %d flows, %d tracks; %d wrong" % (
        len(reader.slices), len(reader.instants), len(reader.counts), len(reader.flows),
        len(reader.tracks), len(bad)))
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
