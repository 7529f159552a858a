# SPDX-License-Identifier: Apache-2.0
# Threads that go on while the interpreter ends.
import ctypes
import sys
import threading

ctypes.CDLL("libcudart.so.13", ctypes.RTLD_GLOBAL)
cuda = ctypes.CDLL(None)


class Dim(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


ONE = Dim(1, 1, 1)


def inner(n):
    if n:
        return inner(n - 1)
    return cuda.cudaLaunchKernel(ctypes.c_void_p(0x1234), ONE, ONE, None, ctypes.c_size_t(0), None)


def work():
    while True:
        inner(20)


for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
for _ in range(200):
    inner(5)
print("done", sys.argv[1])
