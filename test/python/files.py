# SPDX-License-Identifier: Apache-2.0
# usage: files.py N [LINES]. Launches a kernel from each of N functions, each in its own file; with LINES, from so many
# lines of each.
import ctypes
import sys

ctypes.CDLL("libcudart.so.13", ctypes.RTLD_GLOBAL)
cuda = ctypes.CDLL(None)


class Dim(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


ONE = Dim(1, 1, 1)


def launch():
    cuda.cudaLaunchKernel(ctypes.c_void_p(0x1234), ONE, ONE, None, ctypes.c_size_t(0), None)


code = "launch()\n" * int(sys.argv[2]) if sys.argv[2:] else "def f(): launch()\nf()"
for i in range(int(sys.argv[1])):
    exec(compile(code, "<made %d>" % i, "exec"), {"launch": launch})
