# SPDX-License-Identifier: Apache-2.0
"""Loops as people write them: loops.py KIND ITERATIONS. It knows nothing of gprof."""

import sys
import time

import torch
from torch.nn.functional import mse_loss
from torch.optim import SGD, Adam
from torch.utils.data import DataLoader, TensorDataset

BATCH = 4


def sgd(model, loader, n):
    optimizer = SGD(model.parameters(), lr=0.01)
    for x, y in loader:
        optimizer.zero_grad()
        mse_loss(model(x), y).backward()
        optimizer.step()


def slow(model, loader, n):
    """Steps that are longer than a busy machine takes to wake the recorder's thread."""
    optimizer = SGD(model.parameters(), lr=0.01)
    for x, y in loader:
        optimizer.zero_grad()
        mse_loss(model(x), y).backward()
        optimizer.step()
        time.sleep(0.02)


def two_epochs(model, loader, n):
    optimizer = Adam(model.parameters(), lr=0.01)
    for _ in range(2):
        for x, y in loader:
            optimizer.zero_grad()
            mse_loss(model(x), y).backward()
            optimizer.step()
        with torch.no_grad():
            for x, y in loader:
                mse_loss(model(x), y)


def accumulate(model, loader, n):
    optimizer = Adam(model.parameters(), lr=0.01)
    for i, (x, y) in enumerate(loader):
        mse_loss(model(x), y).backward()
        if i % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()


def two_optimizers(model, loader, n):
    optimizers = [Adam([model.weight], lr=0.01), Adam([model.bias], lr=0.01)]
    for x, y in loader:
        mse_loss(model(x), y).backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()


def two_names(model, loader, n):
    optimizers = [Adam([model.weight], lr=0.01), SGD([model.bias], lr=0.01)]
    for _ in range(n):
        model(torch.randn(BATCH, 8)).sum().backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()


def gan(model, loader, n):
    """Two optimizers of the same name, which step in turn, and no loader."""
    generator = torch.nn.Linear(8, 8)
    optimizers = [Adam(model.parameters(), lr=0.01), Adam(generator.parameters(), lr=0.01)]
    for _ in range(n):
        noise = torch.randn(BATCH, 8)
        for optimizer, made in zip(optimizers, (generator(noise).detach(), generator(noise))):
            optimizer.zero_grad()
            model(made).mean().backward()
            optimizer.step()


def infer(model, loader, n):
    with torch.no_grad():
        for x, _ in loader:
            model(x)


def plain(model, loader, n):
    for _ in range(n):
        model(torch.randn(BATCH, 8))


def main():
    n = int(sys.argv[2])
    torch.manual_seed(1)
    data = TensorDataset(torch.randn(n * BATCH, 8), torch.randn(n * BATCH, 1))
    globals()[sys.argv[1]](torch.nn.Linear(8, 1), DataLoader(data, BATCH), n)
    print("done")


if __name__ == "__main__":
    main()
