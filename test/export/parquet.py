# SPDX-License-Identifier: Apache-2.0
"""Parquet files that the commands of docs/sql.md made, against what `summary` and `sql` print: parquet.py FOLDER"""
import glob
import json
import os
import sys

import duckdb

folder = sys.argv[1]
bad = []


def types(path):
    return {row[0]: row[1] for row in duckdb.sql(f"DESCRIBE SELECT * FROM '{path}'").fetchall()}


def integers(path, suffixes):
    """Columns of times, sizes and ids are integers, unless they have no value at all."""
    for name, kind in types(path).items():
        if name.endswith(suffixes) and kind not in ("BIGINT", "UBIGINT", "JSON"):
            bad.append(f"{os.path.basename(path)}: {name} is {kind}")


with open(folder + "/kernels.json", encoding="utf-8") as file:
    rows = json.load(file)["kernel"]["rows"]
have = duckdb.sql(f"SELECT name, calls, total_ns FROM '{folder}/kernels.parquet'").fetchall()
if have != [(row["name"], row["calls"], row["total_ns"]) for row in rows]:
    bad.append(f"the view: {have[:3]} ...")
integers(folder + "/kernels.parquet", ("_ns", "calls"))

# Sums of all events, table by table, with the step that each folder names.
with open(folder + "/want.json", encoding="utf-8") as file:
    want = json.load(file)
for table, (nr, ns, steps) in want.items():
    path = f"{folder}/out/{table}.parquet"
    time = "sum(dur_ns)" if "dur_ns" in types(path) else "NULL"
    have = duckdb.sql(f"SELECT count(*), CAST({time} AS BIGINT), count(DISTINCT step) FROM '{path}'").fetchone()
    if have != (nr, ns, steps):
        bad.append(f"{table}: {have} and not {(nr, ns, steps)}")
    integers(path, ("_ns", "bytes", "correlation", "pid", "step", "rank", "address"))
tables = {os.path.basename(path) for path in glob.glob(folder + "/out/*") if os.path.isdir(path)}
if tables - {os.path.basename(path)[:-8] for path in glob.glob(folder + "/out/*.parquet")}:
    bad.append(f"tables without a file: {tables}")
print("\n".join(bad))
sys.exit(bool(bad))
