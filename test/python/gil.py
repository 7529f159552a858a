# SPDX-License-Identifier: Apache-2.0
# A thread that keeps Python's lock and, beside it, the main thread, which gives it away so many times: prints how many
# nanoseconds it was without it, by its own clock.
import sys
import threading
import time

is_over = threading.Event()


def hog():
    while not is_over.is_set():
        sum(range(1000))


def main(nr):
    thread = threading.Thread(target=hog, daemon=True)
    if "alone" not in sys.argv:
        thread.start()
    waited = 0
    for _ in range(nr):
        begin = time.perf_counter_ns()
        time.sleep(1e-4)
        waited += time.perf_counter_ns() - begin
    begin = time.perf_counter_ns()
    is_over.set()
    if "alone" not in sys.argv:
        thread.join()
    print(waited + time.perf_counter_ns() - begin)


main(int(sys.argv[1]))
