# SPDX-License-Identifier: Apache-2.0
# Operators from known places: lines with a mark are where the stacks must come from.
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return torch.mm(x, x)  # aten::mm


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
with torch.autograd.profiler.record_function("range"):
    y = (Twice.apply(y)
         .sum())  # aten::sum
y.backward()
with torch.profiler.profile() as profile:
    net(x).exp()  # aten::exp
print(sorted((event.key, event.count) for event in profile.key_averages() if event.key.startswith("aten")))
