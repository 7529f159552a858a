# SPDX-License-Identifier: Apache-2.0
"""A trace of JAX's own profiler, and what JAX's own reader finds in it.

    jax_profile.py trace DIR           records three steps, on CUDA if JAX_PLATFORMS says so
    jax_profile.py compare DIR REPORT  compares ProfileData with gprof-report; prints what differs"""
import collections
import glob
import json
import os
import subprocess
import sys

import jax
import jax._src.hardware_utils
import jax.numpy as jnp
import numpy


def trace(folder):
    if os.environ.get("JAX_PLATFORMS") == "cuda":  # JAX looks for /dev/nvidia* before it asks the driver
        jax._src.hardware_utils.has_visible_nvidia_gpu = lambda: True

    @jax.jit
    def step(p, x):
        return [a - 0.1 * g for a, g in zip(p, jax.grad(lambda p: jnp.mean(jnp.tanh(x * p[0] + p[1]) ** 2))(p))]
    p = step([jnp.ones(256), jnp.zeros(256)], jnp.ones((64, 256)))
    with jax.profiler.trace(folder):
        for i in range(3):
            with jax.profiler.StepTraceAnnotation("train", step_num=i):
                with jax.profiler.TraceAnnotation("input"):
                    x = jnp.asarray(numpy.ones((64, 256), "f"))
                p = jax.block_until_ready(step(p, x))


def witness(path):
    """Counts and whole nanoseconds, by name: ranges, Python functions, calls, activities of devices; and the steps."""
    found = {kind: collections.defaultdict(lambda: [0, 0]) for kind in ("op", "python", "call", "device")}
    steps = {}
    for plane in jax.profiler.ProfileData.from_file(path).planes:
        if not plane.name.startswith(("/host:", "/device:")):
            continue
        for line in plane.lines:
            ends = {}
            for event in line.events:
                stats = dict(event.stats)
                kind = ("device" if plane.name.startswith("/device:") else "call" if "correlation_id" in stats else
                        "python" if event.name.startswith("$") else "op")
                if "allocator_name" in stats or (kind == "op" and not event.duration_ns):
                    continue
                if event.name.startswith("PjitFunction("):  # JAX 0.10 has it twice, one within the other
                    if event.start_ns < ends.get(event.name, 0):
                        continue
                    ends[event.name] = event.start_ns + event.duration_ns
                entry = found[kind][event.name]
                entry[0] += 1
                entry[1] += event.duration_ns
                if "step_num" in stats:
                    steps[stats["step_num"]] = event.duration_ns
    return found, steps


def ours(report, path):
    views = "operator,kernel,memcpy,memset,api,steps,losses"
    out = subprocess.run([report, "summary", "--view", views, "--top", "0", "--format", "json", path],
                         capture_output=True, check=True).stdout
    tables = {name: table["rows"] for name, table in json.loads(out).items() if isinstance(table, dict)}
    query = "SELECT count(*) AS nr, sum(dur_ns) AS ns FROM py_call"
    out = subprocess.run([report, "sql", "--format", "json", query, path], capture_output=True, check=True).stdout
    return tables, json.loads(out)["result"]["rows"][0]


def compare(folder, report):
    path = glob.glob(folder + "/plugins/profile/*/*.xplane.pb")[0]
    (found, steps), (tables, python) = witness(path), ours(report, path)
    bad = []

    def same(what, nr_want, ns_want, nr, ns):
        # A sum may be off by the rounding of each event.
        if nr != nr_want or abs(ns - ns_want) > nr:
            bad.append(f"{what}: want {nr_want} events of {ns_want} ns, have {nr} of {ns}")

    rows = {row["name"]: row for row in tables["operator"]}
    rows["train"] = {"calls": len(tables["steps"]), "total_ns": sum(row["duration_ns"] for row in tables["steps"])}
    for name, (nr, ns) in found["op"].items():
        row = rows.get(name, {"calls": 0, "total_ns": 0})
        same("range " + name, nr, ns, row["calls"], row["total_ns"])
    sums = {name: sum(row[name] for row in tables["kernel"] + tables["memcpy"] + tables["memset"]) for name in ("calls", "total_ns")}
    device = [(nr, ns) for nr, ns in found["device"].values()]
    same("devices", sum(nr for nr, _ in device), sum(ns for _, ns in device), sums["calls"], sums["total_ns"])
    for row in tables["kernel"]:
        same("kernel " + row["name"], *found["device"][row["name"]], row["calls"], row["total_ns"])
    same("calls", sum(nr for nr, _ in found["call"].values()), sum(ns for _, ns in found["call"].values()),
         sum(row["calls"] for row in tables["api"]), sum(row["total_ns"] for row in tables["api"]))
    same("Python functions", sum(nr for nr, _ in found["python"].values()), sum(ns for _, ns in found["python"].values()),
         python["nr"], python["ns"])
    for row in tables["steps"]:
        same(f"step {row['step']}", 1, steps.get(row["step"], 0), 1, row["duration_ns"])
    if tables["losses"]:
        bad.append(f"losses: {tables['losses']}")
    print("\n".join(bad) if bad else f"{len(found['op'])} ranges, {len(tables['kernel'])} kernels, {len(steps)} steps equal")


if __name__ == "__main__":
    trace(sys.argv[2]) if sys.argv[1] == "trace" else compare(*sys.argv[2:])
