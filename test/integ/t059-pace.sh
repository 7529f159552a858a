#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gprof's thread works in portions of less than a millisecond, and rests in between, so that a thread which shares
# a core with it waits no longer; nothing is lost by that. And it takes the page faults of new rings, so that threads
# of the target take few.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ PLAIN

gcc -O2 -o "$T/bursts" test/calls/bursts.c "$SIM/libcudart.so.13" 2>"$T/err" || { cat "$T/err"; exit 1; }
# Only what is in the rings wakes it.
GPROF_CALLS=all GPROF_FLUSH_MS=60000 GPROF_SAMPLE_MS=0 GPROF_CUPTI=0 record "$T/bursts"
is 0 $rc "exit status"
read -r made cpu_us <"$T/out"
echo "$made calls; $cpu_us us of CPU from sleep to sleep"
ok test "$cpu_us" -gt 0
ok test "$cpu_us" -lt 1000
summary api,losses
is "$made" "$(query '.api.rows[] | select(.name == "cudaGetDevice").calls')" "calls"
is 0 "$(query '[.losses.rows[] | select(.cause | test("^CPU sample") | not).count] | add // 0')" "lost"

# 10,000 pages of rows, of which the first 4,000 are new; on a busy machine gprof's thread may come late.
gcc -O2 -D_GNU_SOURCE -o "$T/steady" test/calls/steady.c "$SIM/libcudart.so.13" 2>"$T/err" || { cat "$T/err"; exit 1; }
least=9999
for _ in {1..30}; do
	[ $least -ge 400 ] || break
	rm -rf "$GPROF_DIR"
	GPROF_CALLS=all GPROF_CUPTI=0 record "$T/steady"
	faults=$(cat "$T/out")
	least=$((faults < least ? faults : least))
done
echo "$least page faults of the target's thread"
ok test $least -lt 400

# A real-time thread, or one that has a CPU for itself, keeps that: gprof's thread goes elsewhere. The thread that
# runs exit handlers in place of main, which has left, is the program's.
if [ "$(nproc)" -gt 1 ]; then
	gcc -O1 -o "$T/pinned" test/calls/pinned.c "$SIM/libcudart.so.13" 2>"$T/err" || { cat "$T/err"; exit 1; }
	plain "$T/pinned" leave
	how=$(sed -n '1s/main: //p' "$T/plain.out")
	rm -rf "$GPROF_DIR"
	record "$T/pinned"
	is "main: $how, gprof: normal, off the CPU of its own" "$(paste -sd, "$T/out" | sed 's/,gprof/, gprof/')" "how the threads run"
	summary api,losses
	is "1000 0" "$(query '"\(.api.rows[] | select(.name == "cudaGetDevice").calls) \([.losses.rows[].count] | add // 0)"')" "calls and losses"
	rm -rf "$GPROF_DIR"
	GPROF_CUPTI=0 record "$T/pinned" leave
	is "$(cat "$T/plain.out")" "$(cat "$T/out")" "how exit handlers run"
fi
finish
