# SPDX-License-Identifier: Apache-2.0
# A thread that keeps Python's lock and, beside it, the main thread, which gives it away so many times: prints how many
# nanoseconds it was without it, by its own clock, and for how many percent of its time the other thread was on a CPU. With "gpu"
# it also copies to one and waits for it at each fourth time.
import ctypes
import sys
import threading
import time

is_over = threading.Event()
runtime = ctypes.CDLL("libcudart.so.12") if "gpu" in sys.argv else None
to, of = ctypes.c_void_p(), ctypes.create_string_buffer(4096)


share = 0


def hog():
    global share
    begin, cpu = time.perf_counter_ns(), time.thread_time_ns()
    while not is_over.is_set():
        sum(range(1000))
    share = 100 * (time.thread_time_ns() - cpu) // (time.perf_counter_ns() - begin)


def copy(i):
    runtime.cudaMemcpyAsync(to, of, ctypes.c_size_t(4096), 1, None)
    if i % 4 == 3:
        runtime.cudaDeviceSynchronize()


def main(nr):
    thread = threading.Thread(target=hog, daemon=True)
    if runtime:
        runtime.cudaMalloc(ctypes.byref(to), ctypes.c_size_t(4096))
    if "alone" not in sys.argv:
        thread.start()
    waited = 0
    for i in range(nr):
        begin = time.perf_counter_ns()
        time.sleep(1e-4)
        waited += time.perf_counter_ns() - begin
        if runtime:
            copy(i)
    begin = time.perf_counter_ns()
    is_over.set()
    if "alone" not in sys.argv:
        thread.join()
    print(waited + time.perf_counter_ns() - begin, share)


main(int(sys.argv[1]))
