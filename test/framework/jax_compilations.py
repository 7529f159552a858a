# SPDX-License-Identifier: Apache-2.0
"""jax_compilations.py FOLDER: a loop of JAX that compiles again for each new size of its batch; FOLDER has the module gprof.

Prints the steps that compile, the milliseconds that their calls took, and those that JAX's own events count for tracing, lowering and
compiling them."""
import sys
import time

sys.path.insert(0, sys.argv[1])
import gprof
import jax
import jax.monitoring
import jax.numpy as jnp
import numpy as np

LAYERS = 24
events = [0.0]


def on_event(name, seconds, **_):
    if name.startswith("/jax/core/compile/"):
        events[0] += seconds


def loss(p, x):
    for w in p:
        x = jnp.tanh(x @ w)
    return jnp.sum(x ** 2)


@jax.jit
def step(p, x):
    return [w - 0.1 * g for w, g in zip(p, jax.grad(loss)(p, x))]


def main():
    p = [jax.device_put(np.ones((64, 64), "f")) for _ in range(LAYERS)]
    batches = [jax.device_put(np.ones((16 + max(0, (i - 8) // 3) * 8, 64), "f")) for i in range(20)]  # the first half may warm up
    compiled, took, counted = [], 0, 0
    jax.monitoring.register_event_duration_secs_listener(on_event)
    for i, batch in enumerate(batches):
        events[0], begin = 0, time.perf_counter()
        p = step(p, batch)
        if events[0]:
            compiled.append(i)
            took += time.perf_counter() - begin
            counted += events[0]
        jax.block_until_ready(p)
        time.sleep(0.02)
        gprof.step()
    print(",".join(map(str, compiled)), round(1e3 * took), round(1e3 * counted))


main()
