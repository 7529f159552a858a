# SPDX-License-Identifier: Apache-2.0
# Recursion as deep as the program wants it, and as deep as Python lets it.
import ctypes
import sys

ctypes.CDLL("libcudart.so.13", ctypes.RTLD_GLOBAL)
ctypes.CDLL(None).cudaGetLastError()  # the recorder starts


def deep(n):
    return n and deep(n - 1)


def endless(n):
    try:
        return endless(n + 1)
    except RecursionError:
        return n


print(deep(900), endless(0))
sys.setrecursionlimit(15000)
print(deep(14000))
