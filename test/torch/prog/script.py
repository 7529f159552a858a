# SPDX-License-Identifier: Apache-2.0
# TorchScript, and torch.compile where there is one.
import torch
from torch import nn


@torch.jit.script
def gate(x, w):
    for _ in range(3):
        x = torch.sigmoid(x @ w) * x
    return x


torch.manual_seed(1)
torch.set_num_threads(1)
w = nn.Parameter(torch.randn(6, 6))
optimizer = torch.optim.SGD([w], lr=0.1)


def loss_of(x):
    return (torch.tanh(x @ w) - 0.5).square().sum()


if hasattr(torch, "compile"):
    try:
        loss_of = torch.compile(loss_of, backend="aot_eager")
        loss_of(torch.randn(2, 6))
    except RuntimeError:
        print("no torch.compile here")
for step in range(4):
    optimizer.zero_grad()
    loss = gate(torch.randn(2, 6), w).sum() + loss_of(torch.randn(2, 6))
    loss.backward()
    optimizer.step()
    print(step, "%.4f" % loss.item())
