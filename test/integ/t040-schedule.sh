#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Steps and schedules, by every rule: what is recorded is the steps asked for.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

# check RULE SCHEDULE WANTED-LAUNCHES PROGRAM-ARGUMENTS...: with 5 launches a step
check()
{
	local rule=$1 schedule=$2 wanted=$3
	shift 3
	rm -rf "$GPROF_DIR"
	GPROF_STEP=$rule GPROF_SCHEDULE=$schedule record "$B/integ/s_loop" "$@"
	is 0 $rc "exit status with $rule $schedule"
	summary api,kernel,steps,windows,notices
	is "$wanted" "$(query '[.api.rows[] | select(.name == "cudaLaunchKernel").calls] | add // 0')" "launches with $rule $schedule"
	# On a busy machine a window may open before CUPTI is up. Then that is said, and nothing else.
	if [ "$(query '[.notices.rows[] | select(.cause == "late window")] | length')" = 0 ]; then
		is "$wanted" "$(query '[.kernel.rows[].calls] | add // 0')" "kernels with $rule $schedule"
	fi
	is 0 "$(query '[.notices.rows[] | select(.cause != "late window")] | length')" "notices with $rule $schedule"
}

check auto all 100 20 5 call sleep=3
is 21 "$(query '.steps.rows | length')" "steps"
check auto skip_first=3,closed=2,ready=1,record=3 40 20 5 call sleep=3
is "6 12 18" "$(query '[.windows.rows[] | select(.state == "record").step] | join(" ")')" "first steps of windows"
# One that is open at the end lasts to the last event, also in a picture of it.
check auto skip_first=3,closed=2,ready=1,record=4 15 9 5 call sleep=3
"$REPORT" html --svg timeline --window 1 -o "$T/open.svg" "$GPROF_DIR" 2>"$T/err"
is 0 $? "status of the picture of an open window"
is "record" "$(query '.windows.rows[-1].state')" "the state at the end"
summary windows --window 1
is "same" "$(awk -v ms="$(grep -oE '[0-9.e+]+ ms</text>' "$T/open.svg" | head -1 | cut -d' ' -f1)" -v ns="$(query '.selection.rows[0].duration_ns')" \
	'BEGIN { print (ms * 1e6 > ns * .9999 && ms * 1e6 < ns * 1.0001 ? "same" : ms " ms, not " ns " ns") }')" "the length of the picture"
check auto 4-10 30 20 5 call sleep=3
# Windows of one step, more than one flush ever saw open.
GPROF_FLUSH_MS=60000 check auto closed=1,record=1 250 100 5 call sleep=3
check auto wait=1,warmup=1,active=2,repeat=2 20 20 5 call sleep=3
check nvtx:step 4-10 30 20 5 nvtx sleep=3
check nvtx:other 4-10 0 20 5 nvtx sleep=3
check api:cudaDeviceSynchronize 4-10 30 20 5 sleep=3
check none all 100 20 5 call sleep=3
is 0 "$(query '.steps.rows | length')" "steps without a rule"
# Steps as short as they get, and no ready step: CUPTI is up before the window opens all the same, or
# on a busy machine it is said that it was not.
rm -rf "$GPROF_DIR"
GPROF_SCHEDULE=skip_first=300,closed=300,record=50 record "$B/integ/s_loop" 1000 5 call
summary api,kernel,notices
is 500 "$(query '[.api.rows[] | select(.name == "cudaLaunchKernel").calls] | add // 0')" "launches of short steps"
if [ "$(query '[.notices.rows[] | select(.cause == "late window")] | length')" = 0 ]; then
	is 500 "$(query '[.kernel.rows[].calls] | add // 0')" "kernels of short steps"
fi
# Kernels end steps late, when their records come; so the windows are only roughly where they were.
rm -rf "$GPROF_DIR"
GPROF_STEP=kernel:step_kernel GPROF_SCHEDULE=all record "$B/integ/s_loop" 5 4 sleep=100
summary steps
is 21 "$(query '.steps.rows | length')" "steps by 20 kernels"
# A step ends with its kernel, however late the record comes (here by 100 ms and more). How far off two readings of the clocks
# are depends on the machine: most by less than 20 us, and none by 10 ms. Records of launches close together come in any order,
# and no step ends before the one before: so one launch at a time.
rm -rf "$GPROF_DIR"
GPROF_STEP=kernel:step_kernel GPROF_SCHEDULE=all record "$B/integ/s_loop" 20 1 sleep=100
"$REPORT" sql --format csv 'SELECT abs(s.time_ns - k.end_ns) FROM (SELECT row_number() OVER (ORDER BY time_ns) AS n, time_ns FROM step WHERE step > 0) s
	JOIN (SELECT row_number() OVER (ORDER BY start_ns) AS n, start_ns + dur_ns AS end_ns FROM kernel) k USING (n)' "$GPROF_DIR" >"$T/ends" 2>/dev/null
is "20 yes yes" "$(awk '/^[0-9]+$/ { n++; near += $1 < 20000; far += $1 >= 10000000 }
	END { print n, (near > n / 2 ? "yes" : "no"), (far ? "no" : "yes") }' "$T/ends")" "steps that end with their kernels: $(tr '\n' ' ' <"$T/ends")"
rm -rf "$GPROF_DIR"
GPROF_STEP=interval:100 record "$B/integ/s_loop" 10 1 sleep=50
summary steps
n=$(query '.steps.rows | length')
most=$(query '.processes.rows[0].duration_ns / 100000000 + 2 | floor')
[ "$n" -ge 4 ] && [ "$n" -le "$most" ] || { echo "$n steps of 100 ms in $most hundred ms"; failed=1; }
finish
