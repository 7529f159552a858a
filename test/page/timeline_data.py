# SPDX-License-Identifier: Apache-2.0
"""Unpacks a page's timeline as report/html/timeline_data.h says, and compares it with Chrome's JSON of the same data.

usage: timeline_data.py PAGE JSON BYTES DROPS    BYTES: what it may take; DROPS: "yes" where it cannot have all
"""
import base64
import collections
import json
import re
import sys
import zlib

from must import finish, must

path, json_path, most, drops = sys.argv[1:5]


def numbers(column):
    found, value, shift = [], 0, 0
    for byte in column:
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            found.append(value)
            value = shift = 0
    return found


text = re.search(r'<script type="text/plain" id="timeline">([^<]*)</script>', open(path).read()).group(1)
must(len(text) <= int(most), "%d bytes, not %s" % (len(text), most))
plain = zlib.decompress(base64.b64decode(text, validate=True))
at = 4 + int.from_bytes(plain[:4], "little")
head = json.loads(plain[4:at])
columns = []
for length in head["columns"]:
    columns.append(numbers(plain[at:at + length]))
    at += length
must(at == len(plain), "bytes behind the last column")
must(len({len(column) for column in columns[:7]}) == 1 and len({len(column) for column in columns[7:]}) == 1, "columns of several lengths")

mine, busy, nr, slot, bucket, names = collections.Counter(), 0, 0, 0, 0, set()
for track, depth, nr_slices, nr_buckets in head["rows"]:
    must(track < len(head["tracks"]), "a row of no track")
    end = 0
    for slot in range(slot, slot + nr_slices):
        gap, length, name, kind = (column[slot] for column in columns[:4])
        category, is_moment = head["sets"][kind][:2]
        must(not is_moment or length == 0, "a moment that lasts")
        begin = end + gap
        end = begin + length
        must(begin >= head["first_ns"], "a slice before time 0")
        nr += 1
        names.add(head["strings"][name])
        busy += length
        if not is_moment and head["categories"][category] != "step":
            mine[(begin - head["first_ns"], length)] += 1
    slot += nr_slices > 0
    for bucket in range(bucket, bucket + nr_buckets):
        busy += columns[8][bucket]
        nr += columns[11][bucket]
        names.add(head["strings"][columns[10][bucket]])
        must(columns[9][bucket] <= head["longest_dropped_ns"], "a longer one was dropped than the page says")
    bucket += nr_buckets > 0
must(nr == head["all"], "%d slices, %d were read" % (nr, head["all"]))
must((head["dropped"] > 0) == (drops == "yes"), "%d were dropped" % head["dropped"])

theirs, total, begun = collections.Counter(), 0, {}
for event in json.load(open(json_path))["traceEvents"]:
    ns = round(event.get("ts", 0) * 1000)
    if event["ph"] == "X" and event.get("cat") != "gpu_user_annotation" and not re.match(r"ProfilerStep#\d+$", event["name"]):
        theirs[(ns, round(event["dur"] * 1000))] += 1
    elif event["ph"] == "b":
        begun[event["id"]] = ns
    elif event["ph"] == "e":
        begin = begun.pop(event["id"])
        theirs[(begin, ns - begin)] += 1
steps = sum(column for column, kind in zip(columns[1], columns[3]) if head["categories"][head["sets"][kind][0]] == "step")
must(busy - steps == sum(length * count for (_, length), count in theirs.items()), "busy for %d ns" % (busy - steps))
if not head["dropped"]:
    # The JSON counts from elsewhere.
    shift = min(theirs)[0] - min(mine)[0]
    must({(ns + shift, length): count for (ns, length), count in mine.items()} == theirs, "other slices than in the JSON")
print("%d slices, %d of them in sums, %d names, %d bytes" % (nr, head["dropped"], len(names), len(text)))
finish()
