#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""turns.py GPROF_REPORT [TRACES]: budgets of random traces of threads that take turns, against budget.py's. Prints TAP.

Threads launch, wait and work, now and then at the same time. To the nanosecond, each part is the same, and so is the time in gaps
that a wait opened, also by a wait of a thread from which the launching one takes over.
"""
import json
import os
import random
import sys
import tempfile

import budget
import budgets


class Maker:
    """A GPU with one stream that works off what is launched; times in us."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.events, self.free, self.number = [], dict.fromkeys((1, 2, 3), 0), 0
        self.host = self.gpu = self.step = self.step_begin = 0

    def event(self, cat, name, begin, end, thread, correlation=None):
        args = {} if correlation is None else {"correlation": correlation}
        self.events.append({"ph": "X", "cat": cat, "name": name, "ts": begin, "dur": end - begin, "pid": 7 if thread else 0, "tid": thread, "args": args})
        return end

    def launch(self, begin, thread):
        self.number += 1
        end = self.event("cuda_runtime", "cudaLaunchKernel", begin, begin + self.random.randrange(1, 12), thread, self.number)
        start = max(self.gpu, end + self.random.randrange(5))
        self.gpu = self.event("kernel", "gemm", start, start + self.random.randrange(1, 80), 0, self.number)
        return end

    def wait(self, begin, thread):
        return self.event("cuda_runtime", "cudaDeviceSynchronize", begin, max(begin + 1, self.gpu + self.random.randrange(20)), thread)

    def work(self, begin, thread):
        return self.event("cpu_op", "aten::mm", begin, begin + self.random.randrange(1, 20), thread)

    def turn(self, thread, is_early):
        """It begins after all others, or beside the last one."""
        at = max(self.free[thread], self.host - self.random.randrange(60) if is_early else self.host) + self.random.randrange(30)
        for _ in range(self.random.randrange(1, 4)):
            does = self.random.choices((self.launch, self.wait, self.work), (5, 3, 2))[0]
            at = does(at, thread) + self.random.randrange(20)
        self.free[thread], self.host = at, max(self.host, at)

    def end_step(self):
        """Nothing outlasts it."""
        self.host = self.free[1] = self.wait(self.host, 1)
        self.event("user_annotation", f"ProfilerStep#{self.step}", self.step_begin, self.host, 1)
        self.step, self.step_begin = self.step + 1, self.host


def trace(seed):
    maker = Maker(seed)
    # Beside each other only two, since where one does nothing either of the others may count, and without steps, since the
    # work of one step shall not run into the next.
    is_mixed = seed % 3 == 0
    nr_threads = 2 if is_mixed else 2 + seed % 2
    thread = 1
    for _ in range(maker.random.randrange(20, 120)):
        if maker.random.random() < 0.4:
            thread = maker.random.randrange(1, 1 + nr_threads)
        maker.turn(thread, is_mixed)
        if not is_mixed and maker.random.random() < 0.1:
            maker.end_step()
    # The reporter reads backwards: it knows of a thread that it launches if it does so later.
    for thread in range(1, 1 + nr_threads):
        maker.host = maker.launch(max(maker.host, maker.free[thread]), thread)
    return {"traceEvents": maker.events}


def main(program, number="60"):
    problems, opened = [], 0
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "trace.json")
        for seed in range(int(number)):
            with open(path, "w", encoding="ascii") as file:
                json.dump(trace(seed), file)
            want = budget.budget(next(budget.traces(path)))
            for row in budgets.rows_of(program, path):
                problems += [f"trace {seed}: {part} is {row[part]}, not {budgets.value(want, part)}" for part in (*budgets.PARTS, budgets.DRAINED)
                             if row[part] != budgets.value(want, part)]
                opened += row[budgets.DRAINED] > 0
    if opened < int(number) / 2:
        problems.append(f"waits opened gaps in {opened} traces only")
    print("\n".join([f"{'not ok' if problems else 'ok'} 1 - turns: budgets of random threads{': ' + problems[0] if problems else ''}"] + [f"#   {problem}" for problem in problems]))
    print("1..1")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
