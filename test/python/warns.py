# SPDX-License-Identifier: Apache-2.0
# usage: warns.py NR. What Python says at a fork of a process with NR threads of its own, and how many it counts.
import ctypes
import os
import sys
import threading
import warnings

ctypes.CDLL("libcudart.so.13", ctypes.RTLD_GLOBAL)
libc = ctypes.CDLL(None)
libc.cudaGetLastError()  # the recorder starts
libc.fopen64.restype = libc.fdopen.restype = ctypes.c_void_p


def count():
    file = ctypes.c_void_p(libc.fopen64(b"/proc/self/stat", b"re"))
    text = ctypes.create_string_buffer(2000)
    libc.fread(text, 1, 2000, file)
    libc.fclose(file)
    return text.value.decode().rsplit(")", 1)[1].split()[17]


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
print([str(one.message).replace(str(os.getpid()), "PID") for one in said], count())
done.set()
