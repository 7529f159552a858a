# SPDX-License-Identifier: Apache-2.0
"""nccl.py NR: one rank of NCCL sends to itself NR times, in groups of a send and a receive; what arrives must be equal."""
import ctypes
import sys

import torch

COUNT, FLOAT = 1 << 20, 7


class Id(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 128)]


def must(code):
    if code:
        raise SystemExit(f"NCCL: error {code}")


def main():
    torch.cuda.init()
    torch.cuda.nccl.version()  # PyTorch has it loaded
    nccl = ctypes.CDLL("libnccl.so.2")
    version, identity, comm = ctypes.c_int(), Id(), ctypes.c_void_p()
    must(nccl.ncclGetVersion(ctypes.byref(version)))
    must(nccl.ncclGetUniqueId(ctypes.byref(identity)))
    must(nccl.ncclCommInitRank(ctypes.byref(comm), 1, identity, 0))
    send = torch.arange(COUNT, device="cuda", dtype=torch.float32)
    receive = torch.zeros_like(send)
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    for _ in range(int(sys.argv[1])):
        must(nccl.ncclGroupStart())
        must(nccl.ncclSend(ctypes.c_void_p(send.data_ptr()), ctypes.c_size_t(COUNT), FLOAT, 0, comm, stream))
        must(nccl.ncclRecv(ctypes.c_void_p(receive.data_ptr()), ctypes.c_size_t(COUNT), FLOAT, 0, comm, stream))
        must(nccl.ncclGroupEnd())
    torch.cuda.synchronize()
    must(nccl.ncclCommDestroy(comm))
    print("NCCL", version.value, "equal", bool((send == receive).all()))


main()
