# SPDX-License-Identifier: Apache-2.0
# A small training on the CPU. usage: memory.py MODEL OPTIMIZER [OUT]: under PyTorch's own profiler, which writes the
# bytes in use by category at its peak and at the end of each step to OUT.
import json
import sys

import torch
from torch import nn

STEPS = 5
MARK = "end of a step"


class Block(nn.Module):
    """A transformer block over tokens."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(300, 64)
        self.block = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
        self.head = nn.Linear(64, 300)

    def forward(self, x):
        return self.head(self.block(self.tokens(x))).flatten(0, 1)


def cnn():
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 64, 10))
    return model, lambda: (torch.randn(8, 3, 16, 16), torch.randint(10, (8,)))


def transformer():
    return Block(), lambda: (torch.randint(300, (4, 32)), torch.randint(300, (4 * 32,)))


def train(model, optimizer, batch, mark):
    for step in range(STEPS):
        x, y = batch()
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        mark(step)


def by_category(profile):
    """After each event with its time, bytes by category; and when each step ended."""
    from torch.profiler._memory_profiler import Action
    memory = profile._memory_profile()
    categories = memory._categories
    marks = sorted(event.start_time_ns for event in memory._op_tree.dfs() if event.name == MARK)
    used, states = {}, []

    def add(key, version, bytes_):
        category = categories.get(key, version) if hasattr(key, "id") else None
        name = category.name.lower() if category else "unknown"
        used[name] = used.get(name, 0) + bytes_

    for time, action, (key, version), bytes_ in memory.timeline:
        if action in (Action.PREEXISTING, Action.CREATE):
            add(key, version, bytes_)
        elif action == Action.DESTROY:
            add(key, version, -bytes_)
        else:
            add(key, version, -bytes_)
            add(key, version + 1, bytes_)
        states.append((time, dict(used)))
    return states, marks


def write(profile, out):
    states, marks = by_category(profile)
    peak = max(states, key=lambda state: sum(state[1].values()))
    ends = [[used for time, used in states if time <= mark][-1] for mark in marks]
    with open(out, "w") as file:
        json.dump({"peak": peak[1], "ends": ends}, file)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model, batch = {"cnn": cnn, "transformer": transformer}[sys.argv[1]]()
    optimizer = {"sgd": lambda of: torch.optim.SGD(of, lr=0.01),
                 "momentum": lambda of: torch.optim.SGD(of, lr=0.01, momentum=0.9),
                 "adam": lambda of: torch.optim.Adam(of)}[sys.argv[2]](model.parameters())
    if len(sys.argv) < 4:
        train(model, optimizer, batch, lambda step: None)
        print("done")
        return

    def mark(step):
        with torch.profiler.record_function(MARK):
            pass

    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True, record_shapes=True,
                                with_stack=True) as profile:
        train(model, optimizer, batch, mark)
    write(profile, sys.argv[3])


main()
