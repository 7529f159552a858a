#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A kernel never ends: GPROF_HANG_TIMEOUT_S records the call in which the program waits for it, and the kernel before it.
. "$(dirname "$0")/../lib.sh"
need GPU PYTHON PROGRAMS
rm -rf "$GPROF_DIR"
GPROF_STEP=api:cudaDeviceSynchronize GPROF_HANG_TIMEOUT_S=2 LD_PRELOAD=$BIN/libgprof.so "$BIN/shared/steps" hang >"$T/out" 2>"$T/err" &
program=$!
hang()
{
	"$REPORT" summary --view hang --top 0 "$GPROF_DIR" >"$T/hang" 2>&1
	grep -q cudaDeviceSynchronize "$T/hang"
}
while kill -0 $program 2>/dev/null && ! hang; do sleep 0.2; done
kill -0 $program
judge "the program waits" $?
kill -9 $program
wait $program 2>/dev/null
hang
judge "the call it waits in is named" $? "$(grep -m1 cudaDeviceSynchronize "$T/hang" | xargs)"
grep -q 'never_ends\|fill' "$T/hang"
judge "the last activity of its stream is named" $? "$(grep -m1 'never_ends\|fill' "$T/hang" | xargs)"
finish
