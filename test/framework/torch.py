# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own NVTX ranges (emit_nvtx), on the CPU."""
import torch

torch.cuda.synchronize = lambda *device: None  # all that emit_nvtx wants of a GPU
x = torch.randn(8, 8, requires_grad=True)
with torch.autograd.profiler.emit_nvtx():
    for _ in range(3):
        torch.cuda.nvtx.range_push("user")
        (x @ x).sum().backward()
        torch.cuda.nvtx.range_pop()
print("done")
