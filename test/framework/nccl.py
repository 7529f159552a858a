# SPDX-License-Identifier: Apache-2.0
"""NCCL reports its calls even if they fail, as here without a real GPU and a communicator."""
import ctypes
import glob
import sys

FLOAT, MAX, NONE = 7, 2, ctypes.c_void_p()
library = glob.glob(sys.prefix + "/lib/python*/site-packages/nvidia/nccl/lib/libnccl.so.2")[0]
nccl = ctypes.CDLL(library)
comm = ctypes.c_void_p()
data = ctypes.create_string_buffer(64)
count = ctypes.c_size_t(10)
failed = [
    nccl.ncclCommInitAll(ctypes.byref(comm), 1, None),
    nccl.ncclAllReduce(data, data, count, FLOAT, MAX, NONE, NONE),
    nccl.ncclBroadcast(data, data, count, FLOAT, 3, NONE, NONE),
    nccl.ncclGroupStart() == 0,
    nccl.ncclSend(data, count, FLOAT, 5, NONE, NONE),
    nccl.ncclRecv(data, count, FLOAT, 5, NONE, NONE),
    nccl.ncclGroupEnd(),
]
print("failed", all(failed))
