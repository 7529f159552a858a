# SPDX-License-Identifier: Apache-2.0
"""Modules of PyTorch in all the places that programs have them: prints what they compute.

usage: module_names.py [WANT]    WANT: writes there which modules are called, by hooks of PyTorch: JSON, a list of [class of
the outermost one, class, names, how many are around it, calls]; names: all that named_modules() has for it, of the outermost
module or of the nearest one around it that the outermost one does not have; none for these
"""
import collections
import json
import sys

import torch
from torch import nn

torch.manual_seed(1)
calls, around = collections.Counter(), []


class Block(nn.Module):
    def __init__(self, size, shared):
        super().__init__()
        self.ln_1 = nn.LayerNorm(size)
        self.attn = nn.ModuleDict({"c_attn": nn.Linear(size, size), "drop": nn.Dropout(0.0)})
        self.mlp = nn.Sequential(collections.OrderedDict(up=nn.Linear(size, 2 * size), act=nn.ReLU(), down=nn.Linear(2 * size, size)))
        self.shared = shared

    def forward(self, x):
        return x + self.mlp(self.shared(self.attn["drop"](self.attn["c_attn"](self.ln_1(x)))))


class Decoder(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.out = nn.Linear(size, size)
        self.loose = [nn.Linear(size, size)]  # named_modules() does not know it
        self.head = None

    def forward(self, x, embed):
        self.head = nn.Linear(x.shape[1], 3)  # made in each call
        scratch = nn.Sequential(nn.Linear(x.shape[1], x.shape[1]), nn.Tanh())  # and in no place
        return self.head(self.loose[0](scratch(self.out(embed(x)))))


class Net(nn.Module):
    def __init__(self, size=8):
        super().__init__()
        self.encoder = nn.Module()
        self.encoder.embed = nn.Linear(size, size)
        shared = nn.Identity()
        self.transformer = nn.ModuleDict({"h": nn.ModuleList(Block(size, shared) for _ in range(3))})
        self.decoder = Decoder(size)

    def forward(self, x):
        x = self.encoder.embed(x)
        for block in self.transformer.h:
            x = block(x)
        return self.decoder(x, self.encoder.embed)  # an argument


class Wrapper(nn.Module):
    """As DataParallel and others wrap a model."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *inputs):
        return self.module(*inputs)


def names_in(outer, module):
    return sorted(name for name, each in outer.named_modules(remove_duplicate=False) if each is module)


def before(module, inputs):
    around.append(module)
    base = around[0]
    for each in around[1:]:
        base = base if names_in(base, each) else each
    calls[type(around[0]).__name__, type(module).__name__, " ".join(names_in(base, module)), len(around)] += 1


def after(module, inputs, output):
    around.pop()


if sys.argv[1:]:
    nn.modules.module.register_module_forward_pre_hook(before)
    nn.modules.module.register_module_forward_hook(after)

x = torch.ones(2, 8)
net = Net()
loss_of = nn.MSELoss()
for _ in range(4):
    y = net(x)
    loss_of(y, torch.zeros(2, 3)).backward()
net.transformer.h[1](x)  # a part by itself
wrapped = Wrapper(Net())
for _ in range(2):
    wrapped(x)
print("%.6f" % float(wrapped(x).sum() + y.sum()), sum(1 for _ in wrapped.named_modules()), sorted(vars(wrapped.module)))
for size in range(2, 5):  # models that are freed, mostly at the same addresses
    model = nn.Sequential(nn.Sequential(nn.Linear(8, size)), nn.Linear(size, size), nn.Linear(size, 1))
    model = nn.Sequential(model) if size == 3 else model
    print("%.6f" % float(model(x).sum()))
    del model
if sys.argv[1:]:
    with open(sys.argv[1], "w") as file:
        json.dump([[*key, nr] for key, nr in calls.items()], file)
