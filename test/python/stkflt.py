# SPDX-License-Identifier: Apache-2.0
"""Gets SIGSTKFLT, by which the kernel tells gprof of samples, from itself and from a child, and prints who sent it."""
import os
import signal
import subprocess
import sys
import time

SIGNAL = signal.SIGSTKFLT


def spin(seconds):
    begin = time.thread_time()
    while time.thread_time() - begin < seconds:
        pass


def show(sender):
    info = signal.sigtimedwait({SIGNAL}, 20)
    print(info and (info.si_signo, info.si_code, info.si_pid == sender, info.si_uid == os.getuid()))


# No thread lets it in, so it stays pending until this one takes it.
signal.pthread_sigmask(signal.SIG_BLOCK, {SIGNAL})
spin(float(sys.argv[1]))
for _ in range(2):
    child = subprocess.Popen(["sh", "-c", f"kill -{SIGNAL:d} {os.getpid()}"])
    child.wait()
    show(child.pid)
    os.kill(os.getpid(), SIGNAL)
    show(os.getpid())
    spin(0.2)
handled = []
signal.signal(SIGNAL, lambda number, frame: handled.append(number))
signal.pthread_sigmask(signal.SIG_UNBLOCK, {SIGNAL})
for _ in range(3):
    os.kill(os.getpid(), SIGNAL)
    spin(0.01)
print(handled)
