# SPDX-License-Identifier: Apache-2.0
"""cold_files.py FILE cold|warm|moved: a training that reads a file which lies in memory, or which it takes out of it first.

cold, warm: a loader's worker reads it. FILE.read gets its bytes by calls and from storage, as /proc/self/io has them.
moved: the loop moves between two CPUs and maps pages. It prints how often, and its page faults that waited for storage."""
import mmap
import os
import resource
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

path, mode = sys.argv[1], sys.argv[2]
PART = 2 << 20
NR_MOVES = 40
NR_PAGES = 64


def evict(file, at, nr_bytes):
    os.posix_fadvise(file, at, nr_bytes, os.POSIX_FADV_DONTNEED)


def counted():
    with open("/proc/self/io", encoding="ascii") as file:
        fields = dict(line.split(": ") for line in file)
    return int(fields["rchar"]), int(fields["read_bytes"])


class Parts(Dataset):
    file = None

    def __len__(self):
        return os.path.getsize(path) // PART

    def __getitem__(self, index):
        if self.file is None:
            self.file = os.open(path, os.O_RDONLY)
            os.posix_fadvise(self.file, 0, 0, os.POSIX_FADV_RANDOM)
        if mode == "cold":
            evict(self.file, index * PART, PART)
        data = os.pread(self.file, PART, index * PART)
        with open(path + ".read", "w", encoding="ascii") as file:
            print(*counted(), file=file)
        return torch.frombuffer(bytearray(data[:4096]), dtype=torch.uint8).float()


def move_and_fault():
    """As many moves and faults as the constants say, but for those that the kernel adds."""
    cpus = sorted(os.sched_getaffinity(0))
    file = os.open(path, os.O_RDONLY)
    evict(file, 0, 0)
    pages = mmap.mmap(file, 0, prot=mmap.PROT_READ)
    pages.madvise(mmap.MADV_RANDOM)
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_majflt
    for i in range(NR_MOVES):
        os.sched_setaffinity(0, {cpus[i % 2]})
        time.sleep(0.01)
    for i in range(NR_PAGES):
        pages[i * (len(pages) // NR_PAGES)]
    os.sched_setaffinity(0, cpus)
    print(NR_MOVES, resource.getrusage(resource.RUSAGE_THREAD).ru_majflt - before)


if __name__ == "__main__":
    torch.set_num_threads(1)
    model = torch.nn.Linear(4096, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    for number, batch in enumerate(DataLoader(Parts(), num_workers=int(mode != "moved"))):
        model(batch).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        if mode == "moved" and number == 5:
            move_and_fault()
