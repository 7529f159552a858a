# SPDX-License-Identifier: Apache-2.0
"""waits.py

Calls CUDA, then waits in known places, and prints for each its function, the system call, the
milliseconds that it measured, and how many of them it was ready to run without a CPU: a sleep, a
pipe that another thread fills late, a lock that another thread holds, and the interpreter's lock,
which C code of another thread keeps.
"""
import ctypes
import os
import sys
import threading
import time


def sleeping():
    time.sleep(0.5)


def receiving(pipe):
    os.read(pipe, 1)


def locking(lock):
    with lock:
        pass


def returning(sleep):
    begin = time.monotonic()
    sleep(1)  # without the GIL, which it needs to go on
    return time.monotonic() - begin


def ready():
    """Seconds for which this thread was ready to run and had no CPU, as the kernel counts them."""
    with open("/proc/thread-self/schedstat") as stat:
        return int(stat.read().split()[1]) / 1e9


def show(function, syscall, waited, ready_before):
    print(function, syscall, round(waited * 1000), round((ready() - ready_before) * 1000))


def sending(pipe):
    time.sleep(0.5)
    os.write(pipe, b"x")


def holding(lock, is_held):
    with lock:
        is_held.set()
        time.sleep(0.5)


def keeping(sleep, until):
    while time.monotonic() < until:
        sleep(50000)  # with the GIL


def timed(syscall, function, *arguments):
    ready_before = ready()
    begin = time.monotonic()
    function(*arguments)
    show(function.__name__, syscall, time.monotonic() - begin, ready_before)


def beside(function, *arguments):
    thread = threading.Thread(target=function, args=arguments)
    thread.start()
    return thread


def wait_for_gil():
    free = ctypes.CDLL(None).usleep
    thread = beside(keeping, ctypes.PyDLL(None).usleep, time.monotonic() + 0.6)
    waited = 0.0
    while thread.is_alive():
        waited += returning(free)
    return waited


def main():
    ctypes.CDLL("libcudart.so.12").cudaFree(None)
    time.sleep(1.2)  # until the recorder has found this thread
    timed("clock_nanosleep" if sys.version_info >= (3, 11) else "select", sleeping)
    read_end, write_end = os.pipe()
    thread = beside(sending, write_end)
    timed("read", receiving, read_end)
    thread.join()
    lock, is_held = threading.Lock(), threading.Event()
    thread = beside(holding, lock, is_held)
    is_held.wait()
    timed("futex", locking, lock)
    thread.join()
    ready_before = ready()
    show("returning", "GIL", wait_for_gil(), ready_before)


main()
