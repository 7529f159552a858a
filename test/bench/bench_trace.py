# SPDX-License-Identifier: Apache-2.0
"""bench_trace.py GPROF-REPORT TRACE HTA-LIB: medians and least times of runs in turns; see bench_trace.sh."""
import os
import statistics
import subprocess
import sys
import time

TURNS = 5
HTA = """
import logging, sys, warnings
warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir="/")
analysis.get_temporal_breakdown(visualize=False)
analysis.get_gpu_kernel_breakdown(visualize=False)
"""
report, trace, lib = sys.argv[1], os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])


def run(command, **more):
    """Wall and CPU seconds, and the peak of memory in MB."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        return None
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def show(what, runs):
    wall, cpu, memory = zip(*runs)
    print(f"{what:44} {statistics.median(wall):8.3f} s wall (least {min(wall):.3f}), "
          f"{statistics.median(cpu):.3f} s CPU (least {min(cpu):.3f}), {max(memory):.0f} MB")
    return statistics.median(wall), min(cpu), max(memory)


# Nothing large in this process: a child's peak counts what it was forked from.
size = int(subprocess.run(["sh", "-c", 'gzip -dc "$1" | wc -c', "sh", trace], capture_output=True).stdout)
print(f"trace: {os.path.basename(trace)}, {size / 1e6:.1f} MB of JSON in {os.path.getsize(trace) / 1e6:.1f} MB")
ours, theirs = [], []
for turn in range(TURNS):
    ours.append(run([report, "summary", trace]))
    if turn < 3 and os.path.isdir(lib):
        theirs.append(run([sys.executable, "-c", HTA, trace], env={**os.environ, "PYTHONPATH": lib}))
if None in ours:
    sys.exit("gprof-report failed")
mine = show("gprof-report: read, and the first page", ours)
gunzip = [run(["gzip", "-dc", trace]) for _ in range(TURNS)]
show("gunzip alone (gzip -dc)", gunzip)
if not theirs or None in theirs:
    print("SKIP the peer: HolisticTraceAnalysis is not to be had")
else:
    peer = show("peer: HolisticTraceAnalysis, load and two views", theirs)
    print(f"{'ratio: wall, CPU, memory':44} {peer[0] / mine[0]:8.1f} {peer[1] / mine[1]:.1f} {peer[2] / mine[2]:.1f}")
