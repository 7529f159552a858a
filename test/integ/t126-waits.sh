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

# waited LINE: what samples say that it waited, in ms; fails if the program measured something else
waited()
{
	cost=$(query "[.wait_lines.rows[] | select(.line == $1 or (.caller // \"\" | contains(\"($1)\"))).wait_ns] | add / 1000000 | round")
	[ "$cost" -ge $((blocked * 3 / 4)) ] && [ "$cost" -le $((own * 11 / 10 + 100)) ]
}

# waits CAUSE LINE SENTENCE PLACE [FOLDER]: LINE is where it waits. On a busy machine gprof looks late, and then another try.
waits()
{
	local cause=$1 line=$2 sentence=$3 place=$4 cost blocked
	for _ in 1 2 3; do
		rm -rf "$GPROF_DIR"
		record python3 "$T/loop.py" "$cause" ${5:+"$5"}
		is 0 "$rc" "exit status of $cause"
		read -r own blocked _ <"$T/out"
		summary findings,wait-lines,cpu-lines
		waited "$line" && break
	done
	is python_host "$(query '.findings.rows[0].cause')" "first finding of $cause"
	ok grep -qE "^$sentence can save at most " <<<"$(query '.findings.rows[0].sentence')"
	ok grep -qF "loop.py($line): wait_$place" <<<"$(query '.findings.rows[0].places')"
	cost=$(query '.findings.rows[0].reach_ns / 1000000 | round')
	[ "$cost" -ge $((own * 9 / 10)) ] && [ "$cost" -le $((own * 11 / 10 + 300)) ] || mismatch "not as expected: $cause costs $cost ms, measured $own"
	waited "$line" || mismatch "not as expected: $cause waits $cost ms by samples, measured $blocked to $own"
}

# waits_at CAUSE WHAT PLACE [FOLDER]
waits_at()
{
	local line
	line=$(line_of "$1")
	waits "$1" "$line" "The GPU waits while the loop waits.* at loop.py\($line\).*, $2.*; waiting less( there)?" "$1, $3" ${4:+"$4"}
}

mkdir "$T/data"
cp "$program" "$T/loop.py" # a short name, which sentences do not cut
waits_at sleep 'in (clock_nanosleep|p?select6?)' "in "
waits_at closed 'in (clock_nanosleep|p?select6?)' "in "

# A thread that launches is looked at about a second after its first launch.
rm -rf "$GPROF_DIR"
record python3 "$T/loop.py" thread
is 0 "$rc" "exit status of thread"
read -r own blocked _ <"$T/out"
summary wait-lines
cost=$(query "[.wait_lines.rows[] | select(.line == $(line_of thread)).wait_ns] | add / 1000000 | round")
[ "$cost" -ge $((blocked / 3)) ] && [ "$cost" -le $((own * 11 / 10)) ] || mismatch "not as expected: the thread waits $cost ms by samples, measured $blocked to $own"

waits_at read "in read" "in read of " "$T/data"
is "$T/data/*.bin" "$(query '.wait_lines.rows[0].object')" "what is read"
# Each page that is not in memory takes 20 ms.
mkdir "$T/files"
head -c 8000000 /dev/urandom >"$T/files/mapped.bin"
! slow_files 200k || waits_at fault "in page faults" "in page faults" "$slow"
waits_at child "for a child process" "for a child process"
waits_at lock "for a lock or a thread" "for a lock or a thread"
waits gil "$(line_of gil)" "The host waits for Python's lock \(GIL\), held at loop.py\($(line_of keep)\)(: keep_gil)?; using processes" \
	"gil, for Python's lock (GIL)"
ok grep -qE "; (100.0|9[0-9].[0-9]) % of the samples of the lock's holder at loop.py\($(line_of keep)\): keep_gil" <<<"$(query '.findings.rows[0].places')"
waits parse "$(line_of gil)" "The host waits for Python's lock \(GIL\), held at loop.py\($(line_of parse)\)(: keep_parse)?; using processes" \
	"gil, for Python's lock (GIL)"

# Where the kernel samples itself, what it does on behalf of the loop has a line, too.
line=$(line_of kernel)
rm -rf "$GPROF_DIR"
record python3 "$T/loop.py" kernel "$T/data"
is 0 "$rc" "exit status of kernel"
read -r own _ computed all <"$T/out"
if [ "$("$REPORT" info "$GPROF_DIR" 2>/dev/null | awk '$1 == "cpu_samples.has_kernel" { print $2 }')" = 1 ]; then
	summary findings,cpu-lines,cpu-threads
	is python_host "$(query '.findings.rows[0].cause')" "first finding of kernel"
	is "$line" "$(query '.cpu_lines.rows[0].line')" "the line with most samples"
	# Samples are of the kernel's task clock, which may run ahead of the thread's CPU clock.
	busy=$(query "[.cpu_threads.rows[] | select(.tid == .pid).cpu_ns] | add / 1000000 | round")
	[ "$busy" -ge $((computed * 9 / 10 - 50)) ] && [ "$busy" -le $((all + 300)) ] ||
		mismatch "not as expected: the thread computes $busy ms by samples, measured $computed in $all"
	[ "$computed" -lt $((own * 6 / 10)) ] ||
		ok grep -qE "^The GPU waits for Python code(, .*)? at loop.py\($line\)(: wait_kernel)?; doing less (there|of it) can save at most " <<<"$(query '.findings.rows[0].sentence')"
fi

# native SENTENCE [PIPE]: a program without Python has no lines, and samples of waits where they are asked for. Its thread is looked at about a second after its first launch.
native()
{
	rm -rf "$GPROF_DIR"
	GPROF_CPU_HZ=99 record "$B/integ/s_wait" "${@:2}"
	is 0 "$rc" "exit status of s_wait"
	own=$(cat "$T/out")
	summary findings,wait-lines
	ok grep -qE "^The GPU waits while the loop waits.* $1; waiting less can save at most " <<<"$(query '.findings.rows[0].sentence')"
	cost=$(query '[.wait_lines.rows[].wait_ns] | add / 1000000 | round')
	[ "$cost" -ge $((own / 3)) ] && [ "$cost" -le $((own * 11 / 10)) ] || mismatch "not as expected: s_wait waits $cost ms by samples, measured $own"
}
native 'in clock_nanosleep'
mkfifo "$T/data/native.bin"
native 'in read of [^ ]*/data/\*.bin' "$T/data/native.bin"
is "$T/data/*.bin" "$(query '.wait_lines.rows[0].object')" "what s_wait reads"
[ -n "$slow" ] || [ "$failed" != 0 ] || skip "all but page faults passed: no file system can be mounted here"
finish
