# SPDX-License-Identifier: Apache-2.0
"""samples.py SECONDS [threads|fork|spawn|many|many-c|gpu]

Spends CPU time in known shares: decode() 60 %, by rounds of its own; augment() 30 %, in C code that it calls;
collate() 10 %. What is spent is measured by the thread's CPU clock, so the shares hold on a busy machine. With threads, a
thread spends its time in another(); with fork or spawn, a child does as the main thread. With many, 64 threads spend
SECONDS each in some 20 frames, in Python that takes turns with the GIL; with many-c in C code without it. With gpu it
first calls CUDA.
"""
import ctypes
import multiprocessing
import sys
import threading
import time
import zlib

DATA = bytes(range(256)) * 4000


def spin(rounds):
    value = 1
    for i in range(rounds):
        value = value * 31 + i & 0xffff
    return value


def decode(until):
    while time.thread_time() < until:
        spin(2000)  # LINE decode


def augment(until):
    while time.thread_time() < until:
        zlib.crc32(DATA)  # LINE augment


def collate(until):
    while time.thread_time() < until:
        spin(2000)  # LINE collate


def another(until):
    while time.thread_time() < until:
        zlib.adler32(DATA)  # LINE another


def deep(function, depth, seconds):
    if depth:
        deep(function, depth - 1, seconds)
    else:
        function(time.thread_time() + seconds)


def many(function, seconds):
    threads = [threading.Thread(target=deep, args=(function, 18, seconds)) for _ in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{time.process_time():.2f} s of CPU time")


# What it does itself takes 3 us, so that no sample falls into it.
def work(seconds):
    for function, share in (decode, .6), (augment, .3), (collate, .1):
        function(time.thread_time() + share * seconds)


if __name__ == "__main__":
    seconds = float(sys.argv[1])
    how = sys.argv[2] if len(sys.argv) > 2 else ""
    others = []
    if how.startswith("many"):
        many(another if how == "many-c" else decode, seconds)
        sys.exit()
    if how == "threads":
        others = [threading.Thread(target=another, args=(seconds,))]
    elif how == "gpu":
        ctypes.CDLL("libcudart.so.12").cudaFree(None)
    elif how:
        others = [multiprocessing.get_context(how).Process(target=work, args=(seconds,))]
    for other in others:
        other.start()
    work(seconds)
    for other in others:
        other.join()
    print("done")
