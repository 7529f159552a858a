# SPDX-License-Identifier: Apache-2.0
"""
Collections of garbage, of which the program keeps its own account by gc.callbacks; and what it can see of the
recorder's. The first line is the same with and without the recorder; the second one is the account, as JSON.
"""
import ctypes
import json
import sys
import threading
import time

runtime = ctypes.CDLL("libcudart.so.13", ctypes.RTLD_GLOBAL)
runtime.cudaGetLastError()  # the recorder starts
had_module = "gc" in sys.modules

import gc  # noqa: E402, it may be the first import

account = []
seen = []


def witness(phase, info):
    if phase == "start":
        account.append([info["generation"], time.monotonic_ns(), 0, 0, threading.current_thread().name])
    else:
        account[-1][2:4] = time.monotonic_ns(), info["collected"]


def failing(phase, info):
    raise KeyError(phase)


def garbage(nr):
    for _ in range(nr):
        cycle = []
        cycle.append(cycle)


hidden = [type(r).__name__ for r in gc.get_referrers(gc.callbacks) if r is not vars(gc) and r is not globals()]
ours = [o for o in gc.get_objects() if getattr(o, "__name__", "") == "gprof_gc" or
        type(o) is list and any(getattr(i, "__name__", "") == "gprof_gc" for i in o)]
sys.unraisablehook = lambda failed: seen.append((failed.exc_type.__name__, failed.object is failing or failing.__name__ in str(failed.err_msg)))
print(had_module, gc.callbacks, gc.garbage, sys.getrefcount(gc.callbacks), hidden, ours, gc.collect.__self__ is gc,
      "gc" in sys.modules, gc.get_stats()[2]["collections"] >= 0, end=" ")

gc.callbacks.append(witness)
for generation in (0, 1, 2, 2):
    garbage(50)
    gc.collect(generation)
garbage(20000)
thread = threading.Thread(target=garbage, args=(5000,), name="other")
thread.start()
thread.join()
gc.callbacks.append(failing)
gc.collect()
gc.callbacks.remove(failing)
gc.disable()
gc.callbacks.remove(witness)

del sys.modules["gc"]
import gc as again  # noqa: E402

print(seen, again.callbacks, sorted({name for *_, name in account}))
print(json.dumps(account))
