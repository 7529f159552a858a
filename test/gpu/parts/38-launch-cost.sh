#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a launch and a call of cudaGetDevice cost the program, beside a client that asks CUPTI for as much as gprof or
# PyTorch's profiler, and for each kind of activity alone: measured, no verdict. All take turns, in another order each
# round. ROUNDS=N at most; LAUNCHES_S=N: no further round begins that would end later.
. "$(dirname "$0")/../lib.sh"
need GPU PROGRAMS
only_real "what a launch costs the simulator says nothing"
client="CUDA_INJECTION64_PATH=$BIN/client.so"
gprof="LD_PRELOAD=$BIN/libgprof.so"
pin=$(taskset -c 2 true 2>/dev/null && echo taskset -c 2)
cat >"$T/list" <<LIST
alone|
CUPTI: kernels|$client CLIENT=10
CUPTI: kernels, callbacks of launches|$client CLIENT=10,0
CUPTI: kernels, their times in pinned memory|$client CLIENT=10 CLIENT_ATTRIBUTES=8=1
CUPTI: kernels and memcpy|$client CLIENT=10,1
CUPTI: kernels and synchronization|$client CLIENT=10,38
CUPTI: kernels and events|$client CLIENT=10,36
CUPTI: kernels and memory|$client CLIENT=10,49
CUPTI: kernels and overhead|$client CLIENT=10,17
CUPTI: kernels, calls of runtime and driver, as PyTorch's profiler|$client CLIENT=10,5,4
gprof|$gprof
gprof, GPROF_CALLS=all|$gprof GPROF_CALLS=all
gprof, GPROF_DRIVER=1|$gprof GPROF_DRIVER=1
gprof, GPROF_CUPTI=0|$gprof GPROF_CUPTI=0
gprof, no window open|$gprof GPROF_SCHEDULE=1000000-1000001
LIST
rounds=0
begin=$SECONDS
while [ $rounds -lt "${ROUNDS:-5}" ]; do
	lasted=$((SECONDS - begin))
	[ $rounds = 0 ] || [ $((lasted + lasted / rounds)) -lt "${LAUNCHES_S:-140}" ] || break
	rounds=$((rounds + 1))
	while IFS='|' read -r name settings; do
		rm -rf "$GPROF_DIR"
		# shellcheck disable=SC2086 # several words
		printf '%s|%s\n' "$name" "$(env GPROF_QUIET=1 $settings $pin "$BIN/shared/launches" 2>>"$T/err")"
	done < <(shuf "$T/list") >>"$T/ns"
done
while IFS='|' read -r name settings; do
	grep -F "$name|" "$T/ns" | sed 's/.*|//' | sort -n >"$T/one"
	[ "$(awk 'NF == 4' "$T/one" | wc -l)" = $rounds ]
	judge "$name" $? "$(awk -v n="$(($(wc -l <"$T/one") / 2 + 1))" '
		NR == 1 { least = $1 } NR == n { median = $1 }
		{ mean += $2 / 1; longest = $3 > longest ? $3 : longest; asks = NR == 1 || $4 < asks ? $4 : asks }
		END { printf "%d ns per launch, median %d, mean %d; longest ten %d us; %d ns per cudaGetDevice", least, median, mean / NR, longest, asks }' "$T/one")"
done <"$T/list"
clients=$(grep -c "|CUDA_INJECTION64_PATH" "$T/list")
[ "$(grep -c '^client: ready' "$T/err")" = $((clients * rounds)) ]
judge "the clients of CUPTI were there in all $rounds rounds" $? "$(grep -v ready "$T/err" | head -1)"
finish
