# SPDX-License-Identifier: Apache-2.0
"""Sums over exported rows, by an engine, against the tables of `summary`: check.py ENGINE JSON PATH"""
import glob
import json
import sqlite3
import sys

# table of summary -> exported tables, the column with the name or None
TABLES = {
    "kernel": (["kernel"], "kernel_name"),
    "memcpy": (["memcpy"], None),
    "memset": (["memset"], None),
    "api": (["api", "api_launch", "api_copy", "api_set", "api_alloc", "api_sync", "api_nested"], "name"),
}
NSYS = {"kernel": ("CUPTI_ACTIVITY_KIND_KERNEL", "demangledName"),
        "api": ("CUPTI_ACTIVITY_KIND_RUNTIME", "nameId"),
        "memcpy": ("CUPTI_ACTIVITY_KIND_MEMCPY", None),
        "memset": ("CUPTI_ACTIVITY_KIND_MEMSET", None)}


def wanted(tables, view):
    """(name, calls, total_ns) of a view; copies and sets as one row."""
    rows = [(row["name"], row["calls"], row["total_ns"]) for row in tables.get(view, {}).get("rows", [])]
    if TABLES[view][1] is None:
        return {"": (sum(row[1] for row in rows), sum(row[2] for row in rows))} if rows else {}
    sums = {}
    for name, calls, total in rows:
        old = sums.get(name, (0, 0))
        sums[name] = (old[0] + calls, old[1] + total)
    return sums


def ask(run, sources, name, duration):
    sums = {}
    for source in sources:
        key = name or "''"
        for text, calls, total in run(f"SELECT {key}, count(*), CAST(sum({duration}) AS BIGINT) FROM {source} GROUP BY 1"):
            old = sums.get(text, (0, 0))
            sums[text] = (old[0] + calls, old[1] + total)
    return sums


def of_sqlite(path, view, is_nsys):
    database = sqlite3.connect(path)
    names, name = TABLES[view]
    if is_nsys:
        names, name = [NSYS[view][0]], NSYS[view][1]
    duration = '"end" - start' if is_nsys else "dur_ns"
    if name:
        names = [f"(SELECT s.value AS text, {duration} AS ns FROM {table} t JOIN StringIds s ON s.id = t.{name})" for table in names]
        name, duration = "text", "ns"
    return ask(lambda sql: database.execute(sql).fetchall(), names, name, duration)


def of_files(path, view, engine):
    import duckdb
    names, name = TABLES[view]
    reader = {"csv": "read_csv", "jsonl": "read_json"}[engine]
    options = ", all_varchar=true, quote='\"', escape='\"'" if engine == "csv" else ""
    sources = [f"{reader}('{path}/{table}/*/*/*', hive_partitioning=true, union_by_name=true{options})"
               for table in names if glob.glob(f"{path}/{table}/*/*/*")]
    return ask(lambda sql: duckdb.sql(sql).fetchall(), sources, name, "CAST(dur_ns AS BIGINT)")


def main():
    engine, json_path, path = sys.argv[1:4]
    with open(json_path, encoding="utf-8") as file:
        tables = json.load(file)
    failed = False
    for view in TABLES:
        for is_nsys in ((False, True) if engine == "sqlite" else (False,)):
            want = wanted(tables, view)
            have = of_sqlite(path, view, is_nsys) if engine == "sqlite" else of_files(path, view, engine)
            if sorted(want.values()) != sorted(value for value in have.values() if value[0]):
                print(f"{view}{' as nsys has it' if is_nsys else ''}: {have} and not {want}"[:1500])
                failed = True
            for name, value in want.items():
                plain = name.isprintable() and name.isascii() and name[:1] not in "=+-@"
                if plain and have.get(name) != value:
                    print(f"{view}: {name!r}: {have.get(name)} and not {value}"[:600])
                    failed = True
    sys.exit(failed)


main()
