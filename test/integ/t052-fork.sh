#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A forked child gets a stream of its own, linked to its parent's.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
[[ $B != *san-thread ]] || skip "ThreadSanitizer does not support threads after a fork with threads"

plain "$B/integ/s_loop" 3 5 fork
record "$B/integ/s_loop" 3 5 fork
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output"
is 2 "$(ls "$GPROF_DIR"/*.gprof | wc -l)" "streams"
summary api,notices
is 0 "$(query '.notices.rows | length')" "notices about a child that asks for no work"
is 7 "$(query '.api.rows[] | select(.name == "cudaGetDevice").calls')" "calls of the child"
is 15 "$(query '.api.rows[] | select(.name == "cudaLaunchKernel").calls')" "calls of the parent"
"$REPORT" info "$GPROF_DIR" >"$T/info"
grep -q "parent.*gprof" "$T/info" || { echo "no link to the parent"; cat "$T/info"; failed=1; }

rm -rf "$GPROF_DIR"
record "$B/integ/s_loop" 3 5 fork work
summary notices
is "forked child" "$(query '[.notices.rows[].cause] | join(" ")')" "notices about a child that asks for work"

# The time of a child without steps is no part of its parent's steps.
rm -rf "$GPROF_DIR"
record "$B/integ/s_loop" 6 3 call fork work
summary critical-path,step-stats
is "1 process without steps is excluded." "$(query .critical_path.note | grep -o '[^.]* is excluded\.' | sed 's/^ //')" "note"
is "$(query '[.step_stats.rows[] | select(.part == "Step").total_ns] | add')" "$(query '[.critical_path.rows[] | select(.name == .kind).total_ns] | add')" "the path is as long as the steps that count"

# Python counts its threads in this file before it warns. Other programs still read the real file, which changes.
# (A sanitizer's fopen stands between.)
if [[ $B != *san-* ]]; then
	gcc -O1 -o "$T/stat" test/calls/stat.c "$SIM/libcudart.so.13" &&
		gcc -O1 -DPYTHON -rdynamic -o "$T/python" test/calls/stat.c "$SIM/libcudart.so.13" || exit 1
	record "$T/stat"
	# The recorder's thread may map or unmap an arena of the C library meanwhile.
	grown=$(sed 's/.*grown by \([0-9]*\) MB$/\1/' "$T/out")
	[ "$grown" -ge 900 ] && [ "$grown" -lt 1200 ] || is "900 to 1200" "$grown" "MB that a program reads again from /proc/self/stat"
	record "$T/python"
	is "threads 1" "$(sed 's/,.*//' "$T/out")" "threads that Python counts"
fi
finish
