# SPDX-License-Identifier: Apache-2.0
# A child that is forked in the middle of calls.
import ctypes
import os

ctypes.CDLL("libcudart.so.13", ctypes.RTLD_GLOBAL)
cuda = ctypes.CDLL(None)
cuda.cudaGetLastError()


def in_child():
    cuda.cudaGetLastError()


def forks():
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    in_child()  # starts its recorder
    in_child()
    return None


status = forks()
if status is not None:
    print("status", status)
