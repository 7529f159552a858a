# SPDX-License-Identifier: Apache-2.0
"""JAX for CUDA on the simulator: jax_cuda.py WHAT [profile FOLDER | times FILE]. WHAT is train (compiled steps with
donated buffers), pmap (a sum over all devices) or graphs (steps that XLA puts into CUDA graphs). Prints what the host
knows. With a FOLDER, JAX's own profiler runs around all of it; a FILE gets when each step began and ended, in ns.
JAX looks for /dev/nvidia* before it asks the driver; there is none here, so that is answered for it."""
import sys
import time

import jax
import jax._src.hardware_utils
import jax.numpy as jnp
import numpy as np

jax._src.hardware_utils.has_visible_nvidia_gpu = lambda: True
STEPS = 10


@jax.jit
def loss(p, x):
    return jnp.mean(jnp.tanh(x * p[0] + p[1]) ** 2)


def descend(p, gradient):
    return [a - 0.1 * g for a, g in zip(p, gradient)]


def train():
    donating = jax.jit(lambda p, x: descend(p, jax.grad(loss)(p, x)), donate_argnums=0)
    p = [jnp.ones(256), jnp.zeros(256)]
    x = jnp.ones((64, 256))
    for _ in range(STEPS):
        p = donating(p, x)
    print("parameters", [a.shape for a in jax.block_until_ready(p)])


def pmap():
    n = jax.device_count()
    total = jax.pmap(lambda v: jax.lax.psum(v * 2, "all"), axis_name="all")
    out = jnp.ones((n, 1024))
    for _ in range(STEPS):
        out = total(out)
    print("devices", n, "sum", jax.block_until_ready(out).shape)


def graphs():
    """The loss's value is wanted, too: from five kernels on, XLA makes a graph of the step."""
    @jax.jit
    def step(p, x):
        value, gradient = jax.value_and_grad(loss)(p, x)
        return descend(p, gradient), value
    p = [jnp.ones(256), jnp.zeros(256)]
    batch = np.ones((64, 256), np.float32)
    times = []
    for _ in range(STEPS):
        begin = time.perf_counter_ns()
        p, value = jax.block_until_ready(step(p, jax.device_put(batch)))
        float(value)
        times.append((begin, time.perf_counter_ns()))
    print("parameters", [a.shape for a in p])
    return times


def main():
    what, how, where = (sys.argv + ["", ""])[1:4]
    if how == "profile":
        jax.profiler.start_trace(where)
    times = globals()[what]()
    if how == "profile":
        jax.profiler.stop_trace()
    if how == "times":
        with open(where, "w") as file:
            file.writelines("%d %d\n" % step for step in times)


main()
