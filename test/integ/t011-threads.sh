#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Threads that start at the same time: every launch of each, their names and ends.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
export GPROF_CPU_HZ=0 # CPU samples are events, too

for round in 1 2 3; do
	rm -rf "$GPROF_DIR"
	record "$B/prog/threads"
	is 0 $rc "exit status"
	summary api,kernel,threads,losses
	is 200 "$(query '.api.rows[] | select(.name == "cudaLaunchKernel").calls')" "launches in round $round"
	is 200 "$(query '[.kernel.rows[].calls] | add')" "kernels in round $round"
	is "50 50 50 50" "$(query '[.threads.rows[] | select(.launches > 0).launches] | join(" ")')" "launches by thread"
	is "launcher-0 launcher-1 launcher-2 launcher-3" \
		"$(query '[.threads.rows[] | select(.launches > 0).name] | sort | join(" ")')" "names"
	is 0 "$(query '[.threads.rows[] | select(.launches > 0 and .end_ns == null)] | length')" "threads without an end"
	is 0 "$(query '.losses.rows | length')" "losses"
done

# Threads that wait in pools take no memory from those that have events. One of them has its first event late:
# its row has its name, its creator and when it was created.
rm -rf "$GPROF_DIR"
GPROF_CALLS=all GPROF_BUFFER_MB=8 record "$B/integ/s_idle" 600 20000
is 0 $rc "exit status with idle threads"
summary threads,losses
is 0 "$(query '.losses.rows | length')" "losses with idle threads"
is "20000 1" "$(query '[.threads.rows[].calls] | sort | reverse | join(" ")')" "calls of the busy thread and the late one"
is "main late" "$(query '[.threads.rows | sort_by(-.calls)[].name] | join(" ")' | sed 's/s_idle/main/')" "their names"
# It was there during all calls of the busy one.
is true "$(query '(.threads.rows[] | select(.name == "late") | .end_ns - .start_ns) > (.threads.rows[] | select(.name == "s_idle") | .total_ns)')" "the late one was created early"

# More threads start at once than gprof remembers creators of: it counts the others.
[[ $B != *san-* ]] || finish
gcc -shared -fPIC -o "$T/held.so" test/integ/l_held.c -ldl || exit 1
rm -rf "$GPROF_DIR"
HELD=1100 HELD_STACK=131072 LD_LIBRARY_PATH=$SIM LD_PRELOAD=$(preload):$T/held.so "$B/integ/s_idle" 1100 1 >"$T/out" 2>"$T/err"
is 0 $? "exit status with threads that start at once"
if ! was_late; then
	summary losses
	is 76 "$(query '.losses.rows[] | select(.cause | startswith("creator of a thread not recorded")).count')" "creators that are not known"
	is 1 "$(query '.losses.rows | length')" "other losses"
	is "1 complete" "$(grep -c '^gprof.*(none lost)' "$T/err") $(query '.processes.rows[0].state')" "events that the last line and the report miss"
	"$REPORT" check "$GPROF_DIR" >"$T/check" 2>&1
	is "  76 times: creator of a thread not recorded" "$(grep -o '^  76 .*: creator of a thread not recorded' "$T/check")" "what check says of them"
fi
finish
