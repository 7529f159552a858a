#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a launch and a call of cudaGetDevice cost the program, beside a client that asks CUPTI for as much as gprof or
# PyTorch's profiler, and for each kind of activity alone: measured, no verdict.
. "$(dirname "$0")/../lib.sh"
need GPU PROGRAMS
only_real "what a launch costs the simulator says nothing"
launches=$BIN/shared/launches
ROUNDS=${ROUNDS:-3}

# cost NAME COMMAND...: of the fastest launches of all rounds
cost()
{
	local name=$1
	shift
	for ((i = 0; i < ROUNDS; i++)); do "$@"; done 2>"$T/err" | sort -n >"$T/ns"
	[ -s "$T/ns" ]
	judge "$name" $? "$(awk 'NR == 1 { print $1 " ns per launch, " $2 " ns per cudaGetDevice" }' "$T/ns")"
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
for kind in 1:memcpy 2:memset 38:synchronization 49:memory 17:overhead 0:callbacks 36:events; do
	cost "kernels and ${kind#*:} (CUPTI)" client "10,${kind%%:*}"
done
cost "gprof" recorded GPROF_ENABLE=1
cost "gprof without CUPTI" recorded GPROF_CUPTI=0
cost "gprof with all driver calls" recorded GPROF_DRIVER=1
cost "gprof, no window open" recorded GPROF_SCHEDULE=1000000-1000001
finish
