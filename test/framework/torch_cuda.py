# SPDX-License-Identifier: Apache-2.0
"""PyTorch for CUDA on the simulator: torch_cuda.py WHAT [PROFILE]. Prints what the host knows: steps, and the
allocator's statistics. With PROFILE, torch.profiler runs around all of it, and its kernels (number and ns), copies
and operators go to that file. cuDNN is off: convolutions are PyTorch's own."""
import json
import os
import sys

import torch
import torch.distributed as dist
from torch import nn

STEPS = 6
torch.manual_seed(1)
torch.backends.cudnn.enabled = False


def cnn():
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                          nn.Linear(16, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    x, y = torch.randn(8, 3, 32, 32).cuda(), torch.randint(10, (8,)).cuda()

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    return step


def encoder():
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, dropout=0.1)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).cuda()


def transformer(model=None):
    model = model or encoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.001)
    scaler = torch.amp.GradScaler("cuda", enabled=False)
    x = torch.randn(4, 16, 64).cuda()

    def step():
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(x).square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    return step


def graph():
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64)).cuda()
    x = torch.randn(32, 64).cuda()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        model(x).sum().backward()
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        model(x).sum().backward()
    return captured.replay


def compiled():
    @torch.compile
    def activation(x, y):
        return torch.nn.functional.gelu(x * y + 1).sum(-1)
    x = torch.randn(256, 1024).cuda()
    activation(x, x)
    return lambda: activation(x, x)


def ddp():
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 8)).cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.randn(32, 64).cuda()

    def step():
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
    return step


def fsdp():
    from torch.distributed.fsdp import fully_shard
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 8)).cuda()
    for layer in (model[0], model[2]):
        fully_shard(layer)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, foreach=False)
    x = torch.randn(32, 64).cuda()

    def step():
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
    return step


def write_profile(profiler, path):
    kernels, operators, others = {}, {}, 0
    for event in profiler.profiler.kineto_results.events():
        if event.device_type() == torch.autograd.DeviceType.CPU:
            operators[event.name()] = operators.get(event.name(), 0) + 1
        elif event.activity_type() == "kernel":
            entry = kernels.setdefault(event.name(), [0, 0])
            entry[0] += 1
            entry[1] += event.duration_ns()
        else:
            others += event.activity_type() in ("gpu_memcpy", "gpu_memset")
    with open(path, "w") as file:
        json.dump({"kernels": kernels, "operators": operators, "copies": others}, file)


def run(what, profile):
    profiler = profile and torch.profiler.profile()
    if profiler:
        profiler.start()
    step = globals()[what]()
    for _ in range(STEPS):
        step()
    torch.cuda.synchronize()
    if profiler:
        profiler.stop()
        write_profile(profiler, profile)
    stats = torch.cuda.memory_stats()
    for name in ("allocation.all.allocated", "allocated_bytes.all.peak", "reserved_bytes.all.current", "num_alloc_retries"):
        print(name, stats[name])


def rank(index, what, port):
    os.environ.update(RANK=str(index), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=port, LOCAL_RANK=str(index))
    torch.cuda.set_device(index)
    dist.init_process_group("nccl", device_id=torch.device("cuda", index))
    run(what, "")
    dist.destroy_process_group()


def main():
    what, profile = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    if what in ("ddp", "fsdp"):
        rank(int(os.environ["RANK"]), what, os.environ["MASTER_PORT"])
    else:
        run(what, profile)


if __name__ == "__main__":
    main()
