# SPDX-License-Identifier: Apache-2.0
"""What a training step costs under each of several environments: cost.py --seconds N [--cases NAME,NAME] [--rounds N]
< LIST, where a line of LIST is "name|VARIABLE=VALUE ...". Each environment has a process that imports PyTorch once. For
each network it forks a child, before CUDA is initialised, which makes the network, warms it up, and measures some steps
whenever it is asked. The children of a network take turns, in another order each round. After the last network new
children begin again, as long as there is time: one process as a whole is slower than another. PROFILE=1 in an environment has torch.profiler run.
Prints, for each network and environment, the minimum and the median of the median steps of all rounds, and how they
differ from the first line's in the same round: median and quartiles. SIGTERM ends it with what was measured by then."""
import argparse
import json
import os
import random
import signal
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


def gpt(is_compiled=False):
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
    forward = torch.compile(net) if is_compiled else net

    def step():
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.bfloat16):
            loss = functional.cross_entropy(forward(ids).flatten(0, 1), ids.flatten())
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


# The network, and how many steps a measurement has.
CASES = {"small": (small, 400), "small-graph": (small_graph, 400), "gpt": (gpt, 25), "resnet50": (resnet50, 20),
         "gpt-compiled": (lambda: gpt(True), 25)}


def median_us(step, nr):
    import torch
    result = []
    for _ in range(nr):
        begin = time.perf_counter_ns()
        step()
        torch.cuda.synchronize()
        result.append((time.perf_counter_ns() - begin) / 1e3)
    return statistics.median(result)


def answer(value):
    print("result", json.dumps(value), flush=True)


def measure(case):
    """In a child: the network, and then a measurement for each line but the last."""
    import torch
    make, nr = CASES[case]
    step = make()
    median_us(step, 5 + nr // 10)
    if os.environ.get("PROFILE"):
        kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        profiler = torch.profiler.profile(activities=kinds)
        profiler.start()  # and never stops: what it does then is no step
    answer(True)
    while sys.stdin.readline() == "measure\n":
        answer(median_us(step, nr))


def serve():
    import torch  # noqa: F401
    answer(True)
    while case := sys.stdin.readline().strip():
        child = os.fork()
        if not child:
            try:
                measure(case)
            except Exception as error:  # no torchvision, say
                answer(str(error)[:100])
            answer(None)
            os._exit(0) if os.environ.get("PROFILE") else sys.exit(0)
        os.waitpid(child, 0)


class Environment:
    """Its process, which is asked and answers in turns."""

    def __init__(self, name, variables):
        self.name = name
        self.process = subprocess.Popen([sys.executable, __file__, "--serve"], env={**os.environ, **variables},
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def get(self):
        for line in self.process.stdout:
            if line.startswith("result "):
                return json.loads(line.split(" ", 1)[1])
        raise EOFError(f"the process of {self.name!r} has ended")


def begin_case(case, environments, problems):
    """Returns the environments whose children are ready. All begin at once: none is measured yet."""
    for environment in environments:
        environment.ask(case)
    ready = []
    for environment in environments:
        value = environment.get()
        if value is True:
            ready.append(environment)
        else:
            problems.add(f"{environment.name}, {case}: {value}")
            environment.get()
    return ready


def end_case(environments):
    for environment in environments:
        environment.ask("end")
        environment.get()


def run_case(case, environments, results, problems, nr_rounds):
    ready = begin_case(case, environments, problems)
    for _ in range(nr_rounds):
        values = {}
        for environment in random.sample(ready, len(ready)):
            environment.ask("measure")
            value = environment.get()
            if isinstance(value, float):
                values[environment.name] = value
            else:
                problems.add(f"{environment.name}, {case}: {value}")
                environment.get()
                ready.remove(environment)
        results[case].append(values)
    end_case(ready)


def run(options, environments, results, problems):
    end = time.monotonic() + options.seconds
    lasted, is_first = {}, True
    while True:
        for case in results:
            begin = time.monotonic()
            if begin + lasted.get(case, 0) > end:
                return
            if is_first and case == "gpt-compiled":
                end_case(begin_case(case, environments[:1], problems))  # the others find it in the compiler's cache
                begin = time.monotonic()
            run_case(case, environments, results, problems, options.rounds)
            lasted[case] = time.monotonic() - begin
        is_first = False


def report(case, rounds, names):
    for name in names:
        values = [values[name] for values in rounds if name in values]
        pairs = [100 * (values[name] / values[names[0]] - 1) for values in rounds if name in values and names[0] in values]
        if len(values) < 2 or len(pairs) < 2:
            continue
        quartiles = statistics.quantiles(pairs, n=4, method="inclusive")
        print(f"        {case:12s} {name:38s} minimum {min(values):9.1f} us   median {statistics.median(values):9.1f} us, "
              f"of pairs {quartiles[1]:+6.1f} % ({quartiles[0]:+.1f} to {quartiles[2]:+.1f})   n={len(values)}")


def stop(*_):
    raise SystemExit("cost.py: SIGTERM")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--seconds", type=float, default=100)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    signal.signal(signal.SIGTERM, stop)
    lines = [line.rstrip("\n").split("|", 1) for line in sys.stdin if "|" in line]
    environments = [Environment(name, dict(word.split("=", 1) for word in variables.split())) for name, variables in lines]
    results, problems = {case: [] for case in options.cases.split(",")}, set()
    try:
        for environment in environments:
            environment.get()
        run(options, environments, results, problems)
    finally:
        for case, rounds in results.items():
            report(case, rounds, [name for name, _ in lines])
        for problem in sorted(problems):
            print("        " + problem)
        sys.stdout.flush()
        for environment in environments:
            environment.process.stdin.close()
        for environment in environments:
            try:
                environment.process.wait(30)
            except subprocess.TimeoutExpired:
                environment.process.kill()


main()
