# SPDX-License-Identifier: Apache-2.0
"""Looks at what `ops` printed (a line of JSON for each thing recorded).

check.py counts OPS PROFILE    operators, stages, launches and allocations are those that Paddle's own profiler saw
check.py marked OPS PROFILE [TYPE]  so are what it marks in Python: phases and ranges of the user; but for that type
check.py profiles A B          two results of that profiler are the same
check.py unchanged A B         and two outputs with its tables, but for the times in them
check.py tables OURS THEIRS TITLE...  those tables have the rows and calls that Paddle prints
check.py memory OURS THEIRS    the Memory Summary has all that Paddle prints of allocations in operators
check.py nests OPS             depths are those that the times of each thread say
check.py inside OPS NAME IN N  so many of that name lie directly in one of the other
check.py allocated OPS         the totals are the sums of what was given and taken back
check.py played OPS            the allocations of fake_paddle.c
"""
import collections
import json
import re
import sys

# phi::TracerEventType; what Paddle marks in C++, and in Python while its profiler is used
TYPES = {0: "Operator", 7: "UserDefined", 8: "OperatorInner", 15: "DygraphKernelLaunch", 16: "StaticKernelLaunch"}
MARKED = {1: "Dataloader", 9: "Forward", 10: "Backward", 11: "Optimization", 14: "PythonUserDefined"}
# What gprof itself makes of the functions and operators that it sees
OURS = re.compile(r"MultiDeviceFeedReader::|Optimizer\.step#")


def read(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def of_profile(path, kinds):
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    return collections.Counter((re.sub(r"\[[^[]*\]$", "", event["name"]), event["cat"]) for event in events
                               if event.get("cat") in kinds)


def same(have, want, least):
    for key in sorted(set(have) | set(want)):
        if have[key] != want[key]:
            print("%s: %d, %d wanted" % (key, have[key], want[key]))
    print(sum(have.values()))
    return have == want and sum(have.values()) >= least


def of_rows(rows, types):
    return collections.Counter((row["name"], types[row["scope"]]) for row in rows
                               if row["kind"] == "op" and row["scope"] in types and not OURS.match(row["name"]))


def counts(rows, profile):
    given = [row for row in rows if row["kind"] == "alloc" and row["bytes"] > 0]
    wanted = sum(of_profile(profile, ["Allocate"]).values())
    print("%d allocations, %d wanted" % (len(given), wanted))
    # The profiler does not have those of the thread that takes batches from workers.
    return same(of_rows(rows, TYPES), of_profile(profile, TYPES.values()), 300) and len(given) >= wanted > 50


def marked(rows, profile, *but):
    types = {number: kind for number, kind in MARKED.items() if kind not in but}
    want = of_profile(profile, types.values())
    return same(of_rows(rows, types), want, 10) and {kind for _, kind in want} == set(types.values())


def profiles(have, want):
    every = list(TYPES.values()) + list(MARKED.values()) + ["Allocate"]
    return same(of_profile(have, every), of_profile(want, every), 300)


def without_times(path):
    """Lines, in no order: Paddle sorts by times. CPU(...) and what is inf are by chance, too."""
    with open(path) as file:
        lines = [re.sub("inf|[0-9]+[.][0-9]+", "#", line) for line in file if not line.startswith("CPU(")]
    return sorted(re.sub(" +", " ", re.sub("[-=]{2,}", "--", line)) for line in lines)


def unchanged(have, want):
    have, want = without_times(have), without_times(want)
    print(*(set(have) ^ set(want)), sep="")
    return have == want and any(line.startswith("Time Unit") for line in have)


def calls(path):
    """{title: {row, or (operator, row beneath it): calls}}"""
    found, rows, outer = {}, {}, None
    with open(path) as file:
        for line in file:
            title = re.match(r"-+([A-Z][A-Za-z ]+) Summary( - Place\(.*\))?-+$", line)
            row = re.match(r"( *)(.*?)  +([0-9]+)  ", line)
            if title:
                rows = found[title[1]] = {}
            elif row and not row[1]:
                outer = row[2]
                rows[outer] = int(row[3])
            elif row:
                rows[outer, row[2]] = int(row[3])
    return found


def tables(have, want, *titles):
    have, want = calls(have), calls(want)
    for title in titles:
        one, other = have.get(title, {}), want[title]
        if title in ("Overview", "Model"):  # by falling times: beneath whichever comes first
            one, other = [{(k[1] if isinstance(k, tuple) else k): n for k, n in x.items()} for x in (one, other)]
        for key in set(one) | set(other):
            if one.get(key) != other.get(key):
                print("%s, %s: %s, %s wanted" % (title, key, one.get(key), other.get(key)))
                return False
        print(title, len(other))
        if not other:
            return False
    return True


def memory(have, want):
    """But for what lies in none: our steps end with the optimizer, and Paddle leaves out other threads."""
    lines = []
    for path in have, want:
        with open(path) as file:
            lines.append({" ".join(line.split()) for line in file if " Allocated " in line and
                          not line.startswith(("ProfileStep#", "(no event)", "Peak "))})
    print(lines[0] ^ lines[1])
    return lines[0] == lines[1] and len(lines[0]) > 30


def threads_of(rows):
    threads = collections.defaultdict(list)
    for row in rows:
        if row["kind"] == "op":
            threads[row["pid"], row["thread"]].append(row)
    return threads.values()


def nests(rows):
    good = len(rows) > 0
    for mine in threads_of(rows):
        stack = []
        for op in sorted(mine, key=lambda op: (op["begin"], -op["end"], op["depth"])):
            while stack and stack[-1]["depth"] >= op["depth"]:
                stack.pop()
            if op["depth"] != len(stack) or (stack and op["end"] > stack[-1]["end"]):
                print(op, "in", [outer["name"] for outer in stack])
                good = False
            stack.append(op)
    return good


def inside(rows, name, outer, number):
    have = 0
    for mine in threads_of(rows):
        for op in mine:
            around = [o for o in mine if o["depth"] == op["depth"] - 1 and o["begin"] <= op["begin"]
                      and op["end"] <= o["end"]]
            have += op["name"] == name and [o["name"] for o in around] == [outer]
    print(have)
    return have == int(number)


def allocated(rows):
    total, good, rows = 0, True, [row for row in rows if row["kind"] == "alloc"]
    for row in rows:
        total += row["bytes"]
        good = good and row["device_type"] == 0 and row["allocated_bytes"] == total
    print(len(rows), total)
    return good and len(rows) > 100


def played(rows):
    have = [(row["address"], row["bytes"], row["allocated_bytes"], row["reserved_bytes"], row["device_type"],
             row["device"]) for row in rows if row["kind"] == "alloc"]
    print(have)
    return have == [(0x1000, 512, 512, 4096, 1, 3), (0x2000, 1024, 1536, 4096, 1, 3),
                    (0x3000, 64, 64, 0, 0, 0), (0x1000, -512, 1024, 4096, 1, 3),
                    (0x6000, 32, 32, 0, 1, 35), (0x7000, 16, 16, 0, 1, 127)]


function = {f.__name__: f for f in (counts, marked, profiles, unchanged, tables, memory, nests, inside, allocated,
                                    played)}[sys.argv[1]]
by_path = function in (profiles, unchanged, tables, memory)
sys.exit(not function(sys.argv[2] if by_path else read(sys.argv[2]), *sys.argv[3:]))
