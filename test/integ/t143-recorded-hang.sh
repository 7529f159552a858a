#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# GPROF_HANG_TIMEOUT_S: while a process hangs its stream says where it stands, once; and that it went on.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
export SIM_DEVICES=2 GPROF_HANG_TIMEOUT_S=1

# rows WHAT: of the view hang, as "rank name number state" each.
rows()
{
	query "[.hang.rows[] | select(.what == \"$1\") | \"\(.rank) \(.name) \(.number) \(.state)\"] | sort | .[]"
}

# nr_stalls: how many are recorded so far.
nr_stalls()
{
	summary hang,missing-collectives
	[ -s "$T/json" ] && query '[.hang.rows[] | select(.what == "hang")] | length' || echo 0
}

# wait_for NR PROCESS: until so many hangs are recorded, while the process runs.
wait_for()
{
	until [ "$(nr_stalls)" -ge "$1" ]; do
		kill -0 "$2" 2>/dev/null || { echo "the program ended before $1 hangs were recorded"; failed=1; return; }
		sleep 0.1
	done
}

# check WHEN HOW: ranks 0 and 1 wait for the second collective, to which rank 2 did not come.
check()
{
	local own=
	[ "$2" = mixed ] && own='
2 AllReduce 1 finished'
	is "0 AllGather 2 no end recorded
1 AllGather 2 no end recorded$own" "$(rows 'last collective')" "collectives $1 ($2)"
	is "0 cudaMemcpyAsync null
1 cudaMemcpyAsync null${own:+
2 cudaStreamSynchronize null}" "$(rows 'in call' | sed 's/null .*/null/')" "calls $1 ($2)"
	ok test -z "$(rows 'in call' | grep -v ' collectives: [A-Z]')"
	is "2 AllGather 0-1 2" "$(query '.missing_collectives.rows[] | "\(.number) \(.name) \(.arrived) \(.absent)"')" "pending $1 ($2)"
	ok test "$(query '[.hang.rows[] | select(.what == "in call" or .what == "hang") | select(.duration_ns < 1e9)] | length')" = 0
}

# A rank that never comes, one that is killed, and one that sends instead: with it nobody gets on.
for how in stuck killed mixed; do
	rm -rf "$GPROF_DIR"
	LD_LIBRARY_PATH=$SIM LD_PRELOAD=$(preload) "$B/prog/collectives" $how 3 >"$T/out" 2>"$T/err" &
	program=$!
	watch=
	if [ $how = stuck ]; then
		COLUMNS=200 "$REPORT" watch --interval-ms 50 --metrics "$T/job.prom" "$GPROF_DIR" >"$T/watch" 2>"$T/watch.err" &
		watch=$!
	fi
	wait_for $([ $how = mixed ] && echo 3 || echo 2) $program
	check "while it hangs" $how
	if [ -n "$watch" ]; then
		until grep -q '^Hang of .*rank 0' "$T/watch" && grep -q '^Hang of .*rank 1' "$T/watch" &&
			[ "$(grep -c '^gprof_hung{.*} 1$' "$T/job.prom")" = 2 ]; do
			kill -0 $watch 2>/dev/null || { echo "the watch ended"; failed=1; break; }
			sleep 0.1
		done
	fi
	kill_ranks "$program"
	if [ -n "$watch" ]; then
		wait $watch
		is "rank 0 rank 1" "$(sed -n 's/^Hang of //p' "$T/watch" | sed 's/, /\n/g' | sort | tr '\n' ' ' | sed 's/ $//')" "who hangs, by the watch"
		ok grep -q ' AllGather .*0-1 ' "$T/watch"
	fi
	summary hang,missing-collectives
	check "after it was killed" $how
	ok grep -qE '^HUNG: .*rank [01] 1 time, last: no launch, copy.*, thread [0-9]+ in cudaMemcpyAsync; it has not resumed$' \
		<<<"$("$REPORT" --wide "$GPROF_DIR" 2>/dev/null)"
done

# hold NR SETTING WHAT...: a loop of ten steps, until NR of its hangs are recorded; it goes on without $T/held.
hold()
{
	rm -rf "$GPROF_DIR" "$T/held"
	HOLD=$T/held LD_LIBRARY_PATH=$SIM LD_PRELOAD=$(preload) env "$2" "$B/integ/s_loop" 10 3 call "${@:3}" >"$T/out" 2>"$T/err" &
	program=$!
	wait_for "$1" $program
}

# It goes on: also where no window is open, and the output is what it was.
plain "$B/integ/s_loop" 10 3 call
for schedule in all 1-3; do
	hold 1 GPROF_SCHEDULE=$schedule hold=5,-1
	is "not resumed" "$(query '.hang.rows[0].state')" "the hang, $schedule"
	is "returned from cudaDeviceSynchronize" "$(query '.hang.rows[1] | "\(.what) \(.name)"')" "the main thread, $schedule"
	is "no step has ended" "$(query '.hang.rows[0].name')" "what is missing, $schedule"
	is "after step 5" "$(query '.hang.rows[0].where')" "the step, $schedule"
	is "launched last step_kernel()" \
		"$(query '.hang.rows[] | select(.what == "launched last") | "\(.what) \(.name)"')" "the last launch, $schedule"
	is "finished last step_kernel()" \
		"$(query '.hang.rows[] | select(.what == "finished last") | "\(.what) \(.name)"')" "the last work, $schedule"
	rm -f "$T/held"
	wait $program
	is 0 $? "exit status, $schedule"
	ok diff "$T/plain.out" "$T/out"
	summary hang
	is 0 $report_rc "status of the summary, $schedule"
	is "resumed" "$(query '[.hang.rows[] | select(.what == "hang").state] | .[0]')" "the hang that is over, $schedule"
	ok grep -qE '^HUNG: 1 time, last: no step has ended for [0-9]+ s after step 5; it resumed after [0-9.]+ s$' \
		<<<"$("$REPORT" --wide "$GPROF_DIR")"
done

# Killed as it hangs; a child has hangs of its own, and not its parent's.
hold 1 GPROF_SCHEDULE=all hold=5,-1
kill -9 $program
{ wait $program; } 2>/dev/null
summary hang
is "not resumed" "$(query '.hang.rows[0].state')" "the hang of one that was killed"
# ThreadSanitizer does not support threads after a fork with threads.
if [[ $B != *san-thread ]]; then
	hold 2 GPROF_SCHEDULE=all fork child
	rm -f "$T/held"
	wait $program
	summary hang
	is "3 9" "$(query '[.hang.rows[] | select(.what == "hang").where | sub("after step "; "") | tonumber] | sort | join(" ")')" "hangs of child and parent"
fi

# Off, and where nothing hangs, there is no such table.
for setting in GPROF_HANG_TIMEOUT_S=0 GPROF_HANG_TIMEOUT_S=1000; do
	rm -rf "$GPROF_DIR"
	record env $setting "$B/integ/s_loop" 3 3 call
	summary hang
	is 0 "$(query '.hang.rows | length')" "rows with $setting"
	ok test "$("$REPORT" "$GPROF_DIR" | grep -ciwE "hangs?|hung")" = 0
done
finish
