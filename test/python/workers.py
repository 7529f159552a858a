# SPDX-License-Identifier: Apache-2.0
# Workers of a data loader, and what is none. usage: workers.py LIBTORCH WHO, which gets a line of each
# child: its pid, and what it is to be called.
import ctypes
import os
import sys
import threading
import types

# CPython 3.8 loads it as a thread ends; a child forked meanwhile cannot load anything.
ctypes.CDLL("libgcc_s.so.1")
library = ctypes.CDLL(sys.argv[1])
with_gil = ctypes.PyDLL(sys.argv[1])
name = "torch.utils.data._utils.worker"
module = sys.modules[name] = types.ModuleType(name)
module._worker_info = None


def ran(*_):
    print("code of the program's was run")
    return 1


class Info:
    def __init__(self, **values):
        object.__getattribute__(self, "__dict__").update(values)


class Number(int):
    __index__ = __int__ = ran


class Slots:
    __slots__ = ("id", "num_workers")

    def __init__(self, **values):
        for key, value in values.items():
            setattr(self, key, value)


class Computed:
    id = num_workers = property(ran)
    __getattr__ = ran


class Default(Info):
    id = 1


class Odd(Info):
    __getattribute__ = ran


class Lazy(types.ModuleType):
    __getattr__ = ran


class Modules(dict):
    __getitem__ = get = __contains__ = ran


def thread():
    one = threading.Thread(target=lambda: None)
    one.start()
    one.join()


def become(info):
    module._worker_info = info
    thread()


def raises():
    module._worker_info = Info(id=5, num_workers=6)
    try:
        with_gil.fake_thread(True)
    except ValueError as error:
        print("raised", error)


def without_gil():
    stop = threading.Event()
    spin = threading.Thread(target=lambda: [None for _ in iter(stop.is_set, True)])
    spin.start()
    module._worker_info = Info(id=1, num_workers=2)
    library.fake_thread(False)
    module._worker_info = None
    stop.set()
    spin.join()
    thread()


def no_module():
    sys.modules[name] = Computed()
    thread()


def lazy_module():
    sys.modules[name] = Lazy(name)
    thread()


def other_modules():
    sys.modules = Modules(sys.modules)
    become(Info(id=2, num_workers=3))


def no_modules():
    del sys.modules
    module._worker_info = Info(id=1, num_workers=2)
    with_gil.fake_thread(False)


def again():
    become(Info(id=1, num_workers=2))
    become(Info(id=0, num_workers=1))


def paddle():
    sys.modules["paddle.io.dataloader.worker"] = types.SimpleNamespace(_worker_info=Info(id=8, num_workers=9))
    other = sys.modules["paddle.fluid.dataloader.worker"] = types.ModuleType("worker")
    other._worker_info = Info(id=3, num_workers=4)
    thread()


def parent():
    become(Info(id=1, num_workers=2))
    run(thread, "")


CASES = (
    (thread, ""),
    (lambda: become(Info(id=3, num_workers=4)), "3 of 4"),
    (lambda: become(Info(id=0, num_workers=1, seed=7, dataset=None)), "0 of 1"),
    (lambda: become(Odd(id=1, num_workers=2)), "1 of 2"),
    (lambda: become(Info(id=4, num_workers=4)), ""),
    (lambda: become(Info(id=-1, num_workers=4)), ""),
    (lambda: become(Info(id=1 << 70, num_workers=1 << 71)), ""),
    (lambda: become(Info(id=0, num_workers=(1 << 32) + 1)), ""),
    (lambda: become(Info(id="1", num_workers=2)), ""),
    (lambda: become(Info(id=True, num_workers=2)), ""),
    (lambda: become(Info(id=Number(1), num_workers=Number(2))), ""),
    (lambda: become(Info(id=0)), ""),
    (lambda: become(Default(num_workers=2)), ""),
    (lambda: become(Slots(id=1, num_workers=2)), "1 of 2"),
    (lambda: become(Slots(id=1)), ""),
    (lambda: become(Computed()), ""),
    (lambda: become(7), ""),
    (no_module, ""),
    (lazy_module, ""),
    (other_modules, "2 of 3"),
    (no_modules, ""),
    (raises, "5 of 6"),
    (without_gil, ""),
    (again, "0 of 1"),
    (paddle, "3 of 4"),
    (parent, "1 of 2"),
)


def run(case, wanted):
    sys.stdout.flush()
    child = os.fork()
    if child:
        if os.waitpid(child, 0)[1]:
            print("it failed")
        with open(sys.argv[2], "a") as who:
            print("%d %s" % (child, wanted), file=who)
        return
    library.fake_ops(1)  # starts its recorder
    case()
    sys.stdout.flush()
    os._exit(0)


library.fake_ops(1)
for case in CASES:
    run(*case)
