# SPDX-License-Identifier: Apache-2.0
# An exception in the middle of the third step, in operators that have begun, ends the program.
import torch
from torch import nn

torch.manual_seed(1)
torch.set_num_threads(1)
net = nn.Linear(4, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    with torch.autograd.profiler.record_function("my step"):
        loss = net(torch.randn(2, 4 + step // 2)).square().sum()
        loss.backward()
    optimizer.step()
