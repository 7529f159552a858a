#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# After kill -9 nothing that was committed is lost.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

# The program prints what it launched, and is killed before the last step. Host calls are in the
# ring the moment they return, however seldom it is drained.
for flush in 50 60000; do
	rm -rf "$GPROF_DIR"
	GPROF_FLUSH_MS=$flush record "$B/integ/s_loop" 30 100 sleep=2 kill
	is 137 $rc "exit status"
	launched=$(tail -1 "$T/out" | sed 's/.*launched //')
	is 2900 "$launched" "launches before the kill"
	summary api,kernel
	is 3 $report_rc "report's status"
	is "$launched" "$(query '.api.rows[] | select(.name == "cudaLaunchKernel").calls')" "launches with a flush each $flush ms"
	is 1 "$(ls "$GPROF_DIR"/*.part 2>/dev/null | wc -l)" "unfinished streams"
	grep -q 'unfinished\|not closed\|incomplete' "$T/report.err" || { cat "$T/report.err"; failed=1; }
done
finish
