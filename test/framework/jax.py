# SPDX-License-Identifier: Apache-2.0
"""A small training loop of JAX, compiled, with its own annotations."""
import jax
import jax.numpy as jnp


def loss(p, x, y):
    return jnp.mean((jnp.tanh(x @ p[0]) @ p[1] - y) ** 2)


@jax.jit
def step(p, x, y):
    return [a - 0.1 * g for a, g in zip(p, jax.grad(loss)(p, x, y))]


key = jax.random.PRNGKey(0)
p = [jax.random.normal(key, (8, 16)), jax.random.normal(key, (16, 1))]
x = jax.random.normal(key, (32, 8))
y = x.sum(1, keepdims=True)
for i in range(20):
    with jax.profiler.StepTraceAnnotation("train", step_num=i):
        p = step(p, x, y)
print("loss %.6f" % loss(p, x, y))
