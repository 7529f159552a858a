# SPDX-License-Identifier: Apache-2.0
"""compilations.py FOLDER cpu|gpu: a loop whose function is compiled again for each new shape, by a compiler in FOLDER that is laid
out as JAX is. With gpu it launches work in each step.

Prints the steps that compile, the milliseconds that this took and those of them that it used or waited for, and the number of steps.
"""
import ctypes
import sys
import time

import gprof

sys.path.insert(0, sys.argv[1])
import jax

runtime = ctypes.CDLL("libcudart.so.12") if sys.argv[2] == "gpu" else None
device, host = ctypes.c_void_p(), ctypes.create_string_buffer(4096)
STEPS = 14
# A shape that comes again is in the cache, and then nothing is compiled. Steps of the first half may count as warm-up.
SHAPES = [8, 8, 8, 8, 8, 8, 8, 8, 16, 16, 8, 24, 24, 16]


def compile_or_get_cached(seconds):
    """The program's own function of that name is none of a compiler."""
    jax.spin(seconds)


def model(shape):
    jax.spin(0.05)  # while it is traced
    return shape


step = jax.jit(model)


def work():
    for _ in range(5):
        runtime.cudaMemcpyAsync(device, host, ctypes.c_size_t(4096), 1, None)
    runtime.cudaDeviceSynchronize()


def main():
    compiled = []
    if runtime:
        runtime.cudaMalloc(ctypes.byref(device), ctypes.c_size_t(4096))  # the recording begins here
        time.sleep(0.1)
    for i in range(STEPS):
        begun = len(jax.TIMES)
        step(SHAPES[i])  # LINE step
        if len(jax.TIMES) > begun:
            compiled.append(i)
        compile_or_get_cached(0.04)
        if runtime:
            work()
        gprof.step()
    later = jax.TIMES[1:]
    print(",".join(map(str, compiled)), round(1e3 * sum(took for took, _ in later)), round(1e3 * sum(used for _, used in later)), STEPS)


main()
