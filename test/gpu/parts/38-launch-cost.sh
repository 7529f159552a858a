#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a launch costs the program, beside a client that asks CUPTI for as much as gprof or PyTorch's profiler: measured,
# no verdict.
. "$(dirname "$0")/../lib.sh"
need GPU PROGRAMS
only_real "what a launch costs the simulator says nothing"
launches=$BIN/shared/launches
ROUNDS=${ROUNDS:-3}

# cost NAME COMMAND...: the median of all rounds
cost()
{
	local name=$1
	shift
	for ((i = 0; i < ROUNDS; i++)); do "$@"; done 2>"$T/err" | sort -n | sed -n "$(((ROUNDS + 1) / 2))p" >"$T/ns"
	[ -s "$T/ns" ]
	judge "$name" $? "$(cat "$T/ns") ns per launch"
}

# client KINDS: see client.c
client()
{
	CUDA_INJECTION64_PATH=$BIN/client.so CLIENT=$1 "$launches"
}

# recorded VARIABLE=VALUE...
recorded()
{
	rm -rf "$GPROF_DIR"
	env "$@" LD_PRELOAD="$BIN/libgprof.so" "$launches"
}

cost "alone" "$launches"
cost "kernels alone (CUPTI)" client 10
cost "kernels, callbacks of launches (CUPTI)" client 10,0
cost "kernels, calls of runtime and driver, as PyTorch's profiler (CUPTI)" client 10,5,4
cost "gprof" recorded GPROF_ENABLE=1
cost "gprof without CUPTI" recorded GPROF_CUPTI=0
cost "gprof with all driver calls" recorded GPROF_DRIVER=1
cost "gprof, no window open" recorded GPROF_SCHEDULE=1000000-1000001
finish
