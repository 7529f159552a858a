# SPDX-License-Identifier: Apache-2.0
# A training loop on the CPU whose parts can be changed: whatif.py SLEEP_MS NR. A batch takes SLEEP_MS in the loader; NR
# products of matrices run beside the model, in one operator. Prints the median time of a step, ns.
import statistics
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

sleep_s, nr = float(sys.argv[1]) / 1e3, int(sys.argv[2])
torch.set_num_threads(1)
torch.manual_seed(1)


class Slow(Dataset):
    def __len__(self):
        return 30

    def __getitem__(self, i):
        time.sleep(sleep_s)
        return torch.ones(64)


model = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
a = torch.ones(nr, 256, 256)
begins = []
for batch in DataLoader(Slow(), batch_size=1):
    begins.append(time.perf_counter_ns())
    product = torch.bmm(a, a).sum() * 0
    loss = model(batch.repeat(512, 1)).sum() + product
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
steps = [end - begin for begin, end in zip(begins[5:], begins[6:])]
print(int(statistics.median(steps)))
