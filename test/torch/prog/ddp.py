# SPDX-License-Identifier: Apache-2.0
# Two processes, gloo, DistributedDataParallel. usage: ddp.py STORE-FILE
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def work(rank, store):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=2)
    net = nn.parallel.DistributedDataParallel(nn.Linear(4, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = net(torch.full((3, 4), float(rank))).square().sum()
        loss.backward()
        optimizer.step()
    total = loss.detach()
    dist.all_reduce(total)
    if rank == 0:
        print("%.4f" % total.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(work, args=(sys.argv[1],), nprocs=2)
