#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The one line on stderr: events, losses, cost, where, what next; none when quiet; more in a log.
. "$(dirname "$0")/lib.sh"
need SIM REPORT JQ

record "$B/integ/s_loop" 3 5
is 1 "$(grep -c '^gprof\[' "$T/err")" "lines"
line=$(grep '^gprof\[' "$T/err")
pattern='^gprof\[[0-9]+\]: recorded [0-9]+ events \(none lost\) to [^ ]+\.gprof, profiler CPU [0-9]+ ms \([0-9]+\.[0-9] % of a core\); view with: gprof-report [^ ]+, or gprof-report html [^ ]+$'
grep -qE "$pattern" <<<"$line" || { echo "not the line: $line"; failed=1; }
# What it names is there, and what it says to run runs.
[ -e "$(sed 's/.* to \(.*\), profiler CPU.*/\1/' <<<"$line")" ] || { echo "no such stream: $line"; failed=1; }
next=${line#*view with: gprof-report }
ok "$REPORT" "${next%%, or *}" >"$T/out"
ok "$REPORT" html -o "$T/page.html" "${next##* gprof-report html }"
is "$(sed 's/.*: recorded \([0-9]*\) events.*/\1/' <<<"$line")" \
	"$("$REPORT" check "$GPROF_DIR" | sed 's/.*, \([0-9]*\) events/\1/')" "events in the line"

# A shell takes what it says to run, whatever the directory is called.
(
	# Its first calls may be lost where the disk is slow; a program without events has no more to show.
	GPROF_DIR="$T/it's \$HOME"
	for _ in 1 2 3 4 5; do
		rm -rf "$GPROF_DIR"
		record "$B/integ/s_loop" 3 5
		was_late || break
	done
	next=$(sed -n 's/.*view with: gprof-report \(.*\), or gprof-report html .*/\1/p' "$T/err")
	eval "\"\$REPORT\" $next" >"$T/out" 2>&1 && grep -q "s_loop" "$T/out"
) || mismatch "the command for a directory with a blank, a quote and a dollar sign: $(cat "$T/err")"

# A directory that gets too long when quoted for a shell is shown unquoted.
(
	part=$(printf "'%.0s" {1..150})
	GPROF_DIR=$T/$part/$part
	record "$B/integ/s_loop" 3 5
	is 0 $rc "exit status with a long directory"
	is 1 "$(grep -c '^gprof\[' "$T/err")" "lines with a long directory"
	ok grep -qF "view with: gprof-report $GPROF_DIR, or gprof-report html $GPROF_DIR" "$T/err"
	exit $failed
) || failed=1

# More than 1 MB: ranges with names that are all different.
rm -rf "$GPROF_DIR"
GPROF_MAX_MB=1 record "$B/integ/s_names" 20000 300
grep -qE '^gprof.*: recorded [0-9]+ events \([1-9][0-9]* lost\) ' "$T/err" || { echo "no losses in the line"; cat "$T/err"; failed=1; }
"$REPORT" info "$GPROF_DIR" >"$T/info" 2>/dev/null
is 1 "$(grep -cE '^  lost +[0-9]+ events: GPROF_MAX_MB reached \(raise it' "$T/info")" "remedy for losses"

for level in warn info debug; do
	rm -f "$T/log"
	GPROF_QUIET=1 GPROF_LOG=$level GPROF_LOG_FILE=$T/log record "$B/integ/s_loop" 3 5
	is 0 "$(grep -c gprof "$T/err")" "lines when quiet with $level"
	case $level in
	warn) want="0 0" ;;
	info) want="1 0" ;;
	debug) want="1 1" ;;
	esac
	is "$want" "$(grep -c 'recording to' "$T/log" 2>/dev/null || :) $(grep -q flushed "$T/log" 2>/dev/null && echo 1 || echo 0)" \
		"what is logged with $level"
	is 600 "$(stat -c %a "$T/log")" "mode of the log"
done

# `info` says the same: the CPU time, and of a second and more its share.
rm -rf "$GPROF_DIR"
record "$B/integ/s_loop" 3 5
cpu_ms=$(sed -n 's/.*profiler CPU \([0-9]* ms\).*/\1/p' "$T/err")
is 1 "$("$REPORT" info "$GPROF_DIR" 2>/dev/null | grep -cE "^  profiler CPU +$cpu_ms$")" "profiler CPU in info"
rm -rf "$GPROF_DIR"
record "$B/integ/s_loop" 3 5 sleep=400
cpu_ms=$(sed -n 's/.*profiler CPU \([0-9]* ms\).*/\1/p' "$T/err")
is 1 "$("$REPORT" info "$GPROF_DIR" 2>/dev/null | grep -cE "^  profiler CPU +$cpu_ms \([0-9.]* % of a core\)$")" "its share in info"

# A program that closes its standard files and then opens its own: the number of stderr is that of its data.
gcc -O1 "${sanitize[@]}" -o "$T/closes" test/calls/closes.c "$SIM/libcudart.so.13" || exit 1
for order in before after; do
	rm -rf "$GPROF_DIR"
	record "$T/closes" "$T/data" $order
	is "0 data" "$rc $(cat "$T/data")" "status, and the file that has got number 2 $order the first call"
	is 0 "$("$REPORT" check "$GPROF_DIR" >/dev/null 2>&1; echo $?)" "check of that recording"
done

GPROF_DIR=/proc/nowhere record "$B/integ/s_loop" 3 5
is 1 "$(grep -cE '^gprof.*: not recording: /proc/nowhere: error [0-9]+ \(.*set GPROF_DIR' "$T/err")" "line with the remedy"
finish
