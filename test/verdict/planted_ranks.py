#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""planted_ranks.py FOLDER: traces of three ranks, as PyTorch's profiler writes them, whose clocks differ by seconds. In each
step the ranks compute, and then communicate in two groups; which rank comes last, and by how much, is random. Some collectives
lack a rank, and some communication has no number."""
import json
import os
import random
import sys

RANKS, STEPS, STEP_US = 3, 12, 5000
AHEAD_US = (0, 3_000_000, -7_000_000)
NAME = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"


class Trace:
    def __init__(self, rank):
        self.rank, self.events, self.correlation = rank, [], 0

    def add(self, cat, name, begin, end, thread, **args):
        begin += 100_000_000 + AHEAD_US[self.rank]
        self.events.append({"ph": "X", "cat": cat, "name": name, "ts": round(begin, 3), "dur": round(end + 100_000_000 + AHEAD_US[self.rank] - begin, 3),
                            "pid": 0 if cat == "kernel" else 100 + self.rank, "tid": thread, "args": args})

    def launch(self, name, call, begin, end, stream, **args):
        self.correlation += 1
        self.add("cuda_runtime", "cudaLaunchKernel", call, call + 4, 1, correlation=self.correlation)
        self.add("kernel", name, begin, end, stream, correlation=self.correlation, device=0, stream=stream, **args)

    def write(self, folder):
        with open(os.path.join(folder, f"rank{self.rank}.json"), "w", encoding="ascii") as file:
            json.dump({"distributedInfo": {"rank": self.rank, "world_size": RANKS}, "traceEvents": self.events}, file)


def collective(group, number):
    return {"Collective name": "allreduce", "In msg nelems": 1000, "Out msg nelems": 1000, "dtype": "Float", "Group size": RANKS,
            "Process Group Name": group, "Process Group Ranks": str(list(range(RANKS))), "Seq": number}


def communicate(traces, at, of, chance):
    """All end together, some time after the last has come."""
    begins = [at + chance.uniform(0, 900) for _ in traces]
    end = max(begins) + chance.uniform(50, 400)
    missing = chance.randrange(RANKS) if chance.random() < 0.15 else None
    for trace, begin in zip(traces, begins):
        if trace.rank != missing:
            trace.launch(NAME, at - 1000 + 20 * of["Seq"] % 400, begin, end, 20 + int(of["Process Group Name"]), **of)


def main(folder):
    chance = random.Random(7)
    traces = [Trace(rank) for rank in range(RANKS)]
    for step in range(STEPS):
        at = step * STEP_US
        for trace in traces:
            trace.add("user_annotation", f"ProfilerStep#{step}", at, at + STEP_US - 1, 1)
            trace.add("cpu_op", "aten::mm", at + 10, at + 200, 1)
            trace.launch("gemm", at + 20, at + 70, at + 1000 + chance.uniform(0, 500), 7)
            trace.launch("gemm", at + 40, at + 2000, at + 2000 + chance.uniform(0, 900), 7)
            if chance.random() < 0.3:
                trace.launch(NAME, at + 60, at + 2500, at + 2700, 9)
        communicate(traces, at + 1200, collective("0", step), chance)
        communicate(traces, at + 1700, collective("1", step), chance)
    os.makedirs(folder, exist_ok=True)
    for trace in traces:
        trace.write(folder)


main(sys.argv[1])
