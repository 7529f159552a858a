# SPDX-License-Identifier: Apache-2.0
"""compare.py TIMELINE SUMMARY [STEPS]: what HolisticTraceAnalysis reads from the one is what the other says."""
import json
import logging
import sys
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis  # noqa: E402

summary = json.load(open(sys.argv[2]))
device = summary["device"]["rows"][0]
analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir="/", include_last_profiler_step=len(sys.argv) < 4)
trace = analysis.t.get_trace(0)
number = 0
failed = 0


def check(name, found, expected, tolerance):
    """One TAP line; tolerance is a share of what is expected."""
    global number, failed
    number += 1
    good = abs(found - expected) <= tolerance * expected
    failed += not good
    print(f"{'ok' if good else 'not ok'} {number} - HTA: {name}: {found} and {expected}")


work = trace[trace["stream"] >= 0]
check("work on the device", len(work), device["events"], 0)
stats = analysis.get_cuda_kernel_launch_stats(visualize=False)[0]
check("calls joined with their work", len(stats), device["events"], 0.01)
breakdown = analysis.get_temporal_breakdown(visualize=False).iloc[0]
# It rounds times to whole microseconds.
check("busy time, us", float(breakdown["kernel_time(us)"] - breakdown["idle_time(us)"]),
      device["busy_ns"] / 1000, 0.02)
check("span, us", float(breakdown["kernel_time(us)"]), device["span_ns"] / 1000, 0.01)
kinds = {"COMMUNICATION"} if summary["device"]["rows"][0]["communication_kernels_ns"] else set()
kinds |= {"COMPUTATION"} if device["computation_ns"] else set()
found = set(analysis.get_gpu_kernel_breakdown(visualize=False)[0]["kernel_type"])
check("kinds of kernels", len({kind for kind in kinds if any(kind in name for name in found)}), len(kinds), 0)
idle = analysis.get_idle_time_breakdown(visualize=False)[0]
# It takes the time from the end of one to the begin of the next, which is below zero where these overlap on a stream.
overlapping = {stream for stream, rows in work.sort_values("ts").groupby("stream")
               if ((rows["ts"] + rows["dur"]).cummax().shift() > rows["ts"]).any()}
below = set(idle[idle["idle_time"] < 0]["stream"])
check("streams with times without work below zero, whose activities do not overlap", len(below - overlapping), 0, 0)
sys.exit(failed != 0)
