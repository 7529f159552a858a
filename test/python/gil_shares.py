# SPDX-License-Identifier: Apache-2.0
"""gil_shares.py SECONDS

Two threads hold Python's lock for known shares of the time, and compress or sleep without it
in between: the main thread (about 70 %) in C code that keeps the lock without using a CPU, the other one
(about 20 %) in a loop of Python. Prints for each its function, its TID and the milliseconds that it
measured with the lock, and the milliseconds of all.
"""
import ctypes
import random
import sys
import threading
import time
import zlib

keep = ctypes.PyDLL(None).usleep  # does not release the lock
DATA = bytes(200000)


def keeping(us):
    keep(int(us))


def looping(us):
    begin = now = time.perf_counter()
    while now < begin + us / 1e6:
        now = time.perf_counter()


# A thread that lost its CPU holds the lock, too: all between two calls that release it counts.
def hold(function, held_us, free_us, until, chance):
    held, begin = 0.0, time.perf_counter()
    while begin < until:
        function(chance.uniform(0.5, 1.5) * held_us)
        us = chance.uniform(0.5, 1.5) * free_us
        held += time.perf_counter() - begin
        time.sleep(us / 1e6)
        begin = time.perf_counter()
        held += time.perf_counter() - begin
        zlib.compress(DATA)
        begin = time.perf_counter()
    print(function.__name__, threading.get_native_id(), round(held * 1000))


def main(seconds):
    sys.setswitchinterval(10)  # nobody asks a thread to give the lock away
    begin = time.perf_counter()
    until = begin + seconds
    other = threading.Thread(
        target=hold, args=(looping, 4000, 3000, until, random.Random(2)), name="other"
    )
    other.start()
    hold(keeping, 25000, 1500, until, random.Random(1))
    other.join()
    print("all", 0, round((time.perf_counter() - begin) * 1000))


main(float(sys.argv[1]))
