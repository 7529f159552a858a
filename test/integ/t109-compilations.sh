#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compilations that no range marks, by samples: when, for how long and for which line of the program, as its own clocks say.
# test/framework does the same with JAX itself.
. "$(dirname "$0")/lib.sh"
need REPORT JQ PYTHON SIM PLAIN
program=$ROOT/test/integ/compilations.py
export PYTHONPATH=$ROOT/report/python PYTHONDONTWRITEBYTECODE=1
export GPROF_SAMPLE_MS=0 # or waits for a CPU of a busy machine come first
line=$(grep -n '# LINE step' "$program" | cut -d: -f1)

# A package of the layout that JAX has: a cache, and behind it what traces and compiles. TIMES has how long each compilation took,
# and how much of that it was on a CPU or asleep.
package=$T/site-packages/jax
mkdir -p "$package/_src/interpreters"
touch "$package/_src/__init__.py" "$package/_src/interpreters/__init__.py"
cat >"$package/__init__.py" <<'END'
from jax._src.pjit import TIMES, jit, spin
END
cat >"$package/_src/clock.py" <<'END'
import time


def spin(seconds):
    begin = time.thread_time()
    while time.thread_time() < begin + seconds:
        pass
END
cat >"$package/_src/pjit.py" <<'END'
import time

from jax._src.clock import spin
from jax._src.compiler import compile_or_get_cached
from jax._src.interpreters.partial_eval import trace_to_jaxpr

TIMES = []


def jit(function):
    cache = {}

    def cache_miss(shape):
        if shape not in cache:
            begin, cpu = time.perf_counter(), time.thread_time()
            cache[shape] = trace_to_jaxpr(function, shape)
            slept = compile_or_get_cached()
            TIMES.append((time.perf_counter() - begin, time.thread_time() - cpu + slept))
        return cache[shape]
    return cache_miss
END
cat >"$package/_src/interpreters/partial_eval.py" <<'END'
def trace_to_jaxpr(function, shape):
    return function(shape)
END
cat >"$package/_src/compiler.py" <<'END'
import time

from jax._src.clock import spin


def compile_or_get_cached():
    spin(0.15)
    begin = time.perf_counter()
    time.sleep(0.12)
    return time.perf_counter() - begin
END

# is_between WHAT LEAST HAVE MOST
is_between() { [ "$3" -ge "$2" ] && [ "$3" -le "$4" ] || mismatch "not as expected: $1: $3, not $2 to $4"; }

# check: what is found lasts no longer than the program says, and as long as it computed or slept, less samples at both ends, and those
# that could not be read.
check()
{
	local steps took used nr missed nr_later found sentence compared
	read -r steps took used nr <"$T/out"
	summary compilations,cpu-lines,findings
	missed=$(query '.cpu_lines.note' | grep -oE '[0-9]+ of [0-9]+ samples' | cut -d ' ' -f 1 | grep . || echo 0)
	is "$steps" "$(query '[.compilations.rows[].step] | unique | join(",")')" "steps that compile"
	is "jax.jit compilations.py($line): main" "$(query '[.compilations.rows[] | "\(.name) \(.line)"] | unique | join(" ")')" "the line"
	nr_later=$(tr ',' '\n' <<<"${steps#*,}" | grep -c .)
	found=$(query '[.compilations.rows[] | select(.step > 0).duration_ns] | add / 1000000 | round')
	is_between "ms in compilations" $((used * 8 / 10 - 40 * nr_later - 10 * missed)) "$found" $((took + 20 * nr_later))
	# Steps that warm up do not count.
	sentence=$(query '.findings.rows[] | select(.cause == "compilation").sentence')
	echo "# $sentence; it took $took ms"
	compared=$(sed -nE "s/^JAX compiles in $nr_later of ([0-9]+) steps for compilations.py\\($line\\).*, about .* in each;.*/\\1/p" <<<"$sentence")
	is_between "steps of the finding" $((nr / 2)) "${compared:-0}" $((nr - 1))
	found=$(query '.findings.rows[] | select(.cause == "compilation").reach_ns * '"${compared:-0}"' / 1000000 | round')
	is_between "ms that the finding has" $((used * 8 / 10 - 60 * nr_later - 10 * missed)) "$found" $((took + 20 * nr_later))
}

GPROF_CPU_HZ=99 record python3 "$program" "$T/site-packages" cpu
is 0 "$rc" "exit status"
check
rm -rf "$GPROF_DIR"
record python3 "$program" "$T/site-packages" gpu
is 0 "$rc" "exit status with a GPU"
check
finish
