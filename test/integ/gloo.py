# SPDX-License-Identifier: Apache-2.0
# A rank of DistributedDataParallel on CPUs, started by torchrun or with its variables: 8 steps, in
# each of which one rank sleeps, in its loop or where its loader reads, and a broadcast. Prints how many
# bytes its parameters have. usage: gloo.py SLEEPER loop|loader SECONDS INIT-METHOD
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

torch.manual_seed(1)
torch.set_num_threads(1)
rank = int(os.environ["RANK"])
dist.init_process_group("gloo", init_method=sys.argv[4], rank=rank, world_size=int(os.environ["WORLD_SIZE"]))
layers = [nn.Linear(256, 256) for _ in range(12)]
net = nn.parallel.DistributedDataParallel(nn.Sequential(*layers), bucket_cap_mb=1)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-9)


def sleep(where):
    if rank == int(sys.argv[1]) and where == sys.argv[2]:
        time.sleep(float(sys.argv[3]))


class Batches(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        sleep("loader")
        return torch.full((16, 256), float(rank))


for batch in torch.utils.data.DataLoader(Batches(), batch_size=None):
    optimizer.zero_grad()
    sleep("loop")
    net(batch).square().sum().backward()
    optimizer.step()
dist.broadcast(torch.ones(1000), 0)
dist.destroy_process_group()
if rank == 0:
    print(sum(4 * parameter.numel() for parameter in net.parameters()))
# PyTorch 1.13 aborts now and then when the objects of its libraries go: "terminate called without an active exception".
sys.stdout.flush()
os._exit(0)
