# SPDX-License-Identifier: Apache-2.0
# An optimizer that makes no step.
import torch

weight = torch.nn.Parameter(torch.zeros(2))
optimizer = torch.optim.SGD([weight], lr=0.1)
print("done")
