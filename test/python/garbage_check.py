# SPDX-License-Identifier: Apache-2.0
"""
garbage_check.py OUTPUT ROWS: is each collection of garbage.py's account in the recording, and no other one? Its line of
OUTPUT is the account; ROWS are those of table py_gc, by their begins. What is recorded lies within what the program
measured, since its callbacks run before and after.
"""
import csv
import json
import sys

SLACK_NS = 2000  # two clocks

with open(sys.argv[1]) as output:
    account = json.loads(output.read().splitlines()[1])
with open(sys.argv[2]) as table:
    rows = [[int(value) for value in row] for row in list(csv.reader(table))[1:]]
assert len(rows) == len(account) > 10, (len(rows), len(account))
threads = {}
for (generation, dur_ns, collected, tid), (own, begin, end, freed, thread) in zip(rows, account):
    assert (generation, collected) == (own, freed), (generation, own, collected, freed)
    assert 0 < dur_ns <= (end - begin) * 1.001 + SLACK_NS, (dur_ns, end - begin)
    assert threads.setdefault(thread, tid) == tid
assert len(set(threads.values())) == len(threads) == 2
