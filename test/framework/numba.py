# SPDX-License-Identifier: Apache-2.0
"""Features of Numba for CUDA, one a function. Kernels compute nothing on the simulator, so what is printed is
what the host knows: shapes, and how many launches of which kernel."""
import math
import sys

import numpy as np
from numba import config, cuda, float32, guvectorize, int32, vectorize

config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
N, THREADS, HOLD_BLOCKS = 4096, 128, 4000000
launches = {}


def count(name, n=1):
    launches[name] = launches.get(name, 0) + n


@cuda.jit
def plain(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


@cuda.jit(device=True)
def square(v):
    return v * v


@cuda.jit
def with_device_function(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = square(x[i]) + math.sqrt(x[i])


@cuda.jit
def with_shared(x):
    tile = cuda.shared.array(THREADS, float32)
    i = cuda.grid(1)
    tile[cuda.threadIdx.x] = x[i]
    cuda.syncthreads()
    x[i] = tile[THREADS - 1 - cuda.threadIdx.x]


@cuda.jit
def with_dynamic_shared(x):
    tile = cuda.shared.array(0, float32)
    tile[cuda.threadIdx.x] = x[cuda.grid(1)]
    cuda.syncthreads()
    x[cuda.grid(1)] = tile[0]


@cuda.jit
def with_atomics(x, sums):
    cuda.atomic.add(sums, cuda.threadIdx.x % sums.size, x[cuda.grid(1)])


TABLE = np.arange(32, dtype=np.float32)


@cuda.jit
def with_constant(x):
    table = cuda.const.array_like(TABLE)
    x[cuda.grid(1)] = table[cuda.threadIdx.x % 32]


@cuda.jit
def with_local(x):
    own = cuda.local.array(8, float32)
    for k in range(8):
        own[k] = x[cuda.grid(1)] * k
    x[cuda.grid(1)] = own[7]


@cuda.jit
def with_warp(x):
    x[cuda.grid(1)] = cuda.shfl_down_sync(0xFFFFFFFF, x[cuda.grid(1)], 1)


@cuda.jit
def two_dimensional(m):
    i, j = cuda.grid(2)
    if i < m.shape[0] and j < m.shape[1]:
        m[i, j] = i * j


@cuda.jit
def cooperative(x):
    grid = cuda.cg.this_grid()
    x[cuda.grid(1)] += 1
    grid.sync()
    x[cuda.grid(1)] *= 2


@vectorize(["float32(float32, float32)"], target="cuda")
def added(a, b):
    return a + b


@guvectorize([(float32[:], float32[:])], "(n)->(n)", target="cuda")
def doubled(row, out):
    for i in range(row.shape[0]):
        out[i] = row[i] * 2


@cuda.reduce
def total(a, b):
    return a + b


@cuda.jit
def hold(x):
    x[0] = 1


@cuda.jit
def timed(x):
    x[cuda.grid(1)] = 2


def time_by_events(x):
    """The least of several tries. A longer kernel comes first, so that the launch is queued before the first event
    happens, unless the thread is preempted."""
    begin, end = cuda.event(), cuda.event()
    tries = []
    for _ in range(20):
        hold[HOLD_BLOCKS, THREADS](x)
        begin.record()
        timed[N // THREADS, THREADS](x)
        end.record()
        end.synchronize()
        tries.append(1e6 * cuda.event_elapsed_time(begin, end))
    count("hold", 20)
    count("timed", 20)
    return min(tries)


def main():
    host = np.arange(N, dtype=np.float32)
    x = cuda.to_device(host)
    blocks = N // THREADS
    for kernel in (plain, with_device_function, with_shared, with_constant, with_local, with_warp):
        for _ in range(5):
            kernel[blocks, THREADS](x)
            count(kernel.__name__)
    with_dynamic_shared[blocks, THREADS, 0, THREADS * 4](x)
    count("with_dynamic_shared")
    sums = cuda.device_array(16, np.float32)
    with_atomics[blocks, THREADS](x, sums)
    count("with_atomics")
    matrix = cuda.device_array((64, 64), np.float32)
    two_dimensional[(4, 4), (16, 16)](matrix)
    count("two_dimensional")
    cooperative[16, THREADS](x)
    count("cooperative")
    print("arrays", x.shape, matrix.shape, x.copy_to_host().dtype)

    streams = [cuda.stream() for _ in range(3)]
    pinned = cuda.pinned_array(N, np.float32)
    pinned[:] = host
    for s in streams:
        y = cuda.to_device(pinned, stream=s)
        plain[blocks, THREADS, s](y)
        count("plain")
        y.copy_to_host(pinned, stream=s)
    for s in streams:
        s.synchronize()
    print("streams", len(streams), pinned.size)

    managed = cuda.managed_array(N, np.float32)
    managed[:] = 3
    plain[blocks, THREADS](managed)
    count("plain")
    cuda.synchronize()
    mapped = cuda.mapped_array(N, np.float32)
    plain[blocks, THREADS](mapped)
    count("plain")
    cuda.synchronize()
    print("managed and mapped", managed.shape, mapped.shape)

    a = cuda.to_device(host)
    print("ufunc", added(a, a).shape)
    count("__vectorized_added")
    print("generalized ufunc", doubled(cuda.to_device(host.reshape(64, 64))).shape)
    count("__gufunc_doubled")
    total(host)
    count("gpu_reduce_block_strided", 2)

    least_ns = time_by_events(x)
    if "timed" in sys.argv:
        print("events %.0f ns" % least_ns)
    for name in sorted(launches):
        print("launched", launches[name], name)


main()
