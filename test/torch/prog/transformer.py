# SPDX-License-Identifier: Apache-2.0
# A small transformer with activation checkpointing, two optimizers, two backwards a step.
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(1)
torch.set_num_threads(1)
embed = nn.Embedding(50, 32)
layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0)
head = nn.Linear(32, 50)
first = torch.optim.AdamW(layer.parameters(), lr=1e-3)
second = torch.optim.SGD([*embed.parameters(), *head.parameters()], lr=1e-2)
for step in range(4):
    words = torch.randint(50, (2, 12))
    hidden = checkpoint(layer, embed(words), use_reentrant=False)
    loss = nn.functional.cross_entropy(head(hidden).flatten(0, 1), words.flatten())
    loss.backward(retain_graph=True)
    hidden.square().mean().backward()
    for optimizer in (first, second):
        optimizer.step()
        optimizer.zero_grad()
    print(step, "%.4f" % loss.item())
