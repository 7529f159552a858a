# SPDX-License-Identifier: Apache-2.0
"""Trains a small network on the GPU for --steps steps and prints the losses. An NVTX range "step"
stands around each, the range "measured" around those from --from on, and so does torch.profiler with
--profile FILE, which gets kernels and operators by name. --elementwise: a network without a matrix
product, for a CUDA that has no cuBLAS. --spin S: matrix products for so long at first, so that the
GPU's clocks are up."""
import argparse
import json
import re
import time

import torch


class Scale(torch.nn.Module):
    """Elementwise: weight and bias for every feature."""

    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(width))
        self.bias = torch.nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return torch.tanh(x * self.weight + self.bias)


def network(is_elementwise, width):
    if is_elementwise:
        return torch.nn.Sequential(Scale(width), Scale(width), Scale(width))
    return torch.nn.Sequential(torch.nn.Linear(width, 4 * width), torch.nn.ReLU(), torch.nn.Linear(4 * width, width))


def train_step(model, optimizer, x, target):
    optimizer.zero_grad()
    loss = ((model(x) - target) ** 2).mean()
    loss.backward()
    optimizer.step()
    return loss


def write_profile(profiler, path):
    kernels, operators = {}, {}
    for event in profiler.events():
        if event.device_type != torch.autograd.DeviceType.CPU:
            if not re.match("Mem(cpy|set)|.* Sync$", event.name) and not getattr(event, "is_user_annotation", False):
                entry = kernels.setdefault(event.name, [0, 0])
                entry[0] += 1
                entry[1] += int(event.time_range.elapsed_us() * 1000)
    # As they were recorded: events() leaves out an operator that is the only one within its namesake.
    for event in profiler.profiler.kineto_results.events():
        if event.device_type() == torch.autograd.DeviceType.CPU:
            operators[event.name()] = operators.get(event.name(), 0) + 1
    # Ranges of the host are shown on the device's side too; no kernel has their names.
    for name in set(kernels) & set(operators):
        del kernels[name]
    with open(path, "w") as file:
        json.dump({"kernels": kernels, "operators": operators}, file)


def batches(options, data):
    if not options.workers:
        for _ in range(options.steps):
            yield data
        return
    dataset = torch.utils.data.TensorDataset(torch.randn(options.steps * 64, options.width))
    for (x,) in torch.utils.data.DataLoader(dataset, batch_size=64, num_workers=options.workers):
        yield x.cuda()


def spin(seconds):
    end = time.monotonic() + seconds
    x = torch.rand(4096, 4096, device="cuda")
    while time.monotonic() < end:
        x = torch.tanh(x @ x)
        torch.cuda.synchronize()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--to", type=int, default=0)
    parser.add_argument("--profile", default="")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--elementwise", action="store_true")
    parser.add_argument("--times", default="")
    parser.add_argument("--spin", type=float, default=0)
    options = parser.parse_args()
    torch.manual_seed(1)
    model = network(options.elementwise, options.width).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = torch.randn(64, options.width).cuda()
    profiler = measured = None
    if options.spin:
        spin(options.spin)
    times = []
    for step, x in enumerate(batches(options, data)):
        if step == options.first:
            torch.cuda.synchronize()
            if options.profile:
                profiler = torch.profiler.profile(
                    activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA])
                profiler.start()
            measured = torch.profiler.record_function("measured")
            measured.__enter__()
        if options.to and step == options.to:
            measured.__exit__(None, None, None)
            profiler.stop()
            measured = None
        begin = time.perf_counter()
        torch.cuda.nvtx.range_push("step")
        loss = train_step(model, optimizer, x, torch.zeros_like(x))
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()
        times.append(time.perf_counter() - begin)
        print("%.6f" % loss.item())
    if measured:
        torch.cuda.synchronize()
        measured.__exit__(None, None, None)
        if profiler:
            profiler.stop()
    if profiler:
        write_profile(profiler, options.profile)
    if options.times:
        with open(options.times, "w") as file:
            file.write("%.3f\n" % (1e6 * sorted(times)[len(times) // 2]))


main()
