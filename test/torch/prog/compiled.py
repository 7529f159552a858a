# SPDX-License-Identifier: Apache-2.0
# torch.compile with its own backend, which calls a C++ compiler, in processes of its own too.
import torch
from torch import nn

torch.manual_seed(1)
torch.set_num_threads(1)
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


@torch.compile
def loss_of(x):
    return (net(x).softmax(-1) - 0.5).square().sum()


loss_of(torch.randn(2, 8)).backward()
for step in range(5):
    optimizer.zero_grad()
    loss = loss_of(torch.randn(2, 8))
    loss.backward()
    optimizer.step()
    for name, weight in net.named_parameters():
        weight.detach().square().sum().sqrt()
    print(step, "%.4f" % loss.item())
