# SPDX-License-Identifier: Apache-2.0
"""compiled.py FOLDER: runs a module that looks like those of torch.compile, with kernels of Python's own, for a second.

compiled.py FOLDER torch: its library is PyTorch's. compiled.py FOLDER gone: the module's file is removed first."""
import os
import sys
import time

MODULE = '''# AOT ID: ['0_forward']
import time

class Kernel:
    def run(self, *args, stream):
        end = time.perf_counter() + 0.001
        while time.perf_counter() < end:
            pass

class Library:
    def mm(self, a, b, out):
        end = time.perf_counter() + 0.001
        while time.perf_counter() < end:
            pass

extern_kernels = Library()


# kernel path: /nowhere/k.py
# Topologically Sorted Source Nodes: [h, h_1], Original ATen: [aten.add, aten.relu]
# Source node to ATen node mapping:
#   h => add
triton_poi_fused_add_relu_0 = Kernel()


def call(args):
    a, b, c = args
    args.clear()
    # Topologically Sorted Source Nodes: [h, h_1], Original ATen: [aten.add, aten.relu]
    stream0 = 0
    triton_poi_fused_add_relu_0.run(a, b, 10, stream=stream0) # LINE fused
    del b
    # Topologically Sorted Source Nodes: [y], Original ATen: [aten.mm]
    extern_kernels.mm(a, a, out=c) # LINE mm
    return (c, )
'''

path = os.path.join(sys.argv[1], "2u", "c2uio5agy6zf3faddgdmtmmahogsytx7pojobedoblrtu6wecsqf.py")
os.makedirs(os.path.dirname(path), exist_ok=True)
with open(path, "w") as file:
    file.write(MODULE)
module = {}
exec(compile(MODULE, path, "exec", dont_inherit=True), module)
a = b = c = None
if sys.argv[2:] == ["torch"]:
    import torch

    module["extern_kernels"] = torch
    a = c = torch.ones(4, 4)
if sys.argv[2:] == ["gone"]:
    os.remove(path)
end = time.perf_counter() + 1
while time.perf_counter() < end:
    module["call"]([a, b, c])
