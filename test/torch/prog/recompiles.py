# SPDX-License-Identifier: Apache-2.0
# torch.compile with sizes that change: prints how many steps compiled, by PyTorch's own count, and how long these took, ns.
import sys
import time

import torch
from torch import nn
from torch._dynamo.utils import counters

torch.manual_seed(1)
torch.set_num_threads(1)
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
compiled = torch.compile(net, dynamic=False)
steps = []
for step in range(16):
    begin, graphs = time.perf_counter_ns(), counters["stats"]["unique_graphs"]
    optimizer.zero_grad()
    compiled(torch.ones(2 + step // 4, 8)).sum().backward()
    optimizer.step()
    time.sleep(0.02)
    if counters["stats"]["unique_graphs"] > graphs:
        steps.append(time.perf_counter_ns() - begin)
print(len(steps) - 1, sum(steps[1:]))
sys.stdout.flush()
