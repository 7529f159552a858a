# SPDX-License-Identifier: Apache-2.0
"""Takes and gives back memory of the GPU in many sizes, then writes what torch.cuda.memory_stats() says: memory.py FILE."""
import json
import os
import random
import sys

import torch

random.seed(1)
kept = []
for _ in range(2000):
    if kept and random.random() < 0.45:
        kept.pop(random.randrange(len(kept)))
    else:
        kept.append(torch.empty(random.choice([1, 1000, 1 << 18, 3 << 20]), dtype=torch.uint8, device="cuda"))
stats = torch.cuda.memory_stats()
with open(sys.argv[1], "w") as out:
    json.dump({"allocations": stats["allocation.all.allocated"], "frees": stats["allocation.all.freed"],
               "allocated_bytes": torch.cuda.memory_allocated(), "reserved_bytes": torch.cuda.memory_reserved(),
               "peak_bytes": torch.cuda.max_memory_allocated()}, out)
# The interpreter would give the rest back as it ends.
os._exit(0)
