# SPDX-License-Identifier: Apache-2.0
# Threads with stacks as small as Python allows: calls as deep as they have room for, with launches inside.
import ctypes
import sys
import threading

ctypes.CDLL("libcudart.so.13", ctypes.RTLD_GLOBAL)
cuda = ctypes.CDLL(None)
cuda.cudaGetLastError()  # the recorder starts


class Dim(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


ONE = Dim(1, 1, 1)
# From 3.11 on a call of Python takes none of C's stack.
DEPTHS = (10, 50, 900) if sys.version_info >= (3, 11) else (10, 20)


def deep(n):
    return deep(n - 1) if n else 0


def launch(n):
    return launch(n - 1) if n else cuda.cudaLaunchKernel(None, ONE, ONE, None, ctypes.c_size_t(0), None)


def work(size):
    for n in DEPTHS:
        print(size, n, deep(n), flush=True)
    print(size, launch(5), flush=True)


for size in (32, 36, 40, 48, 64, 128):
    try:
        threading.stack_size(size << 10)
    except ValueError:  # from 3.14 on 52 KiB are the least
        continue
    thread = threading.Thread(target=work, args=(size,))
    thread.start()
    thread.join()
