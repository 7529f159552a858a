# SPDX-License-Identifier: Apache-2.0
# Operators from known places: lines with a mark are where the stacks must come from.
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return torch.mm(x, x)  # aten::mm


class Outer(torch.nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.parts = torch.nn.ModuleList([torch.nn.ModuleDict({"relu": torch.nn.ReLU()})])

    def forward(self, x):
        try:
            return self.parts[0]["relu"](self.net(x) + self.net(x))
        except KeyError:
            return x


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x.mul(2)  # aten::mul

    @staticmethod
    def backward(context, gradient):
        return gradient.neg()  # aten::neg


net = Net()
x = torch.ones(4, 4, requires_grad=True)  # aten::ones
for _ in range(3):
    y = net(x)
outer = Outer(net)
for _ in range(2):
    outer(x)
with torch.autograd.profiler.record_function("range"):
    y = (Twice.apply(y)
         .sum())  # aten::sum
y.backward()
with torch.profiler.profile() as profile:
    net(x).exp()  # aten::exp
with torch.profiler.profile(with_stack=True) as stacks:
    torch.add(x, x)
print(any("torch_places" in line for event in stacks.events() for line in event.stack))
print(sorted((event.key, event.count) for event in profile.key_averages() if event.key.startswith("aten")))
