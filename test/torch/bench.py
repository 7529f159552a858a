# SPDX-License-Identifier: Apache-2.0
"""bench.py add|in-place [profiler|empty LIBRARY]

ns of CPU that one addition of 1-element tensors takes: the quickest of 200 times 2,000, since others
use the machine too. "add" makes a tensor, "in-place" is the operator alone. With "profiler" under
torch.profiler; with "empty" there is a callback that does nothing (empty.c): less than that no
observer can take."""
import contextlib
import ctypes
import sys
import time

import torch


def loop(nr_calls):
    a, b = torch.ones(1), torch.ones(1)
    start = time.thread_time_ns()
    if sys.argv[1] == "add":
        add = torch.add
        for _ in range(nr_calls):
            add(a, b)
    else:
        add = a.add_
        for _ in range(nr_calls):
            add(b)
    return (time.thread_time_ns() - start) / nr_calls


def add_empty(path):
    with open("/proc/self/maps") as maps:
        libtorch = next(line.split()[-1] for line in maps if "/libtorch_cpu.so" in line)
    add = ctypes.CDLL(libtorch)._ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE
    ctypes.CDLL(path).empty_add(ctypes.cast(add, ctypes.c_void_p))


torch.set_num_threads(1)
loop(20000)
under = contextlib.nullcontext()
if sys.argv[2:] == ["profiler"]:
    under = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
if sys.argv[2:3] == ["empty"]:
    add_empty(sys.argv[3])
with under:
    print("%.1f" % min(loop(2000) for _ in range(200)))
