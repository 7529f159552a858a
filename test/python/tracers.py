# SPDX-License-Identifier: Apache-2.0
# Programs that look at themselves: what they see must not depend on us.
import cProfile
import ctypes
import pstats
import sys
import threading

ctypes.CDLL("libcudart.so.13", ctypes.RTLD_GLOBAL)
cuda = ctypes.CDLL(None)
events = []


def leaf(x):
    cuda.cudaGetLastError()
    return x + 1


def work(n):
    return sum(leaf(i) for i in range(n))


def note(frame, what, arg):
    if frame.f_code.co_filename == __file__:
        events.append((what, frame.f_code.co_name, frame.f_lineno))
    return note


def tell(how):
    print(how, len(events), events[:6], events[-3:])
    events.clear()


print(sys.getprofile(), sys.gettrace(), threading._profile_hook, sorted(sys.modules))
sys.setprofile(note)
work(5)
sys.setprofile(None)
tell("setprofile")
sys.settrace(note)
work(5)
sys.settrace(None)
tell("settrace")
threading.setprofile(note)
thread = threading.Thread(target=work, args=(3,))
thread.start()
thread.join()
threading.setprofile(None)
tell("threading.setprofile")
profile = cProfile.Profile()
profile.runcall(work, 10)
stats = pstats.Stats(profile).stats
print(sorted((name[2], counts[0]) for name, counts in stats.items() if name[0] == __file__))
if hasattr(sys, "monitoring"):
    print([sys.monitoring.get_tool(i) for i in range(6)])
sys.addaudithook(lambda event, args: events.append((event, "", 0)) if event == "builtins.id" else None)
id(1)
tell("audit")
print(sys.getprofile(), sys.gettrace(), "gprof" in str(sys.modules), [n for n in globals() if "gprof" in n])
