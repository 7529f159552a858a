#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From the program's last act to the end of its process: at most 200 ms longer with us (best of 5, paired).
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON PROGRAMS
LIMIT_MS=200
cat >"$T/time.py" <<'PY'
import subprocess, sys, time
out = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
print((time.monotonic_ns() - int(out)) // 1000)
PY
# A wrapper takes our library for its child alone.
timed()
{
	rm -rf "$GPROF_DIR"
	python3 "$T/time.py" env LD_PRELOAD="$1" "$BIN/shared/at_end" 20000
}
for _ in 1 2 3 4 5; do
	timed "" >>"$T/without"
	timed "$BIN/libgprof.so" >>"$T/with"
done
without=$(sort -n "$T/without" | head -1)
with=$(sort -n "$T/with" | head -1)
[ $((with - without)) -le $((LIMIT_MS * 1000)) ]
judge "end of the process" $? "$without us without, $with us with (medians $(sort -n "$T/without" | sed -n 3p), $(sort -n "$T/with" | sed -n 3p))"
finish
