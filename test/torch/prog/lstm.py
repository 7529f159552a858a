# SPDX-License-Identifier: Apache-2.0
# An LSTM and Adam, the gradients of three batches to a step.
import torch
from torch import nn

torch.manual_seed(1)
torch.set_num_threads(1)
lstm, head = nn.LSTM(8, 16, num_layers=2), nn.Linear(16, 4)
optimizer = torch.optim.Adam([*lstm.parameters(), *head.parameters()])
for step in range(4):
    optimizer.zero_grad()
    for _ in range(3):
        out, _ = lstm(torch.randn(7, 3, 8))
        loss = head(out[-1]).square().mean()
        (loss / 3).backward()
    optimizer.step()
    print(step, "%.4f" % loss.item())
