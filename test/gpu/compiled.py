# SPDX-License-Identifier: Apache-2.0
"""A compiled function 20 times: its kernels are Triton's, which calls the driver directly."""
import torch


@torch.compile
def step(x):
    return (torch.sin(x) * 2 + 1).relu()


x = torch.ones(1 << 16, device="cuda")
for _ in range(20):
    x = step(x)
torch.cuda.synchronize()
print("%.3f" % x.sum().item())
