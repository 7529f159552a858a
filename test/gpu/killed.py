# SPDX-License-Identifier: Apache-2.0
"""Adds on the GPU until it is killed, and counts each call that returned in a mapped file: killed.py FILE."""
import mmap
import sys

import torch

with open(sys.argv[1], "wb") as made:
    made.write(bytes(8))
file = open(sys.argv[1], "r+b")
counter = memoryview(mmap.mmap(file.fileno(), 8)).cast("Q")
x = torch.zeros(256, device="cuda")
print("ready", flush=True)
while True:
    for _ in range(100):
        x.add_(1)
        counter[0] += 1
    torch.cuda.synchronize()
