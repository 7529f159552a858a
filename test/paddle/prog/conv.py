# SPDX-License-Identifier: Apache-2.0
"""A convolutional net and SGD; a loader with a thread of its own; ranges of the user's own; an exception in the middle
of a step. usage: conv.py [NR_WORKERS]"""
import sys

import numpy
import numpy.random  # before Paddle 2.6, whose zlib is in the way of Python's
import paddle
from paddle import nn


class Numbers(paddle.io.Dataset):
    def __len__(self):
        return 20

    def __getitem__(self, i):
        random = numpy.random.RandomState(i)
        return random.rand(3, 8, 8).astype("float32"), numpy.array([i % 4], dtype="int64")


paddle.seed(1)
net = nn.Sequential(nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 4))
optimizer = paddle.optimizer.SGD(learning_rate=0.1, parameters=net.parameters())
loss_of = nn.CrossEntropyLoss()
loader = paddle.io.DataLoader(Numbers(), batch_size=4, num_workers=int((sys.argv + ["0"])[1]))
for step, (x, y) in enumerate(loader):
    with paddle.profiler.RecordEvent("my forward"):
        loss = loss_of(net(x), y)
    try:
        with paddle.profiler.RecordEvent("fails"):
            paddle.matmul(paddle.ones([2, 3]), paddle.ones([2, 3]))
    except ValueError:
        pass
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    print(step, "%.4f" % float(loss))
