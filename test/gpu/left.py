# SPDX-License-Identifier: Apache-2.0
"""Runs kernels on several streams and prints how many bytes of the GPU's memory are left to it."""
import torch

x = torch.zeros(1 << 20, device="cuda")
for stream in [torch.cuda.Stream() for _ in range(8)]:
    with torch.cuda.stream(stream):
        for _ in range(2000):
            x.add_(1)
torch.cuda.synchronize()
print(torch.cuda.mem_get_info()[0])
