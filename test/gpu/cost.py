# SPDX-License-Identifier: Apache-2.0
"""What a training step costs under each of several environments: cost.py --seconds N [--cases NAME,NAME] < LIST, where a
line of LIST is "name|VARIABLE=VALUE ...". Each environment has a process that imports PyTorch once; a measurement is a
child of it, forked before CUDA is initialised, and all of them take turns until the seconds are over, in another order
each round. PROFILE=1 in an environment has torch.profiler run. Prints, for each network and environment, the minimum and
the median over rounds of the median step, and the paired difference from the first line."""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time


def small():
    import torch
    net = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 256)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    x = torch.randn(64, 256, device="cuda")

    def step():
        optimizer.zero_grad()
        ((net(x) - x) ** 2).mean().backward()
        optimizer.step()
    return step


def small_graph():
    """The same as one CUDA graph."""
    import torch
    step = small()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(5):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        step()
    return graph.replay


def gpt():
    """A GPT of 12 layers in bf16 whose kernels are short, so that the host is what a step waits for."""
    import torch
    from torch.nn import functional
    width, heads, layers, vocabulary = 768, 12, 12, 32000

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
            self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
            self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

        def forward(self, x):
            batch, length, _ = x.shape
            q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
            return x + self.down(functional.gelu(self.up(self.norm2(x))))

    net = torch.nn.Sequential(torch.nn.Embedding(vocabulary, width), *[Block() for _ in range(layers)],
                              torch.nn.Linear(width, vocabulary)).cuda()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, fused=True)
    ids = torch.randint(vocabulary, (4, 256), device="cuda")

    def step():
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.bfloat16):
            loss = functional.cross_entropy(net(ids).flatten(0, 1), ids.flatten())
        loss.backward()
        optimizer.step()
    return step


def resnet50():
    import torch
    import torchvision
    net = torchvision.models.resnet50().cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    x = torch.randn(64, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
    y = torch.randint(1000, (64,), device="cuda")

    def step():
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
    return step


# The network, and how many steps are measured.
CASES = {"small": (small, 400), "small-graph": (small_graph, 400), "gpt": (gpt, 25), "resnet50": (resnet50, 20)}


def times_us(step, nr):
    import torch
    result = []
    for _ in range(nr):
        begin = time.perf_counter_ns()
        step()
        torch.cuda.synchronize()
        result.append((time.perf_counter_ns() - begin) / 1e3)
    return result


def measure(case):
    import torch
    make, nr = CASES[case]
    step = make()
    times_us(step, 5 + nr // 10)
    if os.environ.get("PROFILE"):
        kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=kinds) as profiler:
            profiler.stop = profiler.profiler.stop_trace = lambda *_: None  # what it does afterwards is no step
            return statistics.median(times_us(step, nr))
    return statistics.median(times_us(step, nr))


def serve():
    import torch  # noqa: F401
    print("ready", flush=True)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            try:
                result = measure(line.strip())
            except Exception as error:  # no torchvision, say
                result = str(error)[:100]
            print("result", json.dumps(result), flush=True)
            os._exit(0) if os.environ.get("PROFILE") else sys.exit(0)
        os.waitpid(child, 0)


def start(environment):
    process = subprocess.Popen([sys.executable, __file__, "--serve"], env={**os.environ, **environment},
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return process


def ask(server, case):
    server.stdin.write(case + "\n")
    server.stdin.flush()
    for line in server.stdout:
        if line.startswith("result "):
            return json.loads(line.split(" ", 1)[1])
    return "it has ended"


def report(case, results):
    base = results[0][1]
    for name, values in results:
        if not values:
            continue
        pairs = sorted(b / a - 1 for a, b in zip(base, values))
        print(f"        {case:12s} {name:28s} minimum {min(values):9.1f} us {100 * (min(values) / min(base) - 1):+6.1f} %   "
              f"median {statistics.median(values):9.1f} us, of pairs {100 * pairs[len(pairs) // 2]:+6.1f} %   n={len(values)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--seconds", type=float, default=100)
    parser.add_argument("--cases", default="small,small-graph,gpt,resnet50")
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    lines = [line.rstrip("\n").split("|", 1) for line in sys.stdin if "|" in line]
    servers = [start(dict(word.split("=", 1) for word in environment.split())) for _, environment in lines]
    for server in servers:
        server.stdout.readline()
    end = time.monotonic() + options.seconds
    cases = options.cases.split(",")
    results = {case: [(name, []) for name, _ in lines] for case in cases}
    order, generator, errors = list(range(len(lines))), random.Random(1), set()
    last = 0.0
    while time.monotonic() + last < end:
        begin = time.monotonic()
        for case in cases:
            generator.shuffle(order)
            for i in order:
                value = ask(servers[i], case)
                if isinstance(value, float):
                    results[case][i][1].append(value)
                elif (lines[i][0], case) not in errors:
                    errors.add((lines[i][0], case))
                    print(f"        {lines[i][0]}, {case}: {value!r}")
        last = time.monotonic() - begin
    for case in cases:
        report(case, results[case])
    for server in servers:
        server.stdin.close()
        server.wait()


main()
