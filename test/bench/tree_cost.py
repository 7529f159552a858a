# SPDX-License-Identifier: Apache-2.0
"""tree_cost.py COMMAND...: runs a profiler with busy.py below it, and prints in ms the CPU time of all their processes,
user and system, of the program's own threads, and what is left: the profiler's own, and the end of the interpreter."""
import ctypes
import os
import resource
import subprocess
import sys

PR_SET_CHILD_SUBREAPER = 36


def main():
    # A process whose parent does not wait for it would count nowhere.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = [line.split() for line in done.stdout.splitlines()]
    own = [float(line[1]) for line in lines if line[:1] == ["busy"]]
    # The status says little: py-spy 0.4.1 at times fails after all is done, as its child has ended.
    if not own:
        sys.exit(f"{sys.argv[1]} has failed")
    user, system = used.ru_utime, used.ru_stime
    print(*(f"{1e3 * value:.1f}" for value in (user + system, user, system, own[0], user + system - own[0])))


main()
