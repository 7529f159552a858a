# SPDX-License-Identifier: Apache-2.0
# usage: elsewhere.py LIBRARY. Recursion on several stacks of one thread, as with coroutines; prints how many calls there were.
import ctypes
import sys

ctypes.CDLL("libcudart.so.13", ctypes.RTLD_GLOBAL)
ctypes.CDLL(None).cudaGetLastError()  # the recorder starts
library = ctypes.PyDLL(sys.argv[1])
calls = 0


def deep(n, then):
    global calls
    calls += 1
    return deep(n - 1, then) if n else then()


def nested(stacks):
    global calls
    calls += 1
    if stacks:
        function = ctypes.PYFUNCTYPE(None)(lambda: deep(90, lambda: nested(stacks - 1)))
        calls += 2
        library.elsewhere(function)


sys.setrecursionlimit(5000)
deep(300, lambda: nested(4))
print(calls + 1)
