# SPDX-License-Identifier: Apache-2.0
# One of two processes, gloo, DistributedDataParallel; the second is late to each backward.
# usage: ddp.py STORE-FILE RANK
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

torch.manual_seed(1)
torch.set_num_threads(1)
rank = int(sys.argv[2])
dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=rank, world_size=2)
parts = [nn.Sequential(nn.Linear(8, 8), nn.Tanh()) for _ in range(4)]
net = nn.parallel.DistributedDataParallel(nn.Sequential(*parts))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    loss = net(torch.full((3, 8), float(rank))).square().sum()
    time.sleep(0.1 * rank)
    loss.backward()
    optimizer.step()
total = loss.detach()
dist.all_reduce(total)
print("%.4f" % total.item())
dist.destroy_process_group()
