# SPDX-License-Identifier: Apache-2.0
"""NCCL tells of its calls also where they fail, as here for want of a real GPU."""
import ctypes
import glob
import sys

library = glob.glob(sys.prefix + "/lib/python*/site-packages/nvidia/nccl/lib/libnccl.so.2")[0]
nccl = ctypes.CDLL(library)
comm = ctypes.c_void_p()
print("failed", nccl.ncclCommInitAll(ctypes.byref(comm), 1, None) != 0)
