#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Running processes obey `gprof-report control`, whatever GPROF_SCHEDULE said; a wrong file is reported and
# changes nothing.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ
# Processes that are controlled together are read together.
export GPROF_RUN=one
export HOLD=$T/held

# until_true COMMAND...: waits for it as long as the program runs.
until_true()
{
	while ! "$@"; do
		kill -0 "$program" 2>/dev/null || { echo "the program ended before: $*"; failed=1; return 1; }
		sleep 0.05
	done
}

# run STEPS WHAT...: in the background, 5 launches a step.
run()
{
	rm -rf "$GPROF_DIR" "$HOLD"
	LD_LIBRARY_PATH=$SIM LD_PRELOAD=$(preload) "$B/integ/s_loop" "$1" 5 call sleep=3 "${@:2}" >"$T/out" 2>"$T/err" &
	program=$!
}

# has_notices NR: that many notices of the control file are in the stream.
has_notices()
{
	summary notices
	[ "$(query '[.notices.rows[]? | select(.cause == "control")] | length')" = "$1" ]
}

control()
{
	"$REPORT" control "$GPROF_DIR" "$@" >"$T/control" 2>"$T/control.err"
}

go_on()
{
	rm -f "$HOLD"
}

ends()
{
	wait "$program"
	is 0 $? "exit status of the program"
	summary api,kernel,steps,windows,notices
	is "$1" "$(query '[.api.rows[]? | select(.name == "cudaLaunchKernel").calls] | add // 0')" "launches with $2"
	is "$1" "$(query '[.kernel.rows[]?.calls] | add // 0')" "kernels with $2"
}

# From closed, start before step 10, stop before step 20.
GPROF_SCHEDULE=1000-1001 run 30 hold=10,20
until_true test -e "$HOLD"
ok control start
ok grep -q '^start: sent to 1 running process; it takes effect within 50 ms' "$T/control"
until_true has_notices 1
go_on
until_true test -e "$HOLD"
ok control stop
until_true has_notices 2
go_on
ends 50 "start and stop"
is "10 20" "$(query '[.windows.rows[1:][] | select(.state == "record" or .state == "closed").step] | join(" ")')" "windows of start and stop"
is "start: applied in step 10" "$(query '.notices.rows[0].text')" "the notice of start"

# Everything is recorded until a command says otherwise; a second process of the directory obeys, too.
# A busy machine may cost a process its first calls, and the steps that they end; then they are started again.
for _ in 1 2 3 4 5; do
	run 30 hold=3
	first=$program
	HOLD=$T/other LD_LIBRARY_PATH=$SIM LD_PRELOAD=$(preload) "$B/integ/s_loop" 30 5 call sleep=3 hold=3 >/dev/null 2>&1 &
	other=$!
	until_true test -e "$HOLD" -a -e "$T/other"
	was_late || break
	kill -9 $first $other
	wait $first $other
	rm -f "$T/other"
done
ok control steps 10-20
ok grep -q '^steps 10-20: sent to 2 running processes' "$T/control"
until_true has_notices 2
rm -f "$T/other"
wait $other
program=$first
go_on
# Steps 0 to 2 of both, and 10 to 19.
ends 130 "steps"
is "10 20 10 20" "$(query '[.windows.rows[] | select(.step >= 10).step] | join(" ")')" "windows of steps"

# What is there when a process starts was for others; wrong ones are reported; and the last word counts.
run 30 hold=10,20
until_true test -e "$HOLD"
for wrong in "steps 9-4" "steps 4-" "Start" "steps 1-99999999999"; do
	printf '%s\n' "$wrong" >"$GPROF_DIR/new"
	mv "$GPROF_DIR/new" "$GPROF_DIR/gprof.control"
	nr=$((${nr:-0} + 1))
	until_true has_notices $nr
	[[ $(query '.notices.rows[-1].text') == "gprof.control: ignored: its first line must be"* ]] ||
		{ echo "the notice of '$wrong'"; failed=1; }
done
rm -f "$GPROF_DIR/gprof.control"
ln -s "$GPROF_DIR/other" "$GPROF_DIR/gprof.control"
echo stop >"$GPROF_DIR/other"
until_true has_notices 5
rm -f "$GPROF_DIR/gprof.control"
mkfifo "$GPROF_DIR/gprof.control"
until_true has_notices 6
rm -f "$GPROF_DIR/gprof.control"
go_on
until_true test -e "$HOLD"
if [ "$(id -u)" = 0 ]; then
	echo stop >"$GPROF_DIR/new"
	chown 12345 "$GPROF_DIR/new"
	mv "$GPROF_DIR/new" "$GPROF_DIR/gprof.control"
	until_true has_notices 7
fi
# Full: nothing is left, and earlier notices stand.
full=$( (trap '' XFSZ; ulimit -f 0; exec "$REPORT" control "$GPROF_DIR" stop) 2>&1)
is 1 $? "status where the file cannot be written"
ok grep -q "^gprof-report: cannot write '.*gprof.control': File too large" <<<"$full"
is 0 "$(find "$GPROF_DIR" -name 'gprof.control.*' | wc -l)" "files left over"
go_on
ends 150 "wrong files"

# A file from before; steps that nothing marks.
echo stop >"$T/before"
rm -rf "$GPROF_DIR" "$HOLD"
mkdir "$GPROF_DIR" && mv "$T/before" "$GPROF_DIR/gprof.control"
LD_LIBRARY_PATH=$SIM LD_PRELOAD=$(preload) "$B/integ/s_loop" 10 5 hold=4 >"$T/out" 2>"$T/err" &
program=$!
until_true test -e "$HOLD"
ok control steps 5-7
until_true has_notices 1
go_on
ends 50 "steps that nothing marks"
ok grep -q '^steps 5-7: ignored: no steps are counted' <<<"$(query '.notices.rows[0].text')"

control start
is 1 $? "status where all have ended"
ok grep -q "^gprof-report: all processes of '.*' have ended" "$T/control.err"
mkdir "$T/empty"
"$REPORT" control "$T/empty" start >"$T/control" 2>"$T/control.err"
is 1 $? "status without streams"
ok grep -q "no streams" "$T/control.err"
"$REPORT" control "$(echo "$GPROF_DIR"/*.gprof)" start >"$T/control" 2>"$T/control.err"
is 1 $? "status for a stream"
for wrong in "go" "steps" "steps 4" "steps 4-4" "steps -4" "steps 4-99999999999" "start now"; do
	# shellcheck disable=SC2086
	control $wrong
	is 2 $? "status of '$wrong'"
done
finish
