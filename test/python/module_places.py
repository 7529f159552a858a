# SPDX-License-Identifier: Apache-2.0
# Modules in modules, called as PyTorch calls them. From CPython 3.11 on an object gets a dict when somebody asks for it:
# prints which modules have one at the end.
import ctypes
import sys

ctypes.CDLL("libcudart.so.12").cudaGetDevice(ctypes.byref(ctypes.c_int()))  # the recorder starts
code = """
class Module:
    def __call__(self, *args):
        return self._call_impl(*args)
    def _call_impl(self, *args):
        return self.forward(*args)
"""
space = {}
exec(compile(code, "/packages/torch/nn/modules/module.py", "exec"), space)


class Leaf(space["Module"]):
    def forward(self, x):
        return x + 1


class List(space["Module"]):  # is not called itself
    def __init__(self, **children):
        self._modules = children
        self.__dict__


class Outer(List):
    def forward(self, x):
        for child in self._modules.values():
            for part in child._modules.values() if type(child) is List else [child]:
                x = part(x) if isinstance(part, (Leaf, Outer)) else x
        return x


def has_dict(thing):
    is_managed = sys.version_info >= (3, 11) and type(thing).__flags__ & 1 << 4
    word = ctypes.c_size_t.from_address(id(thing) - 24).value if is_managed else 0
    return bool(word and not word & 1)


leaves = [Leaf() for _ in range(4)]
for leaf in leaves:
    leaf.size = 1
inner = Outer(first=leaves[0], **{"0": leaves[1]})
outer = Outer(none=None, number=7, inner=inner, leaf=leaves[2], parts=List(**{"1": leaves[3]}))
for _ in range(3):
    outer(1)
print([has_dict(thing) for thing in leaves], outer(1))
