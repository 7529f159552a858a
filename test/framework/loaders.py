# SPDX-License-Identifier: Apache-2.0
"""loaders.py webdataset|datasets FOLDER: a training that waits for a worker of that library, with images that Pillow decodes, or
texts. The worker leaves in FOLDER/share how much of its CPU time the function of this file took, by its own clock, in percent.
"""
import io
import os
import sys
import tarfile
import time

import torch
from torch.utils.data import DataLoader

kind, folder = sys.argv[1:3]
STEPS, BATCH, SIDE = 20, 8, 64
first, own = None, 0.0


def measured(function):
    """Calls of the function, with what they take of the worker's CPU time since the first one."""
    def call(*arguments):
        global first, own
        begin = time.thread_time()
        first = begin if first is None else first
        result = function(*arguments)
        end = time.thread_time()
        own += end - begin
        with open(os.path.join(folder, "share"), "w") as file:
            file.write(f"{100 * own / (end - first):.1f}")
        return result
    return call


def shards():
    """A file of JPEG images, which compress badly."""
    from PIL import Image

    path, noise = os.path.join(folder, "images.tar"), torch.randint(0, 255, (900, 900, 3), dtype=torch.uint8).numpy()
    with tarfile.open(path, "w") as tar:
        for i in range(40):
            out = io.BytesIO()
            Image.fromarray(noise).rotate(i).save(out, "JPEG", quality=95)
            for name, data in (f"{i:03}.jpg", out.getvalue()), (f"{i:03}.cls", b"%d" % (i % 10)):
                info = tarfile.TarInfo(name)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    return path


@measured
def shrink(image):
    return torch.frombuffer(bytearray(image.resize((SIDE, SIDE)).tobytes()), dtype=torch.uint8).float()


@measured
def tokenize(batch):
    rows = []
    for text in batch["text"]:
        counts = [0] * 3 * SIDE * SIDE
        for turn in range(150):
            for c in text:
                counts[(ord(c) * 31 + turn) % 256] += 1
        rows.append(counts)
    return {"x": torch.tensor(rows, dtype=torch.float32), "y": torch.tensor(batch["label"])}


def batches():
    if kind == "webdataset":
        import webdataset

        images = webdataset.WebDataset(shards(), shardshuffle=False, empty_check=False).decode("pil").to_tuple("jpg", "cls")
        images = images.map_tuple(shrink, lambda y: y).repeat(100).batched(BATCH, partial=False)
        yield from DataLoader(images, batch_size=None, num_workers=1)
    import datasets

    texts = datasets.Dataset.from_dict({"text": ["some words of a text " * 30] * BATCH * STEPS, "label": [i % 10 for i in range(BATCH * STEPS)]})
    texts.set_transform(tokenize)
    for batch in DataLoader(texts, batch_size=BATCH, num_workers=1):
        yield batch["x"], batch["y"]


model = torch.nn.Linear(3 * SIDE * SIDE, 10)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
for step, (x, y) in enumerate(batches()):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), torch.as_tensor(y)).backward()
    optimizer.step()
    if step == STEPS - 1:
        break
print(STEPS, "steps")
