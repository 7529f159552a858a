# SPDX-License-Identifier: Apache-2.0
"""busy.py THREADS ROUNDS: Python functions within others, ROUNDS in all, on THREADS threads. Then one line, "busy", the CPU
time in s of its own threads, and of the whole process, in which a profiler may have threads, too."""
import sys
import threading
import time


def weigh(words):
    return sum(len(word) * (at & 7) for at, word in enumerate(words))


def split(line):
    return line.split()


def parse(line, depth):
    if depth:
        return parse(line, depth - 1)
    return weigh(split(line))


def work(rounds, times):
    line = "the quick brown fox jumps over the lazy dog " * 4
    total = 0
    for at in range(rounds):
        total += parse(line, at % 12)
    times.append(time.thread_time())
    return total


def main():
    threads, rounds, times = int(sys.argv[1]), int(sys.argv[2]), []
    if threads == 1:
        work(rounds, times)
    else:
        workers = [threading.Thread(target=work, args=(rounds // threads, times)) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        times.append(time.thread_time())
    print("busy", sum(times), time.process_time())


main()
