# SPDX-License-Identifier: Apache-2.0
"""JAX for CUDA on the simulator: compiled steps with donated buffers, and a sum over all devices. Prints what the
host knows. JAX looks for /dev/nvidia* before it asks the driver; there is none here, so that is answered for it."""
import sys

import jax
import jax._src.hardware_utils
import jax.numpy as jnp

jax._src.hardware_utils.has_visible_nvidia_gpu = lambda: True
STEPS = 10


@jax.jit
def loss(p, x):
    return jnp.mean(jnp.tanh(x * p[0] + p[1]) ** 2)


def train():
    def step(p, x):
        return [a - 0.1 * g for a, g in zip(p, jax.grad(loss)(p, x))]
    donating = jax.jit(step, donate_argnums=0)
    p = [jnp.ones(256), jnp.zeros(256)]
    x = jnp.ones((64, 256))
    for _ in range(STEPS):
        p = donating(p, x)
    print("parameters", [a.shape for a in jax.block_until_ready(p)])


def sum_over_devices():
    n = jax.device_count()
    total = jax.pmap(lambda v: jax.lax.psum(v * 2, "all"), axis_name="all")
    out = jnp.ones((n, 1024))
    for _ in range(STEPS):
        out = total(out)
    print("devices", n, "sum", jax.block_until_ready(out).shape)


train()
if "pmap" in sys.argv:
    sum_over_devices()
