# SPDX-License-Identifier: Apache-2.0
# usage: places.py FILE. Launches kernels from places of all kinds and writes to FILE, for each, the
# stack as Python itself reports it, in the words of the view `python`.
import ctypes
import sys
import threading

ctypes.CDLL("libcudart.so.13", ctypes.RTLD_GLOBAL)
cuda = ctypes.CDLL(None)


class Dim(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


ONE = Dim(1, 1, 1)
KEEPS = 128  # frames of a stack; one more stands for those further out
stacks = set()


def shortened(text):
    """A long name keeps both ends, in 512 bytes as Python holds them."""
    unit = 1 if max(text) < "\u0100" else 2 if max(text) < "\U00010000" else 4
    nr = 512 // unit
    return text if len(text) <= nr else text[: 252 // unit] + "..." + text[len(text) - (nr - 252 // unit - 3) :]


def words(frame, line):
    return shortened(frame.f_code.co_filename) + "(%d): " % line + shortened(frame.f_code.co_name)


def launch():
    frame, told = sys._getframe(1), []
    told.append(words(sys._getframe(0), sys._getframe(0).f_code.co_firstlineno + 7))
    while frame:
        told.append(words(frame, frame.f_lineno))
        frame = frame.f_back
    stacks.add(" <- ".join(told[:KEEPS] + ["...: outer frames"] * (len(told) > KEEPS)))
    cuda.cudaLaunchKernel(ctypes.c_void_p(0x1234), ONE, ONE, None, ctypes.c_size_t(0), None)


def plain():
    launch()

    for _ in range(2):
        launch()
    try:
        raise KeyError
    except KeyError:
        launch()
    finally:
        launch()


def over_lines(*things):
    return things


def generator():
    launch()
    yield 1
    launch()
    yield 2


def decorated(function):
    launch()
    return function


@decorated
@decorated
def with_decorators():
    pass


class Thing:
    launch()

    def __init__(self):
        launch()

    def __enter__(self):
        launch()
        return self

    def __exit__(self, *unused):
        launch()

    @property
    def value(self):
        return launch()


async def coroutine():
    launch()


async def outer_coroutine():
    await coroutine()
    launch()


def deep(n):
    if n:
        deep(n - 1)
    else:
        launch()


def größer(ß):
    launch()
    (lambda: launch())()


def generated():
    """The memory of one is the next one's."""
    for i in range(20):
        exec(compile("def f():\n\tlaunch()\nf()\n", "<made %02d>" % i, "exec"), {"launch": launch})
    exec(compile("launch()", "<\u65e5\u672c \U0001f40d>", "exec"), {"launch": launch})
    for name in "x" * 510, "x" * 600, "x" * 600 + "y", "\u65e5" * 300, "\U0001f40d" * 200:
        exec(compile("launch()", "<" + name + ">", "exec"), {"launch": launch})
    exec("def f%s(): launch()\nf%s()" % ("z" * 600, "z" * 600), {"launch": launch})
    far = "def f(x):\n" + "\tx += 1\n" * 2000 + "\n" * 300 + "\tlaunch()\n\tx = [\n" + "\t1,\n" * 200 + "\tlaunch()]\nf(1)"
    exec(compile(far, "<far>", "exec"), {"launch": launch})


plain()
over_lines(
    1,
    launch(), [
        launch()
        for _ in range(2)],
    2)
list(generator())
list(map(lambda x: launch(), range(2)))
sorted([2, 1], key=lambda x: launch() or x)
with Thing() as thing:
    thing.value
try:
    outer_coroutine().send(None)
except StopIteration:
    pass
deep(20)
deep(200)
for n in range(124, 129):
    deep(n)
größer(1)
generated()
for target in plain, generated:
    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
launch()

with open(sys.argv[1], "w") as out:
    out.writelines(line + "\n" for line in sorted(stacks))
