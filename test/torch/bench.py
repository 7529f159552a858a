# SPDX-License-Identifier: Apache-2.0
"""ns of CPU that one torch.add of 1-element tensors takes: the quickest of 20 times 10,000, since
others use the machine too. With "profiler" under torch.profiler."""
import contextlib
import sys
import time

import torch


def loop(nr_calls):
    a, b, add = torch.ones(1), torch.ones(1), torch.add
    start = time.thread_time_ns()
    for _ in range(nr_calls):
        add(a, b)
    return (time.thread_time_ns() - start) / nr_calls


torch.set_num_threads(1)
loop(20000)
under = contextlib.nullcontext()
if sys.argv[1:] == ["profiler"]:
    under = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
with under:
    print("%.1f" % min(loop(10000) for _ in range(20)))
