#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Threads that start at the same time: every launch of each, their names and ends.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

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
finish
