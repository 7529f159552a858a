# SPDX-License-Identifier: Apache-2.0
# usage: left.py LIBRARY. Calls that C code leaves by a jump, and calls after them, some known number of times each:
# the names say how often. Prints how many calls were left.
import ctypes
import sys

ctypes.CDLL("libcudart.so.13", ctypes.RTLD_GLOBAL)
ctypes.CDLL(None).cudaGetLastError()  # the recorder starts
library = ctypes.PyDLL(sys.argv[1])


def inner():
    library.jump()


def callback():
    inner()


def inside_20():
    return 1


def after_20():
    return inside_20()


function = ctypes.PYFUNCTYPE(None)(callback)
left = sum(library.run(function) for _ in range(200))
for _ in range(20):
    after_20()
print(2 * left)
