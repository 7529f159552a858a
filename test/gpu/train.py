# SPDX-License-Identifier: Apache-2.0
"""Trains a small network for some steps. With the argument `profile` torch.profiler watches the steps
after the first ten; without, NVTX ranges named "step" mark all of them. Prints JSON: kernels by name."""
import json
import sys

import torch

WARM, STEPS = 10, 50


def main():
    is_profile = sys.argv[1:] == ["profile"]
    torch.manual_seed(1)
    model = torch.nn.Sequential(
        torch.nn.Linear(1024, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = torch.randn(256, 1024, device="cuda")
    target = torch.randint(10, (256,), device="cuda")
    profiler = None
    for step in range(WARM + STEPS):
        if is_profile and step == WARM:
            torch.cuda.synchronize()
            profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])
            profiler.start()
        torch.cuda.nvtx.range_push("step")
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()
    kernels = {}
    if profiler:
        profiler.stop()
        for event in profiler.events():
            if event.device_type == torch.autograd.DeviceType.CUDA and not event.name.startswith("Mem"):
                entry = kernels.setdefault(event.name, [0, 0])
                entry[0] += 1
                entry[1] += int(event.time_range.elapsed_us() * 1000)
    print(json.dumps({"loss": loss.item(), "kernels": kernels}))


main()
