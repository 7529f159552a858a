# SPDX-License-Identifier: Apache-2.0
"""bench.py add|in-place [profiler|empty LIBRARY|beside LIBRARY]

ns of CPU that one addition of 1-element tensors takes: the quickest of 200 times 2,000, since others
use the machine too. "add" makes a tensor, "in-place" is the operator alone. With "profiler" under
torch.profiler; with "empty" there is a callback that does nothing (empty.c): less than that no
observer can take.

"beside", in a process that gprof records, with LIBRARY preloaded before gprof: the same with the empty
callback, with gprof's, and with gprof's and its records of memory; they take turns. Where pages lie makes
one process up to 40 ns slower than the next, which is as much as the differences; in one process they
lie alike. Also prints how many calls gprof must have recorded."""
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


def loaded(name):
    with open("/proc/self/maps") as maps:
        return ctypes.CDLL(next(line.split()[-1] for line in maps if "/%s.so" % name in line))


def add_empty(empty):
    """Returns PyTorch's handle of the callback: handles count up."""
    add = loaded("libtorch_cpu")._ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE
    empty.empty_add.restype = ctypes.c_uint64
    return empty.empty_add(ctypes.cast(add, ctypes.c_void_p))


def beside(library):
    empty = add_empty(library)
    gprof = empty - 1  # has registered last before
    torch_cpu, c10 = loaded("libtorch_cpu"), loaded("libc10")
    off, on = torch_cpu._ZN2at15disableCallbackEm, torch_cpu._ZN2at16reenableCallbackEm
    off.argtypes = on.argtypes = [ctypes.c_uint64]
    kinds = {"empty": (gprof, c10._handle), "operators": (empty, c10._handle), "all": (empty, None)}
    least = dict.fromkeys(kinds, float("inf"))
    for _ in range(200):
        for kind, (other, memory) in kinds.items():
            off(other)
            library.memory_pass_by(ctypes.c_void_p(memory))
            loop(NR_TRY)
            least[kind] = min(least[kind], loop(NR_LOOP))
            on(other)
    print(*("%.1f" % least[kind] for kind in kinds), NR_FIRST + 200 * 2 * (NR_TRY + NR_LOOP))


NR_FIRST, NR_TRY, NR_LOOP = 20000, 200, 2000
torch.set_num_threads(1)
loop(NR_FIRST)
if sys.argv[2:3] == ["beside"]:
    beside(ctypes.CDLL(sys.argv[3]))
    sys.exit()
under = contextlib.nullcontext()
if sys.argv[2:] == ["profiler"]:
    under = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
if sys.argv[2:3] == ["empty"]:
    add_empty(ctypes.CDLL(sys.argv[3]))
with under:
    print("%.1f" % min(loop(NR_LOOP) for _ in range(200)))
