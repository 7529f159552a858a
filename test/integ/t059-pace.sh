#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gprof's thread works in portions of less than a millisecond, and rests in between, so that a thread which shares
# a core with it waits no longer; nothing is lost by that.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ PLAIN

gcc -O2 -o "$T/bursts" test/calls/bursts.c "$SIM/libcudart.so.13" 2>"$T/err" || { cat "$T/err"; exit 1; }
# Only what is in the rings wakes it.
GPROF_FLUSH_MS=60000 GPROF_SAMPLE_MS=0 GPROF_CUPTI=0 record "$T/bursts"
is 0 $rc "exit status"
read -r made cpu_us <"$T/out"
echo "$made calls; $cpu_us us of CPU from sleep to sleep"
ok test "$cpu_us" -gt 0
ok test "$cpu_us" -lt 1000
summary api,losses
is "$made" "$(query '.api.rows[] | select(.name == "cudaGetDevice").calls')" "calls"
is 0 "$(query '[.losses.rows[].count] | add // 0')" "lost"
finish
