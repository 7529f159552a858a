# SPDX-License-Identifier: Apache-2.0
"""loader_stages.py FOLDER WORKERS: loads batches whose stages take known shares, and writes what each stage took.

FOLDER gets a file a process: the CPU time in ns of decode, own, collate, and the time of waits."""
import gzip
import os
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

folder, nr_workers = sys.argv[1], int(sys.argv[2])
packed = gzip.compress(os.urandom(1 << 20) + bytes(8 << 20))
took = {"decode": 0, "own": 0, "collate": 0, "wait": 0}


def spin(ms):
    end = time.thread_time() + ms / 1000
    while time.thread_time() < end:
        pass


def note(stage, clock, start):
    took[stage] += clock() - start


def save():
    with open(os.path.join(folder, "took.%d" % os.getpid()), "w") as file:
        print(*took.values(), file=file)


class Samples(Dataset):
    def __len__(self):
        return 60

    def __getitem__(self, index):
        start = time.thread_time_ns()
        data = gzip.decompress(packed)
        note("decode", time.thread_time_ns, start)
        start = time.thread_time_ns()
        spin(15)  # LINE own
        del data  # takes 2 ms, in no frame of the package that decodes
        note("own", time.thread_time_ns, start)
        start = time.perf_counter_ns()
        time.sleep(0.02)  # LINE wait
        note("wait", time.perf_counter_ns, start)
        return torch.ones(4)


def collate_samples(samples):
    start = time.thread_time_ns()
    spin(20)  # LINE collate
    save()
    note("collate", time.thread_time_ns, start)
    return torch.stack(samples)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for batch in DataLoader(Samples(), batch_size=2, num_workers=nr_workers, collate_fn=collate_samples):
        batch.sum()
