# SPDX-License-Identifier: Apache-2.0
# One of two processes, gloo, on the CPU: FullyShardedDataParallel, or fully_shard where that runs.
# usage: fsdp.py STORE-FILE RANK wrap|shard
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel


def shard(net, kind):
    if kind == "wrap":
        def wrapped(module):
            return FullyShardedDataParallel(module, device_id=torch.device("cpu"))
        return wrapped(nn.Sequential(*[wrapped(part) for part in net]))
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    mesh = init_device_mesh("cpu", (2,))
    for part in [*net, net]:
        fully_shard(part, mesh=mesh)
    return net


torch.manual_seed(1)
torch.set_num_threads(1)
rank = int(sys.argv[2])
dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=rank, world_size=2)
parts = [nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8)) for _ in range(3)]
model = shard(nn.Sequential(*parts), sys.argv[3])
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(5):
    optimizer.zero_grad()
    loss = model(torch.full((3, 8), float(rank))).square().sum()
    loss.backward()
    optimizer.step()
    print(step, "%.4f" % loss.item())
dist.destroy_process_group()
