# SPDX-License-Identifier: Apache-2.0
# usage: warns.py NR. Prints Python's warnings at a fork of a process with NR threads of its own.
import ctypes
import os
import sys
import threading
import warnings

ctypes.CDLL("libcudart.so.13", ctypes.RTLD_GLOBAL)
ctypes.CDLL(None).cudaGetLastError()  # the recorder starts

done = threading.Event()
threads = [threading.Thread(target=done.wait) for _ in range(1, int(sys.argv[1]))]
for thread in threads:
    thread.start()
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    pid = os.fork()
    if not pid:
        os._exit(0)
os.waitpid(pid, 0)
print([str(one.message).replace(str(os.getpid()), "PID") for one in said])
done.set()
