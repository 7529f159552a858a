# SPDX-License-Identifier: Apache-2.0
# usage: module_bounds.py CASE [LIBRARY]. Calls more or deeper modules than gprof keeps, as PyTorch calls them. Prints what
# they compute.
import ctypes
import sys

ctypes.CDLL("libcudart.so.12").cudaGetDevice(ctypes.byref(ctypes.c_int()))  # the recorder starts
code = """
class Module:
    def __init__(self, **children):
        self._modules = children
        self.__dict__
    def _call_impl(self, *args):
        return self.forward(*args)
    __call__ = _call_impl
    def forward(self, call):
        return call()
"""


def made(code):
    space = {}
    exec(compile(code, "/packages/torch/nn/modules/module.py", "exec"), space)
    return space["Module"]


Module = made(code)


class Leaf(Module):
    def forward(self):
        return 1


def chain(leaf, names):
    """The leaf in modules that are not called."""
    for name in reversed(names):
        leaf = Module(**{name: leaf})
    return leaf


def through(calls, call):
    return through(calls - 1, call) if calls else call()


class Nest(Module):
    def forward(self, modules, leaf):
        return modules[0](modules[1:], leaf) if modules else leaf()


def near():
    """At the greatest depth that gprof searches, and in no place: nothing is missing."""
    leaf = Leaf()
    return chain(leaf, "abcdefghi")(leaf) + Module()(leaf) + chain(Leaf(), "abcdefghi")(leaf)


def frames():
    leaf = Leaf()
    return Module(far=leaf)(lambda: through(200, leaf))


def callers():
    """Below the outermost of many."""
    leaf = Leaf()
    return Nest(at=Module(last=leaf))([Nest() for _ in range(80)], leaf)


def cells():
    """Up to 3.10 `self` is behind other variables that inner functions use."""
    names = ", ".join("a%03d" % i for i in range(100))
    call = "        %s = range(100)\n        inner = lambda: (%s, self)\n        return self.forward" % (names, names)
    Module = made(code.replace("        return self.forward", call))

    class Leaf(Module):
        def forward(self):
            return 1

    leaf = Leaf()
    return Module(far=leaf)(leaf)


def recursion(n, call):
    return recursion(n - 1, call) if n else call()


def operators():
    """Operators far inside a module whose own call is nested too deep."""
    library = [ctypes.CDLL(sys.argv[2]) for _ in range(2)][1]
    sys.setrecursionlimit(5000)
    recursion(900, lambda: library.fake_ops(1))
    recursion(900, lambda: Module()(lambda: through(100, lambda: library.fake_ops(1))))
    return Leaf()()


def deep():
    leaf = Leaf()
    return chain(leaf, "abcdefghij")(leaf)


def names():
    leaf = Leaf()
    return chain(leaf, ["x" * 100] * 3)(leaf)


def classes():
    return sum(kind()() for kind in (type("C" * 200, (Leaf,), {}), type("C" * 127, (Leaf,), {}), Leaf))


def looks():
    """One of the leaves is near enough."""
    leaves = [Leaf() for _ in range(5000)]
    outer = Module(**{"l%d" % i: Module(leaf=leaf) for i, leaf in enumerate(leaves)})
    return outer(leaves[4999]) + outer(leaves[1])


def paths():
    """A module that is moved again and again."""
    leaf = Leaf()
    outer = Module()
    for i in range(9000):
        outer._modules = {"%0250d" % i: leaf}
        outer(leaf)
    return i


def many():
    leaves = [Leaf() for _ in range(17000)]
    return sum(leaf() for leaf in leaves) + Module(late=leaves[0])(leaves[0])


print(globals()[sys.argv[1]]())
