# SPDX-License-Identifier: Apache-2.0
"""flame.py REPORT FOLDER INPUT: flame graphs of INPUT in each form, against the tables and each other. FOLDER is for files."""
import collections
import gzip
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as tree

report, folder, source = sys.argv[1:4]
WEIGHTS = ("gpu", "cpu", "launches")
bad = []


def same(expected, have, what):
    if expected != have:
        bad.append("%s: %r, not %r" % (what, have, expected))


def run(*arguments):
    return subprocess.run([report, *arguments, source], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def flame(name, weight):
    path = os.path.join(folder, name)
    done = run("flame", "--by", weight, "-o", path)
    same("", "".join(line for line in done.stderr.splitlines() if "INCOMPLETE" not in line and "lost" not in line),
         "stderr of " + name)
    return path


# ---- folded ----

folded = {}
for weight in WEIGHTS:
    done = run("flame", "--by", weight, "-o", "-")
    if done.returncode == 1:
        same(True, "the recording has none of it" in done.stderr, "refusal of " + weight)
        continue
    rows = [line.rpartition(" ") for line in done.stdout.splitlines()]
    folded[weight] = {tuple(path.split(";")): int(value) for path, _, value in rows}
    same(len(rows), len(folded[weight]), "paths of %s, each once" % weight)
totals = {weight: sum(rows.values()) for weight, rows in folded.items()}

# ---- the tables ----

views = json.loads(run("--view", "kernel,memcpy,memset,operator,gpu-trace", "--format", "json").stdout)


def rows_of(view):
    return (views.get(view) or {}).get("rows", [])


same(sum(row["total_ns"] or 0 for view in ("kernel", "memcpy", "memset") for row in rows_of(view)),
     totals.get("gpu", 0), "GPU time")
if "launches" in folded:  # activities without a launch count one by one
    ids = [(row["pid"], row["correlation"]) if row["correlation"] else None for row in rows_of("gpu_trace")]
    same(len(set(ids) - {None}) + ids.count(None), totals["launches"], "launches")

# Time of an operator's own: its frames, and calls and activities directly in them.
CALL = re.compile(r"(cu(da)?|hip)[A-Z]\w+$")
own = {weight: collections.Counter() for weight in WEIGHTS}
for weight, rows in folded.items():
    for path, value in rows.items():
        is_inside = weight != "cpu" or CALL.match(path[-1])
        own[weight][path[-2] if is_inside and len(path) > 1 else path[-1]] += value
NOT_FRAMES = re.compile("ProfilerStep#|ProfileStep")
for row in rows_of("operator"):
    if NOT_FRAMES.match(row["name"]) or ";" in row["name"]:
        continue
    if "gpu" in folded and row["gpu_self_ns"] is not None:
        same(row["gpu_self_ns"], own["gpu"][row["name"]], "GPU time of " + row["name"])
    if "cpu" in folded and abs(row["self_ns"] - own["cpu"][row["name"]]) > 10 * row["calls"]:  # ticks are rounded
        same(row["self_ns"], own["cpu"][row["name"]], "CPU time of " + row["name"])

# ---- speedscope ----

for weight in folded:
    with open(flame("x.speedscope.json", weight)) as file:
        profile = json.load(file)
    frames = [frame["name"] for frame in profile["shared"]["frames"]]
    same(len(frames), len(set(frames)), "frames of speedscope, each name once")
    same("https://www.speedscope.app/file-format-schema.json", profile["$schema"], "schema")
    active = profile["profiles"][profile["activeProfileIndex"]]
    same("sampled", active["type"], "type")
    same("none" if weight == "launches" else "nanoseconds", active["unit"], "unit")
    same(totals[weight], active["endValue"] - active["startValue"], "length of speedscope's " + weight)
    same(folded[weight], {tuple(frames[i].replace(";", ",") for i in stack): value
                          for stack, value in zip(active["samples"], active["weights"])}, "speedscope's " + weight)

# ---- pprof, read by what its format says ----


def fields(data):
    """(number, value) for each field: varints and bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        value = varint()
        if tag & 7 == 2:
            at += value
            value = data[at - value:at]
        yield tag >> 3, value


def varints(data):
    return [value for _, value in fields(b"".join(b"\0" + part for part in re.findall(rb"[\x80-\xff]*[\0-\x7f]", data, re.S)))]


for weight in folded:
    with gzip.open(flame("x.pb.gz", weight)) as file:
        profile = collections.defaultdict(list)
        for number, value in fields(file.read()):
            profile[number].append(value)
    texts = [text.decode() for text in profile[6]]
    types = [texts[dict(fields(one))[1]] for one in profile[1]]
    same(list(WEIGHTS), types, "pprof's sample types")
    same("", texts[0], "pprof's first text")
    same(weight, texts[profile[14][0]], "pprof's default")
    functions = {dict(fields(one))[1]: texts[dict(fields(one))[2]] for one in profile[5]}
    locations = {dict(fields(one))[1]: functions[dict(fields(dict(fields(one))[4]))[1]] for one in profile[4]}
    have = {}
    for one in profile[2]:
        sample = dict(fields(one))
        value = varints(sample[2])[WEIGHTS.index(weight)]
        if value:
            have[tuple(locations[i].replace(";", ",") for i in reversed(varints(sample[1])))] = value
    same(folded[weight], have, "pprof's " + weight)

# ---- the picture ----

for weight in folded:
    picture = tree.parse(flame("x.svg", weight)).getroot()
    bars = [bar for bar in picture.iter("{http://www.w3.org/2000/svg}rect") if len(bar)]
    unit = "launches" if weight == "launches" else "ns"
    same("all: %d %s, 100.00 %%" % (totals[weight], unit), bars[0][0].text, "the root of the picture")
    rows = collections.defaultdict(float)
    for bar in bars:
        rows[bar.get("y")] += float(bar.get("width"))
    same(True, max(rows.values()) < 1177, "rows of the picture fit")

print("\n".join(bad[:20]))
print("%s: %s" % (os.path.basename(source), ", ".join("%s %d" % item for item in totals.items())))
sys.exit(1 if bad else 0)
