# SPDX-License-Identifier: Apache-2.0
# usage: hangs.py FILE [HOW]. Threads that wait, in places of all kinds, and one that never stands
# still. Writes to FILE, for each that waits, the stack as Python itself reports it, in the words of the
# view `hang`; goes on when its standard input ends. HOW: child, all of it in a child forked by
# another thread than the first; ended, it waits at the end of the process without an interpreter.
import ctypes
import os
import sys
import threading

ctypes.CDLL("libcudart.so.13", ctypes.RTLD_GLOBAL)
cuda = ctypes.CDLL(None)
KEEPS = 32  # frames of a stack
lock = threading.Lock()
is_over = False
ready = threading.Semaphore(0)
told = []


def shortened(text):
    """A long name keeps both ends, in 512 bytes as Python holds them."""
    unit = 1 if max(text) < "\u0100" else 2 if max(text) < "\U00010000" else 4
    nr = 512 // unit
    return text if len(text) <= nr else text[: 252 // unit] + "..." + text[len(text) - (nr - 252 // unit - 3) :]


def words(frame):
    return shortened(frame.f_code.co_filename) + "(%d): " % frame.f_lineno + shortened(frame.f_code.co_name)


# From the very line on which the thread will wait.
def tell():
    frame, rows = sys._getframe(1), []
    while frame:
        rows.append(words(frame))
        frame = frame.f_back
    if len(rows) > KEEPS:
        rows[KEEPS:] = ["%d more frames" % (len(rows) - KEEPS)]
    told.append((threading.get_native_id(), rows))
    ready.release()


def write():
    with open(sys.argv[1] + ".new", "w") as file:
        for tid, rows in told:
            file.writelines("%d %s\n" % (tid, row) for row in rows)
    os.rename(sys.argv[1] + ".new", sys.argv[1])


def wait_until_they_sleep():
    for tid, _ in told:
        while open("/proc/self/task/%d/stat" % tid).read().rsplit(")", 1)[1].split()[0] != "S":
            pass


# Up to 3.10 a thread is known by its first recorded call; in a forked child that fails, as all of CUDA.
def touch():
    cuda.cudaStreamCreate(ctypes.byref(ctypes.c_void_p()))


def recurse(depth, then):
    return recurse(depth - 1, then) if depth else then()


def plain():
    touch()

    for _ in range(1):
        tell(), lock.acquire(), lock.release()


class Höher:
    def __call__(self):
        touch()
        (lambda: [tell(), lock.acquire(), lock.release()])()


def generator():
    touch()
    yield tell(), lock.acquire(), lock.release()


def deep():
    touch()
    recurse(100, lambda: (tell(), lock.acquire(), lock.release()))


def silent():
    tell(), lock.acquire(), lock.release()


def far():
    """Its code has a large table of lines, and its file a long name."""
    touch()
    code = "def f(x):\n" + "\tx += 1\n" * 40000 + "\ttell(), lock.acquire(), lock.release()\nf(1)"
    exec(compile(code, "<far" + "x" * 600 + ">", "exec"), globals())


def never_still():
    touch()
    ready.release()
    while not is_over:
        recurse(200, lambda: sorted(range(100)))
        for n in range(50):
            exec("def f%d(n):\n return [n for n in range(n)]\nf%d(%d)" % (n, n, n))


def run():
    global is_over
    threads = [plain, Höher(), lambda: list(generator()), deep, far, never_still]
    if sys.version_info >= (3, 11):
        threads.append(silent)
    threads = [threading.Thread(target=thread) for thread in threads]
    lock.acquire()
    for thread in threads:
        thread.start()
        ready.acquire()
    touch()
    wait_until_they_sleep()
    tell(), write(), cuda.gprof_step(), os.read(0, 1)
    is_over = True
    lock.release()
    for thread in threads:
        thread.join()


def child():
    touch()
    pid = os.fork()
    if not pid:
        run()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


how = sys.argv[2] if len(sys.argv) > 2 else None
if how == "child":
    thread = threading.Thread(target=child)
    thread.start()
    thread.join()
elif how == "ended":
    touch()
    cuda.gprof_step()
    cuda.on_exit(cuda.pause, None)
else:
    run()
