# SPDX-License-Identifier: Apache-2.0
# A convolutional net and SGD; ranges of the user's own; an exception in the middle of a step.
import torch
from torch import nn

torch.manual_seed(1)
torch.set_num_threads(1)
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(),
                    nn.Linear(8 * 14 * 14, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
for step in range(5):
    optimizer.zero_grad()
    with torch.autograd.profiler.record_function("my forward"):
        x = torch.randn(4, 3, 16, 16)
        with torch.autograd.profiler.record_function("inner, \"quoted\""):
            loss = nn.functional.cross_entropy(net(x), torch.randint(10, (4,)))
    try:
        with torch.autograd.profiler.record_function("fails"):
            torch.randn(2, 3) @ torch.randn(2, 3)
    except RuntimeError:
        pass
    loss.backward()
    optimizer.step()
    print(step, "%.4f" % loss.item())
