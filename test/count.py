# SPDX-License-Identifier: Apache-2.0
"""count.py OPS NAME=N...: so many operators have that name. OPS: a line of JSON for each thing recorded."""
import collections
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    rows = [json.loads(line) for line in file]
have = collections.Counter(row["name"] for row in rows if row["kind"] == "op")
wrong = False
for name, number in (want.rsplit("=", 1) for want in sys.argv[2:]):
    if have[name] != int(number):
        print(f"{name}: {have[name]}, {number} wanted")
        wrong = True
sys.exit(wrong)
