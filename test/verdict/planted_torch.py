# SPDX-License-Identifier: Apache-2.0
"""
A training on the CPU by PyTorch with one trouble: planted_torch.py CAUSE [INIT-METHOD]

    loader10, loader60   the loader has no workers, and takes about so many percent of the step for a batch
    workers              the loader has two workers, which sleep for twice as long as the step takes
    storage, slow        the same, and they read from a slow file instead, whose calls of the system are recorded, or not
    disk, mapped         the same, and they read files of a slow file system, in the folder PLANTED_FILES, or map them
    decode, decoded      the loader has one worker, or two, which compute for 1.5 times as long as the step takes
    stages, fetched      the loader has one worker, which waits for each sample and then computes for longer, or just waits
    epochs, kept         the loader has two workers that take 0.6 s to begin, which it starts in each epoch of three steps, or keeps
    code                 Python works and waits between operators, in a range named "tokenize"
    gil, process         a thread parses JSON all the time, or a process does; between operators the loop polls, which gives
                         Python's lock away
    recompile            torch.compile compiles in every step: ranges that its versions mark, for versions without it
    gc, storm            Python collects garbage between operators, among half a million objects, or 100,000
    convoy               the loop takes a lock for each of 10 entries of its log; threads that write long entries hold it mostly
    log                  the loop writes to a file and waits until it is on the disk, and for whatever else its log waits for
    straggler, even      one of two ranks (RANK) that communicate by gloo at INIT-METHOD; rank 1 sleeps in its loop, or none does
    none                 none of these
    bound                an operator computes all the time
    crowded              the same, beside more processes that compute than there are CPUs
    limited              the same, in a container that may use half of a CPU

In all but the last three that operator sleeps instead, so that a busy machine changes little. Prints medians over steps 4 to 10
(of the last two, of epochs and of kept: means), ns: of a step, and of what the trouble takes in it.
"""
import gc
import json
import mmap
import multiprocessing
import os
import statistics
import sys
import tempfile
import threading
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.autograd.profiler import record_function
from torch.utils.data import DataLoader, Dataset

STEPS, BATCH = 12, 4
MEASURED = slice(4, 11)
WORK_S, CODE_S, LOG_S, LATE_S = 0.2, 0.1, 0.1, 0.2
COMPILE_S = 0.15
LOADER_S = {"loader10": 0.0224, "loader60": 0.3, "workers": 0.8, "storage": 0.8, "slow": 0.8, "disk": 0.8, "mapped": 0.8, "stages": 0.24, "fetched": 0.24}
DECODE_S = {"decode": 0.3, "decoded": 0.3, "stages": 0.36}
WORKERS = {"workers": 2, "storage": 2, "slow": 2, "disk": 2, "mapped": 2, "decode": 1, "decoded": 2, "stages": 1, "fetched": 1, "epochs": 2, "kept": 2}
EPOCH, BEGIN_S = 3, 0.6
WORDS, PRODUCTS = 10_000, 32
CROWD, CROWDED_NS = 2 * os.cpu_count(), 100_000_000
PARSERS = {"gil": (threading.Thread, threading.Event()), "process": (multiprocessing.Process, multiprocessing.Event())}
POLLS = 20
WRITERS, ENTRIES, ENTRY_S = 2, 5, 0.01
OBJECTS = {"gc": 500_000, "storm": 100_000}

cause = sys.argv[1]
rank = int(os.environ["RANK"]) if len(sys.argv) > 2 else None
torch.manual_seed(1)
torch.set_num_threads(1)
matrix = torch.ones(128, 128)
log = tempfile.TemporaryFile(buffering=0)
lock, are_over = threading.Lock(), threading.Event()
objects = [[] for _ in range(OBJECTS.get(cause, 0))]


def parse(is_over):
    text = json.dumps(list(range(100)))
    while not is_over.is_set():
        json.loads(text)


def feed(path):
    with open(path, "wb", buffering=0) as file:
        while True:
            time.sleep(LOADER_S["storage"] / BATCH / 2)  # for two workers
            file.write(b"x")


class Batches(Dataset):
    def __len__(self):
        return (EPOCH if cause in ("epochs", "kept") else STEPS) * BATCH

    def __getitem__(self, i):
        if cause in ("storage", "slow"):
            os.read(slow, 1)
        elif cause in ("disk", "mapped"):
            with open(os.path.join(os.environ["PLANTED_FILES"], "%d.bin" % i), "rb") as file:
                mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)[:] if cause == "mapped" else file.read()
        elif cause in LOADER_S:
            time.sleep(LOADER_S[cause] / BATCH)
        if cause in DECODE_S:
            compute_for(DECODE_S[cause] / BATCH)
        return torch.ones(64)


def begin_worker(number):
    if cause in ("epochs", "kept"):
        time.sleep(BEGIN_S)


def load(loader):
    while True:
        yield from loader


def compute():
    while True:
        pass


def compute_for(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(100_000))


def write_entry(seconds):
    with lock:
        time.sleep(seconds)


def write_entries():
    while not are_over.is_set():
        write_entry(ENTRY_S)


def waited_for_cpu():
    with open("/proc/thread-self/schedstat") as file:
        return int(file.read().split()[1])


def work(batch):
    if cause in ("crowded", "limited"):
        end = time.thread_time_ns() + CROWDED_NS
        while time.thread_time_ns() < end:
            torch.mm(matrix, matrix)
    elif cause == "bound":
        for _ in range(PRODUCTS):
            torch.mm(matrix, matrix)
    else:
        time.sleep(WORK_S)
    return batch.clone()


def between():
    """What the loop does between operators."""
    if cause == "code":
        with record_function("tokenize"):
            sum(len(str(i)) for i in range(WORDS))
            time.sleep(CODE_S)
    elif cause == "recompile":
        with record_function("_compile.compile_inner (dynamo_timed)"):
            matrix.clone()
            with record_function("compile_fx_inner (dynamo_timed)"):
                time.sleep(COMPILE_S)
    elif cause in OBJECTS:
        gc.collect()
    elif cause in PARSERS:
        for _ in range(POLLS):
            time.sleep(1e-4)
    elif cause == "log":
        log.write(b"x" * 4096)
        os.fsync(log.fileno())
        time.sleep(LOG_S)
    elif cause == "convoy":
        for _ in range(ENTRIES):
            write_entry(0)
    elif cause == "straggler" and rank == 1:
        time.sleep(LATE_S)


def timed(times, function, *arguments):
    begin = time.perf_counter_ns()
    result = function(*arguments)
    times.append(time.perf_counter_ns() - begin)
    return result


library = torch.library.Library("planted", "DEF")
library.define("work(Tensor batch) -> Tensor")
library.impl("work", work, "CPU")
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
if rank is not None:
    dist.init_process_group("gloo", init_method=sys.argv[2], rank=rank, world_size=2)
    model = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
if cause in ("storage", "slow"):
    folder = tempfile.TemporaryDirectory()
    path = os.path.join(folder.name, "slow.bin")
    os.mkfifo(path)
    slow = os.open(path, os.O_RDWR)
    feeder = multiprocessing.Process(target=feed, args=(path,), daemon=True)
    feeder.start()
batches = load(DataLoader(Batches(), batch_size=BATCH, num_workers=WORKERS.get(cause, 0), worker_init_fn=begin_worker, persistent_workers=cause == "kept"))
if cause in PARSERS:
    start, is_over = PARSERS[cause]
    parser = start(target=parse, args=(is_over,))
    parser.start()
writers = [threading.Thread(target=write_entries) for _ in range(WRITERS if cause == "convoy" else 0)]
for writer in writers:
    writer.start()
crowd = [multiprocessing.Process(target=compute, daemon=True) for _ in range(CROWD if cause == "crowded" else 0)]
for process in crowd:
    process.start()
loads, pauses, waits, begins = [], [], [waited_for_cpu()], [time.perf_counter_ns()]
for _ in range(STEPS):
    batch = timed(loads, next, batches)
    timed(pauses, between)
    loss = model(torch.ops.planted.work(batch)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    begins.append(time.perf_counter_ns())
    waits.append(waited_for_cpu())
for process in crowd:
    process.kill()
steps = [end - begin for begin, end in zip(begins, begins[1:])]
troubles = loads if cause in LOADER_S | DECODE_S else pauses
if cause in ("crowded", "limited"):
    troubles = [end - begin for begin, end in zip(waits, waits[1:])]
middle = statistics.mean if troubles not in (loads, pauses) or cause in ("epochs", "kept") else statistics.median
print(*(int(middle(times[MEASURED])) for times in (steps, troubles)))
# PyTorch 1.13 aborts now and then when the objects of its libraries go: "terminate called without an active exception".
sys.stdout.flush()
if cause in PARSERS:
    is_over.set()
    parser.join()
are_over.set()
for writer in writers:
    writer.join()
if cause in ("storage", "slow"):
    feeder.terminate()
if rank is not None:
    os._exit(0)
