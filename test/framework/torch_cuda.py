# SPDX-License-Identifier: Apache-2.0
"""PyTorch for CUDA on the simulator: torch_cuda.py WHAT [PROFILE]. Prints what the host knows: steps, and the
allocator's statistics. With PROFILE, torch.profiler runs around all of it, and its kernels (number and ns), copies
and operators go to that file. cuDNN is off: convolutions are PyTorch's own."""
import ctypes
import json
import os
import sys

# It reads what kernels have computed. PyTorch's kernels are registered as it is imported.
if "scaled" in sys.argv:
    ctypes.CDLL("libkernels.so")

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
    x = torch.randn(4, 16, 64).cuda()

    def step():
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
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


def scaled():
    """The gradient scaler reads from the GPU, in each step, whether a gradient overflowed; one does, in the fourth."""
    model = two_layers()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler("cuda", growth_interval=2)
    x = torch.randn(32, 64).cuda()
    steps = iter(range(STEPS))

    def step():
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.float16):
            loss = model(x).square().mean()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        if next(steps) == 3:
            for found in scaler._found_inf_per_device(optimizer).values():
                found.copy_(torch.ones(()))
        scaler.step(optimizer)
        scaler.update()
        print("scale", scaler.get_scale())
    return step


class Decoder(nn.Module):
    """A decoder whose keys and values lie in pages of a cache, as in vLLM. It gives each sequence its next token."""
    LAYERS, HEADS, WIDTH, VOCABULARY, PAGE_TOKENS, PAGES, SEQUENCE_PAGES = 2, 4, 64, 128, 16, 64, 4

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(self.VOCABULARY, self.WIDTH)
        self.norms = nn.ModuleList(nn.LayerNorm(self.WIDTH) for _ in range(self.LAYERS))
        self.projections = nn.ModuleList(nn.Linear(self.WIDTH, 3 * self.WIDTH) for _ in range(self.LAYERS))
        self.outputs = nn.ModuleList(nn.Linear(self.WIDTH, self.WIDTH) for _ in range(self.LAYERS))
        self.head = nn.Linear(self.WIDTH, self.VOCABULARY)
        width = self.WIDTH // self.HEADS
        self.register_buffer("cache", torch.zeros(self.LAYERS, 2, self.PAGES, self.PAGE_TOKENS, self.HEADS, width))

    def attention(self, layer, x, slots, tables, lengths):
        n, (keys, values) = len(x), self.cache[layer]
        query, key, value = self.projections[layer](self.norms[layer](x)).view(n, 3, self.HEADS, -1).unbind(1)
        keys.flatten(0, 1).index_copy_(0, slots, key)
        values.flatten(0, 1).index_copy_(0, slots, value)
        keys, values = (pages[tables].flatten(1, 2).transpose(1, 2) for pages in (keys, values))
        scores = query.unsqueeze(2) @ keys.transpose(2, 3)
        after = torch.arange(scores.shape[-1], device=x.device) >= lengths.unsqueeze(1)
        scores = scores.masked_fill(after[:, None, None], float("-inf")).softmax(-1)
        return self.outputs[layer]((scores @ values).reshape(n, -1))

    def forward(self, tokens, slots, tables, lengths):
        x = self.embedding(tokens)
        for layer in range(self.LAYERS):
            x = x + self.attention(layer, x, slots, tables, lengths)
        odds = self.head(x).softmax(-1)
        return (odds / torch.empty_like(odds).exponential_()).argmax(-1)


def decode():
    """Sequences come and go; a step takes the graph of the next larger batch, and one copy brings the tokens back."""
    model, buckets = Decoder().cuda().requires_grad_(False), (8, 4, 2, 1)
    tokens, slots, lengths = (torch.zeros(buckets[0], dtype=torch.long).cuda() for _ in range(3))
    tables = torch.zeros(buckets[0], model.SEQUENCE_PAGES, dtype=torch.long).cuda()
    graphs, pool = {}, None
    for size in buckets:
        batch = [tensor[:size] for tensor in (tokens, slots, tables, lengths)]
        model(*batch)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            following = model(*batch)
        graphs[size], pool = (graph, following), graph.pool()
    arriving = iter((1, 2, 2, 0, 3, 0))
    free, sequences = list(range(model.PAGES)), []

    def step():
        sequences.extend({"length": 0, "pages": []} for _ in range(next(arriving)))
        for sequence in sequences:
            if sequence["length"] % model.PAGE_TOKENS == 0:
                sequence["pages"].append(free.pop())
            sequence["length"] += 1
        size = min(size for size in buckets if size >= len(sequences))
        graph, following = graphs[size]
        slots[:len(sequences)] = torch.tensor([s["pages"][-1] * model.PAGE_TOKENS + (s["length"] - 1) %
                                               model.PAGE_TOKENS for s in sequences])
        lengths[:len(sequences)] = torch.tensor([s["length"] for s in sequences])
        tables[:len(sequences), 0] = torch.tensor([s["pages"][0] for s in sequences])
        graph.replay()
        tokens[:size] = following
        print("sequences", len(sequences), "batch", size, "tokens", len(following.tolist()))
        for sequence in [s for s in sequences if s["length"] == 3]:
            free.extend(sequence["pages"])
            sequences.remove(sequence)
    return step


def linear_step(model, optimizer):
    x = torch.randn(32, 64).cuda()

    def step():
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
    return step


def two_layers():
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 8)).cuda()


def ddp():
    model = nn.parallel.DistributedDataParallel(two_layers())
    return linear_step(model, torch.optim.SGD(model.parameters(), lr=0.01))


def fsdp():
    from torch.distributed.fsdp import fully_shard
    model = two_layers()
    for layer in (model[0], model[2]):
        fully_shard(layer)
    fully_shard(model)
    return linear_step(model, torch.optim.AdamW(model.parameters(), lr=0.01, foreach=False))


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
