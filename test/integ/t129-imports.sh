#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Imports of Python: each statement has the time of all that it imports, as the modules' own clocks say.
. "$(dirname "$0")/lib.sh"
need REPORT JQ PYTHON PLAIN
program=$ROOT/test/integ/imports.py
line_of() { grep -n "# LINE $1" "$program" | cut -d: -f1; }

# spins MS: a module's code that uses so much CPU time
spins()
{
	cat <<-END
		import time
		begin = time.thread_time()
		while time.thread_time() < begin + $1 / 1000:
		    pass
		TOOK_MS = round((time.thread_time() - begin) * 1000)
	END
}

mkdir -p "$T/modules/outer"
{
	echo "from outer import inner"
	spins 400
	echo "TOOK_MS += inner.TOOK_MS"
	echo "SLEPT_MS = inner.SLEPT_MS"
} >"$T/modules/outer/__init__.py"
{
	spins 800
	echo "begin = time.perf_counter()"
	echo "time.sleep(1)"
	echo "SLEPT_MS = round((time.perf_counter() - begin) * 1000)"
} >"$T/modules/outer/inner.py"
spins 600 >"$T/modules/late_one.py"

# row PACKAGE COLUMN
row() { query ".imports.rows[] | select(.package == \"$1\").$2"; }

# near WHAT HAVE_NS EXPECTED_MS MISSED: within 20 % and two samples; missed samples may be of anything.
near() { [ $(($2 / 1000000 + $4)) -ge $(($3 * 8 / 10 - 40)) ] && [ $(($2 / 1000000)) -le $(($3 * 12 / 10 + 40)) ] || mismatch "not as expected: $1 takes $2 ns, the program says $3 ms"; }

GPROF_CPU_HZ=99 record python3 "$program" "$T/modules"
is 0 "$rc" "exit status"
read -r took slept late <"$T/out"
summary imports
missed=$((10 * $(query '.imports.note' | grep -oE '[0-9]+ sample' | cut -d ' ' -f 1 | grep . || echo 0)))
is "imports.py($(line_of outer)): <module>" "$(row outer statement)" "where outer is imported"
is "imports.py($(line_of late)): late" "$(row late_one statement)" "where late_one is imported"
near "outer, on a CPU" "$(row outer cpu_ns)" "$took" "$missed"
near "outer, waiting" "$(row outer wait_ns)" "$slept" 0
near "late_one, on a CPU" "$(row late_one cpu_ns)" "$late" "$missed"
ok grep -qE '^inner.py\([0-9]+\): <module>$' <<<"$(row outer module)"
finish
