# SPDX-License-Identifier: Apache-2.0
"""ns that one torch.add of 1-element tensors takes, over 200,000; "profiler": under torch.profiler"""
import contextlib
import sys
import time

import torch

NR_CALLS = 200000


def loop(nr_calls):
    a, b, add = torch.ones(1), torch.ones(1), torch.add
    start = time.perf_counter_ns()
    for _ in range(nr_calls):
        add(a, b)
    return (time.perf_counter_ns() - start) / nr_calls


torch.set_num_threads(1)
loop(NR_CALLS // 10)
under = contextlib.nullcontext()
if sys.argv[1:] == ["profiler"]:
    under = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
with under:
    print("%.1f" % loop(NR_CALLS))
