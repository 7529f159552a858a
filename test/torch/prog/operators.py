# SPDX-License-Identifier: Apache-2.0
# Operators, each with inputs of its own sizes. usage: operators.py [OUT]: under PyTorch's own profiler, which
# writes rows of key_averages by name and shapes to OUT.
import json
import sys
import time

import torch
from torch.nn import functional as F

kept = []


def keep(tensor):
    """A pause before the next operator, and none is freed in it: the profiler joins memory to operators by time."""
    kept.append(tensor)
    time.sleep(0.0001)
    return tensor


def randn(*sizes):
    return keep(torch.randn(*sizes))


OPERATORS = [
    lambda: torch.mm(randn(20, 30), randn(30, 40)),
    lambda: randn(21, 30) @ randn(30, 40),
    lambda: torch.matmul(randn(2, 22, 30), randn(30, 40)),
    lambda: torch.matmul(randn(2, 5, 23, 30), randn(2, 5, 30, 40)),
    lambda: torch.addmm(randn(24, 40), randn(24, 30), randn(30, 40)),
    lambda: F.linear(randn(25, 30), randn(40, 30), randn(40)),
    lambda: F.linear(randn(2, 26, 30), randn(40, 30), randn(40)),
    lambda: F.linear(randn(27, 30), randn(40, 30)),
    lambda: torch.bmm(randn(5, 20, 30), randn(5, 30, 40)),
    lambda: torch.baddbmm(randn(5, 21, 40), randn(5, 21, 30), randn(5, 30, 40)),
    lambda: torch.einsum("bij,bjk->bik", randn(5, 22, 30), randn(5, 30, 40)),
    lambda: F.conv2d(randn(4, 3, 32, 32), randn(8, 3, 3, 3), randn(8)),
    lambda: F.conv2d(randn(4, 3, 32, 32), randn(9, 3, 3, 3), randn(9), padding=1),
    lambda: F.conv2d(randn(4, 3, 32, 32), randn(10, 3, 3, 3), stride=2, padding=1),
    lambda: F.conv2d(randn(4, 3, 31, 29), randn(11, 3, 5, 3), stride=(3, 2), padding=(2, 0)),
    lambda: F.conv2d(randn(4, 3, 32, 32), randn(12, 3, 3, 3), randn(12), dilation=2),
    lambda: F.conv2d(randn(4, 6, 16, 16), randn(12, 3, 3, 3), groups=2),
    lambda: F.conv2d(randn(4, 6, 17, 17), randn(6, 1, 3, 3), groups=6, padding=1),
    lambda: F.conv1d(randn(4, 3, 32), randn(8, 3, 3)),
    lambda: F.conv3d(randn(2, 3, 8, 8, 8), randn(4, 3, 3, 3, 3)),
    lambda: F.conv_transpose2d(randn(2, 3, 8, 8), randn(3, 4, 3, 3), stride=2),
    lambda: randn(20, 31) * randn(20, 31),
    lambda: randn(20, 32) * 3,
    lambda: randn(20, 33) + randn(20, 33),
    lambda: randn(20, 34) + 3,
    lambda: randn(20, 35) - randn(20, 35),
    lambda: randn(20, 36) / randn(20, 36),
    lambda: F.relu(randn(20, 37)),
    lambda: F.gelu(randn(20, 38)),
    lambda: torch.sigmoid(randn(20, 39)),
    lambda: F.softmax(randn(20, 41), -1),
    lambda: F.layer_norm(randn(20, 42), (42,)),
    lambda: F.batch_norm(randn(4, 3, 8, 8), torch.zeros(3), torch.ones(3)),
    lambda: F.max_pool2d(randn(4, 3, 9, 9), 2),
    lambda: F.embedding(torch.tensor([1, 2]), randn(10, 5)),
    lambda: torch.mv(randn(20, 43), randn(43)),
    lambda: torch.cat([randn(3, 7), randn(4, 7)]),
    lambda: randn(20, 44).sum(),
]


def run():
    for operator in OPERATORS:
        keep(operator())
        kept.clear()
        time.sleep(0.0001)


torch.set_num_threads(1)
if len(sys.argv) > 1:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True,
                                profile_memory=True, with_flops=True) as profile:
        run()
    rows = [{"name": row.key, "calls": row.count, "flops": row.flops,
             "memory": row.cpu_memory_usage, "self_memory": row.self_cpu_memory_usage}
            for row in profile.key_averages(group_by_input_shape=True)]
    with open(sys.argv[1], "w") as file:
        json.dump(rows, file)
else:
    run()
    print(len(OPERATORS))
