#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Families of processes that record: Python's workers, process ids that come again, daemons.
# shellcheck disable=SC2016 # what is quoted is for other shells
# shellcheck source=test/host/lib.sh
. "$(dirname "$0")/lib.sh"
export PROBE_LIBRARY=$HOST/module-cuda.so

# Python workers that call CUDA in a library: `touch` is its function, and the calls are counted here.
if has python3; then
	PY=$(python3 -c 'import sys; print(sys.executable)')
	cat >"$T/work.py" <<'END'
import ctypes, mmap, multiprocessing, os, struct, sys, threading

lock = multiprocessing.Lock()
library = ctypes.CDLL(os.environ["PROBE_LIBRARY"])


def touch(n):
    library.module_call(n)
    with open(os.environ["PROBE_COUNT"], "r+b") as f, mmap.mmap(f.fileno(), 16) as m:
        import fcntl
        fcntl.flock(f, fcntl.LOCK_EX)
        m[:8] = struct.pack("Q", struct.unpack("Q", m[:8])[0] + n)
    return n


def main():
    method, nr = sys.argv[1], int(sys.argv[2])
    context = multiprocessing.get_context(method)
    touch(5)
    workers = [context.Process(target=touch, args=(10 + i,)) for i in range(nr)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    print(method, [w.exitcode for w in workers])
    t = threading.Thread(target=touch, args=(3,))
    t.start()
    t.join()


if __name__ == "__main__":
    main()
END
	STREAMS=5 LINKS=4 recorded "Python workers by fork" "$PY" "$T/work.py" fork 4
	STREAMS=5 recorded "Python workers by spawn" "$PY" "$T/work.py" spawn 4
	STREAMS=5 recorded "Python workers by forkserver" "$PY" "$T/work.py" forkserver 4
else
	for method in fork spawn forkserver; do
		skip "Python workers by $method" "no python3"
	done
fi

# Two processes of one id: each in a space of ids of its own.
if unshare -p -f true 2>/dev/null; then
	STREAMS=3 recorded "a process id that comes again" sh -c '
		for i in 1 2 3; do unshare -p -f "$0" say $((10 * i)) $i; echo "status $?"; done' "$HOST/cuda"
else
	skip "a process id that comes again" "no right to make a space of process ids"
fi
STREAMS=7 recorded "a tree: a shell, its children, theirs" sh -c '
	"$0" fork_deep 2; "$0" spawn >/dev/null & wait; exit 4' "$HOST/cuda"
