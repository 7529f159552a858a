# SPDX-License-Identifier: Apache-2.0
"""Captures 10 kernels into a CUDA graph and replays it 50 times."""
import torch

x = torch.ones(1024, device="cuda")
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    for _ in range(3):
        x.mul_(1.0)
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    for _ in range(10):
        x.add_(1)
for _ in range(50):
    graph.replay()
torch.cuda.synchronize()
print(x.sum().item())
