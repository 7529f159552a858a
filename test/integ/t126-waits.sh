#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Loops that wait for one thing each, recorded by default: the first finding names the line, the call and the file, and what
# it costs is what the program measures.
. "$(dirname "$0")/lib.sh"
need SIM REPORT PYTHON JQ PLAIN
program=$ROOT/test/python/planted_waits.py
[ -r /proc/self/syscall ] || skip "the kernel does not say what threads wait for"

export GPROF_SAMPLE_MS=0 # else a busy machine is a finding, too

line_of() { grep -n "# LINE $1" "$program" | cut -d: -f1; }

# waits CAUSE CALL [OBJECT [FOLDER]]
waits()
{
	local cause=$1 call=$2 object=${3:-} own cost line
	rm -rf "$GPROF_DIR"
	record python3 "$T/loop.py" "$cause" ${4:+"$4"}
	is 0 "$rc" "exit status of $cause"
	own=$(cat "$T/out")
	line=$(line_of "$cause")
	summary findings,wait-lines
	is python_host "$(query '.findings.rows[0].cause')" "first finding of $cause"
	ok grep -qE "^The GPU waits while the loop waits.* at loop.py\($line\).*, (in|for) $call.*; waiting less there can save at most" \
		<<<"$(query '.findings.rows[0].sentence')"
	ok grep -qF "loop.py($line): wait_$cause, ${object:-}" <<<"$(query '.findings.rows[0].places')"
	cost=$(query '.findings.rows[0].reach_ns / 1000000 | round')
	[ "$cost" -ge $((own * 9 / 10)) ] && [ "$cost" -le $((own * 11 / 10 + 300)) ] || mismatch "not as expected: $cause costs $cost ms, measured $own"
	cost=$(query "[.wait_lines.rows[] | select(.line == $line or (.caller // \"\" | contains(\"($line)\"))).wait_ns] | add / 1000000 | round")
	[ "$cost" -ge $((own * 3 / 4)) ] && [ "$cost" -le $((own * 11 / 10 + 100)) ] || mismatch "not as expected: $cause waits $cost ms by samples, measured $own"
}

mkdir "$T/data"
cp "$program" "$T/loop.py" # a short name, which sentences do not cut
waits sleep '(clock_nanosleep|p?select6?)' "in "
waits read read "in read of " "$T/data"
is "$T/data/*.bin" "$(query '.wait_lines.rows[0].object')" "what is read"
waits child wait4 "in wait4 (for a child process)"
waits lock futex "in futex (for a lock or a thread)"
waits gil "Python's lock" "for Python's lock (GIL)"
finish
