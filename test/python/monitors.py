# SPDX-License-Identifier: Apache-2.0
# usage: monitors.py settrace|setprofile|monitoring. Every event that one tool of the program sees, in order.
import ctypes
import sys

ctypes.CDLL("libcudart.so.13", ctypes.RTLD_GLOBAL)
cuda = ctypes.CDLL(None)
cuda.cudaGetLastError()  # the recorder starts
events = []


def two():
    yield 1
    yield 2


class Item:
    def __init__(self, value):
        self.value = value

    @property
    def double(self):
        return self.value * 2


def plain(a, b=1, *args):
    return a + b


def raises():
    raise ValueError


def work():
    for i in two():
        plain(i)
        plain(*(i, 2))
    Item(3).double
    try:
        raises()
    except ValueError:
        pass
    cuda.cudaGetLastError()
    return [plain(x) for x in (1, 2)]


def note(frame, what, arg):
    events.append((what, frame.f_code.co_name, frame.f_lineno))
    return note


def by_monitoring():
    monitoring = sys.monitoring
    names = [n for n in dir(monitoring.events) if n.isupper() and n not in ("NO_EVENTS", "INSTRUCTION")]
    print(monitoring._all_events(), [monitoring.get_tool(i) for i in range(6)])
    monitoring.use_tool_id(3, "test")
    every = 0
    for name in names:
        event = getattr(monitoring.events, name)
        monitoring.register_callback(
            3, event, lambda code, *args, name=name: events.append((name, code.co_name, [a for a in args if type(a) is int]))
        )
        every |= event
    monitoring.set_events(3, every)
    work()
    monitoring.set_events(3, 0)


for _ in range(100):  # as the interpreter has specialized it
    work()
if sys.argv[1] == "monitoring":
    if hasattr(sys, "monitoring"):
        by_monitoring()
else:
    getattr(sys, sys.argv[1])(note)
    work()
    getattr(sys, sys.argv[1])(None)
print(len(events))
for event in events:
    print(event)
