# SPDX-License-Identifier: Apache-2.0
# A DataLoader. usage: loader.py WORKERS fork|spawn
import sys

import torch
from torch import nn


class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        x = torch.full((4,), float(index))
        return x, (x * x).sum()


def main(workers, context):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    net = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-5)
    loader = torch.utils.data.DataLoader(Squares(), batch_size=4, num_workers=workers,
                                         multiprocessing_context=context if workers else None)
    for epoch in range(2):
        for x, y in loader:
            optimizer.zero_grad()
            loss = (net(x)[:, 0] - y).square().mean()
            loss.backward()
            optimizer.step()
        print(epoch, "%.4f" % loss.item())


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
