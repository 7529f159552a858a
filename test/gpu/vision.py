# SPDX-License-Identifier: Apache-2.0
"""vision.py WORKERS STEPS: trains ResNet-50 on random pictures that a data loader crops and flips, in as many
worker processes (0: in the training loop). Prints the mean time of a step in us, without the first third."""
import sys
import time

import numpy
import PIL.Image
import torch
import torchvision

BATCH = 64


class Pictures(torch.utils.data.Dataset):
    def __init__(self, number):
        self.number = number
        pixels = numpy.random.RandomState(0).randint(0, 255, (300, 300, 3), dtype=numpy.uint8)
        self.picture = PIL.Image.fromarray(pixels)
        self.change = torchvision.transforms.Compose([
            torchvision.transforms.RandomResizedCrop(224), torchvision.transforms.RandomHorizontalFlip(),
            torchvision.transforms.ToTensor(), torchvision.transforms.Normalize([.5] * 3, [.2] * 3)])

    def __len__(self):
        return self.number

    def __getitem__(self, index):
        return self.change(self.picture), index % 1000


def main():
    workers, steps = int(sys.argv[1]), int(sys.argv[2])
    torch.manual_seed(0)
    loader = torch.utils.data.DataLoader(Pictures(steps * BATCH), batch_size=BATCH, num_workers=workers,
                                         pin_memory=workers > 0)
    model = torchvision.models.resnet50().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss_of = torch.nn.CrossEntropyLoss()
    ends = []
    for pictures, labels in loader:
        pictures, labels = (x.cuda(non_blocking=workers > 0) for x in (pictures, labels))
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = loss_of(model(pictures), labels)
        loss.backward()
        optimizer.step()
        if not workers:
            loss.item()
        ends.append(time.perf_counter())
    torch.cuda.synchronize()
    first = len(ends) // 3
    print("%.0f" % ((time.perf_counter() - ends[first]) / (len(ends) - 1 - first) * 1e6))


main()
