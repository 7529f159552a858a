# SPDX-License-Identifier: Apache-2.0
"""peers_report.py WHAT FILE: the same questions asked with what people have; prints what was found.

json: json.load and a sum by name. sqlite: the events as rows of a table, times by name and the
join of launches with kernels (the table is made from the JSON first). pandas: the same by pandas.
hta: HolisticTraceAnalysis loads the trace and makes its kernel breakdown.
"""
import json
import sys


def events(path):
    with open(path) as file:
        found = json.load(file)["traceEvents"]
    return [(e.get("cat"), e.get("name"), float(e["dur"]), e.get("args", {}).get("correlation"))
            for e in found if "dur" in e]


def with_json(path):
    sums = {}
    for category, name, duration, _ in events(path):
        if category == "kernel":
            sums[name] = sums.get(name, 0) + duration
    return len(sums)


def with_sqlite(path):
    import sqlite3
    base = sqlite3.connect(":memory:")
    base.execute("create table event (category text, name text, duration real, correlation integer)")
    base.executemany("insert into event values (?, ?, ?, ?)", events(path))
    base.execute("create index by_correlation on event (correlation)")
    names = base.execute("select name, sum(duration) from event where category = 'kernel' group by name").fetchall()
    joined = base.execute("select count(*) from event k join event c on k.correlation = c.correlation "
                          "where k.category = 'kernel' and c.category = 'cuda_runtime'").fetchone()
    return len(names), joined[0]


def with_pandas(path):
    import pandas
    table = pandas.DataFrame(events(path), columns=["category", "name", "duration", "correlation"])
    kernels = table[table.category == "kernel"]
    joined = kernels.merge(table[table.category == "cuda_runtime"], on="correlation")
    return len(kernels.groupby("name").duration.sum()), len(joined)


def with_hta(path):
    import logging
    import warnings
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    from hta.trace_analysis import TraceAnalysis
    analysis = TraceAnalysis(trace_files={0: path}, trace_dir="/", include_last_profiler_step=True)
    return len(analysis.get_gpu_kernel_breakdown(visualize=False)[1])


print({"json": with_json, "sqlite": with_sqlite, "pandas": with_pandas, "hta": with_hta}[sys.argv[1]](sys.argv[2]))
