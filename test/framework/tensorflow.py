# SPDX-License-Identifier: Apache-2.0
"""A small training loop of TensorFlow, compiled by XLA."""
import tensorflow as tf

x = tf.random.stateless_normal((64, 8), seed=(1, 2))
y = tf.reduce_sum(x, axis=1, keepdims=True)
w = tf.Variable(tf.zeros((8, 1)))


@tf.function(jit_compile=True)
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w - y) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss


for _ in range(10):
    loss = step()
print("loss %.5f" % float(loss))
