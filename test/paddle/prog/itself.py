# SPDX-License-Identifier: Apache-2.0
"""A program that profiles itself and prints Paddle's tables: itself.py dynamic|static SCHEDULER [timer|memory]"""
import ast
import sys

import numpy
import numpy.random  # before Paddle 2.6, whose zlib is in the way of Python's
import paddle
from paddle import nn, profiler, static

NR_STEPS = 15


def layers():
    return nn.Sequential(nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 4))


class Numbers(paddle.io.Dataset):
    def __len__(self):
        return 4 * NR_STEPS

    def __getitem__(self, i):
        random = numpy.random.RandomState(i)
        return random.rand(3, 8, 8).astype("float32"), numpy.array([i % 4], dtype="int64")


def dynamic(own):
    net = layers()
    optimizer = paddle.optimizer.SGD(learning_rate=0.1, parameters=net.parameters())
    loss_of = nn.CrossEntropyLoss()
    for x, y in paddle.io.DataLoader(Numbers(), batch_size=4):
        with profiler.RecordEvent("my forward"):
            loss = loss_of(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        own.step(num_samples=4)
    return float(loss)


def by_executor(own):
    paddle.enable_static()
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x, y = static.data("x", [4, 3, 8, 8], "float32"), static.data("y", [4, 1], "int64")
        loss = nn.CrossEntropyLoss()(layers()(x), y)
        paddle.optimizer.SGD(learning_rate=0.1).minimize(loss)
    executor = static.Executor(paddle.CPUPlace())
    executor.run(startup)
    for i in range(NR_STEPS):
        random = numpy.random.RandomState(i)
        feed = {"x": random.rand(4, 3, 8, 8).astype("float32"), "y": random.randint(0, 4, [4, 1])}
        with profiler.RecordEvent("my step"):
            found = executor.run(main, feed=feed, fetch_list=[loss])
        own.step(num_samples=4)
    return float(found[0])


paddle.seed(1)
profile = profiler.Profiler(targets=[profiler.ProfilerTarget.CPU], scheduler=ast.literal_eval(sys.argv[2]),
                            timer_only="timer" in sys.argv, profile_memory="memory" in sys.argv,
                            on_trace_ready=lambda profile: None)
profile.start()
print("%.4f" % {"dynamic": dynamic, "static": by_executor}[sys.argv[1]](profile))
profile.stop()
if "timer" not in sys.argv:
    profile.summary()
