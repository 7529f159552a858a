# SPDX-License-Identifier: Apache-2.0
"""planted_waits.py sleep|closed|thread|read|fault|child|lock|gil|parse|kernel [FOLDER]

A loop that gives the GPU work and then waits for one thing, at the line with its name: a sleep,
also in a program that closes all files, or in a thread that is not the first one; a file in FOLDER
on slow storage (a pipe that is filled late), or pages of mapped.bin there, which are not in memory;
a child process; a lock that other threads keep; the interpreter's lock, which C code of another
thread keeps, or another thread that parses; or the kernel, which copies a file that is in memory.
Prints the milliseconds that it waited, by its own clock, those of them in which it was not only
ready for a CPU, the CPU time that it used meanwhile, and how long it ran.
"""
import ctypes
import json
import mmap
import os
import subprocess
import sys
import threading
import time

begun = time.monotonic()
cause = sys.argv[1]
# Where the loop needs the interpreter's lock back at one line alone, its calls of CUDA keep it.
runtime = (ctypes.PyDLL if cause in ("gil", "parse") else ctypes.CDLL)("libcudart.so.12")
device, host = ctypes.c_void_p(), ctypes.create_string_buffer(4096)
release = ctypes.CDLL(None).usleep
lock = threading.Lock()
buffer = bytearray(64 << 20 if cause == "kernel" else 0)
is_over = is_closed = False
next_page = 0


def compute():
    for _ in range(5):
        runtime.cudaMemcpyAsync(device, host, ctypes.c_size_t(4096), 1, None)
    runtime.cudaDeviceSynchronize()


def wait_sleep(_):
    time.sleep(0.02)  # LINE sleep


def wait_closed(_):
    global is_closed
    if not is_closed and time.monotonic() > begun + 1:
        os.closerange(3, 4096)
        is_closed = True
    time.sleep(0.02)  # LINE closed


def wait_thread(_):
    time.sleep(0.02)  # LINE thread


def wait_read(file):
    os.read(file, 1)  # LINE read


def wait_fault(pages):
    global next_page
    next_page += 7
    pages[next_page * mmap.PAGESIZE % len(pages)]  # LINE fault


def wait_child(_):
    subprocess.run(["/bin/sleep", "0.02"])  # LINE child


def wait_lock(_):
    with lock:  # LINE lock
        pass


def wait_gil(_):
    release(1)  # LINE gil


wait_parse = wait_gil


def wait_kernel(file):
    os.preadv(file, [buffer], 0)  # LINE kernel


def fill(path):
    file = os.open(path, os.O_WRONLY)
    while not is_over:
        time.sleep(0.02)
        os.write(file, b"x")


def keep_lock(_):
    while not is_over:
        with lock:
            time.sleep(0.02)
        time.sleep(0.002)


def keep_gil(_):
    keep = ctypes.PyDLL(None).usleep
    while not is_over:
        keep(20000)  # LINE keep


def keep_parse(_):
    text = json.dumps([[i, str(i)] for i in range(60000)])
    while not is_over:
        json.loads(text)  # LINE parse


def beside(function, argument=None):
    thread = threading.Thread(target=function, args=(argument,), daemon=True)
    thread.start()


def prepare(folder=None):
    if cause == "read":
        path = os.path.join(folder, "samples.bin")
        os.mkfifo(path)
        beside(fill, path)
        return os.open(path, os.O_RDONLY)
    if cause == "fault":
        with open(os.path.join(folder, "mapped.bin"), "rb") as file:
            pages = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        pages.madvise(mmap.MADV_RANDOM)
        return pages
    if cause == "kernel":
        file = os.open(os.path.join(folder, "cached.bin"), os.O_RDWR | os.O_CREAT)
        os.pwrite(file, buffer, 0)
        return file
    if cause in ("lock", "gil", "parse"):
        beside(globals()["keep_" + cause])
    return None


def ready_without_cpu():
    if cause in ("gil", "parse"):
        return 0  # a file gives the interpreter's lock away
    with open("/proc/thread-self/schedstat") as file:
        return int(file.read().split()[1]) / 1e9


def main():
    global is_over
    runtime.cudaMalloc(ctypes.byref(device), 4096)
    thing = prepare(*sys.argv[2:])
    waited = computed = ready = 0.0
    until = time.monotonic() + 3
    while time.monotonic() < until:
        compute()
        ready_begin = ready_without_cpu()
        begin, cpu_begin = time.monotonic(), time.thread_time()
        globals()["wait_" + cause](thing)
        waited += time.monotonic() - begin
        computed += time.thread_time() - cpu_begin
        ready += ready_without_cpu() - ready_begin
    is_over = True
    print(round(waited * 1000), round((waited - ready) * 1000), round(computed * 1000), round((time.monotonic() - begun) * 1000))


if cause == "thread":
    loop = threading.Thread(target=main)
    loop.start()
    loop.join()
else:
    main()
