#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where main leaves by pthread_exit, the process ends with its last thread; ours must not be that.
. "$(dirname "$0")/lib.sh"
need REPORT JQ
[[ $B != *san-thread ]] || skip "ThreadSanitizer has a thread of its own"

LD_PRELOAD=$(preload) timeout -s KILL 300 "$B/integ/s_last" >"$T/out" 2>"$T/err"
is 0 $? "status"
is bye "$(cat "$T/out")" "what an exit handler with a large stack says"
summary nvtx
is 0 $report_rc "report's status"
is 2 "$(query '[.nvtx.rows[].calls] | add')" "ranges"
"$REPORT" info "$GPROF_DIR" >"$T/info"
is 1 "$(grep -cE '^  end +exited with status 0$' "$T/info")" "the end"

# A signal ends the process after main has left: from outside, which its parent notes, or its own.
for how in wait term; do
	rm -rf "$GPROF_DIR"
	# shellcheck disable=SC2016
	T=$T LD_PRELOAD=$(preload) bash -c '"$@" & job=$!
		while [ "$2" = wait ] && ! grep -q ready "$T/out"; do
			kill -0 $job && sleep 0.1 || break
		done 2>/dev/null
		[ "$2" = term ] || kill -TERM $job
		wait $job' - "$B/integ/s_last" $how >"$T/out" 2>"$T/err"
	is 143 $? "status after SIGTERM ($how)"
	summary nvtx
	is 2 "$(query '[.nvtx.rows[].calls] | add')" "ranges before SIGTERM ($how)"
	"$REPORT" info "$GPROF_DIR" >"$T/info" 2>/dev/null
	is 1 "$(grep -cE '^  end +was stopped by SIGTERM$' "$T/info")" "the end by SIGTERM ($how)"
done

# The last event meets a limit of file sizes, whose signal is the program's affair with its own files.
rm -rf "$GPROF_DIR"
LD_PRELOAD=$(preload) timeout -s KILL 120 "$B/integ/s_last" size >"$T/out" 2>"$T/err"
is 0 $? "status with a limit of file sizes"
is bye "$(cat "$T/out")" "what the exit handler says then"

# Without /proc nobody can tell which thread is the last; the process ends all the same. The search
# for leaks needs /proc itself.
rm -rf "$GPROF_DIR"
mkdir "$T/root"
ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" LD_PRELOAD=$(preload) \
	timeout -s KILL 120 "$B/integ/s_last" "$T/root" >"$T/out" 2>"$T/err"
rc=$?
if [ $rc = 9 ]; then
	echo "# no right to chroot"
else
	is 0 $rc "status without /proc"
	is bye "$(cat "$T/out")" "what the exit handler says without /proc"
	summary nvtx,notices
	is "recording ended" "$(query '.notices.rows[] | select(.cause == "recording ended").cause')" "its notice"
fi
finish
