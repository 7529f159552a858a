# SPDX-License-Identifier: Apache-2.0
# usage: torch_deep.py DEPTH... A module is called that deep in Python's calls, behind a recursion without one.
import sys

import torch

net = torch.nn.Linear(2, 2)
x = torch.ones(1, 2)


def deep(n, call):
    return deep(n - 1, call) if n else call()


net(x)
deep(900, lambda: torch.neg(x))
for depth in sys.argv[1:]:
    deep(int(depth), lambda: net(x))
print("done")
