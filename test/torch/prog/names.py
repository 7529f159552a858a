# SPDX-License-Identifier: Apache-2.0
# Names that are long, many, and strange.
import torch

record = torch.autograd.profiler.record_function
for name in ("x" * 10000, "tab\there\nline\x1b[31m", "", "\u00e9\u4e2d"):
    with record(name):
        torch.ones(1)
for number in range(100000):
    with record("name %d" % number):
        pass
torch.zeros(1).asin()
print("done")
