#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A full disk, a limit on file sizes, GPROF_MAX_MB, and no directory at all.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
export GPROF_CPU_HZ=0 # CPU samples are events, too

# So many launches a step that 20 steps take more than 1 MB.
NR_LAUNCHES=50000

# The kernels take no time here; it is about bytes.
export SIM_KERNEL_NS=10
plain "$B/integ/s_loop" 6 20000 exit=3

# lost_events: those in the JSON; steps, threads and samples have a cause of their own.
lost_events()
{
	query '[.losses.rows[] | select(.cause | startswith("step, thread") | not).count] | add // 0'
}

# ulimit -f: files may not grow beyond; the signal for that must not reach the program.
# (ThreadSanitizer needs larger files of its own.)
rm -rf "$GPROF_DIR"
if [[ $B != *san-thread ]]; then
	(ulimit -f 64; GPROF_CUPTI=0 record "$B/integ/s_loop" 6 20000 exit=3; exit $rc)
	is 3 $? "exit status under ulimit -f"
	is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output under ulimit -f"
	# What the file system refused is lost, and not recorded too. (Rows that say so are refused as well.)
	said=$(sed -n 's/.*: recorded \([0-9]*\) events (\([0-9]*\) lost).*/\1 \2/p' "$T/err")
	summary api
	is "$(query '.processes.rows[0].events')" "${said% *}" "events that the exit line calls recorded"
	# The end is missing too, unless the last rows had room; but nothing has killed the process.
	is 3 $report_rc "status of the report under ulimit -f"
	"$REPORT" info "$GPROF_DIR" >"$T/info" 2>/dev/null
	grep -qE '^  end +exited with status 3$' "$T/info" ||
		ok grep -q 'its process closed its file without an end: no space, or truncated later' "$T/report.err"
	rm -rf "$GPROF_DIR"
	GPROF_CUPTI=0 record "$B/integ/s_loop" 6 20000 exit=3
	summary api
	is "$(query '.processes.rows[0].events')" $((${said% *} + ${said#* })) "events recorded and lost, by the exit line"
fi

GPROF_DIR=$T/file/below
touch "$T/file"
record "$B/integ/s_loop" 6 20000 exit=3
is 3 $rc "exit status without a directory"
is "$(cat "$T/plain.out")" "$(cat "$T/out")" "output without a directory"
is 1 "$(grep -c 'not recording' "$T/err")" "lines that say so"

# Millions of launches take sanitizers minutes; texts and steps fill 1 MB there.
if [[ $B != *san-* ]]; then
	GPROF_DIR=$T/limited
	GPROF_MAX_MB=1 GPROF_CUPTI=0 record "$B/integ/s_loop" 20 $NR_LAUNCHES exit=3
	is 3 $rc "exit status with a limit"
	size=$(stat -c %s "$GPROF_DIR"/*.gprof)
	[ "$size" -le 1048576 ] || mismatch "$size bytes with GPROF_MAX_MB=1"
	summary api,losses
	kept=$(query '[.api.rows[].calls] | add')
	lost=$(query '[.losses.rows[] | select(.cause | contains("GPROF_MAX_MB")).count] | add // 0')
	all=$((kept + $(lost_events)))
	is $((20 * NR_LAUNCHES + 42)) $all "calls kept and lost"

	# Killed in the end: what was dropped before is counted all the same. It is killed once the report says that
	# something was dropped: on a busy machine all may be in the rings still, from where the report reads it. There
	# calls also take less, 0.63 bytes each.
	GPROF_DIR=$T/killed
	HOLD=$T/hold GPROF_MAX_MB=1 GPROF_CUPTI=0 record "$B/integ/s_loop" 80 $NR_LAUNCHES hold kill &
	program=$!
	for ((i = 0; i < 6000; i++)); do
		if [ -e "$T/hold" ]; then
			summary losses
			[ "$(query '[.losses.rows[].count] | add // 0')" = 0 ] || break
		fi
		sleep 0.05
	done
	rm -f "$T/hold"
	wait $program
	rc=$?
	is 137 $rc "exit status of the killed one"
	launched=$(tail -1 "$T/out" | sed 's/.*launched //')
	summary api,losses
	kept=$(query '[.api.rows[] | select(.name == "cudaLaunchKernel").calls] | add')
	lost=$(lost_events)
	[ "$lost" -gt 0 ] || is some "$lost" "losses of the killed one"
	# Its other calls may be among the lost ones.
	[ $((kept + lost)) -ge "$launched" ] && [ $((kept + lost)) -le $((launched + 400)) ] ||
		is "$launched" $((kept + lost)) "launches kept and lost of the killed one"
fi

# Texts that are all different leave room for events.
GPROF_DIR=$T/names
NR_NAMES=100000
[[ $B != *san-* ]] || NR_NAMES=30000 # 9 MB
GPROF_MAX_MB=1 record "$B/integ/s_names" $NR_NAMES 300
is 0 $rc "exit status with many names"
size=$(stat -c %s "$GPROF_DIR"/*.gprof)
[ "$size" -le 1048576 ] || mismatch "$size bytes of names with GPROF_MAX_MB=1"
summary nvtx,losses
kept=$(query '[.nvtx.rows[].calls] | add // 0')
[ "$kept" -gt 500 ] || { echo "$kept ranges kept with GPROF_MAX_MB=1"; failed=1; }
is "$(cat "$T/out")" $((kept + $(lost_events))) "ranges kept and lost"

# Steps are no events, but the limit is one for them, too; and it does not fill by what is said again and again.
GPROF_DIR=$T/steps
GPROF_MAX_MB=1 GPROF_CUPTI=0 GPROF_FLUSH_MS=10 record "$B/integ/s_loop" 60000 4 call exit=3
is 3 $rc "exit status with many steps"
size=$(stat -c %s "$GPROF_DIR"/*.gprof)
[ "$size" -le 1048576 ] || mismatch "$size bytes of steps with GPROF_MAX_MB=1"
summary api,losses,steps
is $((60000 * 6 + 2)) "$(($(query '[.api.rows[].calls] | add') + $(lost_events)))" "calls kept and lost with many steps"
[ "$(query '[.losses.rows[] | select(.cause | startswith("step, thread")).count] | add // 0')" -gt 1000 ] || mismatch "no step is lost"

if [ "$(id -u)" = 0 ] && mkdir "$T/tiny" && mount -t tmpfs -o size=300k tmpfs "$T/tiny" 2>/dev/null; then
	GPROF_DIR=$T/tiny/dump
	[[ $B != *san-* ]] || NR_LAUNCHES=10000 # half a byte or more for each of their records
	record "$B/integ/s_loop" 6 $((2 * NR_LAUNCHES)) exit=3
	is 3 $rc "exit status on a full disk"
	summary losses
	# The stream may have no room left to say so.
	grep -qE '\([1-9][0-9]* lost\)' "$T/err" || mismatch "nothing is lost on a full disk"
	umount "$T/tiny"
fi
finish
