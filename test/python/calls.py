# SPDX-License-Identifier: Apache-2.0
# Calls of Python functions, some known number of times each. The names say how often.
import ctypes
import sys
import threading

ctypes.CDLL("libcudart.so.13", ctypes.RTLD_GLOBAL)
ctypes.CDLL(None).cudaGetLastError()  # the recorder starts


def seven_7():
    return inner_14() + inner_14()


def inner_14():
    return 1


def recursive_51(n):
    return n and recursive_51(n - 1)


def generator_8():
    yield 1
    yield 2
    yield 3


def raises_3():
    raise KeyError


def through_3():
    raises_3()


def in_thread_5():
    pass


def profiled_3():
    pass


def many():
    pass


def thread():
    for _ in range(5):
        in_thread_5()


for _ in range(7):
    seven_7()
recursive_51(50)
for _ in range(2):
    list(generator_8())
for _ in range(3):
    try:
        through_3()
    except KeyError:
        pass
other = threading.Thread(target=thread)
other.start()
other.join()
sys.setprofile(lambda *unused: None)
profiled_3()
profiled_3()
sys.setprofile(None)
profiled_3()
for _ in range(int(sys.argv[1])):
    many()
