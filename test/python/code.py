# SPDX-License-Identifier: Apache-2.0
"""
A training on the CPU by PyTorch whose time goes into Python: code.py CAUSE

    compute   between operators, in two functions
    load      the same two in the data loader, which has no workers
    wait      the first of them sleeps, so the CPU samples are not where the time is
    infer     nothing is trained, so there are no steps

A second thread computes, too. Prints the share of compress() in the time of both functions, in percent, by the CPU clock
of the loop's thread, which the share of CPU samples must be; and of the whole time of both how much that is: on a busy machine
a thread mostly waits for a CPU.
"""
import hashlib
import os
import sys
import threading
import time
import zlib

import torch
from torch.utils.data import DataLoader, Dataset

STEPS = 40
cause = sys.argv[1]
text = bytes(range(256)) * 12000  # made before: samples are not of the kernel, which would find memory for it
large = bytes(1 << 21)
times = {"compress": 0, "digest": 0}
wall_ns = 0
is_done = False


def beside():
    while not is_done:
        hashlib.sha256(large).digest()
        time.sleep(0.02)


def compress():
    if cause == "wait":
        time.sleep(0.02)  # LINE sleep
        return
    zlib.compress(text)  # LINE compress


def digest():
    hashlib.sha1(text).digest()


def both():
    global wall_ns
    start = time.perf_counter_ns()
    for function in compress, digest:
        begin = time.thread_time_ns()
        function()
        times[function.__name__] += time.thread_time_ns() - begin
    wall_ns += time.perf_counter_ns() - start


class Batches(Dataset):
    def __len__(self):
        return STEPS

    def __getitem__(self, i):
        if cause == "load":
            both()
        return torch.ones(64)


thread = threading.Thread(target=beside)
thread.start()
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for _ in range(STEPS if cause == "infer" else 0):
    both()
    with torch.no_grad():
        model(torch.ones(64))
for batch in DataLoader(Batches()) if cause != "infer" else ():
    if cause != "load":
        both()
    optimizer.zero_grad()
    model(batch).sum().backward()
    optimizer.step()
is_done = True
thread.join()
print("%.1f %.1f" % (100 * times["compress"] / sum(times.values()), 100 * sum(times.values()) / wall_ns))
# PyTorch 1.13 aborts now and then when the objects of its libraries go.
sys.stdout.flush()
os._exit(0)
